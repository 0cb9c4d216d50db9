"""Responses that were given elsewhere, row by row: what fits is stored as it was given, what does not says why."""

import json
from datetime import datetime, timedelta
from typing import Any

import httpx2

from afterword.asking.instances.answers import count_responses
from afterword.kit import db
from afterword.listening.imports import api
from afterword.listening.imports.service import AHEAD
from tests.asking.instances.conftest import publish
from tests.listening.reports.conftest import CHOICE, CONSENT, DOCUMENT, MADE, MATRIX, NPS, ROW, TEXT, House

IMPORTS = "/q/response/import"
STARTED, COMPLETED = "2024-05-01T10:00:00+03:00", "2024-05-01T10:05:00+03:00"


def past(name: str = "R-1", **members: Any) -> dict[str, Any]:
    """A response of some time ago; members that are None are left out."""
    row = {"external_id": name, "started_time": STARTED, "completed_time": COMPLETED, "answers": {NPS: 9}, **members}
    return {name: value for name, value in row.items() if value is not None}


async def send(house: House, *rows: dict[str, Any], query: str = "", **headers: str) -> httpx2.Response:
    path = f"/q/questionnaire/{house.questionnaire_id}/response{query}"
    return await house.send("POST", path, list(rows), **headers)


async def bring(house: House, *rows: dict[str, Any], query: str = "") -> dict[str, Any]:
    answer = await send(house, *rows, query=query)
    assert 200 == answer.status_code, answer.text
    return answer.json()


async def opened(house: House) -> str:
    body = {"questionnaire_id": house.questionnaire_id, "title": "Qualtrics"}
    made = await house.send("POST", IMPORTS, body)
    assert (201, "open") == (made.status_code, made.json()["state"])
    return made.json()["response_import_id"]


def told(result: dict[str, Any]) -> list[tuple[int, list[tuple[str, str]]]]:
    """Of each row its status, and the pointers and codes of what is wrong."""
    return [
        (one["status"], [(each["pointer"], each["code"]) for each in (one["problem"] or {}).get("errors", [])])
        for one in result["results"]
    ]


class TestRequests:
    async def test_refused(self, house: House) -> None:
        body = {"questionnaire_id": house.questionnaire_id}
        test = {"Authorization": f"Bearer {await house.token_for(test=True)}"}
        assert 403 == (await send(house, past(), **test)).status_code
        assert 403 == (await house.send("POST", IMPORTS, body, **test)).status_code
        assert 422 == (await house.send("POST", IMPORTS, {"questionnaire_id": house.application_id})).status_code
        assert 404 == (await send(house, past(), query=f"?response_import_id={house.application_id}")).status_code
        assert 422 == (await send(house)).status_code
        assert 413 == (await send(house, *[past()] * (api.ROWS_MAX + 1))).status_code
        assert [] == (await house.get(IMPORTS)).json()["results"]

    async def test_a_questionnaire_without_a_version(self, house: House) -> None:
        await house.execute("update questionnaire set published_version_id = null")
        refused = await send(house, past())
        assert (409, "questionnaire_not_published") == (refused.status_code, refused.json()["code"])

    async def test_of_another_questionnaire_or_finished(self, house: House) -> None:
        response_import_id = await opened(house)
        query = f"?response_import_id={response_import_id}"
        await bring(house, past(), query=query)
        named = await house.send("PATCH", f"{IMPORTS}/{response_import_id}", {"title": "Before"})
        assert ("open", "Before") == (named.json()["state"], named.json()["title"])
        done = await house.send("PATCH", f"{IMPORTS}/{response_import_id}", {"state": "done"})
        assert ("done", 1) == (done.json()["state"], done.json()["rows_created"])
        again = await house.send("PATCH", f"{IMPORTS}/{response_import_id}", {"state": "done"})
        assert done.json() == again.json()
        refused = await send(house, past("R-2"), query=query)
        assert (409, "not_ready") == (refused.status_code, refused.json()["code"])

    async def test_lines(self, house: House) -> None:
        lines = "\n".join([json.dumps(past()), "{", json.dumps(past("R-2"))])
        headers = {"Authorization": f"Bearer {house.token}", "Content-Type": "application/x-ndjson"}
        path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/response"
        answer = await house.http.post(path, content=lines, headers=headers)
        assert [201, 422, 201] == [status for status, _ in told(answer.json())]


