"""Saved views: own and shared ones, removed by whoever made them, and nothing of other organizations."""

from dataclasses import replace
from typing import Any

import pytest

from afterword import db, errors
from afterword.core.organizations.access import Caller
from afterword.responses.views import service
from tests.reports.conftest import House
from tests.reports.conftest import house as house  # noqa: PLC0414  a fixture
from tests.responses.test_service import now_of

PATH = "/q/response/view"


async def titles(house: House, caller: Caller) -> list[str]:
    async with db.connection(house.pool) as database:
        return [one.title for one in await service.list_views(database, caller=caller)]


async def test_tokens_have_none(house: House) -> None:
    assert 403 == (await house.send("POST", PATH, {"title": "Mine", "query": "tab=unhappy"})).status_code
    assert 422 == (await house.send("POST", PATH, {"title": "", "query": "x" * 4_001})).status_code
    assert [] == (await house.get(PATH)).json()
    assert 404 == (await house.send("DELETE", f"{PATH}/{'0' * 22}")).status_code


async def test_own_and_shared(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    now = await now_of(house)
    first = replace(house.caller, user_id=await house.add_user("a@demo.example"), role="agent")
    second = replace(house.caller, user_id=await house.add_user("b@demo.example"), role="agent")
    async with db.transaction(house.pool) as database:
        given: dict[str, Any] = {"query": "tab=unhappy", "now": now}
        own = await service.save(database, caller=first, title=" My  own ", shared=False, **given)
        shared = await service.save(database, caller=first, title="Ours", shared=True, **given)
        for title in ("", "x" * 101, "a\x00b"):
            with pytest.raises(errors.Invalid):
                await service.save(database, caller=first, title=title, shared=False, **given)
        monkeypatch.setattr(service, "VIEWS_MAX", 2)
        with pytest.raises(errors.Conflict):
            await service.save(database, caller=first, title="Third", shared=False, **given)
    assert ["My own", "Ours"] == await titles(house, first)
    assert ["Ours"] == await titles(house, second)
    async with db.transaction(house.pool) as database:
        with pytest.raises(errors.NotFound):
            await service.remove(database, caller=second, view_id=own.view_id)
        with pytest.raises(errors.Forbidden):
            await service.remove(database, caller=second, view_id=shared.view_id)
        with pytest.raises(errors.NotFound):
            await service.get(database, caller=replace(first, organization_id="0" * 22), view_id=shared.view_id)
        await service.remove(database, caller=first, view_id=own.view_id)
        await service.remove(database, caller=replace(second, role="owner"), view_id=shared.view_id)
    assert [] == await titles(house, first)
