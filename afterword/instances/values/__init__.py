"""Single metadata values of instances and of responders."""
