"""Instances that were issued because of others, by a sequence."""
