"""The mail with notices: a single one names itself, several are counted, and a title brings in no line."""

from datetime import UTC, datetime

import pytest

from afterword.alerts.mails.compose import SUBJECT_CHARACTERS_MAX, compose
from afterword.alerts.mails.store import Mail, Notice
from afterword.channels.base import Message
from tests.conftest import SITE

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def mail(*titles: str, count: int | None = None, locale: str = "en") -> Message:
    notices = tuple(Notice(title, "What happened.", "/v3.2/alert/instance/x") for title in titles)
    claimed = Mail(
        organization_id="o", mail_id="m", epoch=1, attempts=1, email="ann@example.com", locale=locale,
        organization_name="Acme", notices=notices, notices_count=count or len(notices),
    )  # fmt: skip
    return compose(claimed, recipient="ann@example.com", sender="s@shop.example", site=SITE, now=NOW)


@pytest.mark.parametrize(
    ("titles", "subject"),
    [
        (["A new case"], "A new case"),
        (["A\r\nBcc: eve@example.com"], "A Bcc: eve@example.com"),
        (["x" * 999], "x" * SUBJECT_CHARACTERS_MAX),
        (["A", "B"], "2 notices"),
    ],
)
def test_subject(titles: list[str], subject: str) -> None:
    assert subject == mail(*titles).subject


def test_content() -> None:
    message = mail("<b>A</b>", "B", count=7)
    assert "&lt;b&gt;A" in message.html
    assert "And 5 more." in message.text
    assert f"GET {SITE.public_url}/v3.2/alert/instance/x" in message.text
    assert "PUT " in message.text


def test_in_the_users_language() -> None:
    message = mail("A", "B", locale="el")
    assert "el" == message.headers["Content-Language"]
    assert "notices" not in message.subject
