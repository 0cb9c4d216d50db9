"""Conditions of an organization on how its people come into the console."""
