"""Geometry of charts: numbers in, places in percent of the picture out. Templates draw it."""
