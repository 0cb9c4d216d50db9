"""Webhook endpoints: target address, event types and secrets."""
