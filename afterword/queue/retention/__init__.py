"""How long the records of ended items are kept, and their orderly end."""
