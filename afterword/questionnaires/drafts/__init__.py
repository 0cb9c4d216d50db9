"""Drafts: what is edited of a questionnaire until it is published."""
