"""An embedded PostgreSQL: programs from a wheel, a cluster in the data folder, one owning process.

All files are in `<data folder>/postgresql`: the copied programs, the cluster, the passwords, the socket, the log.
The server listens on its socket alone. Linux and macOS; elsewhere a database URL is needed.
"""

from afterword.run.embedded.binaries import VERSION_MIN, Binaries, find_binaries
from afterword.run.embedded.processes import AlreadyRunning, EmbeddedError, WrongVersion, clear_leftovers
from afterword.run.embedded.server import Server, is_made, running_url, start

__all__ = [
    "VERSION_MIN", "AlreadyRunning", "Binaries", "EmbeddedError", "Server", "WrongVersion", "clear_leftovers",
    "find_binaries", "is_made", "running_url", "start",
]  # fmt: skip
