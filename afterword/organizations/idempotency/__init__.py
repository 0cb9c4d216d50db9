"""The answers that POSTs with an `Idempotency-Key` got, kept for whoever sends them again."""
