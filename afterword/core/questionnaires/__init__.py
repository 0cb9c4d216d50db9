"""Definitions of questionnaires: questions, conditions, metadata, themes."""
