"""Questionnaires, their immutable versions, groups and questions."""
