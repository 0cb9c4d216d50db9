"""Two hours at half of what the machine bears, while processes and the database restart in turns."""

import asyncio
import os
import signal
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations, cycle
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from afterword.core.answers.values import field_name
from afterword.core.messaging.networks import networks_of
from afterword.core.wire.site import Site
from afterword.events.webhooks import WEBHOOK
from afterword.kit import db
from afterword.kit.nouns import service
from afterword.listening.reports import comparison
from afterword.run.worker import flights
from tests import machine
from tests.conftest import House, settled
from tests.journeys.processes import Child, cpu_seconds, descendants, rss_bytes
from tests.run.worker.faults.load import PEOPLE, Load
from tests.run.worker.faults.rig import SECRET, Crew, Lossy, Rig, Web
from tests.run.worker.faults.test_figures import compare_with_items_and_events, funnel, keep_counts, respond_before
from tests.sending.channels.receiver import Receiver
from tests.sending.channels.sink import Mail

MINUTES: Final = float(os.environ.get("AFTERWORD_TEST_SOAK_MINUTES") or 120)
LONG_MINUTES: Final = 60.0  # from here on memory has to be flat; before, processes still fill what they keep
SAMPLES: Final = 120
ACTS: Final = 60  # restarts of one kind or another
ORDERS_PER_SECOND: Final = 20.0  # with people and calls about one of two cores; twice that takes all of both
OLD: Final = 200
GROWTH_MAX, GROWTH_SHORT_MAX = 0.03, 0.3  # of the memory, over the second half
FILES_MAX: Final = 2.0  # more of them at its end
# Python's pool of threads grows to its limit and stays there; two more are no leak.
THREADS_MAX: Final = min(32, (os.cpu_count() or 1) + 4) + 2
LATE_SECONDS_MAX: Final = 5.0  # p99
RECOVERY_SECONDS: Final = 10.0  # after the database is back, within which nothing is judged as late
AFTER_SECONDS_MAX: Final = 180.0
LOOPBACK: Final = "127.0.0.0/8"
HOOKS: Final = (["queue_item.sent"], ["questionnaire_instance.completed"], ["alert_instance.created"])

Span = tuple[datetime, datetime]


def growth(values: Sequence[float]) -> float:
    """Growth from the beginning to the end, by the median of all slopes (Theil-Sen)."""
    slopes = [(later - earlier) / (y - x) for (x, earlier), (y, later) in combinations(enumerate(values), 2)]
    return statistics.median(slopes) * (len(values) - 1) if slopes else 0.0


class TestGrowth:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [([], 0), ([7], 0), ([7, 7, 7], 0), ([1, 2, 3, 4], 3), ([5, 5, 90, 5, 5], 0), ([1, 2, 99, 4, 5], 4)],
    )
    def test_growth(self, values: Sequence[float], expected: float) -> None:
        assert expected == growth(values)


@dataclass(frozen=True)
class Weight:
    """A process at one moment."""

    rss: float  # megabytes, as all of them
    own: float  # shared with nobody: PSS changes with whatever else maps the same libraries
    files: int
    threads: int


def weigh(pid: int) -> Weight:
    """Memory, files and threads of a process now."""
    folder = Path(f"/proc/{pid}")
    lines = (folder / "smaps_rollup").read_text().splitlines()
    kilobytes = sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return Weight(
        rss_bytes(pid) / 1e6,
        kilobytes / 1e3,
        len(list((folder / "fd").iterdir())),
        len(list((folder / "task").iterdir())),
    )


def seconds_of(pid: int) -> float:
    """CPU that a process has used; 0 when it is gone."""
    try:
        return cpu_seconds(pid)
    except OSError:
        return 0.0


