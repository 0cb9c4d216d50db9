"""The business hours of an organization."""
