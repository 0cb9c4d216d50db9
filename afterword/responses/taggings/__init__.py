"""A tag for many responses at once, in bounded parts, which can be undone."""
