"""The programs that tests run beside Python: those that are there, else Debian's by apt (as root).

Chromium opens the pages; without apt it is playwright's own. PHP runs the example of docs/webhooks.md; without apt that
test is skipped. Buildah and mmdebstrap make the container image; without root it is not tried.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Without windows it takes half the processor time.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PACKAGES = {"php": "php-cli", "buildah": "buildah", "mmdebstrap": "mmdebstrap"}  # of the other programs
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
    if os.geteuid() == 0 and shutil.which("apt-get"):
        missing = [package for program, package in PACKAGES.items() if not shutil.which(program)]
        _install_packages([*([] if find_chromium() else ["chromium-headless-shell"]), *missing])
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
