"""Responders are found again by any of their addresses, made once, and left alone when they say so."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from afterword import errors, ids
from afterword.core.messaging.addresses import address_key
from afterword.kit import db
from afterword.people.responders import service, store
from afterword.people.responders.service import Actor, Found, NewSuppression, ResponderInput
from afterword.tenants.organizations import service as accounts
from tests.event_log import list_events

SECRET = b"s" * 32
EMAIL, SMS, OUTBOX = 1, 2, 5


@pytest.fixture
async def database(pool: db.Pool) -> AsyncIterator[db.Database]:
    async with db.connection(pool) as database:
        yield database


@pytest.fixture
async def organization_id(database: db.Database) -> str:
    return await found(database, "demo")


@pytest.fixture
async def other_id(database: db.Database) -> str:
    return await found(database, "other")


async def found(database: db.Database, domain: str) -> str:
    organization = await accounts.create_organization(
        database, domain=domain, display_name=domain, now=database.clock.now()
    )
    return organization.organization_id


async def find(database: db.Database, *wanted: ResponderInput, actor: Actor | None = None) -> list[Found]:
    return await service.find_or_create(database, inputs=wanted, now=database.clock.now(), secret=SECRET, actor=actor)


async def count(database: db.Database) -> int:
    return int(await database.fetch_value("select count(*) from responder"))


async def types(database: db.Database, organization_id: str) -> list[str]:
    return [event.type for event in await list_events(database, organization_id=organization_id)]


def mail(organization_id: str, identifier: str, metadata: Mapping[str, str | None] | None = None) -> ResponderInput:
    return ResponderInput(organization_id, EMAIL, identifier, metadata or {})


class TestFindOrCreate:
    async def test_unknown_responder(self, database: db.Database, organization_id: str, other_id: str) -> None:
        [foreign] = await find(database, ResponderInput(other_id))
        for responder_id in ("r" * 22, foreign.responder_id):
            with pytest.raises(errors.Invalid) as refused:
                await find(
                    database,
                    ResponderInput(organization_id),
                    ResponderInput(organization_id, responder_id=responder_id),
                )
            assert [("/responder_id", "unknown_id")] == [(e.pointer, e.code) for e in refused.value.errors]

    async def test_nobody(self, database: db.Database) -> None:
        assert [] == await find(database)

    async def test_other_organization_has_its_own(
        self, database: db.Database, organization_id: str, other_id: str
    ) -> None:
        ours, theirs = await find(database, mail(organization_id, "ann@example.com"), mail(other_id, "ann@example.com"))
        assert ours.responder_id != theirs.responder_id
        assert ours.unsubscribe_id != theirs.unsubscribe_id

    async def test_new(self, database: db.Database, organization_id: str) -> None:
        wanted = ResponderInput(organization_id, EMAIL, " Ann@Example.com", {"first_name": "Ann", "old": None}, "EL_gr")
        [one] = await find(database, wanted)
        assert one.created
        assert ("el-gr", None, {"first_name": "Ann"}) == (one.locale, one.time_zone, one.metadata)
        assert "Ann@example.com" == one.address
        assert address_key(SECRET, EMAIL, "ann@example.com") == one.address_key
        assert one.unsubscribe_id is not None
        assert ids.is_id(one.unsubscribe_id)
        row = await store.get_responder(database, organization_id=organization_id, responder_id=one.responder_id)
        assert row is not None
        assert ({"first_name": "Ann"}, "el-gr", 1) == (row.metadata, row.locale, row.version)
        [event] = await list_events(database, organization_id=organization_id)
        assert ("responder.created", one.responder_id, 1) == (event.type, event.subject_id, event.subject_version)
        assert "Ann" not in str(event.data)

    async def test_again(self, database: db.Database, organization_id: str) -> None:
        [first] = await find(database, mail(organization_id, "ann@example.com", {"first_name": "Ann"}))
        [again] = await find(database, mail(organization_id, "ANN@EXAMPLE.COM."))
        assert replace(first, created=False, address="ANN@example.com") == again
        assert ["responder.created"] == await types(database, organization_id)

    @pytest.mark.parametrize(
        "wanted",
        [
            ResponderInput("", EMAIL, "ann@example.com"),
            ResponderInput("", SMS, "+306900000000"),
            ResponderInput("", SMS, "6900000000", locale="el"),
            ResponderInput("", OUTBOX, "customer 42"),
            ResponderInput("", None, None, {"email": "ANN@example.com"}),
            ResponderInput("", None, None, {"phone_number": "+30 690 000 0000"}),
            ResponderInput("", EMAIL, "new@example.com", {"email": "ann@example.com"}),
            ResponderInput("", EMAIL, "new@example.com", {"email": "not an address", "phone_number": "+306900000000"}),
        ],
    )
    async def test_found_by(self, database: db.Database, organization_id: str, wanted: ResponderInput) -> None:
        metadata = {"email": "ann@example.com", "phone_number": "+306900000000"}
        [ann] = await find(database, ResponderInput(organization_id, OUTBOX, "customer 42", metadata))
        [one] = await find(database, replace(wanted, organization_id=organization_id))
        assert ann.responder_id == one.responder_id
        assert 1 == await count(database)

    async def test_same_text_on_another_channel_is_another(self, database: db.Database, organization_id: str) -> None:
        one, other = await find(
            database,
            ResponderInput(organization_id, 5, "ann@example.com"),
            ResponderInput(organization_id, 3, "ann@example.com"),
        )
        assert one.responder_id != other.responder_id

    async def test_email_of_the_metadata_decides(self, database: db.Database, organization_id: str) -> None:
        [ann, bob] = await find(
            database, mail(organization_id, "ann@example.com"), mail(organization_id, "bob@example.com")
        )
        [one] = await find(database, mail(organization_id, "bob@example.com", {"email": "ann@example.com"}))
        assert ann.responder_id == one.responder_id
        assert bob.unsubscribe_id == one.unsubscribe_id

    async def test_addresses_are_learned(self, database: db.Database, organization_id: str) -> None:
        [ann] = await find(database, mail(organization_id, "ann@example.com"))
        await find(database, mail(organization_id, "ann@example.com", {"phone_number": "+306900000000"}))
        [by_phone] = await find(database, ResponderInput(organization_id, SMS, "+306900000000"))
        assert ann.responder_id == by_phone.responder_id
        known = await store.list_addresses(database, organization_id=organization_id, responder_id=ann.responder_id)
        assert ["ann@example.com", "+306900000000"] == [address.identifier for address in known]

    @pytest.mark.parametrize("identifier", [None, "", "not an address", "a@b\r\nBcc: c@d.e"])
    async def test_without_an_address_always_new(
        self, database: db.Database, organization_id: str, identifier: str | None
    ) -> None:
        one, other = await find(
            database,
            ResponderInput(organization_id, EMAIL, identifier, {"email": "nobody"}),
            ResponderInput(organization_id, EMAIL, identifier, {"email": "nobody"}),
        )
        assert one.responder_id != other.responder_id
        assert (None, None, None) == (one.address, one.address_key, one.unsubscribe_id)
        assert {"email": "nobody"} == one.metadata

    async def test_given(self, database: db.Database, organization_id: str) -> None:
        [ann] = await find(database, mail(organization_id, "ann@example.com"))
        [one] = await find(
            database, ResponderInput(organization_id, metadata={"tier": "gold"}, responder_id=ann.responder_id)
        )
        assert (ann.responder_id, {"tier": "gold"}) == (one.responder_id, one.metadata)

    async def test_batch(self, database: db.Database, organization_id: str) -> None:
        wanted = [mail(organization_id, f"p{number % 150}@example.com", {"n": str(number)}) for number in range(200)]
        people = await find(database, *wanted)
        assert 150 == await count(database) == len({one.responder_id for one in people})
        for number in range(50):
            assert people[number] == people[number + 150]
            assert {"n": str(number + 150)} == people[number].metadata
        assert 150 == len(await types(database, organization_id))
        assert [replace(one, created=False) for one in people] == await find(
            database, *(replace(one, metadata={}) for one in wanted)
        )

    async def test_batch_joins_people(self, database: db.Database, organization_id: str) -> None:
        both = {"email": "ann@example.com", "phone_number": "+306900000000"}
        people = await find(
            database,
            ResponderInput(organization_id, metadata=both),
            ResponderInput(organization_id, SMS, "+306900000000"),
            mail(organization_id, "ann@example.com"),
        )
        assert 1 == len({one.responder_id for one in people})

    async def test_number_of_statements(self, database: db.Database, organization_id: str) -> None:
        statements = 0

        class Counting(db.Database):
            async def fetch(self, query: str, *values: object) -> list[db.Row]:
                nonlocal statements
                statements += 1
                return await super().fetch(query, *values)  # pyrefly: ignore[bad-argument-type]

            async def execute(self, query: str, *values: object, seconds: float | None = None) -> int:
                nonlocal statements
                statements += 1
                return await super().execute(query, *values, seconds=seconds)  # pyrefly: ignore[bad-argument-type]

        counting = Counting(database._connection, database.clock)
        wanted = [mail(organization_id, f"p{number}@example.com", {"n": "1"}) for number in range(200)]
        await find(counting, *wanted)
        assert 4 == statements  # look up, insert responders, addresses, events
        statements = 0
        await find(counting, *wanted)
        assert 1 == statements  # look up
        statements = 0
        await find(counting, *(replace(one, metadata={"n": "2"}) for one in wanted))
        assert 4 == statements  # look up, lock, update, events


class TestMetadata:
    async def test_merged_by_name(self, database: db.Database, organization_id: str) -> None:
        await find(database, mail(organization_id, "ann@example.com", {"a": "1", "b": "2", "c": "3"}))
        [ann] = await find(database, mail(organization_id, "ann@example.com", {"b": None, "c": "4", "d": "5"}))
        assert {"a": "1", "c": "4", "d": "5"} == ann.metadata
        row = await store.get_responder(database, organization_id=organization_id, responder_id=ann.responder_id)
        assert row is not None
        assert (ann.metadata, 2) == (row.metadata, row.version)
        assert ["responder.created", "responder.updated"] == await types(database, organization_id)

    async def test_no_difference_writes_nothing(self, database: db.Database, organization_id: str) -> None:
        wanted = mail(organization_id, "ann@example.com", {"a": "1"})
        await find(database, wanted)
        await find(database, wanted, replace(wanted, metadata={"a": "1", "b": None}))
        assert ["responder.created"] == await types(database, organization_id)
        assert 1 == await database.fetch_value("select version from responder")

    async def test_locale_is_learned_once(self, database: db.Database, organization_id: str) -> None:
        wanted = mail(organization_id, "ann@example.com")
        for locale, expected in ((None, None), ("not a tag!", None), ("en_US", "en-us"), ("el", "en-us")):
            [ann] = await find(database, replace(wanted, locale=locale))
            assert expected == ann.locale

    async def test_update(self, database: db.Database, organization_id: str) -> None:
        [ann] = await find(database, mail(organization_id, "ann@example.com", {"a": "1"}))
        actor, now = Actor("token", "t" * 22), database.clock.now() + timedelta(hours=1)
        change = service.Change(metadata={"a": None, "b": "2"})
        for _ in range(2):
            row = await service.update(
                database,
                organization_id=organization_id,
                responder_id=ann.responder_id,
                change=change,
                now=now,
                actor=actor,
            )
            assert ({"b": "2"}, 2, now, "t" * 22) == (row.metadata, row.version, row.updated_time, row.updated_by)
        last = (await list_events(database, organization_id=organization_id))[-1]
        assert ("responder.updated", "token", "t" * 22) == (last.type, last.actor_kind, last.actor_id)

    async def test_update_of_nobody(self, database: db.Database, organization_id: str, other_id: str) -> None:
        [ann] = await find(database, mail(other_id, "ann@example.com"))
        for responder_id in ("r" * 22, ann.responder_id):
            with pytest.raises(errors.NotFound):
                await service.update(
                    database,
                    organization_id=organization_id,
                    responder_id=responder_id,
                    change=service.Change(metadata={"a": "1"}),
                    now=database.clock.now(),
                    actor=Actor(),
                )


class TestConcurrency:
    async def test_two_transactions_meet_one_address(self, pool: db.Pool, organization_id: str) -> None:
        async def second() -> list[Found]:
            async with db.transaction(pool) as database:
                return await find(database, bob, replace(wanted, metadata={"b": "2", "phone_number": "+306900000000"}))

        wanted, bob = mail(organization_id, "ann@example.com", {"a": "1"}), mail(organization_id, "bob@example.com")
        async with db.transaction(pool) as database:
            [first] = await find(database, wanted)
            other = asyncio.create_task(second())
            await until_waiting(pool)
        _, again = await other
        assert first.responder_id == again.responder_id
        assert not again.created
        assert {"a": "1", "b": "2", "phone_number": "+306900000000"} == again.metadata
        async with db.connection(pool) as database:
            assert 2 == await count(database)
            assert ["responder.created", "responder.created", "responder.updated"] == sorted(
                await types(database, organization_id)
            )
            [by_phone] = await find(database, ResponderInput(organization_id, SMS, "+306900000000"))
            assert first.responder_id == by_phone.responder_id

    async def test_second_goes_on_when_the_first_gives_up(self, pool: db.Pool, organization_id: str) -> None:
        async def first() -> None:
            async with db.transaction(pool) as database:
                await find(database, wanted)
                entered.set()
                await leave.wait()
                raise errors.NotFound("Given up.")

        async def second() -> list[Found]:
            async with db.transaction(pool) as database:
                return await find(database, wanted)

        wanted = mail(organization_id, "ann@example.com")
        entered, leave = asyncio.Event(), asyncio.Event()
        one = asyncio.create_task(first())
        await entered.wait()
        other = asyncio.create_task(second())
        await until_waiting(pool)
        leave.set()
        with pytest.raises(errors.NotFound):
            await one
        assert (await other)[0].created

    async def test_many_at_once(self, pool: db.Pool, organization_id: str) -> None:
        async def work(number: int) -> list[Found]:
            wanted = [mail(organization_id, f"p{place}@example.com", {f"w{number}": "1"}) for place in range(40)]
            async with db.transaction(pool) as database:
                return await find(database, *(wanted if number % 2 else reversed(wanted)))

        batches = await asyncio.gather(*(work(number) for number in range(8)))
        assert 40 == len({one.responder_id for batch in batches for one in batch})
        async with db.connection(pool) as database:
            assert 40 == await count(database)
            rows = await database.fetch("select metadata from responder")
            assert [{f"w{number}": "1" for number in range(8)}] * 40 == [row["metadata"] for row in rows]

    async def test_others_are_faster_every_time(
        self, pool: db.Pool, database: db.Database, organization_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def nobody(*_: object, **__: object) -> list[store.Recipient]:
            monkeypatch.undo()  # the look before the insert came too early, the one after it does not
            return []

        wanted = mail(organization_id, "ann@example.com")
        await find(database, wanted)
        monkeypatch.setattr(service, "ROUNDS_MAX", 1)
        monkeypatch.setattr(store, "list_recipients", nobody)
        with pytest.raises(errors.Unavailable) as refused:
            async with db.transaction(pool) as second:
                await find(second, wanted)
        assert {"Retry-After": "2"} == refused.value.headers
        assert 1 == await count(database)


async def unsubscribe(database: db.Database, found: service.Found, *, now: datetime) -> store.Suppression:
    address = await store.get_address_by_unsubscribe_id(database, unsubscribe_id=found.unsubscribe_id or "")
    assert address is not None
    await service.unsubscribe(database, address=address, now=now)
    [row] = await store.list_suppressions_for(database, addresses=[address.id], now=now)
    return row


class TestSuppress:
    async def test_twice(self, database: db.Database, organization_id: str) -> None:
        [ann] = await find(database, mail(organization_id, "ann@example.com"))
        now = database.clock.now()
        rows = [await unsubscribe(database, ann, now=later) for later in (now, now + timedelta(days=1))]
        assert rows[0] == rows[1]
        assert ("unsubscribed", "ann@example.com", None) == (rows[0].reason, rows[0].identifier, rows[0].expires_time)
        happened = await list_events(database, organization_id=organization_id)
        assert ["responder.created", "suppression.created", "responder.unsubscribed"] == [e.type for e in happened]
        assert {("responder", ann.responder_id)} == {(e.actor_kind, e.actor_id) for e in happened[1:]}
        assert (rows[0].suppression_id, ann.responder_id) == (happened[1].subject_id, happened[2].subject_id)

    async def test_stands_for_one_organization_and_channel(
        self, database: db.Database, organization_id: str, other_id: str
    ) -> None:
        [ann] = await find(database, mail(organization_id, "ann@example.com"))
        await unsubscribe(database, ann, now=database.clock.now())
        key = ann.address_key or b""
        wanted = [(organization_id, EMAIL, key), (organization_id, OUTBOX, key), (other_id, EMAIL, key)]
        rows = await store.list_suppressions_for(database, addresses=wanted, now=database.clock.now())
        assert [(organization_id, EMAIL, key)] == [(r.organization_id, r.channel_id, r.address_key) for r in rows]

    async def test_expired_is_none(self, database: db.Database, organization_id: str) -> None:
        now = database.clock.now()
        new = blocked(organization_id, expires_time=now + timedelta(days=1), reason="blocked")
        await service.suppress_addresses(database, suppressions=[new], now=now)
        wanted = [(organization_id, EMAIL, new.address_key)]
        for days, expected in ((0, 1), (1, 0)):
            rows = await store.list_suppressions_for(database, addresses=wanted, now=now + timedelta(days=days))
            assert expected == len(rows)

    @pytest.mark.parametrize(
        ("first_days", "second_days", "reason"),
        [
            (None, None, "unsubscribed"),  # who lifts a bounce must not lift a wish
            (None, 1, "hard_bounce"),
            (2, 1, "hard_bounce"),
            (1, None, "unsubscribed"),
            (1, 2, "unsubscribed"),
            (-1, 1, "unsubscribed"),
        ],
    )
    async def test_longer_one_wins(
        self,
        database: db.Database,
        organization_id: str,
        first_days: int | None,
        second_days: int | None,
        reason: str,
    ) -> None:
        now = database.clock.now()
        for days, why in ((first_days, "hard_bounce"), (second_days, "unsubscribed")):
            expires_time = now + timedelta(days=days) if days else None
            new = blocked(organization_id, expires_time=expires_time, reason=why)
            await service.suppress_addresses(database, suppressions=[new], now=now)
        rows = await store.list_suppressions_for(database, addresses=[(organization_id, EMAIL, b"k" * 32)], now=now)
        assert [reason] == [row.reason for row in rows]

    async def test_weaker_reason_changes_nothing(self, database: db.Database, organization_id: str) -> None:
        now = database.clock.now()
        for why in ("blocked", "complaint", "unsubscribed", "hard_bounce", "blocked", "erased", "complaint"):
            await service.suppress_addresses(database, suppressions=[blocked(organization_id, reason=why)], now=now)
        happened = await list_events(database, organization_id=organization_id)
        assert ["blocked", "complaint", "erased"] == [event.data["reason"] for event in happened]

    async def test_batch_with_a_double(self, database: db.Database, organization_id: str, other_id: str) -> None:
        wanted = [blocked(organization_id), blocked(other_id), blocked(organization_id)]
        now = database.clock.now()
        assert 2 == len(await service.suppress_addresses(database, suppressions=wanted, now=now))
        assert [] == await service.suppress_addresses(database, suppressions=wanted, now=now)
        assert [] == await service.suppress_addresses(database, suppressions=[], now=now)
        assert ["suppression.created"] == await types(database, other_id)


def blocked(organization_id: str, *, reason: store.Reason = "hard_bounce", **changes: object) -> NewSuppression:
    new = NewSuppression(organization_id, EMAIL, b"k" * 32, "ann@example.com", reason)
    return replace(new, **changes)


async def until_waiting(pool: db.Pool) -> None:
    async with db.connection(pool) as database, asyncio.timeout(30):
        query = """select count(*) from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock'"""
        while not await database.fetch_value(query):
            await asyncio.sleep(0)
