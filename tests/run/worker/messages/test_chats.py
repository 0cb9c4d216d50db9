"""Cards on their way: to a server that plays the chat, tried again, paused, and switched off in the end."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from afterword.cases import chats as chats_service
from afterword.cases.chats import CHAT
from afterword.kit.nouns import service as nouns
from afterword.kit.transport.http import Caller
from afterword.listening.responses import rows
from afterword.listening.screens import digests
from afterword.run.worker.messages import Calls
from afterword.tenants import mails
from tests.cases.conftest import Desk, desk
from tests.contract.alerting import read_all
from tests.event_log import list_events
from tests.events.conftest import LOOPBACK, OPEN_SITE
from tests.sending.channels.receiver import Receiver, Reply, closed_port

__all__ = ["desk"]

WORDS = "Too late! Write to ann@example.com. <!channel> @all"


@dataclass
class Room:
    """A chat on this machine, which cases of one alert are told to."""

    desk: Desk
    receiver: Receiver
    sender: Calls
    chat_id: str

    async def open_case(self, comment: str = WORDS) -> dict[str, Any]:
        """A case that its chat is to be told of; the row of its response is there."""
        instance = await self.desk.issue()
        await self.desk.answer(instance, {self.desk.score_id: 1, self.desk.comment_id: comment})
        await self.desk.raise_all()
        await self.desk.notify_all()
        await read_all(self.desk.pool, rows.READER, follow)
        return (await self.desk.cases())[-1]

    async def send(self) -> int:
        """Send what is due now; how many cards that was."""
        count = await self.sender.turn()
        await self.sender.land()
        return count

    async def hasten(self) -> None:
        await self.desk.execute("update notice_mail set due_time = now() - interval '1s' where state = 'waiting'")

    async def chat(self) -> dict[str, Any]:
        return await self.desk.api.get(f"/chat/{self.chat_id}")

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(given.body) for given in self.receiver.given]

    async def states(self) -> str:
        query = "select string_agg(state, ' ' order by created_time) from notice_mail where chat_id is not null"
        return await self.desk.value(query)


async def follow(database: Any, *, now: Any, limit: int) -> int:
    return await rows.follow(database, now=now)


@pytest.fixture
async def room(desk: Desk) -> AsyncGenerator[Room]:
    caller = Caller(allowed=LOOPBACK)
    async with Receiver() as receiver:
        columns = {"title": "Desk", "kind": "webhook", "address": f"{receiver.url}/hooks/secretsecret",
                   "comments": True, "locale": "en", "active": True}  # fmt: skip
        now = await desk.now()
        made = await desk.run(
            lambda db: nouns.create(CHAT, db, caller=desk.house.caller, columns=columns, site=OPEN_SITE, now=now)
        )
        chat_id = made.record.chat_id
        await desk.alert(title="Unhappy", chat_ids=[chat_id], severity="high")
        sender = Calls(chats_service, pool=desk.pool, site=replace(desk.house.site, networks=LOOPBACK), caller=caller)
        yield Room(desk, receiver, sender, chat_id)
    await caller.close()


class TestCards:
    async def test_nothing(self, room: Room) -> None:
        assert 0 == await room.send()

    async def test_new_case(self, room: Room) -> None:
        """It leaves at once: its card has the score, the words without addresses, and the page of the case."""
        case = await room.open_case()
        assert 1 == await room.send()
        assert 0 == await room.send()
        (body,) = room.bodies
        page = f"{room.desk.house.site.public_url}/console/cases/{case['alert_instance_id']}"
        assert ("alert_instance.created", case["alert_instance_id"]) == (body["type"], body["alert_instance_id"])
        assert ("New alert: Unhappy", "high") == (body["title"], body["severity"])
        assert "Severity: high" in body["text"]
        assert {"label": "Score", "value": "1 / 5"} in body["facts"]
        assert body["quote"].startswith("Too late! Write to")
        assert "ann@example.com" not in str(body)
        assert [page, f"{page}#assign"] == [one["url"] for one in body["links"]]
        assert "/hooks/secretsecret" == room.receiver.given[0].target
        chat = await room.chat()
        assert (None, True) == (chat["problem"], chat["sent_time"] is not None)
        assert "sent" == await room.states()
        assert await room.desk.value("select content is null from notice_mail where chat_id is not null")

    async def test_within_a_minute(self, room: Room) -> None:
        """It waits for the row of its response, but not for long."""
        await room.desk.raised()
        await room.desk.notify_all()
        assert 0 == await room.send()
        await room.desk.execute("update notice_mail set created_time = created_time - interval '41s'")
        assert 1 == await room.send()
        assert mails.GATHER_SECONDS + Calls.poll_seconds < 60

    async def test_without_comments(self, room: Room) -> None:
        await room.desk.api.ok("PATCH", f"/chat/{room.chat_id}", {"comments": False})
        await room.open_case()
        await room.send()
        assert ("", ["Score"]) == (room.bodies[0]["quote"], [one["label"] for one in room.bodies[0]["facts"]])

    async def test_another_language(self, room: Room) -> None:
        await room.desk.api.ok("PATCH", f"/chat/{room.chat_id}", {"locale": "de"})
        await room.open_case()
        await room.send()
        assert "Neuer Alarm: Unhappy" == room.bodies[0]["title"]

    async def test_erased_meanwhile(self, room: Room) -> None:
        """The outbox has no words of the customer: what was erased is not told."""
        case = await room.open_case()
        await room.desk.api.ok("DELETE", f"/q/instance/{case['instance_id']}")
        await read_all(room.desk.pool, rows.READER, follow)
        await room.desk.execute("update notice_mail set created_time = created_time - interval '41s'")
        assert 1 == await room.send()
        assert ("", []) == (room.bodies[0]["quote"], room.bodies[0]["facts"])

    async def test_overdue_and_escalated(self, room: Room) -> None:
        case = await room.open_case()
        await room.send()
        for kind in ("overdue", "escalated"):
            await room.desk.execute(
                """insert into event (organization_id, event_id, type, subject_id, actor_kind, data)
                   select organization_id, $1, $2, subject_id, 'worker', data from event
                   where type = 'alert_instance.created'""",
                *(kind.ljust(22, "x"), f"alert_instance.{kind}"),
            )
        await room.desk.notify_all()
        assert [1, 1, 0] == [await room.send(), await room.send(), await room.send()]  # one at a time, in their order
        assert ["An alert is overdue: Unhappy", "An alert has been open for too long: Unhappy"] == [
            one["title"] for one in room.bodies[1:]
        ]
        assert {case["alert_instance_id"]} == {one["alert_instance_id"] for one in room.bodies}

    @pytest.mark.parametrize(
        ("kind", "member"), [("slack", "blocks"), ("teams", "attachments"), ("google_chat", "cardsV2")]
    )
    async def test_kinds(self, room: Room, kind: str, member: str) -> None:
        await room.desk.execute("update chat set kind = $1", kind)
        await room.open_case()
        await room.send()
        assert member in room.bodies[0]
        assert "<!channel>" not in room.receiver.given[0].body.decode() or "teams" == kind


class TestFailures:
    async def test_tried_again(self, room: Room) -> None:
        room.receiver.reply = Reply(500)
        await room.open_case()
        assert [1, 0] == [await room.send(), await room.send()]
        chat = await room.chat()
        assert ("HTTP 500", None) == (chat["problem"], chat["sent_time"])
        room.receiver.reply = Reply(200)
        await room.hasten()
        assert 1 == await room.send()
        assert (None, True) == ((await room.chat())["problem"], (await room.chat())["active"])

    async def test_nobody_there(self, room: Room) -> None:
        """The row of the chat and the card keep no address."""
        await room.open_case()
        with closed_port() as port:
            room.receiver.port = port
            await room.desk.run(
                lambda db: nouns.update(
                    CHAT,
                    db,
                    caller=room.desk.house.caller,
                    key=room.chat_id,
                    changes={"address": f"http://127.0.0.1:{port}/hooks/secretsecret"},
                    site=OPEN_SITE,
                    now=db.clock.now(),
                )
            )
            await room.send()
        assert "Nobody took the connection." == (await room.chat())["problem"]
        assert "waiting" == await room.states()
        kept = await room.desk.value("select string_agg(m::text, '') from notice_mail m")
        assert "secretsecret" not in kept

    async def test_private_network(self, room: Room) -> None:
        """A name that leads into a private network later is refused at the call."""
        closed = Caller()
        await room.open_case()
        sender = Calls(chats_service, pool=room.desk.pool, site=room.desk.house.site, caller=closed)
        await sender.turn()
        await sender.land()
        await closed.close()
        assert [] == room.receiver.given
        assert "waiting" == await room.states()

    async def test_pause(self, room: Room) -> None:
        """A chat that asks for a pause gets nothing meanwhile, also no other card."""
        room.receiver.reply = Reply(429, headers={"Retry-After": "3000"})
        await room.open_case()
        await room.send()
        await room.open_case()
        assert 0 == await room.send()
        wait = await room.desk.value("select max(due_time) - now() from notice_mail where chat_id is not null")
        assert wait > timedelta(minutes=45)
        await room.desk.execute("update chat set resume_time = null")
        room.receiver.reply = Reply(200)
        assert 1 == await room.send()

    async def test_gone(self, room: Room) -> None:
        """Administrators are told of a chat whose address does not exist any more; what waits is dropped."""
        room.receiver.reply = Reply(404)
        await room.open_case()
        await room.open_case()
        await room.send()
        chat = await room.chat()
        assert (False, "HTTP 404", True) == (chat["active"], chat["problem"], chat["disabled_time"] is not None)
        assert "failed failed" == await room.states()
        organization_id = room.desk.house.organization_id
        (told,) = await room.desk.run(list_events, organization_id=organization_id, type_name="chat.disabled")
        assert ("Desk", room.chat_id) == (told.data["title"], told.subject_id)
        again = await room.desk.api.ok("PATCH", f"/chat/{room.chat_id}", {"active": True})
        assert (True, None) == (again["active"], again["disabled_time"])

    async def test_lasting_failure(self, room: Room) -> None:
        room.receiver.reply = Reply(500)
        await room.open_case()
        await room.send()
        await room.desk.execute("update chat set failing_since = now() - interval '5 days'")
        await room.hasten()
        await room.send()
        assert not (await room.chat())["active"]

    async def test_refused_once(self, room: Room) -> None:
        """A card that is refused is not sent again, and the chat stays on."""
        room.receiver.reply = Reply(400)
        await room.open_case()
        await room.send()
        assert "failed" == await room.states()
        assert (True, "HTTP 400") == ((await room.chat())["active"], (await room.chat())["problem"])

    async def test_lost_worker(self, room: Room) -> None:
        await room.open_case()
        await room.desk.run(chats_service.claim_calls, now=await room.desk.now(), limit=1)
        assert 0 == await room.send()
        await room.desk.execute("update notice_mail set lease_until = now() - interval '1s' where state = 'claimed'")
        assert 1 == await room.send()


class TestReports:
    async def test_figures(self, room: Room) -> None:
        """A report goes into the chat and nowhere else."""
        now = await room.desk.now()
        columns = {"frequency": "weekly", "day": 1, "chat_id": room.chat_id}
        digest = await room.desk.api.ok("POST", "/report/digest", columns)
        assert room.chat_id == digest["chat_id"]
        await room.desk.api.ok("POST", f"/report/digest/{digest['digest_id']}/mail")
        await room.desk.run(digests.mail_due, secret=room.desk.house.site.secret, now=now + timedelta(days=1), limit=5)
        await room.hasten()
        assert [] == await room.desk.run(mails.claim_mails, now=now + timedelta(days=1), limit=5)
        assert 1 == await room.send()
        (body,) = room.bodies
        assert ("report.digest", "Overview") == (body["type"], body["title"])
        assert body["facts"]
        assert body["links"][0]["url"].startswith(f"{room.desk.house.site.public_url}/console?days=7")

    @pytest.mark.parametrize(
        ("columns", "expected"),
        [({"chat_id": "z" * 22}, "unknown_id /chat_id"), ({"recipient": "a@b.example"}, "unknown_value /chat_id")],
    )
    async def test_refused(self, room: Room, columns: dict[str, Any], expected: str) -> None:
        body = {"frequency": "weekly", "day": 1, "chat_id": room.chat_id, **columns}
        assert (422, expected) == await room.desk.api.refused("POST", "/report/digest", body)

    async def test_of_some_applications(self, room: Room) -> None:
        some = await room.desk.token(user_id=room.desk.house.user_id, application_ids=[room.desk.house.application_id])
        body = {"frequency": "weekly", "day": 1, "chat_id": room.chat_id}
        assert (422, "unknown_id /chat_id") == await some.refused("POST", "/report/digest", body)


class TestTestCard:
    async def test_taken(self, room: Room) -> None:
        site = replace(room.desk.house.site, networks=LOOPBACK)
        caller = room.desk.house.caller
        chat = await chats_service.send_test(room.desk.pool, caller=caller, chat_id=room.chat_id, site=site)
        assert (None, "Test message") == (chat.problem, room.bodies[0]["title"])

    async def test_refused(self, room: Room) -> None:
        room.receiver.reply = Reply(403)
        site = replace(room.desk.house.site, networks=LOOPBACK)
        caller = room.desk.house.caller
        chat = await chats_service.send_test(room.desk.pool, caller=caller, chat_id=room.chat_id, site=site)
        assert ("HTTP 403", True) == (chat.problem, chat.active)

    async def test_private_network(self, room: Room) -> None:
        found = await room.desk.api.ok("POST", f"/chat/{room.chat_id}/test")
        assert found["problem"]
        assert [] == room.receiver.given
