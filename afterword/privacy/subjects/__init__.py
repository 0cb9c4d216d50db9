"""The items, instances and suppressions of a person."""
