"""Questionnaires: the builder, publication, translations."""
