"""The values that answers give."""
