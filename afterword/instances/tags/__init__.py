"""Tags: short words that people and rules put on instances."""
