"""A whole worker over real SMTP: what a server's limits, faults and words do to items, accounts and addresses."""

import asyncio
import dataclasses
import random
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from afterword.core.messaging.refusals import SUPPRESSING
from afterword.core.scheduling import retries
from afterword.kit.transport.base import Retry
from afterword.run.worker import sender
from afterword.sending.channels.conversation import GREYLIST_SECONDS, Timeouts
from afterword.sending.channels.email import EmailChannel
from afterword.sending.queue.sending import outcomes
from afterword.sending.queue.sending.outcomes import Waits
from tests import machine
from tests.bar import Tell
from tests.journeys.processes import until
from tests.run.worker.conftest import RIG, Bench
from tests.run.worker.faults.rig import DRAIN_SECONDS_MAX, size
from tests.sending.channels.conftest import (
    Certificate,
    certificate as certificate,  # noqa: PLC0414  a fixture
)
from tests.sending.channels.sink import Fault, Phase, Session, Sink, say
from tests.sizes import one_of

MESSAGES = size(300, 10_000)
PER_SECOND_MAX, PER_SECOND_MIN = 60, 15
LIMIT_SHARE = 0.15  # of the rate at which this machine schedules: a limit that it never reaches teaches nothing
REFUSED_SHARE_MAX = 0.02
LEARNING_MESSAGES_MAX = 100  # what is in flight while the limit is met for the first times; 30 to 35 seen
CLOCKS_SECONDS = 1  # by which the process and its database may differ
CHI_SQUARE_MAX = 36.19  # 19 degrees of freedom, p = 0.01
LOGIN = ("ann", "s3cr3t")
REAL = replace(RIG, slots=10, backoff_factor=1.0)


@dataclass
class Limited(Sink):
    """Takes so many mails a second; the next ones are throttled in these words."""

    per_second: int = PER_SECOND_MAX
    words: str = "454 4.7.0 Throttling failure: Maximum sending rate exceeded."
    taken: list[float] = field(default_factory=list[float])
    refused: list[float] = field(default_factory=list[float])

    def drawn(self) -> Fault | None:
        now = time.monotonic()
        if sum(moment > now - 1 for moment in self.taken[-self.per_second :]) >= self.per_second:
            self.refused.append(now)
            return say(self.words)
        self.taken.append(now)
        return None


@asynccontextmanager
async def over(bench: Bench, url: str) -> AsyncGenerator[Bench]:
    """The bench with a worker that sends through this server."""
    channel = EmailChannel(url, 10, timeouts=Timeouts(step=5.0, body=5.0, dot=10.0))
    yield dataclasses.replace(bench, channel=channel)  # pyrefly: ignore[bad-argument-type]


async def account_of(bench: Bench) -> dict[str, Any]:
    return dict((await bench.queue.fetch("select * from channel_account"))[0])


