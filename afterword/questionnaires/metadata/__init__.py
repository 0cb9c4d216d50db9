"""Metadata definitions: the names that an organization declares, and what an application knows of them."""
