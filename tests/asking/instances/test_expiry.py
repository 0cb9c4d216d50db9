"""`questionnaire_instance.expired`: told once, of what ended from now on, and of nothing that was completed."""

import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.asking.instances import expiry, issuing, service as instances
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.service import Change
from afterword.asking.instances.store import Instance
from afterword.kit import db
from tests.asking.instances.test_plans import Explaining
from tests.conftest import House

TURNS_MAX = 5_000
Issue = Callable[..., Awaitable[Instance]]


@pytest.fixture
async def issue(pool: db.Pool, house: House) -> Issue:
    async def make(valid_days: int, *, sent_time: datetime | None = None) -> Instance:
        async with db.transaction(pool) as database:
            made, _ = await issuing.issue(
                database,
                caller=house.caller,
                questionnaire_id=house.questionnaire_id,
                request=IssueInput(valid_days=valid_days, sent_time=sent_time),
                now=database.clock.now(),
                secret=house.site.secret,
                draw=lambda: 0.0,
            )
        return made

    return make


async def tell(pool: db.Pool, *, later: timedelta) -> int:
    """The worker's job, until it has come to a later present; how many turns it took."""
    for turns in range(TURNS_MAX):
        async with db.transaction(pool) as database:
            if not await expiry.record_next(database, now=database.clock.now() + later):
                return turns
    raise AssertionError("it does not come to the present")


async def told(pool: db.Pool) -> list[str]:
    async with db.connection(pool) as database:
        rows = await database.fetch(
            "select subject_id from event where type = 'questionnaire_instance.expired' order by seq"
        )
    return [row["subject_id"] for row in rows]


async def execute(pool: db.Pool, statement: Any, *values: object) -> None:
    async with db.transaction(pool) as database:
        await database.execute(statement, *values)


async def test_nothing_is_told(pool: db.Pool, issue: Issue) -> None:
    """Neither before its time nor of instances that were completed, deleted, endless or over before the job began."""
    completed, deleted, old, *_ = [await issue(days) for days in (1, 1, 30, 0, 3)]
    for change, instance in (
        ("finalized = true, completed_time = now()", completed),
        ("deleted_time = now()", deleted),
        ("created_time = created_time - interval '40 days'", old),
    ):
        statement = f"update questionnaire_instance set {change} where instance_id = $1"
        await execute(pool, statement, instance.instance_id)
    await tell(pool, later=timedelta(hours=71))
    assert [] == await told(pool)


async def test_once(pool: db.Pool, issue: Issue) -> None:
    """However often the job runs, and with days that nobody had before."""
    one, other = await issue(1), await issue(2)
    await tell(pool, later=timedelta(hours=25))
    assert [one.instance_id] == await told(pool)
    await tell(pool, later=timedelta(hours=49))
    await tell(pool, later=timedelta(hours=60))
    assert [one.instance_id, other.instance_id] == await told(pool)


async def test_sent_before_it_was_known(pool: db.Pool, issue: Issue) -> None:
    """By hand, with days that nobody had before."""
    async with db.connection(pool) as database:
        sent_time = database.clock.now() - timedelta(days=5)
    made = await issue(6, sent_time=sent_time)
    await tell(pool, later=timedelta(days=2))
    assert [made.instance_id] == await told(pool)


async def test_many_at_one_moment(pool: db.Pool, issue: Issue, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than one transaction tells of, all of the same moment; each transaction is lost once."""
    monkeypatch.setattr(expiry, "EVENTS_MAX", 3)
    made = [await issue(1) for _ in range(10)]
    await execute(pool, "update questionnaire_instance set created_time = (select max(created_time) from organization)")
    later = timedelta(hours=26)
    for _ in range(TURNS_MAX):
        with pytest.raises(RuntimeError):
            await _die(pool, later)
        async with db.transaction(pool) as database:
            if not await expiry.record_next(database, now=database.clock.now() + later):
                break
    assert sorted(one.instance_id for one in made) == sorted(await told(pool))


async def test_fewer_days_by_hand(pool: db.Pool, issue: Issue, house: House) -> None:
    """A PATCH that takes the rest of its days ends it at once; one that gives more is told of when those end."""
    made, longer = await issue(30), await issue(1)
    await tell(pool, later=timedelta())
    async with db.transaction(pool) as database:
        now: datetime = database.clock.now() + timedelta(days=5)
        for instance, days in ((made, 3), (longer, 7)):
            await instances.update(
                database,
                caller=house.caller,
                instance_id=instance.instance_id,
                change=Change(valid_days=days),
                now=now,
            )
    assert [made.instance_id] == await told(pool)
    await tell(pool, later=timedelta(days=8))
    assert [made.instance_id, longer.instance_id] == await told(pool)


async def _die(pool: db.Pool, later: timedelta) -> None:
    async with db.transaction(pool) as database:
        await expiry.record_next(database, now=database.clock.now() + later)
        raise RuntimeError


async def test_reads_what_went_out_then(pool: db.Pool, house: House, issue: Issue) -> None:
    """Among many instances the blocks of that hour are read, not the table."""
    made = await issue(30)
    for first in range(1, 60_000, 10_000):
        await execute(
            pool,
            """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
                 responder_id, short_code, locale, valid_days, editable, question_ids, created_time)
               select organization_id, lpad(n::text, 22, '0'), questionnaire_id, version_id, responder_id,
                 lpad(n::text, 12, '0'), 'en', 30, false, '{}', now() - interval '100 days' + n * interval '2 minutes'
               from questionnaire_instance, generate_series($2::integer, $2 + 9999) n where instance_id = $1""",
            *(made.instance_id, first),
        )
    async with db.connection(pool) as database:
        raw: Any = database._connection
        await raw.execute("analyze questionnaire_instance")
        await raw.execute("select brin_summarize_new_values('questionnaire_instance_went_out')")
        explaining = Explaining(raw)
        now = database.clock.now()
        until = now - timedelta(days=30)
        known = db.Database(explaining, database.clock)
        await expiry.list_ended(
            known, valid_days=30, after=(until - timedelta(hours=1), ""), until=until, limit=expiry.EVENTS_MAX
        )
        await expiry.insert_cursors(known, after=until - timedelta(hours=1), until=until)
    for plan in explaining.plans:
        text = json.dumps(plan)
        assert "questionnaire_instance_went_out" in text
        assert "Seq Scan" not in text
