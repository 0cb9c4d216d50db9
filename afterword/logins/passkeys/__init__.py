"""Passkeys: credentials of a device or a password manager that log a person in without a password."""
