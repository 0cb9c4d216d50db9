"""Drafts published over HTTP: versions, what files and drafts share, the end; from nothing to an answer."""

import httpx2
import pytest

from afterword.asking.questionnaires import library, service
from afterword.kit import db
from tests.asking.questionnaires.http import Api, definition, made, only, published

VERSION = {
    "version_id", "questionnaire_id", "number", "note", "definition", "checksum", "published_time", "published_by",
}  # fmt: skip


class TestPublish:
    async def test_errors_refuse_it(self, api: Api) -> None:
        questionnaire_id = await made(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        assert [("/groups", "too_few")] == api.wrong(await api.post(f"{path}/version"))
        await api.put(f"{path}/draft", definition({"type": "stars", "title": "How?"}))
        assert [("/groups/0/questions/0/type", "unknown_value")] == api.wrong(await api.post(f"{path}/version"))
        assert [] == (await api.get(f"{path}/version")).json()
        assert ["questionnaire.created"] == [kind for kind, _ in await api.events(questionnaire_id)]

    @pytest.mark.parametrize("change", [{"type": "csat"}, {"scale_max": 10}])
    async def test_a_question_keeps_type_and_scale(self, api: Api, change: dict[str, object]) -> None:
        """Or a 5 of 1 to 5 would be counted with those of 1 to 10; also when a version without it lies between."""
        path = f"/q/questionnaire/{await made(api)}"
        rating = {"question_id": "rating" + "0" * 16, "type": "rating", "title": "How?", "scale_max": 5}
        other = {"question_id": "other" + "0" * 17, "type": "text", "title": "Why?"}
        for question in (rating, other, {**rating, "title": "And how?"}):
            await api.put(f"{path}/draft", definition(question))
            assert 201 == (await api.post(f"{path}/version")).status_code
        changed = {**rating, **change}
        await api.put(f"{path}/draft", definition(changed))
        assert [("/groups/0/questions/0/type", "read_only")] == api.wrong(await api.post(f"{path}/version"))
        await api.put(f"{path}/draft", definition({**changed, "question_id": "another" + "0" * 15}))
        assert 201 == (await api.post(f"{path}/version")).status_code

    async def test_what_it_names_exists(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}"
        picture = f"/asset/{'a' * 22}/0123456789-640x480.jpg"
        question = {
            "type": "single_choice",
            "title": "Which?",
            "choices": [{"value": 1, "label": "A", "picture": picture}, {"value": 2, "label": "B"}],
        }
        draft = definition(question, endings=[{"title": "A present", "coupon_pool": "thanks"}])
        await api.put(f"{path}/draft", draft)
        missing = [("/endings/0/coupon_pool", "unknown_id"), ("/groups/0/questions/0/choices/0/picture", "unknown_id")]
        assert missing == sorted(api.wrong(await api.post(f"{path}/version")))
        assert 201 == (await api.post("/coupon/pool", {"key": "thanks", "title": "Ten percent"})).status_code
        assert missing[1:] == api.wrong(await api.post(f"{path}/version"))

    async def test_a_version_of_another_questionnaire(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}/version/{api.house.version_id}"
        assert 404 == (await api.get(path)).status_code

    async def test_ok(self, api: Api) -> None:
        questionnaire_id = await made(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        document = definition(locales=["en", "el"], translations={"el": {"title": "Δική μας"}})
        draft = (await api.put(f"{path}/draft", document)).json()
        response = await api.post(f"{path}/version", {"note": "The first"})
        assert 201 == response.status_code
        version = response.json()
        assert VERSION == version.keys()
        assert (1, "The first", draft["definition"], api.house.token_id) == tuple(
            version[name] for name in ("number", "note", "definition", "published_by")
        )
        assert version["checksum"].startswith("sha256:")
        assert response.headers["Location"].endswith(f"{path}/version/{version['version_id']}")
        assert version == (await api.get(f"{path}/version/{version['version_id']}")).json()
        now = (await api.get(path)).json()
        assert (version["version_id"], ["en", "el"]) == (now["published_version_id"], now["locales"])
        assert [("questionnaire.created", api.house.token_id), ("questionnaire.published", api.house.token_id)] == (
            await api.events(questionnaire_id)
        )

    async def test_an_unchanged_draft(self, api: Api) -> None:
        """It makes no version: 200 and the one that is published."""
        questionnaire_id, version = await published(api)
        path = f"/q/questionnaire/{questionnaire_id}/version"
        again = await api.post(path, {"note": "Again"})
        assert (200, version) == (again.status_code, again.json())
        assert "Location" not in again.headers
        assert 1 == len((await api.get(path)).json())

    async def test_the_next(self, api: Api) -> None:
        questionnaire_id, first = await published(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        draft = (await api.get(f"{path}/draft")).json()
        assert (first["version_id"], first["definition"], []) == (
            draft["base_version_id"], draft["definition"], draft["problems"]
        )  # fmt: skip
        only(draft["definition"])["title"] = "Would you come again?"
        await api.put(f"{path}/draft", draft["definition"])
        second = (await api.post(f"{path}/version")).json()
        assert 2 == second["number"]
        assert only(first["definition"])["question_id"] == only(second["definition"])["question_id"]
        assert [2, 1] == [one["number"] for one in (await api.get(f"{path}/version")).json()]
        assert first == (await api.get(f"{path}/version/{first['version_id']}")).json()


class TestVersions:
    async def test_compared_and_taken_back(self, api: Api) -> None:
        questionnaire_id, first = await published(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        document = first["definition"]
        only(document)["title"] = "Would you tell a friend?"
        saved = await api.put(f"{path}/draft", document)
        diff = f"{path}/version/{first['version_id']}/diff"
        found = (await api.get(f"{diff}/draft")).json()
        assert (first["version_id"], "draft") == (found["version_id"], found["compared_id"])
        [change] = found["differences"]
        assert {
            "kind": "question_text_changed",
            "sentence": "Of the question “Would you tell a friend?”, the title changed (en).",
            "path": "/groups/0/questions/0/title",
            "group_id": None,
            "question_id": only(document)["question_id"],
            "locale": "en",
            "member": "title",
            "before": "Would you recommend us?",
            "after": "Would you tell a friend?",
        } == change
        second = (await api.post(f"{path}/version")).json()
        assert [change] == (await api.get(f"{diff}/{second['version_id']}")).json()["differences"]
        assert [] == (await api.get(f"{diff}/{first['version_id']}")).json()["differences"]
        back = f"{path}/draft/from/{first['version_id']}"
        assert 412 == (await api.post(back, **{"If-Match": saved.headers["ETag"]})).status_code
        token = await api.token(application_ids=[await api.application()])
        for method, address in (("GET", f"{diff}/draft"), ("POST", back)):
            assert 404 == (await api.ask(method, address, token=token)).status_code
        for foreign in (api.house.version_id, "z" * 22, "%00" * 22):
            assert [404, 404, 404] == [
                (await api.post(f"{path}/draft/from/{foreign}")).status_code,
                (await api.get(f"{path}/version/{foreign}/diff/draft")).status_code,
                (await api.get(f"{diff}/{foreign}")).status_code,
            ]
        taken = await api.post(back)
        assert (200, "Would you recommend us?") == (taken.status_code, only(taken.json()["definition"])["title"])
        assert (second["version_id"], []) == (taken.json()["base_version_id"], taken.json()["problems"])
        assert [] == (await api.get(f"{diff}/draft")).json()["differences"]
        assert taken.headers["ETag"] == (await api.post(back)).headers["ETag"], "once more changes nothing"
        await api.delete(f"{path}/draft")
        assert 404 == (await api.get(f"{diff}/draft")).status_code
        assert 201 == (await api.post(back)).status_code


class TestFiles:
    """A questionnaire of a file, edited over HTTP: its keys are not shown and not lost."""

    async def test_keys(self, api: Api) -> None:
        path = f"/q/questionnaire/{api.house.questionnaire_id}"
        assert 404 == (await api.get(f"{path}/draft")).status_code
        version = (await api.get(f"{path}/version/{api.house.version_id}")).json()
        assert '"key"' not in str(version).replace("'", '"')
        assert 201 == (await api.put(f"{path}/draft", version["definition"])).status_code
        again = await api.post(f"{path}/version")
        assert (200, version) == (again.status_code, again.json()), "the same, keys and all"
        async with db.connection(api.pool) as database:
            stored = await database.fetch_value("select definition::text from questionnaire_draft")
        assert '"key": "delivery_csat"' in stored

    async def import_again(self, api: Api, title: str) -> str:
        """The next version of the file; its id."""
        text = library.text("after_delivery").replace("title: Your delivery", f"title: {title}")
        text = text.replace("How satisfied are you", f"{title}, how satisfied are you")
        async with db.transaction(api.pool) as database:
            imported = await service.import_file(
                database,
                organization_id=api.house.organization_id,
                application_id=api.house.application_id,
                text=text,
                slug="after_delivery",
                now=database.clock.now(),
            )
        assert imported.created
        return imported.version.version_id

    async def test_an_import_past_the_draft(self, api: Api) -> None:
        """It moves a draft along that nobody changed, and leaves another one, which then is behind."""
        path = f"/q/questionnaire/{api.house.questionnaire_id}"
        version = (await api.get(f"{path}/version/{api.house.version_id}")).json()
        await api.put(f"{path}/draft", version["definition"])
        second = await self.import_again(api, "Second")
        draft = (await api.get(f"{path}/draft")).json()
        assert (second, 2, []) == (draft["base_version_id"], draft["revision"], draft["problems"])
        assert only(draft["definition"])["title"].startswith("Second")
        only(draft["definition"])["title"] = "Mine"
        await api.put(f"{path}/draft", draft["definition"])
        await self.import_again(api, "Third")
        draft = (await api.get(f"{path}/draft")).json()
        assert (second, "Mine") == (draft["base_version_id"], only(draft["definition"])["title"])
        assert ["outdated"] == [one["code"] for one in draft["problems"]]
        assert 201 == (await api.post(f"{path}/version")).status_code

    async def test_an_archived_one_is_not_imported_into(self, api: Api) -> None:
        assert 204 == (await api.delete(f"/q/questionnaire/{api.house.questionnaire_id}")).status_code
        with pytest.raises(service.Archived):
            await self.import_again(api, "Second")


class TestEnd:
    async def item(self, api: Api, questionnaire_id: str, pipeline_id: str) -> httpx2.Response:
        path = f"/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item"
        return await api.post(path, {"responder_channel_identifier": "a@example.com"})

    @pytest.mark.parametrize("how", ["inactive", "archived"])
    async def test_nothing_goes_on(self, api: Api, how: str) -> None:
        """Nothing is issued or answered, pages say so; what is there stays to be read."""
        questionnaire_id = api.house.questionnaire_id
        path = f"/q/questionnaire/{questionnaire_id}"
        await api.patch(path, {"public_link": True})
        instance = (await api.post(f"{path}/instance")).json()
        ended = await (api.delete(path) if how == "archived" else api.patch(path, {"active": False}))
        assert ended.status_code in {200, 204}
        refused = await api.post(f"{path}/instance")
        assert (409, "questionnaire_inactive") == (refused.status_code, refused.json()["code"])
        assert 201 == (await self.item(api, questionnaire_id, api.house.pipeline_id)).status_code
        for page in (f"/p/{questionnaire_id}", f"/a/{instance['instance_id']}"):
            shown = await api.client.get(page)
            assert (410, False) == (shown.status_code, "<form" in shown.text)
        assert (await api.get(f"/q/instance/{instance['instance_id']}/content")).json()["open"] is False

    async def test_archive(self, api: Api) -> None:
        questionnaire_id, _ = await published(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        assert 412 == (await api.delete(path, **{"If-Match": '"1"'})).status_code
        assert [204, 204] == [(await api.delete(path)).status_code, (await api.delete(path)).status_code]
        shown = (await api.get(path)).json()
        assert shown["archived_time"] is not None
        assert ["questionnaire.archived"] == [kind for kind, _ in await api.events(questionnaire_id)][2:]
        listed = (await api.get("/q/questionnaire?filter_by[NOT_NULL][ArchivedTime]=null")).json()["results"]
        assert [questionnaire_id] == [one["questionnaire_id"] for one in listed]
        await api.put(f"{path}/draft", definition({"type": "text", "title": "Another"}))
        refused = await api.post(f"{path}/version")
        assert (409, "questionnaire_inactive") == (refused.status_code, refused.json()["code"])


class TestJourney:
    async def test_from_nothing_to_an_answer(self, api: Api) -> None:
        """Create, draft, check, publish, issue, answer, read: over the API alone."""
        document = definition(
            {"type": "nps", "title": "Would you recommend us?", "required": True},
            {"type": "text", "title": "Why?"},
            pages={"en": {"thank_you": "Thank you so much."}},
        )
        assert {"problems": []} == (await api.post("/q/questionnaire/validation", document)).json()
        questionnaire_id, version = await published(api, document, title="Your order")
        path = f"/q/questionnaire/{questionnaire_id}"
        await api.patch(path, {"public_link": True})
        instance_id = await api.start(f"/p/{questionnaire_id}")
        body = {"metadata": {"questionnaire": {"transaction_id": "1042"}}}
        issued = (await api.post(f"{path}/instance", body)).json()
        assert issued["instance_id"] != instance_id
        content = (await api.get(f"/q/instance/{issued['instance_id']}/content")).json()
        assert ("Your order", version["version_id"]) == (content["title"], content["version_id"])
        answers = (await api.get(f"/q/instance/{instance_id}/response/content")).json()["answers"]
        assert [("nps", 10, "promoter")] == [(one["type"], one["value"], one["segment"]) for one in answers]
