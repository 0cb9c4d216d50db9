"""Tokens: what opens the API, for how long, for whom; and the short-lived ones that they are exchanged for."""
