"""Hosts of their own that organizations give their public pages: claimed, proven by a record in DNS, and held."""
