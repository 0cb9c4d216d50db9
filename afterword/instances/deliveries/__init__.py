"""Delivery receipts of providers, recorded on instances."""
