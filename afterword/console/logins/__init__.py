"""Log-in, set-up, own account."""
