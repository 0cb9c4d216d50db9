"""Reports, comments, digests."""
