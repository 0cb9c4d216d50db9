"""Questionnaires of other systems over the API: a file becomes a draft, and the answer tells what became of it."""

import httpx2

from afterword.asking.questionnaires import imports
from afterword.kit import db
from tests.asking.questionnaires.http import Api
from tests.core.foreign.lss import Q, survey
from tests.core.foreign.samples import SAMPLES

PATH = "/v3.2/q/questionnaire/import"
FILE = SAMPLES["limesurvey"]


async def send(
    api: Api, content: bytes, *, token: str | None = None, kind: str = "application/xml", **query: str
) -> httpx2.Response:
    query = {name: text for name, text in {"owner_application_id": api.house.application_id, **query}.items() if text}
    headers = {"Authorization": f"Bearer {token or api.house.token}", "Content-Type": kind}
    return await api.client.post(PATH, content=content, headers=headers, params=query)


class TestImport:
    async def test_without_a_scope(self, api: Api) -> None:
        assert 403 == (await send(api, FILE, token=await api.token(scopes=["Questionnaire.Read"]))).status_code

    async def test_wrong_files(self, api: Api) -> None:
        cases = [(b"", "cannot read"), (b"<x/>", "It reads LimeSurvey"), (FILE[:900], "whole survey"),
            (b"<!DOCTYPE x>" + FILE, "document type"), (survey([]), "no question")]  # fmt: skip
        for content, told in cases:
            refused = await send(api, content)
            assert (422, True) == (refused.status_code, told in refused.text), refused.text
        assert 400 == (await send(api, FILE.replace(b"Bread", b"\xff"))).status_code
        assert 415 == (await send(api, FILE, kind="text/html")).status_code
        assert 413 == (await send(api, b"<LimeSurveyDocType>" + bytes(6_000_000))).status_code

    async def test_application_of_others(self, api: Api) -> None:
        refused = await send(api, FILE, owner_application_id="0" * 22)
        assert (422, "unknown_id") == (refused.status_code, refused.json()["errors"][0]["code"])
        other = await api.application()
        confined = await api.token(application_ids=[other])
        assert 422 == (await send(api, FILE, token=confined)).status_code
        made = (await send(api, FILE, token=confined, owner_application_id="")).json()
        one = (await api.get(f"/q/questionnaire/{made['questionnaire_id']}")).json()
        assert other == one["owner_application_id"]

    async def test_dry_run(self, api: Api) -> None:
        told = await send(api, FILE, dry_run="true")
        assert (200, None, 2, 2) == (
            told.status_code, told.json()["questionnaire_id"], told.json()["questions_count"],
            told.json()["whole_questions_count"],
        )  # fmt: skip
        assert ["After delivery"] == [
            one["display_name"] for one in (await api.get("/q/questionnaire")).json()["results"]
        ]

    async def test_ok(self, api: Api, pool: db.Pool) -> None:
        content = survey([Q("a", "S"), Q("b", "?"), Q("c", "S", relevance="sum(a) > 1")], texts={"title": "Bakery"})
        made = await send(api, content)
        answer = made.json()
        assert (201, "LimeSurvey", 3, 2, 1, 0) == (
            made.status_code, answer["format"], answer["questions_count"], answer["whole_questions_count"],
            answer["conditions_count"], answer["whole_conditions_count"],
        )  # fmt: skip
        lines = {(one["kind"], one["place"]): one for one in answer["lines"]}
        assert ("left_out", False) == (lines["question", "b"]["outcome"], lines["question", "b"]["whole"])
        assert "sum(a) > 1" in lines["condition", "c"]["sentences"][0]
        one = (await api.get(f"/q/questionnaire/{answer['questionnaire_id']}")).json()
        assert ("Bakery", None) == (one["display_name"], one["published_version_id"])
        draft = (await api.get(f"/q/questionnaire/{answer['questionnaire_id']}/draft")).json()
        assert [] == [each for each in draft["problems"] if each["severity"] == "error"]
        found = draft["definition"]["groups"][0]["questions"]
        assert ["text", "statement", "text"] == [each["type"] for each in found]
        key = {"organization_id": api.house.organization_id, "questionnaire_id": answer["questionnaire_id"]}
        async with db.connection(pool) as database:
            assert "LimeSurvey" == await imports.get_format(database, **key)
            stored = await imports.get_lines(database, **key)
        assert {each["question_id"] for each in found} <= {line.key for line in stored}
        assert 201 == (await api.post(f"/q/questionnaire/{answer['questionnaire_id']}/version")).status_code

    async def test_names(self, api: Api) -> None:
        form = {"file": ("our survey.lss", FILE, "application/xml")}
        headers = {"Authorization": f"Bearer {api.house.token}"}
        query = {"owner_application_id": api.house.application_id}
        by_file = await api.client.post(PATH, files=form, headers=headers, params=query)
        by_query = await send(api, FILE, display_name="Mine")
        names = [
            (await api.get(f"/q/questionnaire/{made.json()['questionnaire_id']}")).json()["display_name"]
            for made in (by_file, by_query)
        ]
        assert ["our survey", "Mine"] == names

    async def test_past_answers_find_their_questions_by_the_codes_of_the_file(self, api: Api) -> None:
        rows = {"SQ1": "Speed", "SQ2": "Care"}
        content = survey([Q("Q6", "S"), Q("grid", "F", rows=rows, answers={"1": "Bad", "2": "Good"})])
        made = (await send(api, content)).json()
        path = f"/q/questionnaire/{made['questionnaire_id']}"
        document = (await api.get(f"{path}/draft")).json()["definition"]
        assert "key" not in str(document["groups"])
        document["groups"][0]["questions"][0]["title"] = "Reworded"
        assert 200 == (await api.put(f"{path}/draft", document)).status_code
        assert 201 == (await api.post(f"{path}/version")).status_code
        past = {
            "external_id": "1",
            "completed_time": "2024-05-01T10:00:00Z",
            "answers": {"q6": "x", "grid": {"sq1": 2}},
        }
        told = (await api.post(f"{path}/response", [past])).json()
        assert (1, 0) == (told["created"], told["failed"]), told
