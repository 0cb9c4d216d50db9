"""Words of comments, and of those of each group."""
