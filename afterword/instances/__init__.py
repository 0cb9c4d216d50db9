"""Questionnaire instances and their answers; pages.py is the public answer page."""
