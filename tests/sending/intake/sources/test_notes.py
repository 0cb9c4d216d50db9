"""Scores written back: to a server that plays the help desk, once for each response, and never without its words."""

import dataclasses
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest
from msgspec.structs import replace

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.core.answers.values import Given
from afterword.core.sources.notes import NOTES, SAYS
from afterword.core.sources.parts import Happening
from afterword.errors import Invalid
from afterword.kit.nouns import service as nouns
from afterword.kit.transport.http import Caller
from afterword.listening.responses import rows
from afterword.run.worker.messages import Calls
from afterword.sending.intake import sequences
from afterword.sending.intake.sources import notes, service
from afterword.sending.intake.sources.records import SOURCE, Source
from afterword.tenants import mails
from tests.conftest import House
from tests.contract.alerting import read_all
from tests.events.conftest import LOOPBACK
from tests.sending.channels.receiver import Receiver, Reply
from tests.sending.intake.sources.conftest import Shop
from tests.sending.queue.conftest import OK, Client, codes

TOKEN: Final = "of the agent alone"
WORDS: Final = "Too late! <b>Write</b> to ann@example.com."
ON: Final = {"note_active": True, "note_address": "https://acme.zendesk.com/agent/", "note_user": "ann@example.com",
             "note_token": TOKEN}  # fmt: skip


@dataclass
class HelpDesk:
    """A Zendesk on this machine that asks when tickets are solved, and a worker that writes notes to it."""

    client: Client
    receiver: Receiver
    worker: Calls
    source_id: str

    @property
    def path(self) -> str:
        return f"/source/{self.source_id}"

    async def ask(self, number: str = "35436", **happening: Any) -> str:
        """A ticket is solved, and its person is asked; the instance."""
        told: dict[str, Any] = {
            "event_id": number, "what": "ticket.solved", "name": "solved", "subject": number, "object_id": number,
            "email": f"ann{number}@example.com", **happening,
        }  # fmt: skip
        house = self.client.queue.house
        place = {"organization_id": house.organization_id, "source_id": self.source_id, "test": False}
        now, secret = await self.client.queue.now(), house.site.secret
        await self.client.queue.run(service.take, **place, happenings=[Happening(**told)], secret=secret, now=now)
        [dispatch] = await self.client.queue.worker().send(OK)
        assert dispatch.instance is not None
        return dispatch.instance.instance_id

    async def answer(self, instance_id: str, words: str = WORDS, score: int = 3) -> str:
        async def save(db: Any) -> None:
            context = await lock_context(db, instance_id=instance_id)
            scale, *_, text = context.definition.questions()
            given = {scale.question_id: Given(score), text.question_id: Given(words)}
            await save_answers(db, context=context, answers=given, complete=True, now=db.clock.now())

        await self.client.queue.run(save)
        await self.follow()
        return instance_id

    async def follow(self) -> None:
        """The worker's readers of the log."""
        pool, secret = self.client.queue.pool, self.client.queue.secret
        await read_all(pool, sequences.READER, lambda db, now, limit: sequences.follow(
            db, secret=secret, now=now, limit=limit))  # fmt: skip
        await read_all(pool, rows.READER, lambda db, now, limit: rows.follow(db, now=now))  # noqa: ARG005

    async def write(self) -> int:
        """Write what is due now; how many notes that was."""
        count = await self.worker.turn()
        await self.worker.land()
        return count

    async def hasten(self) -> None:
        await self.client.queue.execute("update notice_mail set due_time = now() - interval '1s'")
        await self.client.queue.execute("update source set note_resume_time = null")

    async def try_it(self) -> Source:
        house, queue = self.client.queue.house, self.client.queue
        site = dataclasses.replace(house.site, networks=LOOPBACK)
        return await notes.try_notes(queue.pool, caller=house.caller, source_id=self.source_id, site=site)

    async def source(self) -> dict[str, Any]:
        return await self.client.ok("GET", self.path)

    async def outbox(self) -> list[tuple[str, str | None]]:
        found = await self.client.queue.fetch("select state, error from notice_mail where purpose = 'note' order by 1")
        return [(row["state"], row["error"]) for row in found]

    @property
    def calls(self) -> list[str]:
        return [f"{given.method} {given.target}" for given in self.receiver.given]


