"""Saved views: filters of responses with a name, own or shared."""