class TestThrottled:
    @pytest.mark.parametrize(
        "words",
        one_of([
            "454 4.7.0 Throttling failure: Maximum sending rate exceeded.",
            "550 5.7.1 Error: rate limit exceeded, try again later",  # a never that means later
        ]),
    )  # fmt: skip
    async def test_a_limit_is_learned(self, bench: Bench, words: str, tell: Tell) -> None:
        """Everything arrives once, no attempt is counted, and hardly anything is refused once it is known."""
        async with Limited(words=words) as sink, over(bench, sink.url) as smtp:
            begun = time.perf_counter()
            for number in range(MESSAGES):
                await bench.queue.schedule(f"a{number}@example.com")
            share = LIMIT_SHARE * MESSAGES / (time.perf_counter() - begun)
            sink.per_second = round(min(max(share, PER_SECOND_MIN), PER_SECOND_MAX))
            async with smtp.worker(REAL):
                await bench.until("select count(*) >= $1 from queue_item where status = 4", 2 * sink.per_second)
                learning = len(sink.refused)
                # As after ten more minutes of this: the rate is at its ceiling again, which the server does take.
                await bench.queue.execute("update channel_account set rate = rate_ceiling")
                async with asyncio.timeout(DRAIN_SECONDS_MAX):
                    while await bench.queue.value("select exists (select from queue_item where status < 4)"):
                        await asyncio.sleep(0.1)

            after = len(sink.refused) - learning
            tell(f"{MESSAGES} messages: {learning} refused while learning, {after} after, no attempt counted")
            assert MESSAGES == sink.count == len({mail.item_id for mail in sink.mails})
            assert 1 == await bench.queue.value("select max(attempts) from queue_item")
            assert 0 < learning <= LEARNING_MESSAGES_MAX
            assert after <= REFUSED_SHARE_MAX * MESSAGES + REAL.slots  # those in flight when the machine stands still
        account = await account_of(bench)
        assert (None, None, 0) == (account["paused_time"], account["open_until"], account["failures"])
        assert 0.5 * sink.per_second <= account["rate_ceiling"] <= 1.5 * sink.per_second

    async def test_a_throttle_waits_as_asked_within_an_hour(self, bench: Bench) -> None:
        now = await bench.queue.now()
        await bench.queue.schedule()
        [dispatch] = await bench.queue.worker().claim(1)
        later = now + timedelta(days=2)
        item = msgspec.structs.replace(dispatch.item, not_after=later)
        for asked, seconds in ((None, 1), (0, 1), (1, 1), (-5, 1), (90, 90), (3600, 3600), (10**9, 3600)):
            settlement = outcomes.released(item, Retry("throttle", "x", 429, asked), waits=Waits(), now=now)
            assert timedelta(seconds=seconds) == (settlement.due_time or later) - now
            assert 0 == settlement.counted

    def test_jitter_is_uniform(self) -> None:
        random.seed(20_261_121)
        bins = [0] * 20
        for _ in range(20_000):
            bins[int((sender.jitter() - 0.8) / 0.4 * 20)] += 1
        assert sum((count - 1_000) ** 2 / 1_000 for count in bins) < CHI_SQUARE_MAX


class TestBreaker:
    async def test_a_dead_server_is_probed_by_one_mail(self, bench: Bench) -> None:
        async with Sink(faults={"greeting": Fault("drop")}) as sink, over(bench, sink.url) as smtp:
            for number in range(20):
                await bench.queue.schedule(f"a{number}@example.com")
            async with smtp.worker(RIG):
                await bench.until("select open_until > now() from channel_account")
                for _ in range(2):
                    connections = await bench.until_still(lambda: sink.connections)
                    failures = (await account_of(bench))["failures"]
                    await bench.queue.execute("update channel_account set open_until = now()")
                    await bench.until("select failures > $1 and open_until > now() from channel_account", failures)
                    assert connections + 1 == sink.connections
                    assert await bench.queue.value("select open_until > now() + interval '30 s' from channel_account")
                sink.faults = {}
                await bench.queue.execute("update channel_account set open_until = now()")
                await bench.until_done()
            assert 20 == sink.count
        assert 1 == await bench.queue.value("select max(attempts) from queue_item")

    async def test_a_server_that_takes_messages_and_says_nothing(self, bench: Bench) -> None:
        """Nobody knows which of them arrived, so few are tried."""
        async with Sink(faults={"dot": Fault("lost")}) as sink, over(bench, sink.url) as smtp:
            for number in range(40):
                await bench.queue.schedule(f"a{number}@example.com")
            async with smtp.worker(RIG):
                await bench.until("select open_until > now() from channel_account")
                tried = await bench.until_still(lambda: sink.count)
        assert retries.BREAKER_FAILURES <= tried < retries.BREAKER_FAILURES + 2 * RIG.slots
        assert tried == await bench.queue.value("select count(*) from attempt where outcome = 'unknown'")

    @pytest.mark.parametrize("reply", ["550 5.1.1 No such user", "450 4.2.0 Greylisted, try again later"])
    async def test_a_server_that_says_no_to_the_probe_answers(self, bench: Bench, reply: str) -> None:
        async with Sink(faults={"rcpt": say(reply)}) as sink, over(bench, sink.url) as smtp:
            await bench.queue.execute(
                "update channel_account set failures = 5, open_until = now() - interval '1 second'"
            )
            await bench.queue.schedule("ann@example.com")
            async with smtp.worker(RIG):
                await bench.until("select open_until is null from channel_account")
        account = await account_of(bench)
        assert (0, None) == (account["failures"], account["open_until"])


