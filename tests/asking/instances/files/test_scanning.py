"""The operator's command: its input, its exit status, and what is no answer."""

import pytest

from afterword.asking.instances import files


@pytest.mark.parametrize(
    ("command", "result"),
    [
        (["true"], "clean"),
        (["grep", "-qv", "EICAR"], "harmful"),
        (["grep", "-q", "EICAR"], "clean"),
        (["sh", "-c", "exit 2"], "unchecked"),
        (["sh", "-c", "kill -9 $$"], "unchecked"),
        (["sh", "-c", 'test -z "$AFTERWORD_SECRET"'], "clean"),
        (["no-such-program-anywhere"], "unchecked"),
        (["sleep", "60"], "unchecked"),
    ],
)
async def test_results(command: list[str], result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_SECRET", "s" * 32)
    assert result == await files.scan(command, b"EICAR" + b"x" * 200_000, seconds=0.5)
