"""Suppressions as clients see them: listed, added by hand or from a file, lifted."""
