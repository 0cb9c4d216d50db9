"""Digests: who has some, and what may be mailed."""

import dataclasses
from datetime import datetime
from typing import Any, get_args

import pytest

from afterword import errors
from afterword.core.organizations.access import InsufficientScope
from afterword.kit import db
from afterword.kit.nouns import service
from afterword.kit.texts import CONSOLE_LANGUAGES
from afterword.listening.reports import digests
from afterword.listening.reports.digests import DIGEST, MailLocale
from tests.conftest import SITE
from tests.listening.reports.conftest import House
from tests.listening.screens.conftest import owner as owner  # noqa: PLC0414  a fixture
from tests.making import make_user


async def caller_of(house: House, role: str) -> Any:
    user_id = await make_user(house.pool, house.caller.organization_id, f"{role}@example.com", role=role)
    return dataclasses.replace(house.caller, user_id=user_id, role=role, token_id="")


async def create(house: House, caller: Any, now: datetime, **columns: Any) -> str:
    async with db.transaction(house.pool) as database:
        given = {"report_id": None, "frequency": "weekly", "day": 1, "hour": 8, "locale": "en"}
        given |= {"recipient": None, "comments": False, **columns}
        made = await service.create(DIGEST, database, caller=caller, columns=given, site=SITE, now=now)
        return made.record.digest_id


async def test_refusals(owner: House, now: datetime) -> None:
    """A token without a user, another user, a day that no week has, another report."""
    token = await owner.token_for(scopes={"Report.Read"})
    headers = {"Authorization": f"Bearer {token}"}
    body = {"frequency": "weekly", "day": 1}
    assert 403 == (await owner.send("POST", "/report/digest", body, **headers)).status_code
    assert [] == (await owner.send("GET", "/report/digest", **headers)).json()
    assert 404 == (await owner.send("DELETE", f"/report/digest/{'z' * 22}", **headers)).status_code
    caller, other = [await caller_of(owner, role) for role in ("admin", "reporting")]
    digest_id = await create(owner, caller, now)
    for columns in ({"day": 8}, {"report_id": "z"}, {"recipient": "no address"}):
        with pytest.raises(errors.Invalid):
            await create(owner, caller, now, **columns)
    async with db.transaction(owner.pool) as database:
        with pytest.raises(errors.NotFound):
            await service.delete(DIGEST, database, caller=other, key=digest_id, site=SITE, now=now)


def test_languages() -> None:
    """A digest comes in each language of the console."""
    assert {*CONSOLE_LANGUAGES} == {*get_args(get_args(MailLocale)[0])}


class TestRecipient:
    """Another address than the user's agrees first."""

    async def test_wrong(self, owner: House, now: datetime) -> None:
        report = {"questionnaire_ids": [owner.questionnaire_id], "metrics": [{"metric": "nps"}]}
        made = await owner.send("POST", "/report/custom", {"title": "Shops", "spec": report})
        caller = await caller_of(owner, "admin")
        with pytest.raises(errors.Invalid, match="recipient"):
            await create(owner, caller, now, recipient="ann@")
        with pytest.raises(errors.Invalid, match="comments"):
            await create(owner, caller, now, comments=True, report_id=made.json()["report_id"])
        weak = dataclasses.replace(caller, scopes=caller.scopes - {"Questionnaire Instance.Read"})
        with pytest.raises(InsufficientScope):
            await create(owner, weak, now, comments=True)

    async def test_own_address_needs_no_question(self, owner: House, now: datetime) -> None:
        caller = await caller_of(owner, "admin")
        await create(owner, caller, now, recipient="ADMIN@example.com")
        assert [(None, False)] == [(one.recipient, one.is_asked) for one in await found(owner, caller)]

    async def test_too_many_are_asked(self, owner: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(digests, "ASKED_MAX", 0)
        caller = await caller_of(owner, "admin")
        with pytest.raises(errors.TooMany):
            await create(owner, caller, now, recipient="ann@example.com")

    async def test_none_is_sent_at_once(self, owner: House, now: datetime) -> None:
        caller = await caller_of(owner, "admin")
        digest_id = await create(owner, caller, now, recipient="ann@example.com")
        async with db.transaction(owner.pool) as database:
            with pytest.raises(errors.Conflict, match="agreed"):
                await digests.send_now(database, caller=caller, digest_id=digest_id, now=now)


async def found(house: House, caller: Any) -> Any:
    async with db.connection(house.pool) as database:
        return await digests.digests_of(database, caller=caller)
