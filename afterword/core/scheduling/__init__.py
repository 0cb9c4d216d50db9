"""When an item may leave: states and moves, windows, holidays, zones, retries, fair shares."""
