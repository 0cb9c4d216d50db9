"""Alerts: rules over responses, the cases that they open, their statuses and comments, and notifications."""
