"""What comes back about messages that left: receipts, bounces, complaints; and the addresses where they come in."""
