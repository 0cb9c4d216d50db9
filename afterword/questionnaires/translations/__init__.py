"""Translations of a draft: listed, saved, and as files out and in."""
