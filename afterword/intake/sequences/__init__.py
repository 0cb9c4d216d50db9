"""Sequences: a response to one questionnaire puts an item into the queue of another."""
