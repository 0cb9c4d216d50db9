"""Pipelines and queue items: schedule, change, cancel, claim, begin, settle, reap."""