@dataclass
class Soak:
    """Everything that runs, what was restarted when, and what it weighed."""

    rig: Rig
    sites: list[Web]
    crew: Crew
    load: Load
    done: asyncio.Event = field(default_factory=asyncio.Event)
    outages: list[Span] = field(default_factory=list[Span])
    weights: dict[str, list[Weight]] = field(default_factory=dict[str, list[Weight]])
    backends: list[int] = field(default_factory=list[int])
    restarts: int = 0
    seconds_used: float = 0.0  # by all processes

    def __post_init__(self) -> None:
        self.steady: dict[str, Child] = {"web": self.sites[0].child, "worker": self.crew.children[0]}
        self.weights = {name: [] for name in self.steady}

    async def disturb(self) -> None:
        """One restart after the other, until it is over; one web process and one worker are left alone."""
        acts: Iterable[tuple[Callable[[signal.Signals], Awaitable[None]], signal.Signals]] = cycle(
            [
                (self._worker, signal.SIGKILL),
                (self._web, signal.SIGTERM),
                (self._database, signal.SIGINT),
                (self._worker, signal.SIGTERM),
                (self._web, signal.SIGKILL),
                (self._database, signal.SIGQUIT),
            ]
        )
        for act, sign in acts:
            if await self._passed(max(MINUTES * 60 / ACTS, 20.0)):
                return
            await act(sign)
            self.restarts += 1

    async def watch(self) -> None:
        """Weigh again and again."""
        before = {os.getpid(): seconds_of(os.getpid())}
        while not await self._passed(MINUTES * 60 / SAMPLES):
            for name, child in self.steady.items():
                self.weights[name].append(weigh(child.pid))
            used = {pid: seconds_of(pid) for pid in [os.getpid(), *descendants(os.getpid())]}
            self.seconds_used += sum(seconds - before.get(pid, 0.0) for pid, seconds in used.items())
            before = used
            try:
                self.backends.append(await self.rig.connection.fetchval("select count(*) from pg_stat_activity"))
            except Exception:  # noqa: BLE001, S112  the database is just away
                continue

    async def _passed(self, seconds: float) -> bool:
        """Whether the soak ended before so many seconds were over."""
        try:
            await asyncio.wait_for(self.done.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _worker(self, sign: signal.Signals) -> None:
        [other] = [child for child in self.crew.working if child is not self.steady["worker"]]
        if sign == signal.SIGKILL:
            self.crew.kill(other)
        else:
            assert 0 == await other.stop(), other.tail()
        await self.crew.owner_of(self.crew.start_one())

    async def _web(self, sign: signal.Signals) -> None:
        other = self.sites[1]
        other.child.send(sign)
        await other.child.ended(seconds=60)
        self.sites[1] = await other.again()

    async def _database(self, sign: signal.Signals) -> None:
        """Fast (SIGINT) or immediate (SIGQUIT)."""
        began = datetime.now(UTC)
        await self.rig.crash_database(sign)
        await self.rig.revive_database()
        self.outages.append((began, datetime.now(UTC)))
        self.rig.hits += len(self.crew.working)


class Server(Lossy):
    """The mail server, whose mails people read."""

    load: Load | None = None

    def accept(self, mail: Mail) -> None:
        self.commands.clear()
        assert self.load is not None
        if mail.recipients[0].startswith(PEOPLE):
            super().accept(mail)
            self.load.arrive(mail)
        else:
            self.load.notices += 1


async def prepare(rig: Rig, url: str) -> tuple[House, str]:
    """A shop with two pipelines, an alert, webhooks, and responses of earlier days."""
    await rig.fill(organizations=1, lanes=2, items=0)
    [house] = rig.houses
    question_id: str = await rig.connection.fetchval(
        """select q ->> 'question_id' from questionnaire_version v, jsonb_array_elements(v.definition -> 'groups') g,
             jsonb_array_elements(g -> 'questions') q where q ->> 'type' = 'csat'"""
    )
    await respond_before(rig, house, question_id, OLD)
    await keep_counts(rig)
    columns: dict[str, Any] = {"title": "Shop", "target_url": url, "active": True}
    columns |= {"questionnaire_id": None, "application_id": None}
    async with db.transaction(rig.pool) as database:
        site = Site(rig.public_url, SECRET.encode(), networks_of(LOOPBACK))
        for types in HOOKS:
            await service.create(
                WEBHOOK,
                database,
                caller=house.caller,
                columns={**columns, "event_types": types},
                site=site,
                now=database.clock.now(),
            )
    return house, question_id


async def watch_for_unhappy(house: House, url: str, question_id: str) -> None:
    """An alert for each low score, by mail to the owner too."""
    rule = {
        "application_id": house.application_id,
        "title": "Unhappy",
        "severity": "high",
        "fold_hours": 0,
        "subscriber_user_ids": [house.user_id],
        "conditions": {"subject": f"question:{question_id}", "operator": "less_equal", "value": 2},
    }
    async with httpx2.AsyncClient(base_url=url, headers=house.headers) as http:
        answer = await http.post("/v3.2/alert", json=rule)
        assert 201 == answer.status_code, answer.text


@pytest.mark.faults
@pytest.mark.nightly
async def test_soak(rig: Rig) -> None:
    """T51: memory and file descriptors stay flat, nothing is lost, and no alert is late."""
    server = Server(file=rig.folder / "accepted", keep=False)
    rig.target = server
    async with Receiver() as receiver, server:
        house, question_id = await prepare(rig, receiver.url)
        async with (
            rig.web(2, log_level="warning") as sites,
            rig.workers(
                2,
                is_apart=True,
                slots=flights.SLOTS,
                lease_seconds=flights.LEASE_SECONDS,
                heartbeat_seconds=flights.HEARTBEAT_SECONDS,
                margin_seconds=flights.LEASE_MARGIN_SECONDS,
                poll_seconds=flights.POLL_SECONDS,
                reap_seconds=flights.REAP_SECONDS,
                backoff_factor=0.05,
                dot_seconds=30.0,
                networks=LOOPBACK,
            ) as crew,
        ):
            await crew.ready()
            await watch_for_unhappy(house, sites[0].url, question_id)
            lanes = [pipeline_id for _, pipeline_id in await rig.lanes()]
            rows = await rig.connection.fetch("select instance_id from questionnaire_instance")
            old = [row["instance_id"] for row in rows]
            load = Load(rig, house, lanes, sites, field_name(question_id), old)
            server.load = load

            def take(given: Any) -> Any:
                receiver.given.clear()
                return load.take(given)

            receiver.reply = take
            soak = Soak(rig, sites, crew, load)
            async with load.clients():
                await run(soak)
            reported, counted = await funnel(rig, house, sites[0].url)
            assert [] == [line for site in sites for line in site.child.errors()]
    assert counted == reported
    judge_weights(soak)
    await rig.reconcile(unknown_max=rig.hits * flights.SLOTS)
    await compare_with_items_and_events(rig, load.completed)
    await judge_counts(rig)
    await judge_calls(soak)
    await judge_lateness(soak)


async def run(soak: Soak) -> None:
    """The load with restarts, and then until all of it is done."""
    rig, load, began = soak.rig, soak.load, time.monotonic()
    async with asyncio.TaskGroup() as group:
        group.create_task(load.run(ORDERS_PER_SECOND, soak.done))
        watching = [group.create_task(soak.watch()), group.create_task(soak.disturb())]
        await asyncio.wait(watching, timeout=MINUTES * 60, return_when=asyncio.FIRST_EXCEPTION)
        soak.done.set()
    passed = time.monotonic() - began
    await load.land()
    rig.tell(
        f"T51 {passed / 60:.1f} minutes, {soak.restarts} restarts, {len(load.item_of) / passed:.1f} orders a second,"
        f" {soak.seconds_used / passed:.2f} cores with load and mail server; {dict(sorted(load.told.items()))}"
    )
    assert [] == load.wrong[:5], len(load.wrong)
    assert 0 == load.late
    await rig.drained()
    await settled(rig.pool)
    await rig.until(lambda: quiet(rig), seconds=AFTER_SECONDS_MAX, what="all is told")


async def quiet(rig: Rig) -> bool:
    """Whether every reader of the log is at its end, and every call and mail has come to one."""
    return not await rig.connection.fetchval(
        """select exists (select from delivery where state in ('scheduled', 'claimed'))
             or exists (select from notice_mail where state in ('waiting', 'claimed'))
             or exists (select from event e, event_cursor c where (e.xid, e.seq) > (c.xid, c.seq)
                        and c.reader in ('webhooks', 'alerts', 'notifications'))"""
    )


def judge_weights(soak: Soak) -> None:
    """Of the processes that lived through all of it."""
    assert all(child.process.returncode in {0, None} for child in soak.steady.values())
    most = GROWTH_MAX if MINUTES >= LONG_MINUTES else GROWTH_SHORT_MAX
    wrong: list[str] = []
    for name, weights in soak.weights.items():
        half = weights[len(weights) // 2 :]
        share = growth([each.own for each in half]) / statistics.median(each.own for each in half)
        files = growth([each.files for each in half])
        threads = max(each.threads for each in half)
        soak.rig.tell(
            f"T51 {name}: memory {weights[0].own:.0f} MB at first, {half[0].own:.0f} half way, {half[-1].own:.0f} at"
            f" the end ({share:+.1%} over the second half), RSS {half[-1].rss:.0f} MB at the end; files"
            f" {min(each.files for each in weights)} to {max(each.files for each in weights)} ({files:+.1f}),"
            f" threads {half[0].threads} to {half[-1].threads}, at most {threads}"
        )
        if share > most or files > FILES_MAX or threads > THREADS_MAX:
            wrong.append(name)
    soak.rig.tell(f"T51 PostgreSQL: {min(soak.backends)} to {max(soak.backends)} processes")
    assert [] == wrong


async def judge_counts(rig: Rig) -> None:
    """Kept counts, against the rows."""
    await keep_counts(rig, later=timedelta(minutes=2))
    async with db.transaction(rig.pool) as database:
        found = await comparison.compare(database, now=database.clock.now())
    assert (0, []) == (found.skipped, found.wrong)
    assert found.spans


async def judge_calls(soak: Soak) -> None:
    """Each event of the webhooks' types was called for, and nothing else."""
    rows = await soak.rig.connection.fetch(
        """select event_id, e.type from event e join webhook w using (organization_id)
           where e.type = any (w.event_types) and e.created_time > w.created_time"""
    )
    recorded = {row["event_id"]: row["type"] for row in rows}
    assert recorded == {event_id: kind for event_id, (_, kind) in soak.load.calls.items()}
    repeated = await soak.rig.connection.fetchval("select coalesce(sum(attempts - 1), 0)::int from delivery")
    soak.rig.tell(f"T51 {len(recorded)} calls of webhooks, lost 0; {soak.load.repeats} of {repeated} repeats arrived")
    assert soak.load.repeats <= repeated


async def judge_lateness(soak: Soak) -> None:
    """Alerts and what belongs to them, and sends: from the cause to the consequence."""
    rows = await soak.rig.connection.fetch(
        """select i.instance_id, i.completed_time, c.created_time as raised, n.created_time as noticed, e.event_id,
             e.created_time as told
           from alert_instance c join questionnaire_instance i using (organization_id, instance_id)
             left join event e on e.organization_id = c.organization_id and e.subject_id = c.alert_instance_id
               and e.type = 'alert_instance.created'
             left join notification n on n.organization_id = e.organization_id and n.event_id = e.event_id"""
    )
    raised = {row["instance_id"]: row for row in rows}
    assert len(raised) == len(rows), "raised twice"
    assert soak.load.unhappy
    assert set() == soak.load.unhappy - raised.keys(), "never raised"
    assert [] == [row["instance_id"] for row in rows if row["noticed"] is None], "never noticed"
    sends = await soak.rig.connection.fetch(
        """select q.due_time, min(a.begin_time) as begun from queue_item q join attempt a
             using (organization_id, item_id) group by q.organization_id, q.item_id, q.due_time"""
    )
    mails = await soak.rig.connection.fetch("select state, due_time, finished_time from notice_mail")
    assert {"sent"} == {row["state"] for row in mails}
    assert len(mails) <= soak.load.notices
    late = [
        name
        for name, spans in (
            ("sent", [(row["due_time"], row["begun"]) for row in sends]),
            ("alerts raised", [(row["completed_time"], row["raised"]) for row in rows]),
            ("alerts shown to users", [(row["completed_time"], row["noticed"]) for row in rows]),
            ("alerts told to the webhook", [(row["told"], soak.load.calls[row["event_id"]][0]) for row in rows]),
            ("alerts mailed", [(row["due_time"], row["finished_time"]) for row in mails]),
        )
        if is_late(soak, name, spans)
    ]
    assert [] == late


def is_late(soak: Soak, name: str, spans: Iterable[Span]) -> bool:
    """Whether more than one in a hundred is, apart from those during which the database was away."""
    after = timedelta(seconds=RECOVERY_SECONDS)
    good: list[float] = []
    excused: list[float] = []
    for begin, end in spans:
        meets = any(begin <= back + after and end >= away for away, back in soak.outages)
        (excused if meets else good).append((end - begin).total_seconds())
    good.sort()
    assert good, name
    p99 = good[int(len(good) * 0.99)]
    soak.rig.tell(
        f"T51 {name}: {len(good)} after {statistics.median(good):.2f} s, p99 {p99:.2f} s, at most {good[-1]:.2f} s;"
        f" {len(excused)} beside an outage after {max(excused, default=0.0):.2f} s at most"
    )
    return machine.is_over(p99, limit=LATE_SECONDS_MAX)
