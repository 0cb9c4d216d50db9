"""Responders with the figures of their instances."""
