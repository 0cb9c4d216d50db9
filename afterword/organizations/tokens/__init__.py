"""API tokens, and the short-lived access tokens that they are exchanged for."""
