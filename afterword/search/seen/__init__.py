"""The names and values of metadata that arrived lately."""
