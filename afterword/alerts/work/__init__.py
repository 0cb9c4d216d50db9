"""Cases as agents work through them, with names in place of ids."""
