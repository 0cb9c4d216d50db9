"""Responders, their addresses and metadata, and the do-not-contact list."""
