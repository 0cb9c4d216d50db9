"""Provider accounts: the logins that organizations send through, kept by operators."""
