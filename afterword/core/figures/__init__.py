"""Reports: periods, metrics with intervals, disclosure control."""