class TestAccount:
    async def test_a_wrong_password(self, bench: Bench, tell: Tell) -> None:
        async with Sink(login=LOGIN) as sink:
            async with over(bench, f"smtp://ann:wrong@127.0.0.1:{sink.port}") as smtp:
                await self.paused(bench, smtp, "535 5.7.8", tell)
            async with over(bench, f"smtp://ann:s3cr3t@127.0.0.1:{sink.port}") as smtp, smtp.worker(RIG):
                await bench.queue.execute("update channel_account set paused_time = null, paused_reason = null")
                await bench.until_done()
            assert 6 == sink.count

    async def test_a_login_that_is_missing(self, bench: Bench, tell: Tell) -> None:
        refusal = say("530 5.7.0 Authentication required")
        async with Sink(faults={"mail": refusal}) as sink, over(bench, sink.url) as smtp:
            await self.paused(bench, smtp, "530 5.7.0", tell)

    async def test_a_certificate_that_nobody_vouches_for(
        self, bench: Bench, certificate: Certificate, tell: Tell
    ) -> None:
        async with Sink(tls=certificate.context) as sink, over(bench, f"{sink.url}?starttls=required") as smtp:
            await self.paused(bench, smtp, "The mail server's certificate was not verified", tell)
            assert 0 == sink.count

    @pytest.mark.parametrize(
        "reply",
        [
            "454 4.7.1 <a@example.com>: Relay access denied",
            "553 5.7.1 <survey@shop.example>: Sender address rejected: not owned by user ann",
            "550 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using bl.example",
        ],
    )
    async def test_a_relay_that_refuses_us(self, bench: Bench, reply: str, tell: Tell) -> None:
        """No recipient is at fault, so no item fails, no domain is slowed down and nobody is suppressed."""
        async with Sink(faults={"rcpt": say(reply)}) as sink, over(bench, sink.url) as smtp:
            await self.paused(bench, smtp, reply.partition(" <")[0], tell)
        assert (0, 0) == (
            await bench.queue.value("select count(*) from domain_rate"),
            await bench.queue.value("select count(*) from suppression"),
        )

    async def paused(self, bench: Bench, smtp: Bench, reason: str, tell: Tell) -> None:
        for number in range(6):
            await bench.queue.schedule(f"a{number}@example.com")
        async with smtp.worker(RIG):
            await bench.until("select paused_time is not null from channel_account")
            await bench.until("select not exists (select from queue_item where status <> 1)")
        items, failed = (
            await bench.queue.fetch("select count(*), count(*) filter (where status = 5) from queue_item")
        )[0]
        tell(f"a fault of ours, {reason}: {items} items wait, {failed} failed")
        assert (6, 0) == (items, failed)
        assert (await account_of(bench))["paused_reason"].startswith(reason)
        assert 0 == await bench.queue.value("select max(attempts) from queue_item")
        assert 0 == await bench.queue.value("select count(*) from event where is_terminal")


