"""Sending: items, invitations, pipelines, the contact policy."""
