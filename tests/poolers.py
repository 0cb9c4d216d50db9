"""Debian's PgBouncer before a database of the tests, with its own defaults but for what a test says."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from afterword.run import embedded
from tests.journeys import processes
from tests.sizes import lack

SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # which users' PATH may lack
START_SECONDS_MAX = 30.0


@contextlib.contextmanager
def pgbouncer(url: str, *, port: int | None = None, **settings: object) -> Generator[str]:
    """The address of the database behind a PgBouncer; the test is left out where that is not here."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path=SYSTEM_FOLDERS) or lack("pgbouncer")
    parts = urlsplit(url)
    folder, database = Path(parse_qs(parts.query)["host"][0]), parts.path.removeprefix("/")
    login = f"user={parts.username} password={parts.password}"
    home, port = Path(tempfile.mkdtemp(prefix="afterword-pooler-")), port or processes.free_port()
    chosen = {"listen_addr": "127.0.0.1", "listen_port": port, "unix_socket_dir": "", "auth_type": "any", **settings}
    file = home / "pgbouncer.ini"
    file.write_text(
        f"[databases]\n{database} = host={folder} {login}\n[pgbouncer]\n"
        + "".join(f"{name} = {value}\n" for name, value in chosen.items())
    )
    owner = embedded.User.choose(folder)  # of the server's socket, and not root
    for path in (home, file):
        owner.own(path)
    with (home / "output").open("wb") as output:
        process = owner.spawn([program, str(file)], output)
    try:
        _wait_for(port, process, home / "output")
        yield f"postgresql://{parts.username}:{parts.password}@127.0.0.1:{port}/{database}?sslmode=disable"
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(home)


def _wait_for(port: int, process: "subprocess.Popen[bytes]", output: Path) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        assert process.poll() is None, output.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.01)
