"""One module for each SQL file: its number, the number before it, and the name of the file."""
