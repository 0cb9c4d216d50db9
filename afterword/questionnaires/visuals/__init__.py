"""Visuals: how the pages of a questionnaire look."""
