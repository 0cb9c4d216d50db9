"""The call-back form of an ending."""
