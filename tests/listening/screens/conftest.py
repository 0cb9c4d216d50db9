"""The house of the tests of reports, its owner in a browser, and some responses."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.listening.reports.conftest import (
    NPS,
    TEXT,
    House,
    house as house,  # noqa: PLC0414  a fixture
    now as now,  # noqa: PLC0414  a fixture
    now_of,
)
from tests.tenants.logins.conftest import EMAIL, Browser, Office, browser_of, log_in

ATTACK = "<img src=x onerror=alert(1)> \u202egnirts"


@pytest.fixture
async def owner(house: House) -> House:
    """The house with an owner who can log in."""
    await Office(house.pool, house.caller.organization_id, "", "").add_user(EMAIL, role="owner")
    return house


@pytest.fixture
async def browser(owner: House) -> AsyncGenerator[Browser]:
    """A browser in which the owner is logged in."""
    async with browser_of(owner.pool) as browser:
        await log_in(browser)
        yield browser


@pytest.fixture
async def shop(owner: House) -> House:
    now = await now_of(owner)
    for hours, score, said in ((1, 2, ATTACK), (2, 10, "Fine."), (3, 9, None)):
        answers: dict[str, object] = {NPS: score} if said is None else {NPS: score, TEXT: said}
        await owner.respond(answers, now=now - timedelta(hours=hours), metadata={"order": f"A-{score}"})
    await owner.follow()
    return owner


@pytest.fixture
async def shops(owner: House) -> House:
    """Four stores that differ, one of three people."""
    now = await now_of(owner)
    stores = {"north": ([9, 10, 10, 9], 4), "south": ([3, 6, 9, 5], 4), "east": ([10], 6), "west": ([0], 3)}
    for store, (values, count) in stores.items():
        for number, value in enumerate(values):
            at, every = now - timedelta(days=number, minutes=1), timedelta(days=len(values))
            await owner.respond({NPS: value}, now=at, metadata={"store_id": store}, count=count, every=every)
    return owner
