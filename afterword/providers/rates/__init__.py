"""Rates of recipient domains: one that throttles an account goes slower, and the account's other mail does not."""
