"""The responses that each user has read."""
