"""Public links on a device that many people use, one after the other."""
