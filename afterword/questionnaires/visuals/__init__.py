"""Visuals: the themes of questionnaires' pages."""
