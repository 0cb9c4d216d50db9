"""The Chromium that the page tests drive: one that is there, else Debian's by apt (as root), else playwright's own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--no-sandbox",  # the tests may run as root; they visit pages of this process alone
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
APT_SECONDS_MAX = 600
VARIABLE = "AFTERWORD_TEST_CHROMIUM"


def find() -> str | None:
    """The path of a Chromium on this machine, or None."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return chosen
    return next((path for name in NAMES if (path := shutil.which(name))), None) or _of_playwright()


def install() -> str:
    """Find one or get one, and say which; raises SystemExit with what to do when there is no way."""
    found = find()
    if found:
        print(f"Chromium for the page tests: {found} (it was there).")
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Chromium for the page tests: installing Debian's package with apt.")
        _run("apt-get", "update", "-qq")
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium")
    else:
        print("Chromium for the page tests: fetching the one of playwright.")
        _run(sys.executable, "-m", "playwright", "install", "chromium")
    found = find()
    if not found:
        raise SystemExit(f"No Chromium could be found or installed. Install one, or set {VARIABLE} to its path.")
    print(f"Chromium for the page tests: {found} (installed now).")
    return found


def _of_playwright() -> str | None:
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    names = ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*")
    found = [path for name in names for path in root.glob(f"chromium-*/{name}")]
    return str(max(found)) if found else None


def _run(*command: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.run(command, env=environment, timeout=APT_SECONDS_MAX, check=False).returncode:
        raise SystemExit(f"“{' '.join(command)}” failed. Install Chromium yourself, or set {VARIABLE} to its path.")


if __name__ == "__main__":
    install()
