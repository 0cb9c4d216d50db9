"""Settings: members, applications, accounts, tokens, webhooks, the audit log."""
