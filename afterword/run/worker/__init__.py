"""The worker: everything that happens without anybody asking. `run` is its whole interface for the roots."""

from afterword.run.worker.flights import Pace
from afterword.run.worker.loop import captured, run

__all__ = ["Pace", "captured", "run"]
