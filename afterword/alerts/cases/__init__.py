"""Alert instances: the cases that alerts open, and the comments on them."""
