"""Deliveries: one event for one webhook, until its target accepts it or every attempt fails."""
