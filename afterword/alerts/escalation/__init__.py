"""Cases that are overdue, or open for too long."""
