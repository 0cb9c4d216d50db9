"""Running reports: check what is asked, count it, make the table."""