class TestAddresses:
    async def test_only_six_codes_suppress(self, bench: Bench, monkeypatch: pytest.MonkeyPatch, tell: Tell) -> None:
        codes = [
            *sorted(SUPPRESSING),
            *("5.0.0", "5.1.0", "5.1.4", "5.1.9", "5.2.0", "5.2.2", "5.2.3", "5.3.0", "5.4.1"),
            *("5.4.4", "5.5.0", "5.6.0", "5.7.1", "5.7.26", "5.7.133"),
        ]

        async def on_rcpt(session: Session, text: str) -> None:
            code = text[text.index("<") + 1 : text.index("@")].replace("-", ".")
            await session.write(f"550 {code} No")

        monkeypatch.setattr(Session, "on_rcpt", on_rcpt)
        async with Sink() as sink, over(bench, sink.url) as smtp, smtp.worker(RIG):
            for code in codes:
                await bench.queue.schedule(f"{code.replace('.', '-')}@example.com")
            await bench.until_done()
        rows = await bench.queue.fetch("select identifier from suppression where reason = 'hard_bounce'")
        found = {row["identifier"].partition("@")[0].replace("-", ".") for row in rows}
        tell(f"{len(codes)} codes sent to a worker: {len(found)} suppress")
        assert SUPPRESSING == found
        assert {5} == {row["status"] for row in await bench.queue.fetch("select status from queue_item")}

    async def test_greylisted_mail_arrives_after_five_minutes(self, bench: Bench, tell: Tell) -> None:
        grey = say("450 4.2.0 Greylisted, see http://postgrey", times=1)
        async with Sink(faults={"rcpt": grey}) as sink, over(bench, sink.url) as smtp:
            item = await bench.queue.schedule()
            async with smtp.worker(REAL):
                await bench.until("select exists (select from attempt where outcome = 'retry')")
                waits: timedelta = await bench.queue.value(
                    "select q.due_time - a.finish_time from queue_item q join attempt a using (item_id)"
                )
                assert 0 == sink.count
                await bench.queue.shift(timedelta(minutes=6))
                await bench.until_done()
            tell(f"{sink.count} of 1 greylisted mails arrived, tried again after {waits.total_seconds():.0f} s")
            assert 1 == sink.count
        assert waits >= timedelta(seconds=GREYLIST_SECONDS - CLOCKS_SECONDS)
        assert ["retry", "accepted"] == await bench.queue.attempts(item)


class TestTestItems:
    async def test_none_reaches_an_address(self, bench: Bench) -> None:
        """Invitation, reminder and every fault stay in the outbox, and neither account nor address pays for them."""
        await bench.queue.change_pipeline("""reminders = '[{"delay_days": 0, "delay_hours": 0, "delay_minutes": 0}]'""")
        async with Sink() as sink, over(bench, sink.url) as smtp:
            ann = await bench.queue.schedule(test=True)
            bounced, slow, refused = [
                await bench.queue.schedule(f"{name}@example.com", test=True) for name in ("bounce", "slow", "refuse")
            ]
            async with smtp.worker(RIG):
                await bench.until_done()
                assert 0 == sink.count
                await bench.until("select count(*) = 2 from event where type = 'queue_item.bounced'")
            assert 0 == sink.count
        kept = await bench.queue.fetch("select recipient, content from outbox_message order by recipient")
        assert ["ann", "ann", "bounce", "bounce", "slow", "slow"] == [row["recipient"].split("@")[0] for row in kept]
        assert ["accepted"] == await bench.queue.attempts(ann) == await bench.queue.attempts(bounced)
        assert ["retry", "accepted"] == await bench.queue.attempts(slow)
        assert ["refused"] == await bench.queue.attempts(refused)
        assert "bounced" in await bench.queue.told(bounced)
        assert 0 == await bench.queue.value("select count(*) from suppression")
        account = await account_of(bench)
        assert (0, None, None) == (account["failures"], account["paused_time"], account["rate"])


