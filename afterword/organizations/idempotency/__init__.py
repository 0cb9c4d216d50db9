"""Stored answers to POSTs with an `Idempotency-Key`, for repeated requests."""
