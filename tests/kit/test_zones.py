"""The newer of the system's and the package's time zone data is read."""

import subprocess
import sys
import zoneinfo
from collections.abc import Iterator
from pathlib import Path

import pytest
import tzdata

from afterword.kit import zones


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(zoneinfo, "TZPATH", (str(tmp_path / "absent"), str(tmp_path)))
    monkeypatch.setattr(zoneinfo, "reset_tzpath", lambda to: monkeypatch.setattr(zoneinfo, "TZPATH", to))
    zones.use_newest.cache_clear()
    yield tmp_path
    zones.use_newest.cache_clear()


@pytest.mark.parametrize("first_line", [None, "", "version", "# version 2025b", "# version 1996a"])
def test_an_older_system_or_one_that_does_not_tell(system: Path, first_line: str | None) -> None:
    if first_line is not None:
        (system / "tzdata.zi").write_text(f"{first_line}\nZ Europe/Athens 2 - EET\n")
    assert (tzdata.IANA_VERSION, ()) == (zones.use_newest().newest, zoneinfo.TZPATH)


@pytest.mark.parametrize(("file", "text"), [("tzdata.zi", "# version 2099a\n"), ("+VERSION", "2099a\n")])
def test_a_newer_system(system: Path, file: str, text: str) -> None:
    (system / file).write_text(text)
    assert ("2099a", str(system)) == (zones.use_newest().newest, zoneinfo.TZPATH[1])


def test_each_process_begins_with_it() -> None:
    """British Columbia has kept its summer time since 2026, as older data do not know."""
    script = (
        "import sys; from datetime import datetime, timezone; from zoneinfo import ZoneInfo\n"
        "sys.argv[1:] = ['--version']\nfrom afterword import __main__\n"
        "try: __main__.main()\n"
        "except SystemExit: pass\n"
        "print(datetime(2026, 12, 15, tzinfo=timezone.utc).astimezone(ZoneInfo('America/Vancouver')).utcoffset())"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60)
    assert "-1 day, 17:00:00" == found.stdout.splitlines()[-1]
