"""Sessions of the console, one row each."""
