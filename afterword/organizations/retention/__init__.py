"""Retention periods of organizations, and legal holds."""
