"""Responders, their addresses and metadata, and who must not be written to."""
