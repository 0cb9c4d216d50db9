"""Decides whether a claimed item is sent, held or skipped: reads its facts, asks the core, reserves contacts."""
