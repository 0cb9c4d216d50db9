"""Published versions as they are shown; making one is in `questionnaires/service.py`."""
