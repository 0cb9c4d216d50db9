"""Alert rules: their conditions, and the cases that they open."""
