"""Lists: a file of addresses from its reading to its import, with a dry run between."""
