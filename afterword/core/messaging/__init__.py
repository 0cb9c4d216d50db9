"""Messages: addresses, placeholders, SMS segments, webhooks, notices and alert rules."""
