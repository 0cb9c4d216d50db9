"""Organizations, applications, users, tokens, plans and idempotency keys."""
