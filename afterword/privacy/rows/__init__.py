"""Personal data in the tables of all packages, and their erasure."""
