"""Users who take cases, and their open cases."""
