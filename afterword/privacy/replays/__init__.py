"""Retention runs that are repeated in a restored database."""
