"""The wheel on Debians with other Pythons than the one of this machine, by pip, uvx and pipx."""

from pathlib import Path

import pytest

from release import debian, files, images
from tests.run.worker.faults.rig import needs


@pytest.mark.nightly
@pytest.mark.parametrize(("suite", "python"), [("trixie", "Python 3.13"), ("sid", "Python 3.14")])
def test_the_main_job(suite: str, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in images.PROGRAMS:
        needs(program)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):  # they trust the servers of tests alone
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_NATIVE_TLS", "true")
    files.build(tmp_path)
    assert debian.prove(tmp_path, suite).startswith(python)
