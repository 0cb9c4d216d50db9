"""The work on cases: business hours, causes and remedies to choose from, saved texts."""
