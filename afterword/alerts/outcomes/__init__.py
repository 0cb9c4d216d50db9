"""Causes and remedies of the cases of responses."""
