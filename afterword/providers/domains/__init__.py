"""The domains that mails are sent from through an account, and what DNS says of them."""
