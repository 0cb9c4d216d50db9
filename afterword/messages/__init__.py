"""Composing a message for a channel from one context."""
