"""A real mail server for the tests of mailboxes: Dovecot, started as root, with a Maildir for one user."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.processes import free_port
from tests.sending.channels.conftest import Certificate

NOBODY = 65534
USER = "answers@shop.example"
PASSWORDS = {USER: 'pass "word"\\1', "greek": "κωδικός"}
SECONDS_MAX = 20.0
TRY_AGAIN_SECONDS = 0.05


@dataclass(frozen=True)
class Mailserver:
    """Ports of a server, and the Maildir of its one mailbox, which both users share."""

    tls: int
    starttls: int
    maildir: Path

    def deliver(self, content: bytes) -> None:
        """Put a mail into the mailbox, behind those that are there."""
        name = f"{time.time_ns()}.test"
        file = self.maildir / "tmp" / name
        file.write_bytes(content)
        os.chown(file, NOBODY, NOBODY)
        file.rename(self.maildir / "new" / name)

    def flags(self) -> list[str]:
        """The flags of each mail, by name; S: seen."""
        found = sorted([*(self.maildir / "new").iterdir(), *(self.maildir / "cur").iterdir()], key=lambda one: one.name)
        return [one.name.partition(":2,")[2] for one in found]

    def reset(self) -> None:
        """Change the UIDVALIDITY, as after a move to another machine; the mails keep their UIDs."""
        for file in self.maildir.glob("dovecot.index*"):
            file.unlink()
        uids = self.maildir / "dovecot-uidlist"
        uids.write_text(re.sub(r" V(\d+)", lambda found: f" V{int(found[1]) + 1}", uids.read_text(), count=1))

    def clear(self) -> None:
        for file in [*(self.maildir / "new").iterdir(), *(self.maildir / "cur").iterdir()]:
            file.unlink()


@pytest.fixture(scope="session")
def started(certificate: Certificate) -> Generator[Mailserver]:
    if os.geteuid() != 0 or shutil.which("dovecot") is None:
        pytest.skip("Dovecot is not there, or may not be started")
    # Its own users must reach the folder, which those of pytest do not let them.
    with (
        tempfile.TemporaryDirectory(prefix="afterword-dovecot-") as folder,
        running(Path(folder), certificate=certificate) as server,
    ):
        yield server


@pytest.fixture
def mailserver(started: Mailserver, certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> Mailserver:
    """The server with an empty mailbox, trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    started.clear()
    return started


@contextmanager
def running(folder: Path, *, certificate: Certificate) -> Generator[Mailserver]:
    tls, starttls = free_port(), free_port()
    folder.chmod(0o755)
    home = folder / "home"
    for part in ("cur", "new", "tmp"):
        (home / "Maildir" / part).mkdir(parents=True)
    for path in (home, *home.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    users = folder / "users"
    lines = [f"{name}:{{PLAIN}}{password}::::::\n" for name, password in PASSWORDS.items()]
    users.write_text("".join(lines), encoding="utf-8")
    users.chmod(0o644)
    file = folder / "dovecot.conf"
    file.write_text(
        f"""
protocols = imap
listen = 127.0.0.1, 127.0.0.2
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
ssl = required
ssl_cert = <{certificate.file}
ssl_key = <{certificate.key}
auth_mechanisms = plain login
first_valid_uid = 1
mail_location = maildir:~/Maildir
auth_failure_delay = 0
passdb {{
  driver = passwd-file
  args = {users}
}}
userdb {{
  driver = static
  args = uid={NOBODY} gid={NOBODY} home={home}
}}
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  inet_listener imap {{
    port = {starttls}
  }}
  inet_listener imaps {{
    port = {tls}
    ssl = yes
  }}
}}
""",
        encoding="utf-8",
    )
    process = subprocess.Popen(["dovecot", "-F", "-c", str(file)])  # noqa: S607
    try:
        _wait_for(tls, process)
        yield Mailserver(tls, starttls, home / "Maildir")
    finally:
        process.terminate()
        process.wait(SECONDS_MAX)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return once the server listens; one that ended before, or takes too long, fails at once."""
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            with suppress(subprocess.TimeoutExpired):
                process.wait(TRY_AGAIN_SECONDS)
            if process.returncode is not None or time.monotonic() > deadline:
                raise
        else:
            return
