"""A made-up shop with the answers of the last days, so that each screen has something to show."""
