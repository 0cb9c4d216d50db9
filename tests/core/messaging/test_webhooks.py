"""Webhooks as rules: what is wanted, signatures, what answers mean, when there is another attempt."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from afterword.core.messaging import webhooks as rules
from afterword.core.messaging.webhooks import Reply

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class TestRetry:
    @pytest.mark.parametrize(("attempts", "seconds"), list(enumerate(rules.RETRY_SECONDS, 1)))
    def test_schedule(self, attempts: int, seconds: int) -> None:
        reply = Reply(duration_ms=1, status=500)
        assert NOW + timedelta(seconds=seconds) == rules.retry_time(reply, attempts=attempts, now=NOW, jitter=1.0)

    def test_the_last_one(self) -> None:
        reply = Reply(duration_ms=1, error="no")
        assert rules.retry_time(reply, attempts=rules.ATTEMPTS_MAX, now=NOW, jitter=1.0) is None

    def test_gone(self) -> None:
        assert rules.retry_time(Reply(duration_ms=1, status=410), attempts=1, now=NOW, jitter=1.0) is None

    @pytest.mark.parametrize(
        ("status", "asked", "seconds"),
        [(429, 60.0, 60), (503, 0.0, 5), (503, 1e9, 3600), (500, 60.0, 5), (404, 60.0, 5), (502, None, 5)],
    )
    def test_retry_after(self, status: int, asked: float | None, seconds: float) -> None:
        reply = Reply(duration_ms=1, status=status, retry_after_seconds=asked)
        assert NOW + timedelta(seconds=seconds) == rules.retry_time(reply, attempts=1, now=NOW, jitter=1.0)

    @given(st.integers(1, 20), st.floats(0.8, 1.2), st.integers(100, 599), st.floats(0, 1e12) | st.none())
    def test_later_and_within_reason(self, attempts: int, jitter: float, status: int, asked: float | None) -> None:
        reply = Reply(duration_ms=1, status=status, retry_after_seconds=asked)
        again = rules.retry_time(reply, attempts=attempts, now=NOW, jitter=jitter)
        assert again is None or timedelta(seconds=1) <= again - NOW <= timedelta(hours=29)


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            (None, None), ("", None), ("x", None), ("-1", None), ("1.5", None), ("10 s", None), ("٣", None),
            ("9999999999", None), ("0", 0.0), (" 120 ", 120.0), ("Sat, 21 Nov 2026 12:01:00 GMT", 60.0),
            ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0), ("Sat, 21 Nov 2026 12:01:00", None),
        ],
    )  # fmt: skip
    def test_table(self, text: str | None, seconds: float | None) -> None:
        assert seconds == rules.read_retry_after(text, now=NOW)


class TestExcerpt:
    @pytest.mark.parametrize(
        ("body", "text"),
        [
            (b"", None), (b"ok", "ok"), ("Όχι".encode(), "Όχι"), (b"<b>no</b>", "<b>no</b>"), (b"a\nb\tc", "a\nb\tc"),
            (b"\x00\x1b[31m", "\ufffd\ufffd[31m"), (b"\xff\xfe", "\ufffd\ufffd"), ("\u202e".encode(), "\ufffd"),
        ],
    )  # fmt: skip
    def test_table(self, body: bytes, text: str | None) -> None:
        assert text == rules.excerpt_of(body)

    @given(st.binary(max_size=10_000))
    def test_short_and_storable(self, body: bytes) -> None:
        text = rules.excerpt_of(body) or ""
        assert len(text) <= rules.EXCERPT_CHARACTERS_MAX
        assert "\x00" not in text
        text.encode()


@pytest.mark.parametrize(
    ("text", "named"),
    [("queue_item.sended", "queue_item.sent"), ("queue.sent", "queue_item.*"), ("", "alert_instance.*")],
)
def test_an_unknown_type_is_told_those_that_there_are(text: str, named: str) -> None:
    assert named in (rules.check_type(text) or "").removesuffix(".").removeprefix(
        "There is no such type. There are: "
    ).split(", ")
    assert rules.check_type(named) is None


def test_given_up() -> None:
    days = timedelta(days=rules.FAILING_DAYS_MAX)
    assert rules.is_given_up(failing_since=NOW - days, now=NOW)
    assert not rules.is_given_up(failing_since=NOW - days + timedelta(seconds=1), now=NOW)
