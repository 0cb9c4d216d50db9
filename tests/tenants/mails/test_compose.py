"""Mails with notices: subjects without a second line, links, and one holder and an end between two workers."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest

from afterword.kit import db, sealing
from afterword.kit.texts import LANGUAGES
from afterword.kit.transport.base import Message
from afterword.tenants import mails
from afterword.tenants.mails import (
    ATTEMPTS_MAX,
    LEASE_SECONDS,
    LINKS,
    SUBJECT_CHARACTERS_MAX,
    Mail,
    Notice,
    compose,
    link_context,
)
from tests.cases.conftest import Desk
from tests.conftest import SITE

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CASE_ID = "c" * 22


def mail(*titles: str, count: int | None = None, locale: str = "en") -> Message:
    notices = tuple(Notice(title, "What happened.", f"/v3.2/alert/instance/{CASE_ID}") for title in titles)
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
    assert f"{SITE.public_url}/console/cases/{CASE_ID}" in message.text


@pytest.mark.parametrize("locale", LANGUAGES)
def test_leads_to_the_settings(locale: str) -> None:
    """In a sentence of the user's language, with a link; of the API it says nothing."""
    message = mail("A", locale=locale)
    url = f"{SITE.public_url}/console/settings/notifications"
    assert f'<a href="{url}"><bdi>{url}</bdi></a>' in html.unescape(message.html)
    assert re.search(rf" {re.escape(url)}$", message.text)
    assert not [word for word in ("PUT", "v3.2", "{") if word in message.text]


def test_in_the_users_language() -> None:
    message = mail("A", "B", locale="el")
    assert "el" == message.headers["Content-Language"]
    assert "notices" not in message.subject


@pytest.mark.parametrize("purpose", LINKS)
def test_link(purpose: str) -> None:
    url = f"{SITE.public_url}/console/{purpose}/{'s' * 22}"
    sealed = sealing.seal(url, secret=SITE.secret, context=link_context("m"))
    claimed = Mail(
        organization_id="o", mail_id="m", epoch=1, attempts=1, email="ann@example.com", locale="en",
        organization_name="Acme\nBcc: eve@example.com", notices=(), notices_count=0, purpose=purpose, link=sealed,
    )  # fmt: skip
    message = compose(claimed, recipient="ann@example.com", sender="s@shop.example", site=SITE, now=NOW)
    assert f'<a href="{url}">' in html.unescape(message.html)
    assert url in message.text
    assert "\n" not in message.subject
    assert "/settings/" not in message.text


async def scheduled(desk: Desk, database: db.Database, now: datetime) -> set[str]:
    key = (desk.house.organization_id, desk.house.user_id, now)
    return set((await mails.insert_mails(database, keys=[key, key], now=now)).values())


async def test_one_mail_for_a_user_and_a_time(desk: Desk) -> None:
    async with db.transaction(desk.pool) as database:
        now = database.clock.now()
        assert {} == await mails.insert_mails(database, keys=[], now=now)
        first = await scheduled(desk, database, now)
        assert 1 == len(first)
        assert first == await scheduled(desk, database, now)
        assert first != await scheduled(desk, database, now + timedelta(hours=1))


async def test_it_has_one_holder_and_is_given_up(desk: Desk) -> None:
    async with db.transaction(desk.pool) as database:
        now = database.clock.now()
        await scheduled(desk, database, now)
        for attempt in range(1, ATTEMPTS_MAX + 1):
            [mail] = await mails.claim_mails(database, now=now, limit=9)
            assert attempt == mail.attempts
            assert [] == await mails.claim_mails(database, now=now, limit=9)
            now += timedelta(seconds=LEASE_SECONDS + 1)
            await mails.settle_mail(database, mail=mail, outcome="retry", reason="later", now=now, jitter=1.0)
            now += timedelta(days=1)
        assert [] == await mails.claim_mails(database, now=now, limit=9)
        assert "failed" == await database.fetch_value("select state from notice_mail")
