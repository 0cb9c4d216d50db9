"""Copies of an installation: backups in a folder or an S3-shaped store, restores, and moves between databases."""
