"""Instances that a sequence issued because of other instances."""
