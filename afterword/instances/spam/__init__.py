"""Responses with signs of a machine or of haste: listed with their signs, and judged by people."""
