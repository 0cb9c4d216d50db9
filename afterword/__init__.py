"""Afterword: customer-satisfaction questionnaires, scheduled, sent, answered and measured."""

__version__ = "1.0.0"
