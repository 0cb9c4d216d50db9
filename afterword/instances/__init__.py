"""Questionnaire instances, their answers and their public pages."""
