"""Quotas of a questionnaire: responses that count toward them, and the first that is full."""
