"""Links by which somebody without a login reads the figures of a report, until they end."""
