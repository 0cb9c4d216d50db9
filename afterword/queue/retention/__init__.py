"""Removes ended items after their retention time."""
