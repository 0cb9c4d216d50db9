"""Notifications: events of watched things, for users, in the API and by e-mail."""
