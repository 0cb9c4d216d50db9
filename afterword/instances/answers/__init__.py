"""Stored answers, read singly, by question and by response."""
