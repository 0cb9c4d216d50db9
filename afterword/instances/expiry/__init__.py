"""Telling of instances whose time ended without an answer to the end."""
