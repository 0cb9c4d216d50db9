"""The audit log: who changed, read or took what, and who logged in. Its rows are never changed."""
