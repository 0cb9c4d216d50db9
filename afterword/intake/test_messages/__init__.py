"""Messages sent as a test: one now, through the pipeline's own account; no item, no instance, no credit."""
