"""The row of each response, kept beside its answers."""
