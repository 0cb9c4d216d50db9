"""Exports: responses as a file, which a worker writes piece by piece and resumes where it stopped."""
