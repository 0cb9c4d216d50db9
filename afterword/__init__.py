"""Afterword: customer-satisfaction questionnaires, scheduled, sent, answered and measured."""

__version__ = "0.1.0"
