"""Figures after crashes: once everything is quiet, every report equals the rows, whatever was killed meanwhile."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import httpx2
import pytest

from afterword import errors
from afterword.asking.instances import issuing
from afterword.asking.instances.answers import lock_context, save_answers
from afterword.asking.instances.issuing import IssueInput
from afterword.core.answers.values import Given, field_name
from afterword.core.figures import periods
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery
from afterword.core.figures.reports import COUNTED
from afterword.kit import db
from afterword.listening.reports import comparison, counts
from afterword.listening.reports.daily_counts import service as rollups
from tests.browser import markup
from tests.conftest import TIME_ZONE, House, settled
from tests.run.worker.faults.rig import SECRET, SLOTS, Rig, size

pytestmark = pytest.mark.faults

DAYS = 6
PEOPLE = 6
STAGES = ("created", "sent", "delivered", "viewed", "started", "submitted", "completed")
# Errors of requests while processes die; none may leave a trace that only some figures have.
BROKEN = (httpx2.TransportError, errors.Unavailable, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)


@dataclass
class Crowd:
    """People who start, answer, edit, delete, all over again; what was acknowledged is remembered."""

    rig: Rig
    house: House
    url: str
    answered: str  # the field of the question that all answer
    done: asyncio.Event
    open: list[str] = field(default_factory=list[str])  # instances that may be answered or changed
    completed: set[str] = field(default_factory=set[str])  # acknowledged
    told: Counter[str] = field(default_factory=Counter[str])

    async def run(self) -> None:
        actions = (self.start, self.answer, self.answer, self.answer, self.relabel, self.delete)
        while not self.done.is_set():
            action = self.rig.draw.choice(actions)
            try:
                async with httpx2.AsyncClient(base_url=self.url, timeout=20) as http:
                    status = await action(http)
                    self.told[f"{action.__name__} {status}"] += 1
            except BROKEN:
                self.told["broken"] += 1
                await asyncio.sleep(0.05)

    async def start(self, http: httpx2.AsyncClient) -> int:
        return (await self.fill(http, f"/p/{self.house.questionnaire_id}"))[0]

    async def answer(self, http: httpx2.AsyncClient) -> int:
        instance_id = self.rig.draw.choice(self.open)
        status, text = await self.fill(http, f"/a/{instance_id}")
        if status == 200 and "Thank you" in text:
            self.completed.add(instance_id)
        return status

    async def fill(self, http: httpx2.AsyncClient, path: str) -> tuple[int, str]:
        page = await http.get(path)
        if page.status_code != 200:
            return page.status_code, ""
        fields = {**markup.read(page.text).fields, self.answered: str(self.rig.draw.randint(1, 5)), "go": "send"}
        answer = await http.post(path, data=fields, follow_redirects=True)
        return answer.status_code, answer.text

    async def relabel(self, http: httpx2.AsyncClient) -> int:
        path = f"/v3.2/q/instance/{self.rig.draw.choice(self.open)}"
        locale = self.rig.draw.choice(["en", "el", "de"])
        return (await http.patch(path, json={"locale": locale}, headers=self.house.headers)).status_code

    async def delete(self, http: httpx2.AsyncClient) -> int:
        if self.rig.draw.random() < 0.9:
            return 0
        path = f"/v3.2/q/instance/{self.rig.draw.choice(self.open)}"
        return (await http.delete(path, headers=self.house.headers)).status_code

    async def look(self) -> None:
        """See what was issued meanwhile."""
        while not self.done.is_set():
            try:
                async with db.connection(self.rig.pool) as database:
                    rows = await database.fetch("select instance_id from questionnaire_instance")
                    self.open = [row["instance_id"] for row in rows]
            except BROKEN:
                pass
            await asyncio.sleep(0.3)


async def respond_before(rig: Rig, house: House, question_id: str, count: int) -> None:
    """Responses of the last days, which kept counts hold; they may be edited."""
    for number in range(count):
        async with db.transaction(rig.pool) as database:
            moment = database.clock.now() - timedelta(days=1 + number % DAYS)
            instance, _ = await issuing.issue(
                database,
                caller=house.caller,
                questionnaire_id=house.questionnaire_id,
                request=IssueInput(sent_time=moment, valid_days=0, editable=True),
                now=moment,
                secret=SECRET.encode(),
                draw=lambda: 0.0,
            )
            await save_answers(
                database,
                context=await lock_context(database, instance_id=instance.instance_id),
                answers={question_id: Given(1 + number % 5)},
                complete=number % 2 == 0,
                now=moment,
            )


async def keep_counts(rig: Rig, *, later: timedelta = timedelta(0)) -> None:
    """Run the worker's jobs for kept counts until nothing is left."""
    await settled(rig.pool)
    for _ in range(200):
        async with db.transaction(rig.pool) as database:
            now = database.clock.now() + later
            await rollups.survey(database, after="", now=now)
            passed = await rollups.follow(database, now=now - later)
            count, _ = await rollups.keep(database, after=rollups.START, now=now)
        if not passed and not count:
            return
    raise AssertionError("kept counts do not come to an end")


