"""HTTP plumbing that knows no family and no database."""
