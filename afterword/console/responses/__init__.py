"""Responses: tags, saved views, exports."""
