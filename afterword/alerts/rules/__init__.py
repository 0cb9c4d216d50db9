"""Alert rules: over which responses they look, and what they open."""
