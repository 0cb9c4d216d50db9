"""Pictures that an organization uploads for its pages and mails."""
