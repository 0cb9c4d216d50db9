"""Pipelines: how and when the items of a questionnaire are sent."""
