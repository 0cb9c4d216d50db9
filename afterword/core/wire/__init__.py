"""Formats of the wire and of files: times, lists, exports, imports."""
