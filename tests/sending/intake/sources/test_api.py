"""Calls of shops and help desks: a forged one changes nothing but a count, a good one asks once."""

import asyncio
import json
from datetime import timedelta

import pytest

from afterword.core.sources.parts import BODY_BYTES_MAX
from afterword.sending.intake.sources import records
from tests.conftest import House
from tests.sending.intake.sources.conftest import SECRET, Shop, body_of, event_of
from tests.sending.queue.conftest import OK, Client, codes

FIVE_YEARS = timedelta(days=5 * 365)


class TestRefused:
    async def test_wrong_signature(self, shop: Shop) -> None:
        await shop.rule()
        for refused, told in (
            (await shop.post(body_of(), secret="of somebody else"), "The signature is wrong."),
            (await shop.post(body_of(), age=3_600), "The signature is too old."),
            (await shop.client.http.post(f"https://answers.example/in/{shop.source_id}"), "The signature is wrong."),
        ):
            assert (401, told) == (refused.status_code, refused.json()["detail"])
        source = await shop.source()
        assert (3, "The signature is wrong.") == (source["refused_count"], source["problem"])
        assert source["last_time"] is None
        assert [] == await shop.events()
        await shop.tell()
        source = await shop.source()
        assert (3, None) == (source["refused_count"], source["problem"])
        assert source["last_time"] is not None

    async def test_without_a_secret(self, client: Client) -> None:
        made = await client.ok("POST", "/source", {"title": "Patras", "kind": "signed"}, status=201)
        refused = await Shop(client, made["source_id"]).post(body_of())
        assert (401, "The secret of this source is not stored yet.") == (refused.status_code, refused.json()["detail"])
        assert not made["has_secret"]

    async def test_replay(self, shop: Shop) -> None:
        await shop.rule()
        for _ in range(3):
            await shop.tell()
        assert 1 == len(await shop.events())
        assert 1 == len(await shop.items())

    async def test_too_large(self, shop: Shop) -> None:
        assert 413 == (await shop.post(b"x" * 10_000_000)).status_code
        assert 413 == (await shop.post(b"x" * (BODY_BYTES_MAX + 1))).status_code
        assert 0 == (await shop.source())["refused_count"]

    async def test_cut(self, shop: Shop) -> None:
        body = body_of()
        cut = await shop.post(body[: len(body) // 2])
        assert (422, "invalid") == (cut.status_code, cut.json()["code"])
        assert 422 == (await shop.post(json.dumps({"events": [event_of()] * 501}).encode())).status_code
        assert 422 == (await shop.post(body_of(event_id=" "))).status_code
        assert [] == await shop.events()
        assert 3 == (await shop.source())["refused_count"]

    async def test_nobody_there(self, shop: Shop) -> None:
        assert 404 == (await shop.post(body_of(), source_id="0" * 22)).status_code
        assert 404 == (await shop.post(body_of(), source_id="short")).status_code
        assert 405 == (await shop.client.http.get(f"https://answers.example/in/{shop.source_id}")).status_code
        await shop.client.ok("PATCH", shop.path, {"active": False})
        assert 404 == (await shop.post(body_of())).status_code

    async def test_other_organization(self, shop: Shop, neighbour: House) -> None:
        await shop.tell()
        [event] = await shop.events()
        rule = await shop.rule()
        theirs = Client(shop.client.http, shop.client.queue, neighbour.headers)
        for path in ("", "/event", f"/event/{event['source_event_id']}", "/rule"):
            assert 404 == (await theirs.send("GET", f"{shop.path}{path}")).status_code, path
        assert 404 == (await theirs.send("GET", f"/source/rule/{rule['source_rule_id']}")).status_code
        assert 404 == (await theirs.send("POST", f"{shop.path}/rule/simulate", _rule(shop))).status_code


def _rule(shop: Shop, **body: object) -> dict[str, object]:
    return {"what": "order.delivered", "pipeline_id": shop.client.queue.pipeline_id, **body}


class TestTake:
    async def test_ok(self, shop: Shop) -> None:
        rule = await shop.rule(delay_days=3)
        declared = {"name": "total", "title": "Total", "type": "number", "level": "organization"}
        await shop.client.ok("POST", "/q/metadata/questionnaire", declared, status=201)
        await shop.tell(locale="el", first_name="Ann", values={"total": 20.5, "unknown": "x"}, ago=timedelta(hours=1))
        [event], [item] = await shop.events(), await shop.items()
        assert ("waiting", "order.delivered", "fulfilled") == (event["state"], event["what"], event["name"])
        assert [(rule["source_rule_id"], "asked", item["item_id"])] == [
            (one["source_rule_id"], one["state"], one["item_id"]) for one in event["decisions"]
        ]
        assert ("1042", "el", "source") == (item["external_reference"], item["locale"], item["source"])
        assert {"transaction_id": "1042", "total": "20.5"} == item["metadata"]["questionnaire"]
        assert {"email": "ann@example.com", "first_name": "Ann"} == item["metadata"]["responder"]
        waits = await shop.client.queue.value("select send_time - now() from queue_item")
        assert timedelta(days=2, hours=22) < waits <= timedelta(days=2, hours=23)
        assert event == await shop.client.ok("GET", f"{shop.path}/event/{event['source_event_id']}")
        trace = await shop.client.ok("GET", f"/q/queue/item/{item['item_id']}/trace")
        assert (shop.source_id, event["source_event_id"]) == (trace["source_id"], trace["source_event_id"])

    async def test_delay_of_the_pipeline(self, shop: Shop) -> None:
        await shop.client.queue.change_pipeline("delay_cap_days = 2")
        await shop.rule()
        await shop.tell()
        assert timedelta(days=1) < await shop.client.queue.value("select send_time - now() from queue_item")

    async def test_completed_by_earlier_events(self, shop: Shop) -> None:
        """A delivery that names neither number nor address is that of an order which did."""
        await shop.rule(unless=["order.refunded"])
        first = {"what": "order.created", "first_name": "Ann", "values": {"total": 30}, "ago": timedelta(days=2)}
        await shop.tell(object_id="gid-1", **first)
        await shop.tell(event_id="event-2", object_id="gid-1", subject="", email="")
        await shop.tell(event_id="event-3", object_id="gid-2", subject="", email="")
        [item] = await shop.items()
        assert ("1042", "ann@example.com") == (item["external_reference"], item["responder_channel_identifier"])
        assert ["no_address", None] == await shop.reasons()
        await shop.tell(event_id="event-4", what="order.refunded", object_id="gid-1", subject="", email="")
        assert "1042" == (await shop.events())[0]["subject"]
        assert [5] == [one["status_id"] for one in await shop.items()]

    async def test_many_events_of_one_call(self, shop: Shop) -> None:
        await shop.rule(unless=["order.refunded"])
        first, second = event_of(), event_of(event_id="event-2", what="order.refunded")
        other = event_of(event_id="event-3", subject="1043")
        assert 200 == (await shop.post(json.dumps({"events": [first, second, other, first]}).encode())).status_code
        states = {one["event_id"]: one["state"] for one in await shop.events()}
        assert {"event-1": "not_asked", "event-2": "no_rule", "event-3": "waiting"} == states
        assert ["1043"] == [one["external_reference"] for one in await shop.items()]

    async def test_odd_values(self, shop: Shop) -> None:
        """Texts that are too long are cut, characters that no column takes are left out, and nothing fails."""
        await shop.rule()
        await shop.tell(
            event_id="e" * 900, name="n" * 900, subject="\u200b" + "s" * 900, locale="no language",
            values={"text": "t\u200b" * 900, **{f"v{one}": one for one in range(90)}},
        )  # fmt: skip
        [event], [item] = await shop.events(), await shop.items()
        assert ("s" * 100, 64) == (item["external_reference"], len(event["event_id"]))
        assert item["locale"] is None


class TestNotAsked:
    @pytest.mark.parametrize(
        ("reason", "rule", "event"),
        [
            ("too_old", {}, {"ago": FIVE_YEARS}),
            ("too_old", {"age_days_max": 1}, {"ago": timedelta(days=2)}),
            ("test", {}, {"is_test": True}),
            ("no_address", {}, {"email": ""}),
            ("invalid_address", {}, {"email": "nobody"}),
            (
                "conditions",
                {"conditions": {"subject": "questionnaire_metadata:total", "operator": "greater", "value": 20}},
                {"values": {"total": 19.99}},
            ),
        ],
    )
    async def test_reason(self, shop: Shop, reason: str, rule: dict[str, object], event: dict[str, object]) -> None:
        await shop.rule(**rule)
        await shop.tell(**event)
        assert [reason] == await shop.reasons()
        assert ["not_asked"] == [one["state"] for one in await shop.events()]
        assert [] == await shop.items()

    async def test_asked_before(self, shop: Shop) -> None:
        await shop.rule()
        await shop.tell()
        await shop.tell(event_id="event-2")
        assert ["already_asked", None] == await shop.reasons()

    async def test_other_event_and_rule_that_is_off(self, shop: Shop) -> None:
        await shop.rule(active=False)
        await shop.tell()
        await shop.rule()
        await shop.tell(event_id="event-2", what="order.created")
        assert ["no_rule"] * 2 == [one["state"] for one in await shop.events()]

    async def test_pipeline_that_was_deleted(self, shop: Shop) -> None:
        await shop.rule()
        await shop.client.queue.execute("update pipeline set deleted_time = now()")
        await shop.tell()
        assert ["inactive"] == await shop.reasons()


class TestStopped:
    async def test_cancels_what_waits(self, shop: Shop) -> None:
        await shop.rule(delay_days=3, unless=["order.refunded"])
        await shop.tell()
        await shop.tell(event_id="event-2", what="order.refunded", subject="1043")
        assert [1] == [one["status_id"] for one in await shop.items()]
        await shop.tell(event_id="event-3", what="order.refunded")
        [item] = await shop.items()
        assert (5, "Stopped by order.refunded", None) == (item["status_id"], item["result"], item["updated_by"])
        assert "cancelled" == (await shop.events())[0]["state"]

    async def test_delivery_after_the_refund(self, shop: Shop) -> None:
        """Whatever their order, and whenever they arrive."""
        await shop.rule(unless=["order.refunded"])
        await shop.tell(what="order.refunded", ago=timedelta(days=2))
        await shop.tell(event_id="event-2")
        await shop.tell(event_id="event-3", ago=timedelta(days=3))
        assert ["stopped"] * 2 == await shop.reasons()

    async def test_ticket_that_is_solved_again(self, shop: Shop) -> None:
        await shop.rule(what="ticket.solved", delay_days=1, unless=["ticket.reopened"])
        await shop.tell(event_id="1", what="ticket.solved", ago=timedelta(hours=3))
        await shop.tell(event_id="2", what="ticket.reopened", ago=timedelta(hours=2))
        await shop.tell(event_id="3", what="ticket.solved", ago=timedelta(hours=1))
        await shop.tell(event_id="4", what="ticket.reopened", ago=timedelta(hours=2))  # it arrives late
        assert [1, 5] == sorted(one["status_id"] for one in await shop.items())

    async def test_at_the_same_moment(self, shop: Shop) -> None:
        """Whichever comes first, nobody is asked in the end, and a repetition does nothing."""
        await shop.rule(delay_days=3, unless=["order.refunded"])
        told: list[dict[str, object]] = [
            {"event_id": f"{number} {what}", "what": what, "subject": str(number)}
            for number in range(4)
            for what in ("order.delivered", "order.refunded", "order.delivered")
        ]
        await asyncio.gather(*(shop.tell(**one) for one in told))
        assert 8 == len(await shop.events())
        assert {5} >= {one["status_id"] for one in await shop.items()}

    async def test_what_was_sent_stays(self, shop: Shop) -> None:
        await shop.rule(delay_days=0, unless=["order.refunded"])
        await shop.tell()
        await shop.client.queue.worker().send(OK)
        await shop.tell(event_id="event-2", what="order.refunded")
        assert [3] == [one["status_id"] for one in await shop.items()]
        assert ["no_rule", "asked"] == [one["state"] for one in await shop.events()]


class TestSimulate:
    async def test_ok(self, shop: Shop) -> None:
        for number, total in enumerate((10, 30, 50)):
            await shop.tell(event_id=f"event-{number}", subject=str(number), values={"total": total})
        await shop.tell(event_id="refund", what="order.refunded", subject="2")
        wanted = {"subject": "questionnaire_metadata:total", "operator": "greater", "value": 20}
        body = _rule(shop, conditions=wanted, unless=["order.refunded"])
        tried = await shop.client.ok("POST", f"{shop.path}/rule/simulate", body)
        assert (1, ["stopped", None, "conditions"]) == (tried["asked"], [one["reason"] for one in tried["results"]])
        assert tried["results"][1]["planned_time"] is not None
        assert [] == await shop.items()
        assert [] == (await shop.client.ok("GET", f"{shop.path}/rule"))["results"]

    async def test_wrong(self, shop: Shop) -> None:
        response = await shop.client.send("POST", f"{shop.path}/rule/simulate", _rule(shop, pipeline_id="0" * 22))
        assert [("/pipeline_id", "unknown_id")] == codes(response)


class TestSource:
    async def test_wrong(self, client: Client) -> None:
        for body, wrong in (
            ({"title": "", "kind": "signed"}, ("/title", "too_short")),
            ({"title": "Kalamata", "kind": "fax"}, ("/kind", "unknown_value")),
            ({"title": "Kalamata", "kind": "signed", "settings": {"path": "x"}}, ("/settings/path", "unknown_member")),
            ({"title": "Kalamata", "kind": "signed", "application_id": "0" * 22}, ("/application_id", "unknown_id")),
        ):
            assert [wrong] == codes(await client.send("POST", "/source", body))

    async def test_secret(self, shop: Shop) -> None:
        """Shown to nobody, sealed, and kept where a change does not name it."""
        source = await shop.client.ok("PATCH", shop.path, {"title": "Patras", "secret": None})
        assert source["has_secret"]
        assert SECRET not in str(source)
        assert shop.client.queue.house.site.source_url(shop.source_id) == source["url"]
        assert SECRET.encode() not in await shop.client.queue.value("select sealed_secret from source")
        await shop.tell()
        await shop.client.ok("PATCH", shop.path, {"secret": "another"})
        assert 401 == (await shop.post(body_of())).status_code
        assert 200 == (await shop.post(body_of(), secret="another")).status_code

    async def test_removed(self, shop: Shop) -> None:
        rule = await shop.rule()
        await shop.tell()
        assert 204 == (await shop.client.send("DELETE", shop.path)).status_code
        assert 404 == (await shop.post(body_of())).status_code
        assert 404 == (await shop.client.send("GET", f"/source/rule/{rule['source_rule_id']}")).status_code
        assert 1 == len(await shop.items())


class TestRule:
    async def test_wrong(self, shop: Shop) -> None:
        of_question = {"subject": f"question:{'0' * 22}", "operator": "is_empty"}
        of_tag = {"subject": "responder_metadata:email", "operator": "is_empty"}
        for body, wrong in (
            ({"what": "order.lost"}, ("/what", "unknown_value")),
            ({"pipeline_id": "0" * 22}, ("/pipeline_id", "unknown_id")),
            ({"unless": ["order.delivered"]}, ("/unless", "exclusive")),
            ({"delay_days": 366}, ("/delay_days", "out_of_range")),
            ({"age_days_max": 31}, ("/age_days_max", "out_of_range")),
            ({"conditions": of_question}, ("/conditions/subject", "unknown_id")),
            ({"conditions": of_tag}, ("/conditions", "unknown_value")),
        ):
            assert [wrong] == codes(await shop.client.send("POST", f"{shop.path}/rule", _rule(shop, **body))), body

    async def test_too_many(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(records, "RULES_OF_ONE_MAX", 1)
        await shop.rule()
        assert [("", "too_many")] == codes(await shop.client.send("POST", f"{shop.path}/rule", _rule(shop)))
