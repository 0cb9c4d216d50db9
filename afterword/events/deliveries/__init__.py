"""Deliveries: one event for one webhook, until its target took it or every attempt failed."""
