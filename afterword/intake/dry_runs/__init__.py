"""What would become of items, without writing anything."""
