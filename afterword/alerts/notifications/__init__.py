"""What users are told: which events, of what they watch, on the web and by mail."""
