"""Messages that are kept in place of being sent."""
