"""Items from files: a CSV of up to 200,000 rows, worked off piece by piece."""
