"""The history of a case: its opening, every change, comments and mails, in the order of time."""
