"""The timeline of a person, and the copy of all that is held, as JSON and as a page."""

from collections import Counter
from html import escape
from typing import Any

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.privacy import profiles
from tests.asking.instances.conftest import (
    Shop,
    shop as shop,  # noqa: PLC0414  a fixture
    world as world,  # noqa: PLC0414  a fixture
)
from tests.asking.instances.test_responders import asked
from tests.privacy.conftest import CANARY, Desk, people

PATHS = ("timeline", "subject")


async def entries(shop: Shop, responder_id: str) -> list[dict[str, Any]]:
    response = await shop.get(f"/q/responder/{responder_id}/timeline")
    assert 200 == response.status_code, response.text
    return response.json()["results"]


class TestRefusals:
    async def test_a_copy_is_for_those_who_see_all(self, shop: Shop) -> None:
        responder_id = await asked(shop, email="ann@example.com")
        own = await shop.with_token(application_ids=[shop.world.application_id])
        assert 403 == (await own.get(f"/q/responder/{responder_id}/subject")).status_code
        assert 200 == (await own.get(f"/q/responder/{responder_id}/timeline")).status_code


class TestTimeline:
    async def test_ok(self, desk: Desk) -> None:
        """Everything that happened to the person and nothing of another, the newest first."""
        known, _ = await people(desk, [CANARY, "zqhelen"])
        path = f"/q/responder/{known.responder_id}/timeline"
        found = (await desk.ask("GET", f"{path}?pagination[max_per_page]=100"))["results"]
        kinds = Counter(one["kind"] for one in found)
        assert {"waiting": 2, "sent": 1, "not_sent": 1, "viewed": 1, "answered": 1, "case_opened": 1} == {
            kind: count for kind, count in kinds.items() if kind != "suppressed"
        }
        assert 1 == kinds["suppressed"]
        assert "zqhelen" not in str(found)
        assert [one["time"] for one in found] == sorted((one["time"] for one in found), reverse=True)
        [answered] = [one for one in found if one["kind"] == "answered"]
        assert (CANARY, 4, f"I am {CANARY}") == (answered["order_key"], answered["score"], answered["comment"])
        [sent] = [one for one in found if one["kind"] == "sent"]
        assert (f"order-{CANARY}", 1) == (sent["order_key"], sent["channel_id"])
        [ended] = [one for one in found if one["kind"] == "not_sent"]
        assert f"as {CANARY} wished" == ended["result"]

        assert [answered] == (await desk.ask("GET", f"{path}?filter_by[EQUAL][Kind]=answered"))["results"]
        seen: list[str] = []
        cursor = ""
        while cursor is not None:
            page = await desk.ask("GET", f"{path}?limit=2{f'&cursor={cursor}' if cursor else ''}")
            seen += [one["entry_id"] for one in page["results"]]
            cursor = page["next_cursor"]
        assert [one["entry_id"] for one in found] == seen

    async def test_only_what_the_caller_may_see(self, shop: Shop) -> None:
        instance = await shop.issue(
            metadata={"responder": {"email": "a@b.example"}, "questionnaire": {"transaction_id": "1042"}}
        )
        responder_id = instance["responder_id"]
        assert ["1042"] == [one["order_key"] for one in await entries(shop, responder_id)]
        narrow = await shop.with_token(scopes=SCOPES - {"Questionnaire Value.Read"})
        assert [None] == [one["order_key"] for one in await entries(narrow, responder_id)]

    async def test_search_by_order_key(self, desk: Desk) -> None:
        """By the whole reference of an item, or the whole key in its metadata; so does the search over everything."""
        [known] = await people(desk, [CANARY])
        house = desk.house
        path = f"/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}/queue/item"
        item = {
            "responder_channel_identifier": known.address,
            "metadata": {"questionnaire": {"transaction_id": "TX 771"}},
        }
        assert 201 == (await desk.http.post(path, json=item, headers=house.headers)).status_code
        by_key = (await desk.ask("GET", "/search?q=TX 771"))["results"]
        assert {"responder", "queue_item"} <= {one["kind"] for one in by_key}
        for text, expected in (
            (f"order-{CANARY}", [known.responder_id]),
            (f"order-{CANARY[:-1]}", []),
            ("TX 771", [known.responder_id]),
            ("TX 77", []),
        ):
            found = await desk.ask("GET", f"/q/responder?search={text}")
            assert expected == [one["responder_id"] for one in found["results"]]


