"""The event log: what happened, in the order of commits, for webhooks, alerts and rollups to read."""
