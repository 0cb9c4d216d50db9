"""The scores of an application at one glance."""
