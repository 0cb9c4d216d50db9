"""Whether a claimed item goes, waits or is skipped: its facts gathered, the decision of the core, places reserved."""
