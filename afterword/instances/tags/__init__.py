"""Tags that users and alert rules add to instances."""
