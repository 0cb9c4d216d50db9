"""Dry runs: forecasts for items, without writing anything."""
