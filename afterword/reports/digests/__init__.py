"""Reports that are mailed to a user every week or month."""
