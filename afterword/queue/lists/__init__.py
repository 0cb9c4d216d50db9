"""Queue items of all pipelines: a page of them, and how many there are by status and reason."""