@pytest.fixture
async def desk(client: Client, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[HelpDesk]:
    monkeypatch.setitem(NOTES, "zendesk", replace(NOTES["zendesk"], host=""))
    house, caller = client.queue.house, Caller(allowed=LOOPBACK)
    site = dataclasses.replace(house.site, networks=LOOPBACK)
    async with Receiver() as receiver:
        blank = {"title": "Help desk", "kind": "zendesk", "active": True, "settings": {}, "application_id": None}
        columns = {**ON, **blank, "note_address": receiver.url}
        acting = {"caller": house.caller, "site": site, "now": await client.queue.now()}
        made = await client.queue.run(lambda db: nouns.create(SOURCE, db, columns=columns, **acting))
        shop = Shop(client, made.record.source_id)
        await shop.rule(what="ticket.solved")
        worker = Calls(notes, pool=client.queue.pool, site=site, caller=caller)
        yield HelpDesk(client, receiver, worker, made.record.source_id)
    await caller.close()


class TestSetting:
    async def test_refused(self, client: Client) -> None:
        for kind, fields, expected in (
            ("stripe", {"note_active": True}, [("/note_active", "unknown_value")]),
            ("stripe", {"note_token": TOKEN}, [("/note_active", "unknown_value")]),
            (
                "zendesk",
                {"note_active": True},
                [("/note_token", "required"), ("/note_address", "required"), ("/note_user", "required")],
            ),
            (
                "zendesk",
                {**ON, "note_address": "https://zendesk.com.evil.example/"},
                [("/note_address", "invalid_address")],
            ),
            ("zendesk", {**ON, "note_address": "http://acme.zendesk.com"}, [("/note_address", "invalid_address")]),
            ("woocommerce", {**ON, "note_address": "https://10.0.0.1/shop"}, [("/note_address", "invalid_address")]),
            ("woocommerce", {**ON, "note_address": "https://localhost/"}, [("/note_address", "invalid_address")]),
            ("hubspot", {**ON, "note_address": "https://hub.example.com"}, [("/note_address", "invalid_address")]),
            ("zendesk", {**ON, "note_token": ""}, [("/note_token", "too_short")]),
            ("zendesk", {**ON, "note_user": "a\nb"}, [("/note_user", "invalid_format")]),
        ):
            refused = await client.send("POST", "/source", {"title": "A", "kind": kind, **fields})
            assert (422, expected) == (refused.status_code, codes(refused)), kind

    async def test_no_right(self, client: Client) -> None:
        """Notes must not tell what their owner may not read."""
        some = await client.with_token(frozenset({"Source.Create", "Source.Read"}))
        body = {"title": "A", "kind": "zendesk"}
        refused = await some.send("POST", "/source", {**body, **ON})
        assert (403, "insufficient_scope") == (refused.status_code, refused.json()["code"])
        await some.ok("POST", "/source", body, status=201)

    async def test_nobody_sees_the_token(self, client: Client) -> None:
        made = await client.ok("POST", "/source", {"title": "A", "kind": "zendesk", **ON}, status=201)
        assert ("https://acme.zendesk.com", True) == (made["note_address"], made["has_note_token"])
        for shown in (made, await client.ok("GET", "/source"), await client.ok("GET", "/audit")):
            assert TOKEN not in str(shown)
        assert not await client.queue.value(f"select exists (select from source where source::text like '%{TOKEN}%')")

    async def test_another_address_forgets_the_token(self, client: Client) -> None:
        made = await client.ok("POST", "/source", {"title": "A", "kind": "zendesk", **ON}, status=201)
        path, moved = f"/source/{made['source_id']}", {"note_address": "https://other.zendesk.com"}
        refused = await client.send("PATCH", path, moved)
        assert (422, [("/note_token", "required")]) == (refused.status_code, codes(refused))
        changed = await client.ok("PATCH", path, {**moved, "note_active": False})
        assert (False, "https://other.zendesk.com") == (changed["has_note_token"], changed["note_address"])
        refused = await client.send("PATCH", path, {"note_active": True})
        assert [("/note_token", "required")] == codes(refused)
        assert (await client.ok("PATCH", path, {"note_active": True, "note_token": TOKEN}))["has_note_token"]
        assert (await client.ok("PATCH", path, {"title": "B", "note_token": None}))["has_note_token"]

    async def test_other_organization(self, client: Client, neighbour: House) -> None:
        made = await client.ok("POST", "/source", {"title": "A", "kind": "zendesk", **ON}, status=201)
        theirs = Client(client.http, client.queue, neighbour.headers)
        assert 404 == (await theirs.send("PATCH", f"/source/{made['source_id']}", ON)).status_code


class TestNotes:
    async def test_nothing(self, desk: HelpDesk) -> None:
        await desk.follow()
        assert 0 == await desk.write()

    async def test_once(self, desk: HelpDesk) -> None:
        """The outbox has nothing of the answer, the note all of it, for colleagues alone; and it is written once."""
        instance_id = await desk.answer(await desk.ask())
        await desk.answer(instance_id, "Never mind.", score=5)
        kept = await desk.client.queue.value("select string_agg(m::text, '') from notice_mail m where purpose = 'note'")
        assert not any(part in kept for part in ("Too late", "35436", "ann", TOKEN))
        assert [1, 0] == [await desk.write(), await desk.write()]
        [given] = desk.receiver.given
        assert ["PUT /api/v2/tickets/35436.json"] == desk.calls
        assert given.headers["authorization"].startswith("Basic ")
        comment = json.loads(given.body)["ticket"]["comment"]
        link = f"{desk.client.queue.house.site.public_url}/console/responses/{instance_id}"
        assert comment["public"] is False
        assert comment["body"].endswith(f": 5 / 5\n\nNever mind.\n\n{link}")
        source = await desk.source()
        assert (None, True) == (source["note_problem"], source["note_sent_time"] is not None)
        await desk.answer(instance_id, "Again.")
        await desk.hasten()
        assert 0 == await desk.write()
        assert [("sent", None)] == await desk.outbox()

    async def test_no_note(self, desk: HelpDesk) -> None:
        """For a test, an anonymous answer, a source whose notes are off, and a demonstration; imports have no item."""
        for change in ("test = true", "anonymity = 'response'", "item_id = null"):
            instance_id = await desk.ask(f"1{len(change)}")
            await desk.client.queue.execute(
                f"update questionnaire_instance set {change} where instance_id = $1", instance_id
            )
            await desk.answer(instance_id)
        await desk.client.ok("PATCH", desk.path, {"note_active": False})
        await desk.answer(await desk.ask("2"))
        assert [] == await desk.outbox()

    async def test_other_things(self, desk: HelpDesk) -> None:
        """Zendesk takes notes on tickets alone."""
        await Shop(desk.client, desk.source_id).rule(what="customer.created")
        await desk.answer(await desk.ask(what="customer.created"))
        assert [] == await desk.outbox()

    async def test_late_answer(self, desk: HelpDesk) -> None:
        """The ticket of an item is known for longer than its event, which goes after 30 days."""
        instance_id = await desk.ask()
        await desk.client.queue.execute("delete from source_event")
        await desk.answer(instance_id)
        assert 1 == await desk.write()

    async def test_waits_for_its_score(self, desk: HelpDesk) -> None:
        await desk.answer(await desk.ask())
        await desk.client.queue.execute("delete from response")
        assert 0 == await desk.write()

    async def test_erased_meanwhile(self, desk: HelpDesk) -> None:
        await desk.answer(await desk.ask())
        await desk.client.queue.execute("delete from source_item")
        assert 1 == await desk.write()
        assert [] == desk.receiver.given
        assert "failed" == (await desk.outbox())[0][0]
        assert (await desk.source())["note_problem"] is None

    async def test_oauth_client(self, desk: HelpDesk) -> None:
        """Its id and secret are exchanged for a token; a refusal of that is one of the token."""
        await desk.client.queue.execute("update source set note_user = 'afterword'")
        await desk.answer(await desk.ask())
        desk.receiver.reply = lambda given: (
            Reply(200, b'{"access_token": "granted"}') if given.target == "/oauth/tokens" else Reply(200)
        )
        assert 1 == await desk.write()
        assert ["POST /oauth/tokens", "PUT /api/v2/tickets/35436.json"] == desk.calls
        assert TOKEN.replace(" ", "+") in desk.receiver.given[0].body.decode()
        assert "Bearer granted" == desk.receiver.given[1].headers["authorization"]
        for reply in (Reply(400), Reply(200, b"{}"), Reply(200, b"<html>")):
            desk.receiver.reply = reply
            assert SAYS[401] == (await desk.try_it()).note_problem


class TestFailures:
    async def test_asleep(self, desk: HelpDesk) -> None:
        """It waits as long as it must, and asks before it writes a second time."""
        desk.receiver.reply = Reply(503)
        instance_id = await desk.answer(await desk.ask())
        for _ in range(12):
            assert 1 == await desk.write()
            await desk.hasten()
        source = await desk.source()
        assert (SAYS[5], True, None) == (source["note_problem"], source["note_active"], source["note_sent_time"])
        wait = await desk.client.queue.value("select max(attempts) from notice_mail where state = 'waiting'")
        assert 12 == wait
        desk.receiver.reply = Reply(200, b'{"comments": []}')
        desk.receiver.given.clear()
        assert 1 == await desk.write()
        find = "GET /api/v2/tickets/35436/comments.json?sort_order=desc&per_page=10"
        assert [find, "PUT /api/v2/tickets/35436.json"] == desk.calls
        assert instance_id in desk.receiver.given[-1].body.decode()
        assert (await desk.source())["note_problem"] is None

    async def test_written_before_the_answer_was_lost(self, desk: HelpDesk) -> None:
        for way in ("drop", "reset", "half"):
            desk.receiver.given.clear()
            instance_id = await desk.answer(await desk.ask(way))
            desk.receiver.reply = Reply(200, way=way)
            assert 1 == await desk.write()
            assert "waiting" == (await desk.outbox())[-1][0]
            desk.receiver.reply = Reply(200, f'{{"comments": [{{"body": "… /{instance_id}"}}]}}'.encode())
            await desk.hasten()
            assert 1 == await desk.write()
            assert ["PUT", "GET"] == [given.method for given in desk.receiver.given], way
            assert {("sent", None)} == {*await desk.outbox()}

    async def test_lost_worker(self, desk: HelpDesk) -> None:
        await desk.answer(await desk.ask())
        queue = desk.client.queue
        assert 1 == len(await queue.run(notes.claim_calls, now=await queue.now(), limit=5))
        assert 0 == await desk.write()
        await queue.execute("update notice_mail set lease_until = now() - interval '1s' where state = 'claimed'")
        assert 1 == await desk.write()
        assert ["GET", "PUT"] == [given.method for given in desk.receiver.given]

    async def test_ticket_refuses(self, desk: HelpDesk) -> None:
        """A removed or closed ticket is one note that is not written; others go on."""
        expected: list[tuple[str, str]] = []
        for status, says in ((404, SAYS[404]), (422, SAYS[422]), (410, "HTTP 410")):
            desk.receiver.reply = Reply(status)
            expected.insert(0, (await desk.answer(await desk.ask(str(status))), says))
            assert 1 == await desk.write()
            assert ("failed", says) in await desk.outbox()
        place = {"organization_id": desk.client.queue.house.organization_id, "source_id": desk.source_id}
        assert expected == await desk.client.queue.run(notes.list_failed, **place)
        desk.receiver.reply = Reply(200)
        await desk.answer(await desk.ask("2"))
        assert 1 == await desk.write()

    async def test_account_refuses(self, desk: HelpDesk) -> None:
        await desk.answer(await desk.ask())
        for status, says in ((401, SAYS[401]), (403, SAYS[403]), (301, SAYS[3]), (418, "HTTP 418")):
            desk.receiver.reply = Reply(status)
            assert 1 == await desk.write()
            assert says == (await desk.source())["note_problem"]
            await desk.hasten()

    async def test_pause(self, desk: HelpDesk) -> None:
        """A system that asks for a pause gets nothing meanwhile, also no other note."""
        desk.receiver.reply = Reply(429, headers={"Retry-After": "3000"})
        await desk.answer(await desk.ask("1"))
        assert 1 == await desk.write()
        await desk.answer(await desk.ask("2"))
        assert 0 == await desk.write()
        assert SAYS[429] == (await desk.source())["note_problem"]
        wait = await desk.client.queue.value("select note_resume_time - now() from source")
        assert timedelta(minutes=45) < wait <= timedelta(minutes=50)
        desk.receiver.reply = Reply(200)
        assert (await desk.try_it()).note_problem is None
        assert 1 == await desk.write()

    async def test_lasting_failure(self, desk: HelpDesk) -> None:
        """After days of failures alone it is switched off, and says so; what waits goes when it is on again."""
        desk.receiver.reply = Reply(500)
        await desk.answer(await desk.ask())
        await desk.write()
        await desk.client.queue.execute("update source set note_failing_since = now() - interval '5 days'")
        await desk.hasten()
        await desk.write()
        source = await desk.source()
        assert (False, True) == (source["note_active"], source["note_disabled_time"] is not None)
        await desk.hasten()
        assert 0 == await desk.write()
        again = await desk.client.ok("PATCH", desk.path, {"note_active": True})
        assert (True, None) == (again["note_active"], again["note_disabled_time"])
        desk.receiver.reply = Reply(200)
        assert 1 == await desk.write()

    async def test_private_network(self, desk: HelpDesk) -> None:
        """A name that leads into a private network later is refused at the call."""
        await desk.answer(await desk.ask())
        closed = Caller()
        worker = Calls(notes, pool=desk.client.queue.pool, site=desk.client.queue.house.site, caller=closed)
        await worker.turn()
        await worker.land()
        await closed.close()
        assert [] == desk.receiver.given
        assert "waiting" == (await desk.outbox())[0][0]

    async def test_secret_of_the_installation_is_lost(self, desk: HelpDesk) -> None:
        await desk.client.queue.execute(r"update source set sealed_note_token = '\x00'")
        await desk.answer(await desk.ask())
        await desk.write()
        assert ([], SAYS[401]) == (desk.receiver.given, (await desk.source())["note_problem"])

    async def test_limit(self, desk: HelpDesk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(notes, "WAITING_MAX", 1)
        for number in ("1", "2"):
            await desk.answer(await desk.ask(number))
        assert 1 == len(await desk.outbox())


class TestTry:
    async def test_without_a_token(self, desk: HelpDesk) -> None:
        await desk.client.queue.execute("update source set sealed_note_token = null, note_active = false")
        with pytest.raises(Invalid):
            await desk.try_it()

    async def test_refused(self, desk: HelpDesk) -> None:
        desk.receiver.reply = Reply(200, b'{"user": {"role": "end-user"}}')
        assert SAYS[403] == (await desk.try_it()).note_problem

    async def test_ok(self, desk: HelpDesk) -> None:
        desk.receiver.reply = Reply(200, b'{"user": {"role": "admin"}}')
        assert (await desk.try_it()).note_problem is None
        assert ["GET /api/v2/users/me.json"] == desk.calls
        assert await desk.client.queue.value("select version = 1 from source")


async def test_mails_to_users_leave_notes_alone(desk: HelpDesk) -> None:
    await desk.answer(await desk.ask())
    later = await desk.client.queue.now() + timedelta(days=1)
    assert [] == await desk.client.queue.run(mails.claim_mails, now=later, limit=5)
