"""Erasing people: what is asked for, the work on it, the ledger that proves it and is replayed after a restore."""