FACTOR: Final = size(1, 30) / 30  # of all waits: the account's rests, and those of items between attempts
REST_SECONDS: Final = retries.BREAKER_SECONDS * FACTOR
DEAD_SECONDS: Final = 60 * FACTOR
BACK_SECONDS_MAX: Final = 30 * FACTOR  # until the full rate is back
NOTICED_SECONDS_MAX: Final = 2.0  # beside that: rests end between two polls, and probes take time
MAILS: Final = size(200, 1_000)
PAUSE_SECONDS: Final = 0.1  # of the server, twice a mail: its slots set the rate, so all of them in use is the full one
SLOTS: Final = 10
HELD_MAX: Final = 2 * SLOTS  # items in a worker's hands: being sent, and as many again whose outcome is being written
BEFORE: Final = 60  # mails that are taken before it dies
REST_LEFT: Final = "select extract(epoch from open_until - now())::float8 from channel_account where open_until > now()"
ALL_IN_USE: Final = "select count(*) >= $1 from queue_item where status in (2, 3)"
PACE: Final = replace(RIG, slots=SLOTS, backoff_factor=FACTOR)
# A conversation that has come as far as RCPT goes on to its end: from there on a broken one may be the recipient's
# fault, and counts (test_every_phase_and_fault of the channel).
DEAD: Final[tuple[Phase, ...]] = ("greeting", "ehlo", "mail")


@dataclass
class Mortal(Sink):
    """A sink that dies and lives again; it notes when somebody called in vain."""

    pause: float = PAUSE_SECONDS
    keep: bool = False
    calls: list[float] = field(default_factory=list[float])

    def die(self) -> None:
        self.faults = {phase: Fault("drop") for phase in DEAD}

    def live(self) -> None:
        self.faults = {}

    def fault(self, phase: Phase) -> Fault | None:
        fault = super().fault(phase)
        if fault is not None and phase == "greeting":
            self.calls.append(time.monotonic())
        return fault

    async def asked(self, *, after: float) -> None:
        """Until somebody has called in vain: a slow machine may be late to look whether it is back."""
        await until(lambda: any(moment > after for moment in self.calls), seconds=DRAIN_SECONDS_MAX)

    async def took(self, count: int) -> None:
        await until(lambda: self.count >= count, seconds=DRAIN_SECONDS_MAX)


async def test_a_server_that_dies_amid_sending(bench: Bench, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "BREAKER_SECONDS", REST_SECONDS)
    monkeypatch.setattr(retries, "BREAKER_SECONDS_MAX", retries.BREAKER_SECONDS_MAX * FACTOR)
    for number in range(MAILS):
        await bench.queue.schedule(f"a{number}@example.com")
    async with Mortal() as sink, over(bench, sink.url) as smtp, smtp.worker(PACE):
        await sink.took(BEFORE)
        await bench.until(ALL_IN_USE, SLOTS)
        died = time.monotonic()
        sink.die()
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            opened = time.monotonic()
            while (rest := await bench.queue.value(REST_LEFT)) is None:
                opened = time.monotonic()
        ends, seen = opened + rest, time.monotonic()  # it began between the two looks
        await asyncio.sleep(DEAD_SECONDS)  # that is the fault
        await sink.asked(after=opened + REST_SECONDS / 2)
        sink.live()
        lived, left = time.monotonic(), MAILS - sink.count
        await bench.until(ALL_IN_USE, SLOTS)
        back = time.monotonic() - lived
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            while await bench.queue.value("select exists (select from queue_item where status < 4)"):
                await asyncio.sleep(0.1)
    calls = [moment for moment in sink.calls if moment > seen]
    probes = [moment for moment in calls if moment > opened + REST_SECONDS / 2]
    tell(
        f"dead for {DEAD_SECONDS:g} s with {left} messages to go: noticed after {opened - died:.2f} s, {len(probes)} "
        f"probes in rests of {REST_SECONDS:g} s and more, the full rate back {back:.2f} s after; no attempt counted"
    )
    assert MAILS == sink.count
    counted = "select outcome, reply from attempt join queue_item using (organization_id, item_id) where attempts > 1"
    assert [] == [tuple(row.values()) for row in await bench.queue.fetch(counted)]
    assert MAILS == await bench.queue.value("select count(*) from queue_item where status = 4")
    assert len(calls) - len(probes) <= HELD_MAX, "more than what was under way when the rest began"
    assert min(probes) >= ends, "a probe before the rest was over"
    assert len(probes) <= 1 + (lived - ends) / REST_SECONDS, "two probes in one rest"
    assert not machine.is_over(back - BACK_SECONDS_MAX, limit=NOTICED_SECONDS_MAX)
