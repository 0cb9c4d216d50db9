"""Delivery receipts, bounces and complaints of sent messages, and the endpoints that receive them."""
