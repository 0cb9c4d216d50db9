"""Reads JSON that clients and files send, and collects everything that is wrong with it."""
