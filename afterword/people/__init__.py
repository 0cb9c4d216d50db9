"""One person: the timeline of all that was asked and answered, and a copy of all that is held."""