class TestRows:
    async def test_wrong(self, house: House) -> None:
        cases: list[tuple[dict[str, Any], str, str]] = [
            ({"external_id": None}, "/external_id", "required"),
            ({"external_id": ""}, "/external_id", "too_short"),
            ({"external_id": "a\nb"}, "/external_id", "invalid_format"),
            ({"external_id": "x" * 101}, "/external_id", "too_long"),
            ({"answers": None}, "/answers", "required"),
            ({"answers": {}}, "/answers", "required"),
            ({"answers": {"nope": 1}}, "/answers/nope", "unknown_id"),
            ({"answers": {NPS: 9, CHOICE: "Choice 4"}}, f"/answers/{CHOICE}", "unknown_value"),
            ({"started_time": None, "completed_time": None}, "/started_time", "required"),
            ({"completed_time": "2024-05-01T09:00:00+03:00"}, "/completed_time", "out_of_range"),
            ({"completed_time": "yesterday"}, "/completed_time", "invalid_date_time"),
            ({"channel_id": 4}, "/channel_id", "unknown_value"),
            ({"locale": "Greek!"}, "/locale", "invalid_locale"),
            (
                {"metadata": {"questionnaire": {"undeclared": "1"}}},
                "/metadata/questionnaire/undeclared",
                "unknown_metadata",
            ),
            ({"person": {"email": "nobody"}}, "/person/email", "invalid_address"),
            ({"person": {"phone_number": "6912345678"}}, "/person/phone_number", "invalid_address"),
        ]
        result = await bring(
            house, {**past("R-0"), "external_id": "R-0"}, *(past(**members) for members, _, _ in cases)
        )
        assert [(201, []), *((422, [(pointer, code)]) for _, pointer, code in cases)] == told(result)
        names = [members.get("external_id", "R-1") for members, _, _ in cases]
        assert ["R-0", *names] == [one["external_id"] for one in result["results"]]
        assert (1, 0, len(cases)) == (result["created"], result["unchanged"], result["failed"])
        assert 1 == (await house.get("/q/response")).json()["total_results"]

    async def test_in_the_future(self, house: House, now: datetime) -> None:
        near, far = (str(now + AHEAD * part) for part in (0.5, 2))
        result = await bring(house, past(completed_time=near), past("R-2", completed_time=far))
        assert [(201, []), (422, [("/completed_time", "out_of_range")])] == told(result)

    async def test_older_than_what_is_kept(self, house: House, now: datetime) -> None:
        await house.execute("update organization set delete_after_days = 90")
        old, young = ((now - timedelta(days=days)).isoformat() for days in (91, 89))
        both = {"started_time": None}
        result = await bring(house, past(completed_time=old, **both), past("R-2", completed_time=young, **both))
        assert [(422, [("/completed_time", "out_of_range")]), (201, [])] == told(result)
        assert "after 90 days" in result["results"][0]["problem"]["detail"]

    async def test_as_it_was_given(self, house: House) -> None:
        answers = {NPS: 3, CHOICE: "choice 2", MATRIX: {"Food": 1}, TEXT: "Late again", CONSENT: False}
        row = past(
            answers=answers,
            channel_id=1,
            locale="sv",
            metadata={"questionnaire": {"transaction_id": "77"}, "responder": {"first_name": "Ann"}},
            person={"email": "Ann@example.com", "external_id": "C-9"},
        )
        [made] = (await bring(house, row))["results"]
        instance = (await house.get(f"/q/instance/{made['instance_id']}")).json()
        times = ("created_time", "viewed_time", "submitted_time", "completed_time", "sent_time")
        assert [STARTED, STARTED, COMPLETED, COMPLETED, None] == [instance[name] for name in times]
        assert ("sv", True, False, 0) == tuple(instance[n] for n in ("locale", "finalized", "editable", "valid_days"))
        content = (await house.get(f"/q/instance/{made['instance_id']}/response/content")).json()
        stored = {NPS: 3, CHOICE: 2, MATRIX: {ROW: 1}, TEXT: "Late again", CONSENT: False}
        assert stored == {one["question_id"]: one["value"] for one in content["answers"]}
        person = {"first_name": "Ann", "email": "Ann@example.com"}
        assert {"questionnaire": {"transaction_id": "77"}, "responder": person} == content["metadata"]
        [shown] = (await house.get("/q/response", search='"late again"')).json()["results"]
        result = (await house.get(IMPORTS)).json()["results"][0]
        assert (result["response_import_id"], "R-1", 3, "detractor", 1) == tuple(
            shown[name] for name in ("response_import_id", "external_reference", "score", "band", "channel_id")
        )
        assert 1 == (await house.get("/q/response", search="R-1")).json()["total_results"]

    async def test_as_answers_are_shown(self, house: House) -> None:
        [made] = (await bring(house, past(answers={NPS: 3, CHOICE: 2})))["results"]
        content = (await house.get(f"/q/instance/{made['instance_id']}/response/content")).json()
        assert [(200, [])] == told(await bring(house, past(answers=content["answers"])))

    async def test_partial(self, house: House) -> None:
        [made] = (await bring(house, past(completed_time=None)))["results"]
        instance = (await house.get(f"/q/instance/{made['instance_id']}")).json()
        assert (STARTED, None, 1) == tuple(instance[n] for n in ("submitted_time", "completed_time", "valid_days"))
        content = (await house.get(f"/q/instance/{made['instance_id']}/content")).json()
        assert not content["open"], "nobody goes on with it"

    async def test_an_anonymous_questionnaire(self, house: House) -> None:
        key = {"organization_id": house.caller.organization_id, "questionnaire_id": house.questionnaire_id}
        async with db.transaction(house.pool) as database:
            await publish(database, {**DOCUMENT, "anonymous": True}, now=MADE, **key)
        result = await bring(house, past(person={"external_id": "C-1"}), past("R-2"))
        assert [(422, [("/person", "exclusive")]), (201, [])] == told(result)
        instance = (await house.get(f"/q/instance/{result['results'][1]['instance_id']}")).json()
        assert "response" == instance["anonymity"]


