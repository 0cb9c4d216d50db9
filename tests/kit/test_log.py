"""Logs: one line an event, without secrets or addresses."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from afterword.kit import log


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    before, configured = (logging.getLogger().handlers[:], logging.getLogger().level), structlog.get_config()
    stream = io.StringIO()
    log.set_up(level="info", as_json=True, stream=stream)
    yield stream
    logging.getLogger().handlers[:] = before[0]
    logging.getLogger().setLevel(before[1])
    structlog.configure(**configured)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("no such mailbox ann@example.com", "ann@example.com"),
        ("to=<ann+tag@example.com>: refused", "ann+tag@example.com"),
        ("to +30 691 234 5678 failed", "691 234 5678"),
        ("token afw_0123456789abcdef_0123456789abcdef0123456789abcdefXXXXXX", "afw_0123456789abcdef"),
        ("connect to smtp://user:hunter2@host:25", "hunter2"),
        ("GET /a/0351VwJ8vVZAvSDCBSW1M0 gave 500", "0351VwJ8vVZAvSDCBSW1M0"),
        ("POST /u/0351VwJ8vVZAvSDCBSW1M0?x=1", "0351VwJ8vVZAvSDCBSW1M0"),
        ("GET /s/0351VwJ8vVZA", "0351VwJ8vVZA"),
    ],
)
@pytest.mark.parametrize("name", ["ours", "library"])
def test_hides(lines: io.StringIO, text: str, secret: str, name: str) -> None:
    if name == "library":
        logging.getLogger(name).error("failed: %s", text)
    else:
        structlog.get_logger(name).error("failed", detail=text, nested={"to": [text]}, password="hunter2")
    assert 1 == lines.getvalue().count("\n")
    assert secret not in lines.getvalue()
    assert "hunter2" not in lines.getvalue()


def test_one_line_even_with_a_traceback(lines: io.StringIO) -> None:
    try:
        int("ann@example.com\n")
    except ValueError:
        structlog.get_logger("ours").exception("boom")
    written = lines.getvalue()
    assert 1 == written.count("\n")
    assert "ann@example.com" not in written
    assert "boom" == json.loads(written)["event"]


def test_a_long_traceback_keeps_its_end(lines: io.StringIO) -> None:
    def fall(depth: int) -> None:
        if depth:
            fall(depth - 1)  # many frames of somebody else's code, as a framework has them
        raise ValueError("x" * 5_000 + " what happened")

    try:
        fall(20)
    except ValueError:
        structlog.get_logger("ours").exception("boom")
    exception: str = json.loads(lines.getvalue())["exception"]
    assert exception.startswith("Traceback")
    assert exception.endswith("what happened")
    assert log.VALUE_CHARACTERS_MAX == len(exception)


def test_hides_the_row_that_the_database_refused(lines: io.StringIO) -> None:
    """PostgreSQL tells all of its values, names and texts among them."""
    refusal = ValueError("new row violates a check\nDETAIL:  Failing row contains (1, Ann Lee, two\nlines).")
    structlog.get_logger("afterword").error("a job failed", exc_info=refusal)
    assert "new row violates a check" in lines.getvalue()
    assert "Ann" not in lines.getvalue()
    assert "lines)" not in lines.getvalue()


def test_a_warning_that_strangers_cause_is_told_once_a_minute(
    lines: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(log.time, "monotonic", lambda: now)
    server = logging.getLogger("uvicorn.error")
    for now in (0.0, 1.0, 59.0, 60.0, 61.0):  # noqa: B007  which the clock reads
        server.warning("Invalid HTTP request received.")
        server.error("The application failed.")
    assert 2 == lines.getvalue().count("Invalid HTTP request received.")
    assert 5 == lines.getvalue().count("The application failed.")
