"""The names that providers give to messages they accepted."""
