"""Records the events of instances that expired before completion."""
