"""Digests: who has some, and what may be mailed."""

from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.nouns import service
from afterword.kit.texts import CONSOLE_LANGUAGES
from afterword.listening.reports.digests import DIGEST, MailLocale
from tests.conftest import SITE
from tests.listening.reports.conftest import House
from tests.listening.screens.conftest import owner as owner  # noqa: PLC0414  a fixture
from tests.making import make_user


async def caller_of(house: House, role: str) -> Any:
    user_id = await make_user(house.pool, house.caller.organization_id, f"{role}@example.com", role=role)
    return replace(house.caller, user_id=user_id, role=role, token_id="")


async def create(house: House, caller: Any, now: datetime, **columns: Any) -> str:
    async with db.transaction(house.pool) as database:
        given = {"report_id": None, "frequency": "weekly", "day": 1, "hour": 8, "locale": "en", **columns}
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
    for columns in ({"day": 8}, {"report_id": "z"}):
        with pytest.raises(errors.Invalid):
            await create(owner, caller, now, **columns)
    async with db.transaction(owner.pool) as database:
        with pytest.raises(errors.NotFound):
            await service.delete(DIGEST, database, caller=other, key=digest_id, site=SITE, now=now)


def test_languages() -> None:
    """A digest comes in each language of the console."""
    assert {*CONSOLE_LANGUAGES} == {*get_args(get_args(MailLocale)[0])}
