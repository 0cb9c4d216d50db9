"""Callback endpoints of providers: one for each account and form."""
