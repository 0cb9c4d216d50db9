"""Builds the files of a release, and proves them where the repository is not."""