class TestSubject:
    async def test_ok(self, desk: Desk) -> None:
        """All that erasure would take, and nothing of another person."""
        known, other = await people(desk, [CANARY, "zqhelen"])
        response = await desk.http.get(f"/q/responder/{known.responder_id}/subject", headers=desk.house.headers)
        assert 200 == response.status_code
        assert f'filename="person-{known.responder_id}.json"' in response.headers["content-disposition"]
        document = response.json()
        assert known.responder_id == document["responder"]["responder_id"]
        sizes = {name: len(each) for name, each in document.items() if isinstance(each, list)}
        assert {
            "values": 3, "queue_items": 4, "instances": 1, "responses": 1, "tags": 1, "alert_instances": 1,
            "alert_comments": 1, "alert_messages": 1, "suppressions": 1,
        } == sizes  # fmt: skip
        assert "zqhelen" not in response.text
        assert other.responder_id not in response.text
        for name, each in document.items():
            assert CANARY in str(each) or name in {"tags", "instances", "alert_instances", "generated_time"}, name

    async def test_what_was_deleted_is_still_held(self, desk: Desk) -> None:
        """Deletion is a mark: the copy has all that the database has, with the time of the mark."""
        [known] = await people(desk, [CANARY])
        path = f"/q/responder/{known.responder_id}/subject"
        before = await desk.ask("GET", path)
        cancelled, _, waiting = known.item_ids
        for each in (f"/q/instance/{known.instance_id}", *(f"/q/queue/item/{one}" for one in (cancelled, waiting))):
            await desk.ask("DELETE", each)
        after = await desk.ask("GET", path)
        for name in ("queue_items", "instances", "responses", "tags"):
            assert len(before[name]) == len(after[name]), name
        assert before["responses"] == after["responses"]
        assert {cancelled, waiting} == {one["item_id"] for one in after["queue_items"] if one["deleted_time"]}
        assert [known.instance_id] == [one["instance_id"] for one in after["instances"] if one["deleted_time"]]
        assert all(one["deleted_time"] is None for name in ("queue_items", "instances") for one in before[name])

    async def test_a_consent_has_its_text_version_and_time(self, desk: Desk) -> None:
        """The words to which somebody agreed stay as they stood, whatever is published later."""
        path = f"/q/questionnaire/{desk.house.questionnaire_id}"
        definition = (await desk.ask("GET", f"{path}/version/{desk.house.version_id}"))["definition"]
        consent = {"type": "consent", "title": "You may write to me about offers."}
        definition["groups"][0]["questions"].append(consent)
        await desk.ask("PUT", f"{path}/draft", definition, status=201)
        first = await desk.ask("POST", f"{path}/version")
        asked_item = await desk.ask("POST", desk.items, {"responder_channel_identifier": "ann@example.com"})
        assert await desk.queue.worker().send(Sent("250 ok"))
        shown = await desk.ask("GET", f"/q/queue/item/{asked_item['item_id']}")
        async with db.transaction(desk.pool) as database:
            context = await lock_context(database, instance_id=shown["questionnaire_instance_id"])
            [question] = [each for each in context.definition.questions() if each.type == "consent"]
            given = {question.question_id: Given(value=True)}
            await save_answers(database, context=context, answers=given, complete=False, now=database.clock.now())
        later = (await desk.ask("GET", f"{path}/version/{first['version_id']}"))["definition"]
        later["groups"][0]["questions"][-1]["title"] = "You may sell my address."
        await desk.ask("PUT", f"{path}/draft", later)
        await desk.ask("POST", f"{path}/version")
        copy = await desk.ask("GET", f"/q/responder/{shown['responder_id']}/subject")
        [answer] = copy["responses"][0]["answers"]
        assert ("consent", True, consent["title"], first["version_id"]) == tuple(
            answer[name] for name in ("type", "value", "title", "version_id")
        )
        assert answer["answered_time"]


async def test_the_page_says_what_the_document_says(desk: Desk) -> None:
    [known] = await people(desk, [CANARY])
    await desk.execute("update alert_comment set body = '<script>alert(1)</script>'")
    path = f"/q/responder/{known.responder_id}/subject"
    document = (await desk.http.get(path, headers=desk.house.headers)).json()
    page = await desk.http.get(f"{path}?format=html", headers=desk.house.headers)
    assert (200, True) == (page.status_code, page.headers["content-type"].startswith("text/html"))
    assert f'attachment; filename="person-{known.responder_id}.html"' in page.headers["content-disposition"]
    assert "<script" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    for title in profiles.TITLES.values():
        assert f"<h2>{title}</h2>" in page.text
    assert set(profiles.TITLES) == set(document) - {"generated_time"}
    missing = [text for text in texts_of(document) if escape(text) not in page.text]
    assert [document["generated_time"]] == missing or [] == missing


def texts_of(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_of(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value] if isinstance(value, str) and value else []


async def test_wrong_format(desk: Desk) -> None:
    wrong = await desk.ask("GET", f"/q/responder/{'r' * 22}/subject?format=pdf", status=422)
    assert ["format"] == [each["parameter"] for each in wrong["errors"]]


def test_values() -> None:
    assert "<dl>\n<dt>given name</dt><dd>yes</dd>\n</dl>\n" == profiles.part({"given_name": True, "nothing": None})
    assert "<br>" in profiles.part({"lines": ["a", "b"]})