async def funnel(rig: Rig, house: House, url: str) -> tuple[dict[str, int], dict[str, int]]:
    """The stages by the report, and by the rows."""
    async with httpx2.AsyncClient(base_url=url, timeout=60) as http:
        now: datetime = await rig.connection.fetchval("select now()")
        parameters = {
            "questionnaire_id": house.questionnaire_id,
            "from_time": (now - timedelta(days=30)).isoformat(),
            "to_time": (now + timedelta(hours=1)).isoformat(),
        }
        answer = await http.get("/v3.2/report/template/funnel", params=parameters, headers=house.headers)
        assert 200 == answer.status_code, answer.text
    figures = {each["metric"]: each["value"] for each in answer.json()["rows"][0]["figures"]}
    row = await rig.connection.fetchrow(
        """select count(*) as created, count(sent_time) as sent, count(delivered_time) as delivered,
             count(viewed_time) as viewed, count(coalesce(submitted_time, completed_time)) as started,
             count(submitted_time) as submitted, count(completed_time) as completed
           from questionnaire_instance where deleted_time is null and not test"""
    )
    return {stage: figures[stage] for stage in STAGES}, dict(row)


async def answers(
    rig: Rig, house: House, question_id: str, dimension: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, Any]:
    """Frequencies of each value by day: with kept counts, and by the rows."""
    async with db.connection(rig.pool) as database:
        now = database.clock.now()
        period = Period(now - timedelta(days=30), now + timedelta(hours=1), TIME_ZONE)
        asked = CountQuery(
            organization_id=house.organization_id,
            questionnaire_ids=(house.questionnaire_id,),
            period=period,
            buckets=periods.buckets(period, "day"),
            basis="submitted",
            zone=TIME_ZONE,
            questions={question_id: question_id},
            types=COUNTED,
            dimensions=((dimension, ""),) if dimension else (),
        )

        async def counted() -> Counter[tuple[object, ...]]:
            found: Counter[tuple[object, ...]] = Counter()
            cells, _ = await counts.answers(database, asked=asked)
            for cell in cells:
                found[cell.bucket, cell.dimensions, cell.value] += cell.count
            return found

        mixed = await counted()
        with monkeypatch.context() as patch:
            patch.setattr(counts, "_is_kept", lambda _: False)
            return mixed, await counted()


