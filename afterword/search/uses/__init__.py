"""The places where a question is used, for authors who change or remove it."""
