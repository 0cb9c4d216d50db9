"""Answers: kept as they are given, read one by one, by question and by response."""