async def test_figures_equal_the_rows(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers, web and database die while people start, answer, edit and delete."""
    rounds, items, before = size(2, 40), size(60, 3_000), size(60, 600)
    await rig.fill(organizations=1, lanes=2, items=items)
    [house] = rig.houses
    await rig.connection.execute("update organization set minimum_base = 1")
    question_id: str = await rig.connection.fetchval(
        """select q ->> 'question_id' from questionnaire_version v, jsonb_array_elements(v.definition -> 'groups') g,
             jsonb_array_elements(g -> 'questions') q where q ->> 'type' = 'csat'"""
    )
    await respond_before(rig, house, question_id, before)
    await keep_counts(rig)
    assert DAYS <= await rig.connection.fetchval("select count(distinct day) from rollup_count")
    async with (
        rig.sink(pause=0.02) as sink,
        rig.web(link_starts_per_minute=0, link_burst_per_minute=0) as sites,
        rig.workers(2) as workers,
    ):
        await workers.ready()
        crowd = Crowd(rig, house, sites[0].url, field_name(question_id), asyncio.Event())
        await crowd_sees(crowd)
        async with asyncio.TaskGroup() as group:
            group.create_task(crowd.look())
            for _ in range(PEOPLE):
                group.create_task(crowd.run())
            for number in range(rounds):
                await until_told(crowd, 40)
                workers.kill(workers.one())
                workers.start_one()
                await until_told(crowd, 20)
                sites[0].child.process.kill()
                sites[0].child.process.wait()
                rig.hits += 1
                sites[0] = await sites[0].again()
                await until_told(crowd, 20)
                if number % 2 == 0:
                    await rig.crash_database()
                    await rig.revive_database()
                    rig.hits += 1
            await until_told(crowd, 20)
            crowd.done.set()
        await rig.drained()
        await settled(rig.pool)
        reported, rows = await funnel(rig, house, sites[0].url)
        mixed = [await answers(rig, house, question_id, name, monkeypatch) for name in ("", "locale", "channel")]
    rig.tell(f"T49 figures after {rig.hits} kills: {rows}; {dict(sorted(crowd.told.items()))}")
    assert rows == reported
    for with_kept, by_rows in mixed:
        assert by_rows == with_kept
    await keep_counts(rig, later=timedelta(minutes=2))
    assert 0 == await rig.connection.fetchval(
        """select count(*) from rollup_dirty d join rollup_span s using (organization_id, questionnaire_id, dimension)
           where d.day < s.kept_until"""
    )
    for name in ("", "locale", "channel"):
        with_kept, by_rows = await answers(rig, house, question_id, name, monkeypatch)
        assert by_rows == with_kept
    async with db.transaction(rig.pool) as database:
        found = await comparison.compare(database, now=database.clock.now())
    assert (0, []) == (found.skipped, found.wrong)
    await rig.reconcile(unknown_max=rig.hits * SLOTS + sink.lost_answers)
    await compare_with_items_and_events(rig, crowd.completed)
    await compare_with_block_ranges(rig)


async def compare_with_items_and_events(rig: Rig, completed: set[str]) -> None:
    """Other records of the same agree: sent items, events, notifications."""
    unsent = await rig.connection.fetch(
        """select q.item_id from queue_item q join questionnaire_instance i
             on i.organization_id = q.organization_id and i.instance_id = q.questionnaire_instance_id
           where (q.status = 4) <> (i.sent_time is not null)"""
    )
    assert [] == unsent, "an item and its instance disagree whether it was sent"
    rows = await rig.connection.fetch(
        """select i.instance_id, count(e.event_id) as told from questionnaire_instance i left join event e
             on e.organization_id = i.organization_id and e.subject_id = i.instance_id
               and e.type = 'questionnaire_instance.completed'
           where i.completed_time is not null group by 1"""
    )
    assert {1} == {row["told"] for row in rows}
    assert completed
    assert completed <= {row["instance_id"] for row in rows}


async def compare_with_block_ranges(rig: Rig) -> None:
    """The block-range indexes, which the funnel may be read by, find the rows of the table."""
    by_plan: list[list[int]] = []
    for setting in ("enable_bitmapscan", "enable_seqscan"):
        async with rig.connection.transaction():
            await rig.connection.execute(f"set local {setting} = off")
            by_plan.append(
                [
                    await rig.connection.fetchval(
                        f"select count(*) from questionnaire_instance where {time} > '2000-1-1'"
                    )
                    for time in ("coalesce(sent_time, created_time)", "completed_time")
                ]
            )
    assert by_plan[0] == by_plan[1]


async def crowd_sees(crowd: Crowd) -> None:
    rows = await crowd.rig.connection.fetch("select instance_id from questionnaire_instance")
    crowd.open = [row["instance_id"] for row in rows]


async def until_told(crowd: Crowd, count: int) -> None:
    """Wait until so many more requests were answered."""
    goal = crowd.told.total() - crowd.told["broken"] + count
    await crowd.rig.until(
        lambda: crowd.told.total() - crowd.told["broken"] >= goal, seconds=120, what=f"{goal} answers"
    )
