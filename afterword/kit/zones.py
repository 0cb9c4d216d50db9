"""The time zone data that Python reads: the system's or those of the package tzdata, whichever are newer.

Python itself takes the system's wherever there are any, however old. PostgreSQL's are not used: no statement names a
zone but UTC.
"""

import zoneinfo
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import tzdata

RELEASE_FILES: Final = {"tzdata.zi": "# version ", "+VERSION": ""}  # of Debian, Fedora and Alpine; of macOS
LINE_CHARACTERS_MAX: Final = 100


class Releases(msgspec.Struct, frozen=True):
    """Such as 2026f; empty where it is not told, which counts as old."""

    system: str
    package: str

    @property
    def newest(self) -> str:
        return max(self.system, self.package)


@cache
def use_newest() -> Releases:
    """Read the newer ones from now on."""
    found = Releases(max((_release_of(Path(folder)) for folder in zoneinfo.TZPATH), default=""), tzdata.IANA_VERSION)
    if found.system < found.package:
        zoneinfo.reset_tzpath(())
        zoneinfo.ZoneInfo.clear_cache()
    return found


def _release_of(folder: Path) -> str:
    for name, prefix in RELEASE_FILES.items():
        try:
            with (folder / name).open(encoding="ascii", errors="replace") as file:
                line = file.readline(LINE_CHARACTERS_MAX).strip()
        except OSError:
            continue
        if line.startswith(prefix):
            return line.removeprefix(prefix)
    return ""
