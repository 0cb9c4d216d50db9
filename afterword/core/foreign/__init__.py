"""Questionnaires of other systems: which file is of which, and what becomes of it here."""
