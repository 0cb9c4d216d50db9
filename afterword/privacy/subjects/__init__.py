"""Whose is what: the items, instances and suppressions that were a person's."""
