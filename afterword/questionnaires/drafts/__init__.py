"""Drafts of questionnaires, edited until they are published."""
