"""Questionnaires made and changed over HTTP: created, changed, drafted, checked."""

from typing import Any

from tests.asking.questionnaires.http import Api, definition, made, only, published

ABSENT = "z" * 22
DRAFT = {
    "questionnaire_id", "base_version_id", "revision", "definition", "problems", "length_seconds", "screens",
    "updated_time", "updated_by",
}  # fmt: skip


class TestCreate:
    async def test_wrong(self, api: Api) -> None:
        body = {"owner_application_id": api.house.application_id, "display_name": "Mine"}
        body |= {"questionnaire_icon_url": "http://example.com/a.png"}
        assert [("/questionnaire_icon_url", "invalid_format")] == api.wrong(await api.post("/q/questionnaire", body))

    async def test_ok(self, api: Api) -> None:
        questionnaire_id = await made(api)
        response = await api.get(f"/q/questionnaire/{questionnaire_id}")
        assert {
            "owner_application_id": api.house.application_id,
            "title": None,
            "valid_days": 30,
            "editable": False,
            "non_collapsed_questions_count": 1,
            "credits_accountable": True,
            "active": True,
            "public_link": False,
            "default_locale": "en",
            "locales": ["en"],
            "published_version_id": None,
            "archived_time": None,
            "created_by": api.house.token_id,
        }.items() <= response.json().items()
        assert [("questionnaire.created", api.house.token_id)] == await api.events(questionnaire_id)

    async def test_its_draft_is_empty(self, api: Api) -> None:
        questionnaire_id = await made(api, default_locale="EL_gr")
        response = await api.get(f"/q/questionnaire/{questionnaire_id}/draft")
        body = response.json()
        assert DRAFT == body.keys()
        assert (1, '"1"', None) == (body["revision"], response.headers["ETag"], body["base_version_id"])
        assert ("el-gr", ["el-gr"], []) == tuple(
            body["definition"][name] for name in ("default_locale", "locales", "groups")
        )
        assert [("/groups", "error", "too_few")] == [(p["path"], p["severity"], p["code"]) for p in body["problems"]]

    async def test_nothing_can_be_issued(self, api: Api) -> None:
        response = await api.post(f"/q/questionnaire/{await made(api)}/instance")
        assert (409, "questionnaire_not_published") == (response.status_code, response.json()["code"])

    async def test_from_a_template(self, api: Api) -> None:
        """The copy has the template's questions with their ids, and none of its file's keys."""
        questionnaire_id = await made(api, template_questionnaire_id=api.house.questionnaire_id)
        draft = (await api.get(f"/q/questionnaire/{questionnaire_id}/draft")).json()
        assert ([], "en") == (draft["problems"], draft["definition"]["default_locale"])
        path = f"/q/questionnaire/{api.house.questionnaire_id}/version/{api.house.version_id}"
        assert (await api.get(path)).json()["definition"] == draft["definition"]
        body = {
            "owner_application_id": api.house.application_id, "display_name": "Mine", "default_locale": "el",
            "template_questionnaire_id": api.house.questionnaire_id,
        }  # fmt: skip
        assert [("/default_locale", "unknown_value")] == api.wrong(await api.post("/q/questionnaire", body))
        key = only(draft["definition"])["question_id"]
        del body["default_locale"]
        assert 201 == (await api.post("/q/questionnaire", {**body, "key_question_id": key})).status_code

    async def test_from_a_draft(self, api: Api) -> None:
        template = await made(api)
        saved = (await api.put(f"/q/questionnaire/{template}/draft", definition())).json()
        copy = await made(api, template_questionnaire_id=template)
        assert saved["definition"] == (await api.get(f"/q/questionnaire/{copy}/draft")).json()["definition"]


