"""Late outcomes: an attempt that was recorded as unknown turned out to be accepted or refused."""
