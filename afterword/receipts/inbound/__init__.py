"""The addresses where providers call back: one for each account and form, and what a call does."""
