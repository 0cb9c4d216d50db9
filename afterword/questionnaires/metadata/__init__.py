"""Metadata definitions: the names that an organization declares for its applications."""
