"""Exports: responses as a file, written piece by piece by a worker, resumed where it stopped, streamed to who asks."""
