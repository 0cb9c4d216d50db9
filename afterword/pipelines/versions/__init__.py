"""The versions of a pipeline, from what the audit log has of its changes."""
