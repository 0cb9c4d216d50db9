"""The programs that tests run beside Python: those that are there, else Debian's by apt (as root).

Chromium opens the pages; without apt it is playwright's own. PHP runs the example of docs/webhooks.md; without apt that
test is skipped.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Without windows it takes half the processor time.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
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
    has_chromium, has_php = find_chromium() is not None, shutil.which("php") is not None
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _install_packages([*([] if has_chromium else ["chromium-headless-shell"]), *([] if has_php else ["php-cli"])])
    elif not has_chromium:
        print("Fetching playwright's Chromium for the page tests.")
        _run(sys.executable, "-m", "playwright", "install", "chromium")
    chromium = find_chromium()
    if not chromium:
        raise SystemExit(
            f"No Chromium could be found or installed. Install one, or set {CHROMIUM_VARIABLE} to its path."
        )
    print(f"Chromium: {chromium}. PHP: {shutil.which('php') or 'missing, so one test is skipped'}.")


def _install_packages(packages: Sequence[str]) -> None:
    if packages:
        print(f"Installing Debian's {' and '.join(packages)} for the tests.")
        _run("apt-get", "update", "-qq")
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)


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
    install()
