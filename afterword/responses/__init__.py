"""Responses of all questionnaires, as people read them."""
