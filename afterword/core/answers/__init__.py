"""Answers of an instance: forms, stored values, progress through the pages."""