class TestChange:
    async def test_not_nullable(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}"
        for name in ("display_name", "valid_days", "active", "public_link"):
            assert [(f"/{name}", "not_nullable")] == api.wrong(await api.patch(path, {name: None}))

    async def test_key_question(self, api: Api) -> None:
        """A question of the published version or of the draft."""
        questionnaire_id, version = await published(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        assert [("/key_question_id", "unknown_id")] == api.wrong(await api.patch(path, {"key_question_id": ABSENT}))
        key = only(version["definition"])["question_id"]
        assert key == (await api.patch(path, {"key_question_id": key})).json()["key_question_id"]
        document = {**version["definition"], "groups": definition()["groups"]}
        draft = (await api.put(f"{path}/draft", document)).json()
        assert [("/groups", "error", "unknown_id")] == [
            (p["path"], p["severity"], p["code"]) for p in draft["problems"]
        ]
        assert [("/groups", "unknown_id")] == api.wrong(await api.post(f"{path}/version"))
        new = only(draft["definition"])["question_id"]
        assert 200 == (await api.patch(path, {"key_question_id": new})).status_code
        assert 201 == (await api.post(f"{path}/version")).status_code
        assert (await api.patch(path, {"key_question_id": None})).json()["key_question_id"] is None

    async def test_only_what_is_named(self, api: Api) -> None:
        questionnaire_id = await made(api, title="Ours", description="", responses_max=5)
        path = f"/q/questionnaire/{questionnaire_id}"
        before = (await api.get(path)).json()
        changed = (await api.patch(path, {"responses_max": None, "active": False, "title": "Yours"})).json()
        differs = {name for name, value in before.items() if value != changed[name]} - {"updated_time"}
        assert {"responses_max", "active", "title", "updated_by"} >= differs >= {"responses_max", "active", "title"}
        assert (None, False, "Yours") == (changed["responses_max"], changed["active"], changed["title"])
        assert ("questionnaire.updated", api.house.token_id) == (await api.events(questionnaire_id))[-1]

    async def test_nothing_changed(self, api: Api) -> None:
        """A whole loaded model, sent back, changes nothing; what nobody may set is not heard."""
        questionnaire_id = await made(api, title="Ours")
        path = f"/q/questionnaire/{questionnaire_id}"
        before = await api.get(path)
        sent = {**before.json(), "owner_application_id": ABSENT, "default_locale": "el"}
        after = await api.patch(path, sent)
        assert (200, before.json(), before.headers["ETag"]) == (after.status_code, after.json(), after.headers["ETag"])
        assert 1 == len(await api.events(questionnaire_id))


class TestDraft:
    async def test_cannot_be_read(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}/draft"
        for document, pointer, code in (
            ([1], "", "wrong_type"),
            ({"groups": []}, "/default_locale", "required"),
            ({"default_locale": "en"}, "/groups", "required"),
            ({"default_locale": "en", "groups": {"0": {}}}, "/groups", "wrong_type"),
            ({"default_locale": "en", "groups": [7]}, "/groups/0", "wrong_type"),
            ({"default_locale": "en", "groups": [{}] * 51}, "/groups", "too_many"),
            ({"default_locale": "en", "groups": [], "pages": [7]}, "/pages", "wrong_type"),
        ):
            assert [(pointer, code)] == api.wrong(await api.put(path, document))

    async def test_too_deep(self, api: Api) -> None:
        deep: Any = {"subject": "question:x", "operator": "equal", "value": 1}
        for _ in range(24):
            deep = {"not": deep}
        response = await api.put(
            f"/q/questionnaire/{await made(api)}/draft", definition({"type": "nps", "jumps": [{"conditions": deep}]})
        )
        assert (400, "too_deep") == (response.status_code, response.json()["code"])

    async def test_too_large(self, api: Api) -> None:
        response = await api.put(
            f"/q/questionnaire/{await made(api)}/draft", definition(pages={"en": {"welcome": "x" * 1_100_000}})
        )
        assert (413, "body_too_large") == (response.status_code, response.json()["code"])

    async def test_what_is_wrong_is_saved(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}/draft"
        saved = await api.put(path, definition({"type": "stars", "title": 7}, {"type": "text", "title": "Why?"}))
        assert 200 == saved.status_code
        found = {(p["path"], p["code"]) for p in saved.json()["problems"]}
        assert {("/groups/0/questions/0/type", "unknown_value"), ("/groups/0/questions/0/title", "wrong_type")} == found
        asked = (await api.get(path)).json()["definition"]["groups"][0]["questions"]
        assert [("stars", 7), ("text", "Why?")] == [(one["type"], one["title"]) for one in asked]
        assert all(len(one["question_id"]) == 22 for one in asked)

    async def test_ids_survive(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}/draft"
        rows = [{"label": "Price"}, {"label": "Speed"}]
        choices = [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}]
        matrix = {"type": "matrix", "title": "How was it?", "rows": rows, "choices": choices}
        first = (await api.put(path, definition(matrix))).json()
        assert [] == first["problems"]
        document = first["definition"]
        only(document)["title"] = "How did it go?"
        only(document)["rows"].reverse()
        document["groups"].insert(0, {"questions": [{"type": "text", "title": "First"}]})
        second = (await api.put(path, document)).json()
        assert (first["revision"] + 1, []) == (second["revision"], second["problems"])
        new, old = second["definition"]["groups"]
        assert document["groups"][1] == old
        assert len({new["group_id"], old["group_id"], new["questions"][0]["question_id"]}) == 3

    async def test_a_jump_to_a_question_of_its_own_id(self, api: Api) -> None:
        chosen = "A" * 22
        path = f"/q/questionnaire/{await made(api)}/draft"
        asked = {
            "type": "nps", "title": "Likely?", "question_id": "B" * 22,
            "jumps": [
                {"target_question_id": chosen, "conditions": {
                    "subject": f"question:{'B' * 22}", "operator": "less", "value": 7}},
            ],
        }  # fmt: skip
        why = {"type": "text", "title": "Why?", "question_id": chosen}
        saved = (await api.put(path, definition(asked, {"type": "text", "title": "Else?"}, why))).json()
        assert ["jump_within_page"] == [one["code"] for one in saved["problems"]]
        assert chosen == only(saved["definition"])["jumps"][0]["target_question_id"]

    async def test_the_same_again(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}/draft"
        first = await api.put(path, definition())
        again = await api.put(path, first.json()["definition"])
        assert (first.json(), first.headers["ETag"]) == (again.json(), again.headers["ETag"])

    async def test_another_default_locale(self, api: Api) -> None:
        saved = await api.put(
            f"/q/questionnaire/{await made(api)}/draft", definition(default_locale="el", locales=["el"])
        )
        assert [("/default_locale", "read_only")] == [(p["path"], p["code"]) for p in saved.json()["problems"]]

    async def test_discard(self, api: Api) -> None:
        questionnaire_id, version = await published(api)
        path = f"/q/questionnaire/{questionnaire_id}/draft"
        assert 204 == (await api.delete(path)).status_code
        assert (404, 404) == ((await api.delete(path)).status_code, (await api.get(path)).status_code)
        nothing = await api.post(f"/q/questionnaire/{questionnaire_id}/version")
        assert (409, "not_ready") == (nothing.status_code, nothing.json()["code"])
        begun = await api.put(path, version["definition"])
        assert (201, version["version_id"]) == (begun.status_code, begun.json()["base_version_id"])
        assert begun.headers["Location"].endswith(path)

    async def test_strict(self, api: Api) -> None:
        """An unknown member of the definition is refused with strict handling, else left out."""
        path = f"/q/questionnaire/{await made(api)}/draft"
        asked = {"type": "nps", "title": "Likely?", "colour": "red", "key": "mine"}
        found = api.wrong(await api.put(path, definition(asked), Prefer="handling=strict"))
        assert [("/groups/0/questions/0/colour", "unknown_member")] == found
        saved = (await api.put(path, definition(asked))).json()
        assert [] == saved["problems"]
        assert {"colour", "key"}.isdisjoint(only(saved["definition"]))

    async def test_jumps_know_declared_metadata(self, api: Api) -> None:
        """A declared name is compared by its type; one that is not declared is text."""
        path = f"/q/questionnaire/{await made(api)}/draft"

        async def problems(subject: str, operator: str, value: object) -> set[str]:
            condition = {"subject": f"questionnaire_metadata:{subject}", "operator": operator, "value": value}
            asked = {"type": "nps", "title": "Likely?", "jumps": [{"conditions": condition}]}
            return {one["code"] for one in (await api.put(path, definition(asked))).json()["problems"]}

        assert not await problems("store_id", "begins_with", "a")
        assert {"wrong_type"} == await problems("store_id", "greater", 5)
        assert {"wrong_type"} == await problems("transaction_date", "contains", "2026")
        assert {"wrong_type"} == await problems("transaction_date", "greater", "soon")
        assert not await problems("transaction_date", "greater", "2026-11-21")
        assert {"undeclared_metadata"} == await problems("basket", "equal", "full")
        assert {"wrong_type"} == await problems("basket", "greater", 5)
        body = {"name": "basket", "title": "Basket", "type": "number", "level": "organization"}
        assert 201 == (await api.post("/q/metadata/questionnaire", body)).status_code
        assert not await problems("basket", "greater", 5)


class TestValidation:
    async def test_nothing_is_saved(self, api: Api) -> None:
        response = await api.post("/q/questionnaire/validation", definition({"type": "stars", "title": "How?"}))
        assert 200 == response.status_code
        [problem] = response.json()["problems"]
        assert ("/groups/0/questions/0/type", "error", "unknown_value") == (
            problem["path"], problem["severity"], problem["code"]
        )  # fmt: skip
        assert "Location" not in response.headers

    async def test_good(self, api: Api) -> None:
        assert {"problems": []} == (await api.post("/q/questionnaire/validation", definition())).json()

    async def test_warnings(self, api: Api) -> None:
        document = definition(locales=["en", "el"])
        found = (await api.post("/q/questionnaire/validation", document)).json()["problems"]
        assert {("warning", "missing_translation")} == {(one["severity"], one["code"]) for one in found}
