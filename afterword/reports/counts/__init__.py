"""Counting answers and cases, from what is kept and from the rows themselves."""
