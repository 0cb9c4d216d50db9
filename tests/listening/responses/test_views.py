"""Saved views: own and shared ones, removed by whoever made them, and nothing of other organizations."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.kit import db
from afterword.kit.nouns import service
from afterword.listening.responses.views import VIEW, VIEWS_MAX, views_of
from tests.conftest import SITE
from tests.listening.reports.conftest import House

PATH = "/q/response/view"


async def titles(house: House, caller: Caller) -> list[str]:
    async with db.connection(house.pool) as database:
        return [one.title for one in await views_of(database, caller=caller)]


async def test_tokens_have_none(house: House) -> None:
    assert 403 == (await house.send("POST", PATH, {"title": "Mine", "query": "tab=unhappy"})).status_code
    assert 422 == (await house.send("POST", PATH, {"title": "", "query": "x" * 4_001})).status_code
    assert [] == (await house.get(PATH)).json()
    assert 404 == (await house.send("DELETE", f"{PATH}/{'0' * 22}")).status_code


async def test_own_and_shared(house: House, now: datetime) -> None:
    given: dict[str, Any] = {"site": SITE, "now": now}
    first = replace(house.caller, user_id=await house.add_user("a@demo.example"), role="agent")
    second = replace(house.caller, user_id=await house.add_user("b@demo.example"), role="agent")

    async def saved(database: db.Database, title: str, *, shared: bool = False) -> str:
        columns = {"title": title, "query": "tab=unhappy", "shared": shared}
        return (await service.create(VIEW, database, caller=first, columns=columns, **given)).record.view_id

    async with db.transaction(house.pool) as database:
        own, ours = await saved(database, " My  own "), await saved(database, "Ours", shared=True)
        for title in ("", "x" * 101, "a\x00b"):
            with pytest.raises(errors.Invalid):
                await saved(database, title)
        many = [await saved(database, "More") for _ in range(VIEWS_MAX - 2)]
        with pytest.raises(errors.Conflict):
            await saved(database, "One too many")
        for view_id in many:
            await service.delete(VIEW, database, caller=first, key=view_id, **given)
    assert ["My own", "Ours"] == await titles(house, first)
    assert ["Ours"] == await titles(house, second)
    async with db.transaction(house.pool) as database:
        with pytest.raises(errors.NotFound):
            await service.delete(VIEW, database, caller=second, key=own, **given)
        with pytest.raises(errors.Forbidden):
            await service.delete(VIEW, database, caller=second, key=ours, **given)
        with pytest.raises(errors.NotFound):
            await service.get(VIEW, database, caller=replace(first, organization_id="0" * 22), key=ours)
        await service.delete(VIEW, database, caller=first, key=own, **given)
        await service.delete(VIEW, database, caller=replace(second, role="owner"), key=ours, **given)
    assert [] == await titles(house, first)
