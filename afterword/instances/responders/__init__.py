"""Responders with what became of asking them: it stands here because instances know it, and responders do not."""
