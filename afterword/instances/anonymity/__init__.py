"""Mixes the answers of anonymous questionnaires before they become responses."""
