"""Contents of callbacks with a good signature; forged ones are in tests/sending/receipts/test_inbound.py."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterword.core.messaging import webhooks
from afterword.core.sources.parts import AGE_SECONDS_MAX
from afterword.kit.transport.mime import REPORTS_MAX, Unreadable, Unsigned
from afterword.sending.channels import callbacks
from afterword.sending.channels.callbacks import CallbackResult, read_standard

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY = webhooks.secret_of(b"k" * 24)


def read(body: bytes, *, moved: int = 0, key: str = KEY) -> CallbackResult:
    """A callback that was signed `moved` seconds from now."""
    headers = webhooks.sign(body, event_id="m", timestamp=int(NOW.timestamp()) + moved, keys=[KEY])
    signatures = f"v1a,x v1,bm8= {headers['webhook-signature']}"
    return read_standard(headers={**headers, "webhook-signature": signatures}, body=body, key=key, now=NOW)


@pytest.mark.parametrize("moved", [-AGE_SECONDS_MAX - 1, AGE_SECONDS_MAX + 1])
def test_too_old_or_ahead(moved: int) -> None:
    with pytest.raises(Unsigned, match="five minutes"):
        read(b"[]", moved=moved)


def test_another_key() -> None:
    with pytest.raises(Unsigned, match="another secret made it"):
        read(b"[]", key=webhooks.secret_of(b"o" * 24))


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'[{"kind": "unsubscribed"}]', b"[1]", b"[" * 100_000, b"[%s]" % b",".join(
        [b'{"kind":"accepted"}'] * (REPORTS_MAX + 1))],
)  # fmt: skip
def test_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read(body)


@pytest.mark.parametrize(
    ("entry", "is_hard"),
    [
        ({"kind": "bounced", "code": "5.1.1"}, True),
        ({"kind": "bounced", "code": "5.7.1"}, False),
        ({"kind": "bounced", "code": "5.7.1", "is_hard": True}, True),
        ({"kind": "bounced", "code": "5.1.1", "is_hard": False}, False),
        ({"kind": "delivered", "is_hard": True}, False),
    ],
)
def test_which_addresses_do_not_exist(entry: dict[str, Any], *, is_hard: bool) -> None:
    [report] = read(json.dumps([entry]).encode()).reports
    assert (entry["kind"], is_hard) == (report.kind, report.is_hard)


def test_a_time_ahead_is_now_and_another_text_is_none() -> None:
    later = (NOW + timedelta(days=1)).isoformat()
    times = [later, "2026-11-21T10:00:00", "soon"]
    reports = read(json.dumps([{"kind": "accepted", "time": time} for time in times]).encode()).reports
    assert [NOW, NOW - timedelta(hours=2), None] == [report.time for report in reports]


def test_what_is_no_certificate_cannot_be_pinned() -> None:
    assert "This is no certificate in PEM." == callbacks.check_certificate("-----BEGIN CERTIFICATE-----")
