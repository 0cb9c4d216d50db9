"""The trace of an item: its decision, its attempts, and the item that repeats it."""
