"""Lanes and the accounts that they send through: what is open, how fast, and what is due."""
