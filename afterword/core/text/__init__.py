"""Languages and public registers."""