class TestAgain:
    async def test_the_same(self, house: House) -> None:
        first = await bring(house, past(), past("R-2"), past())
        assert [(201, []), (201, []), (200, [])] == told(first)
        again = await bring(house, past("R-3"), past(), past("R-2", person={"email": "late@example.com"}))
        assert (1, 2, 0) == (again["created"], again["unchanged"], again["failed"])
        assert first["results"][0]["instance_id"] == again["results"][1]["instance_id"]
        assert 3 == (await house.get("/q/response")).json()["total_results"]

    async def test_something_else(self, house: House) -> None:
        changes: list[dict[str, Any]] = [
            {"answers": {NPS: 8}}, {"completed_time": None}, {"locale": "el"}, {"channel_id": 2},
            {"metadata": {"questionnaire": {"transaction_id": "1"}}},
        ]  # fmt: skip
        await bring(house, past())
        for number, members in enumerate(changes):
            again = f"R-2{number}"
            result = await bring(house, past(**members), past(again), past(again, **members))
            assert [409, 201, 409] == [status for status, _ in told(result)], members
            assert "already_exists" == result["results"][0]["problem"]["code"]
        assert 1 + len(changes) == (await house.get("/q/response")).json()["total_results"]

    async def test_after_a_wrong_one(self, house: House) -> None:
        wrong = past(answers={NPS: 11})
        assert [422, 201, 200] == [status for status, _ in told(await bring(house, wrong, past(), past()))]

    async def test_only_checked(self, house: House) -> None:
        await bring(house, past())
        result = await bring(house, past(), past("R-2"), past("R-2"), past("R-3", answers={}), query="?dry_run=1")
        assert [200, 201, 200, 422] == [status for status, _ in told(result)]
        assert result["response_import_id"] is None
        assert 1 == (await house.get("/q/response")).json()["total_results"]
        assert 1 == (await house.get(IMPORTS)).json()["total_results"]


class TestPeople:
    async def test_found_or_made(self, house: House) -> None:
        people = [
            {"email": "ann@example.com", "external_id": "C-1"}, {"external_id": "C-1"}, {"email": "ANN@example.com"},
            {"external_id": "C-2"}, None, None,
        ]  # fmt: skip
        result = await bring(house, *[past(f"R-{place}", person=person) for place, person in enumerate(people)])
        found = [
            (await house.get(f"/q/instance/{one['instance_id']}")).json()["responder_id"] for one in result["results"]
        ]
        assert [found[0]] * 3 == found[:3]
        assert 4 == len(set(found))

    async def test_erased(self, house: House) -> None:
        """Somebody who was erased is not brought back, however often the file is sent."""
        suppress = {"channel_id": 1, "identifier": "ann@example.com", "reason": "erased"}
        await house.send("POST", "/suppression", {**suppress, "reason": "blocked"})
        await house.execute("update suppression set reason = 'erased'")
        result = await bring(house, past(person={"email": "Ann@example.com"}), past("R-2"))
        assert [(422, [("/person", "erased")]), (201, [])] == told(result)


class TestFilters:
    async def test_lists(self, house: House, now: datetime) -> None:
        own = await house.respond({NPS: 1}, now=now - timedelta(hours=1))
        await house.follow()
        first = await bring(house, past())
        second = await bring(house, past("R-2"), past("R-3"))
        one, other = (result["response_import_id"] for result in (first, second))

        async def found(**query: Any) -> list[str]:
            answer = await house.get("/q/response", **query)
            counted = (await house.get("/q/response/count", **query)).json()["count"]
            assert counted == answer.json()["total_results"]
            return sorted(each["instance_id"] for each in answer.json()["results"])

        def ids_of(*results: dict[str, Any]) -> list[str]:
            return sorted(each["instance_id"] for result in results for each in result["results"])

        assert ids_of(first, second) == await found(imported=True)
        assert ids_of(first, second) == await found(imported=True, questionnaire_id=house.questionnaire_id)
        assert [own.instance_id] == await found(imported=False)
        assert ids_of(second) == await found(response_import_id=other)
        both = await house.get("/q/response", response_import_id=one, imported=True)
        assert (422, "exclusive") == (both.status_code, both.json()["errors"][0]["code"])
        assert ids_of(first) == await found(response_import_id=one)
        unknown = await house.get("/q/response", response_import_id=house.application_id)
        assert (422, "unknown_id") == (unknown.status_code, unknown.json()["errors"][0]["code"])

    async def test_the_most_that_are_taken(self, house: House) -> None:
        """A questionnaire that takes so many responses is not closed by those of others."""
        await bring(house, past(), past("R-2"))
        key = {"organization_id": house.caller.organization_id, "questionnaire_id": house.questionnaire_id}
        async with db.connection(house.pool) as database:
            assert 0 == await count_responses(database, **key, limit=10)
