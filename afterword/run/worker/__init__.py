"""The worker: everything that happens without anybody asking. `run` is its whole interface for the roots."""

from afterword.run.worker.loop import captured, run
from afterword.run.worker.pace import Pace

__all__ = ["Pace", "captured", "run"]
