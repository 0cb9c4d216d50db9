"""Kept counts: how often each value was given on each local day."""
