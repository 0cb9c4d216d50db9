"""Many items in one request: checked one by one, written together."""
