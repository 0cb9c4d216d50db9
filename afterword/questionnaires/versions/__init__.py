"""Reads published versions; `questionnaires/service.py` creates them."""
