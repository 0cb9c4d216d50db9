"""The programs that tests run beside Python: those that are there, else Debian's by apt (as root).

Chromium opens the pages; without apt it is playwright's own. PHP runs the example of docs/webhooks.md; without apt that
test is skipped. Buildah and mmdebstrap make the container image; without root it is not tried. Dovecot has mailboxes,
likewise, and PgBouncer stands before PostgreSQL. PSPP and R read exports.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

# Without windows it takes half the processor time.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PACKAGES = {
    "php": "php-cli",
    "dovecot": "dovecot-imapd",
    "buildah": "buildah",
    "mmdebstrap": "mmdebstrap",
    "zstd": "zstd",
    "pgbouncer": "pgbouncer",
}  # of the other programs
STATISTICS = {"pspp": "pspp", "Rscript": "r-cran-haven"}  # of nightly tests alone, which ask for them
CLUSTER = {
    "patroni": "patroni",
    "etcd": "etcd-server",
    "haproxy": "haproxy",
    "pgbouncer": "pgbouncer",
    "pg_ctlcluster": "postgresql",
}  # of the test of a cluster, which asks for them
CHROMIUM_FLAGS = (
    "--no-sandbox",  # the tests may run as root; they visit pages of this process alone
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
APT_SECONDS_MAX = 600
CHROMIUM_VARIABLE = "AFTERWORD_TEST_CHROMIUM"


def find_chromium() -> str | None:
    """The path of a Chromium on this machine, or None."""
    chosen = os.environ.get(CHROMIUM_VARIABLE)
    if chosen:
        return chosen
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None) or _of_playwright()


def install() -> None:
    """Install the programs that are missing; raises SystemExit with what to do when there is no Chromium afterwards."""
    if has_apt():
        install_packages(*PACKAGES, more=[] if find_chromium() else ["chromium-headless-shell"])
    elif not find_chromium():
        print("Fetching playwright's Chromium for the page tests.")
        _run(sys.executable, "-m", "playwright", "install", "chromium")
    chromium = find_chromium()
    if not chromium:
        raise SystemExit(
            f"No Chromium could be found or installed. Install one, or set {CHROMIUM_VARIABLE} to its path."
        )
    print(f"Chromium: {chromium}.")
    for program in PACKAGES:
        print(f"{program}: {shutil.which(program) or 'missing, so its tests are skipped'}.")


def has_apt() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install_packages(*programs: str, more: Sequence[str] = ()) -> None:
    """Those of `programs` that are missing, and `more`. A run may ask twice at once, which apt refuses."""
    with Path(tempfile.gettempdir(), "afterword-programs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        packages = [
            *more,
            *({**PACKAGES, **STATISTICS, **CLUSTER}[program] for program in programs if not shutil.which(program)),
        ]
        if packages:
            print(f"Installing Debian's {', '.join(packages)} for the tests.")
            _run("apt-get", "update", "-qq")
            _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)


def download_packages(*packages: str, folder: Path) -> None:
    """Those of Debian's packages and of what they need that are not installed, as files."""
    with Path(tempfile.gettempdir(), "afterword-programs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        options = ("-qq", "-y", "--no-install-recommends", "--download-only", f"-oDir::Cache::archives={folder}")
        (folder / "partial").mkdir()
        _run("apt-get", "update", "-qq")
        _run("apt-get", *options, "install", *packages)


def _of_playwright() -> str | None:
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    names = ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*")
    found = [path for name in names for path in root.glob(f"chromium-*/{name}")]
    return str(max(found)) if found else None


def _run(*command: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.run(command, env=environment, timeout=APT_SECONDS_MAX, check=False).returncode:
        raise SystemExit(f"“{' '.join(command)}” failed. Install the program yourself and start again.")


if __name__ == "__main__":
    if sys.argv[1:] and has_apt():
        install_packages(*sys.argv[1:])
    elif not sys.argv[1:]:
        install()
