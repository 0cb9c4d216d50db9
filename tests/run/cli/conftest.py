from pathlib import Path

import pytest

from tests.run.backups.conftest import original as original  # noqa: PLC0414  a fixture
from tests.run.cli.shell import Operator


@pytest.fixture
def operator(database_url: str, tmp_path: Path) -> Operator:
    return Operator(database_url, tmp_path)
