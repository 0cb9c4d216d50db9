"""Many clients at once: a key makes one thing, a PATCH undoes nobody else's, whatever the order."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import pytest

from afterword.kit import db
from afterword.kit.web.limits import Limits
from afterword.run.app import create_app
from tests.bar import Tell
from tests.conftest import SITE, House
from tests.contract.existing import FORM, form
from tests.contract.wire import Reply, Wire
from tests.sizes import FULL

KEYS: Final = 500 if FULL else 40
WAVE: Final = 50  # keys under which all is sent at once: a process lets no more than some thousands wait
SENDERS: Final = 16
CLIENTS: Final = 20
ROUNDS: Final = 20
ABSENT: Final = "zzzzzzzzzzzzzzzzzzzzzz"


def speak_to(pool: db.Pool) -> Wire:
    """A fresh web process, as far as memory goes."""
    app: Any = create_app(pool=pool, site=SITE, limits=Limits(0, 0, 0))
    return Wire(app)


def items_of(house: House) -> str:
    return f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}/queue/item"


class TestIdempotencyKeys:
    @staticmethod
    async def send(wire: Wire, house: House, key: str, address: str, *, as_form: bool = False) -> Reply:
        document = {"responder_channel_identifier": address, "metadata": {"questionnaire": {"transaction_id": key[:9]}}}
        sent = {"Idempotency-Key": key}
        if as_form:
            sent["Content-Type"] = FORM
            return await wire.ask("POST", items_of(house), token=house.token, headers=sent, body=form(document))
        return await wire.ask("POST", items_of(house), token=house.token, headers=sent, document=document)

    async def test_equal_requests_at_once(self, pool: db.Pool, house: House, neighbour: House, tell: Tell) -> None:
        """One 201 for each key, the others the same again or told to wait; as forms and as JSON."""
        wire = speak_to(pool)
        first: dict[int, Reply] = {}
        counts: Counter[str] = Counter()
        for start in range(0, KEYS, WAVE):
            keys = range(start, min(start + WAVE, KEYS))
            replies = await asyncio.gather(
                *(
                    self.send(wire, house, f"key-{key}", f"p{key}@example.com", as_form=sender % 2 == 0)
                    for sender in range(SENDERS)
                    for key in keys
                )
            )
            for place, key in enumerate(keys):
                first[key] = self.judge(replies[place :: len(keys)], counts)
        assert KEYS == await self.count(pool, house)
        told = f"{counts['replayed']} replays, {counts['told']} told to wait"
        tell(f"{KEYS} keys, {KEYS * SENDERS} POSTs: {KEYS} rows, {told}")

        other = await self.send(wire, house, "key-0", "other@example.com")
        assert (422, "idempotency_key_reused") == (other.status, other.code)
        theirs = await self.send(wire, neighbour, "key-0", "p0@example.com")
        assert (201, None) == (theirs.status, theirs.headers.get("idempotency-replayed"))
        for key, status in (("k" * 255, 201), ("k" * 256, 400)):
            assert status == (await self.send(wire, house, key, "long@example.com")).status

        restarted = await self.send(speak_to(pool), house, "key-0", "p0@example.com")
        assert (first[0].body, "true") == (restarted.body, restarted.headers["idempotency-replayed"])
        assert KEYS + 1 == await self.count(pool, house)

    @staticmethod
    def judge(replies: Sequence[Reply], counts: Counter[str]) -> Reply:
        """One was made, and of the other answers each is the same again or says to wait; the answer to it."""
        made = [reply for reply in replies if reply.status == 201]
        waiting = [reply for reply in replies if reply.status != 201]
        replayed = sum(reply.headers.get("idempotency-replayed") == "true" for reply in made)
        assert 1 == len({reply.body for reply in made})
        assert len(made) - 1 == replayed
        assert {(409, "idempotency_in_progress", "1")} >= {
            (reply.status, reply.code, reply.headers["retry-after"]) for reply in waiting
        }
        counts += Counter(replayed=replayed, told=len(waiting))
        return made[0]

    @staticmethod
    async def count(pool: db.Pool, house: House) -> int:
        async with db.connection(pool) as database:
            return await database.fetch_value(
                "select count(*) from queue_item where organization_id = $1", house.organization_id
            )


class Patcher:
    """Clients of one instance."""

    def __init__(self, pool: db.Pool, house: House, instance: dict[str, Any]) -> None:
        self.pool, self.house, self.instance = pool, house, instance
        self.path = f"/v3.2/q/instance/{instance['instance_id']}"
        self._wire = speak_to(pool)

    async def patch(self, document: object, *, as_form: bool = False, **headers: str) -> Reply:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if as_form:
            assert isinstance(document, dict)
            sent["Content-Type"] = FORM
            return await self._wire.ask("PATCH", self.path, token=self.house.token, headers=sent, body=form(document))
        return await self._wire.ask("PATCH", self.path, token=self.house.token, headers=sent, document=document)

    async def get(self) -> Reply:
        return await self._wire.ask("GET", self.path, token=self.house.token)

    async def metadata(self) -> dict[str, str]:
        async with db.connection(self.pool) as database:
            return await database.fetch_value(
                "select metadata from questionnaire_instance where organization_id = $1 and instance_id = $2",
                self.house.organization_id,
                self.instance["instance_id"],
            )


@pytest.fixture
async def patcher(pool: db.Pool, house: House) -> Patcher:
    path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/instance"
    metadata = {"questionnaire": {"transaction_id": "1042"}, "responder": {"email": "ann@example.com"}}
    reply = await speak_to(pool).ask("POST", path, token=house.token, document={"metadata": metadata})
    assert 201 == reply.status, reply
    return Patcher(pool, house, reply.document)


READ_ONLY: Final = {
    "instance_id": ABSENT,
    "questionnaire_id": ABSENT,
    "finalized": True,
    "created_time": "2001-01-01T00:00:00+00:00",
    "updated_time": "2001-01-01T00:00:00+00:00",
    "completed_time": "no date",
    "collection_url": "https://elsewhere.example",
    "unknown": {"deep": ["er"]},
}


class TestPatches:
    async def test_nobody_undoes_another(self, patcher: Patcher) -> None:
        """Each client has one name or field of its own and sees its last value there, whoever else writes."""
        seen: list[list[datetime]] = [[] for _ in range(CLIENTS)]

        async def client(number: int) -> None:
            for round_ in range(1, ROUNDS + 1):
                own: dict[str, Any] = {"metadata": {f"client_{number}": str(round_)}}
                if number == 0:
                    own["valid_days"] = round_
                elif number == 1:
                    own["editable"] = round_ % 2 == 0
                reply = await patcher.patch({**own, **READ_ONLY}, as_form=number % 2 == 0)
                assert 200 == reply.status, reply
                assert str(round_) == (await patcher.metadata())[f"client_{number}"]
                seen[number].append(datetime.fromisoformat(reply.document["updated_time"]))

        await asyncio.gather(*(client(number) for number in range(CLIENTS)))
        found = (await patcher.get()).document
        expected = {f"client_{number}": str(ROUNDS) for number in range(CLIENTS)}
        assert {"transaction_id": "1042", **expected} == await patcher.metadata()
        assert (ROUNDS, True) == (found["valid_days"], found["editable"])
        for times in seen:
            assert times == sorted(times)
        changed = {"valid_days", "editable", "updated_time", "updated_by"}
        assert {name: value for name, value in patcher.instance.items() if name not in changed} == {
            name: value for name, value in found.items() if name not in changed
        }

    async def test_only_one_of_those_who_read_the_same(self, patcher: Patcher) -> None:
        """With If-Match a change that was made on an old state is refused, so that none is lost."""
        wins = 0

        async def client() -> None:
            nonlocal wins
            for _ in range(ROUNDS):
                before = await patcher.get()
                more = {"valid_days": before.document["valid_days"] + 1}
                reply = await patcher.patch(more, If_Match=before.headers["etag"])
                assert (reply.status, reply.code) in {(200, ""), (412, "precondition_failed")}
                wins += reply.status == 200

        await patcher.patch({"valid_days": 0})
        await asyncio.gather(*(client() for _ in range(5)))
        assert wins == (await patcher.get()).document["valid_days"] > 0

    async def test_absent_and_null(self, patcher: Patcher) -> None:
        before = await patcher.get()
        for document in ({}, {"metadata": {}}, {"metadata": []}, READ_ONLY, before.document):
            reply = await patcher.patch(document)
            assert (200, before.document, before.headers["etag"]) == (
                reply.status,
                reply.document,
                reply.headers["etag"],
            )
        for name in ("valid_days", "editable", "locale", "responder_id", "metadata"):
            reply = await patcher.patch({name: None})
            assert (422, [(f"/{name}", "not_nullable")]) == (reply.status, reply.wrong)
        reply = await patcher.patch({"valid_days": 7}, If_Match='"0"')
        assert (412, "precondition_failed") == (reply.status, reply.code)
        assert before.document == (await patcher.get()).document

    async def test_foreign_responder(self, patcher: Patcher, pool: db.Pool, neighbour: House) -> None:
        path = f"/v3.2/q/questionnaire/{neighbour.questionnaire_id}/instance"
        theirs = (await speak_to(pool).ask("POST", path, token=neighbour.token, document={})).document["responder_id"]
        for responder_id in (theirs, ABSENT, "x"):
            for as_form in (False, True):
                reply = await patcher.patch({"responder_id": responder_id}, as_form=as_form)
                assert (422, [("/responder_id", "unknown_id")]) == (reply.status, reply.wrong)
