"""The box in which the application's websites show a public link."""
