"""Scopes, callers and plans."""
