"""The event log as clients read it, and how long it is kept."""
