"""The made-up shop: once, for an organization that asked nobody, and the same each time."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import LiteralString

import pytest

from afterword.core.organizations import access
from afterword.kit import db
from afterword.listening.reports import overview as overviews
from afterword.run.cli.demo import Seeded, seed
from afterword.run.demonstration import service
from tests.run.cli.shell import SITE
from tests.tenants.logins.conftest import Office, browser_of, log_in


@dataclass
class Shop:
    pool: db.Pool
    seeded: Seeded

    async def fill(self) -> int:
        async with db.transaction(self.pool) as database:
            return await service.fill(
                database,
                organization_id=self.seeded.organization_id,
                application_id=self.seeded.application_id,
                secret=SITE.secret,
                now=database.clock.now(),
            )

    async def value(self, query: LiteralString) -> int:
        async with db.connection(self.pool) as database:
            return await database.fetch_value(query, self.seeded.organization_id)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the messages, for what does not depend on their number."""
    monkeypatch.setattr(service, "MESSAGES_A_DAY", service.MESSAGES_A_DAY // 4)


async def test_slow_machine(database_url: str) -> None:
    """Neither the server nor the driver ends a statement that takes longer than those of requests may."""
    async with await service.open_pool(database_url) as pool, db.connection(pool) as database:
        assert await database.fetch_value("select true from pg_sleep($1)", db.COMMAND_TIMEOUT_SECONDS + 0.1)


@pytest.fixture
async def shop(pool: db.Pool) -> Shop:
    return Shop(pool, await seed(pool, SITE))


async def test_once_with_a_figure_for_each_score(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MESSAGES_A_DAY", service.MESSAGES_A_DAY // 3)
    count = await shop.fill()
    assert count > 1_000
    assert count == await shop.value(
        "select count(*) from questionnaire_instance where organization_id = $1 and submitted_time is not null"
    )
    assert 0 == await shop.fill()
    async with db.connection(shop.pool) as database:
        caller = replace(access.installation(shop.seeded.organization_id), scopes=access.SCOPES)
        found = await overviews.overview_of(
            database,
            caller=caller,
            subjects=await overviews.get_subjects(database, caller=caller, application_id=None),
            period={"last_days": 30},
            now=database.clock.now() + timedelta(minutes=1),
        )
    assert found is not None
    assert ["nps", "csat", "ces"] == [score.metric for score in found.scores]
    for score in found.scores:
        assert score.figure.measure.n > 100
        assert score.figure.change is not None
        assert score.figure.measure.interval is not None


@pytest.mark.usefixtures("few")
async def test_drivers(shop: Shop) -> None:
    """The report shows them as it opens, without a choice: the shop has a score with other ratings beside it."""
    await shop.fill()
    office = Office(shop.pool, shop.seeded.organization_id, shop.seeded.application_id, "")
    await office.add_user("ann@demo.example", role="owner")
    async with browser_of(shop.pool) as client:
        await log_in(client, email="ann@demo.example")
        page = (await client.get("/console/reports/ready/drivers")).text
    assert re.search("Most closely related: .{0,3}Advice by our team", page)


@pytest.mark.usefixtures("few")
async def test_nobody_is_made_up_beside_real_people(shop: Shop) -> None:
    await shop.fill()
    async with db.transaction(shop.pool) as database:
        await database.execute(
            "update organization set demonstration_time = null where organization_id = $1", shop.seeded.organization_id
        )
    assert 0 == await shop.fill()
    assert 0 == await shop.value(
        "select count(*) from organization where organization_id = $1 and demonstration_time is not null"
    )


@pytest.mark.usefixtures("few")
async def test_nobody_is_told(shop: Shop) -> None:
    """No event of a made-up message, so that no webhook and no rule acts on it."""
    await shop.fill()
    assert 0 == await shop.value(
        """select count(*) from event where organization_id = $1
             and type ~ '^(queue_item|questionnaire_instance|alert_instance)'"""
    )


@pytest.mark.usefixtures("few")
async def test_a_scale_is_kept_and_times_are_in_order(shop: Shop) -> None:
    await shop.fill()
    assert 0 == await shop.value(
        """select count(*) from questionnaire_instance where organization_id = $1 and not (
             sent_time <= coalesce(viewed_time, sent_time)
             and coalesce(viewed_time, sent_time) <= coalesce(submitted_time, viewed_time, sent_time)
             and coalesce(submitted_time, sent_time) <= coalesce(completed_time, submitted_time, sent_time)
             and coalesce(completed_time, sent_time) <= now())"""
    )
    assert 0 == await shop.value(
        """select count(*) from alert_instance where organization_id = $1
             and (resolved_time > now() or resolved_time < created_time)"""
    )
    assert 0 < await shop.value(
        """select count(*) from alert_instance i join questionnaire_instance n on n.organization_id = i.organization_id
             and n.previous_questionnaire_instance_id = i.instance_id and n.item_id = i.recovery_item_id
           where i.organization_id = $1 and recovered and work_seconds > 0 and cause is not null
             and recovery_time between resolved_time and now()"""
    )
    assert 0 < await shop.value(
        "select open_count from alert where organization_id = $1 and open_count > 0 and last_triggered_time is not null"
    )
