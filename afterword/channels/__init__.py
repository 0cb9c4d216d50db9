"""Channels: they send a message by e-mail, SMS or webhook."""
