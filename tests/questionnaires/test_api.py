"""Questionnaires, groups and questions over HTTP: refusals, exact members, lists, what a confined caller sees."""

from collections.abc import AsyncIterator, Collection
from typing import Any, get_args

import httpx2
import pytest

from afterword import db
from afterword.app import create_app
from afterword.core.organizations.access import SCOPES
from afterword.core.questionnaires.question_types import ADDRESS_FIELDS, CONTACT_FIELDS, TYPES
from afterword.core.wire.site import Site
from afterword.organizations import service as accounts
from afterword.questionnaires import api, service
from afterword.questionnaires.library import service as library
from afterword.questionnaires.service import Imported

SITE = Site("https://answers.example", b"k" * 32)
UNKNOWN = "0" * 22
QUESTIONNAIRE = {
    "questionnaire_id", "owner_application_id", "display_name", "title", "description", "valid_days", "editable",
    "template_questionnaire_id", "desktop_collapsed", "non_collapsed_questions_count", "key_question_id",
    "credits_accountable", "questionnaire_icon_url", "default_locale", "locales", "active", "public_link",
    "responses_max", "published_version_id", "public_link_url", "archived_time", "created_time", "updated_time",
    "created_by", "updated_by",
}  # fmt: skip
GROUP = {
    "group_id", "questionnaire_id", "version_id", "position", "questions_count", "title", "description",
    "display_name", "enabled", "translations",
}  # fmt: skip
QUESTION = {
    "question_id", "group_id", "questionnaire_id", "version_id", "position", "type", "title", "description",
    "display_name", "required", "enabled", "display_probability", "randomize", "low_label", "high_label", "jumps",
    "translations",
}  # fmt: skip


def test_the_reference_knows_every_type() -> None:
    assert tuple(TYPES) == get_args(api.QuestionType)
    assert (*CONTACT_FIELDS, *ADDRESS_FIELDS) == get_args(api.ContactField)


class Shop:
    """An organization with two applications, one questionnaire of the library in the first, and its API."""

    imported: Imported

    def __init__(self, pool: db.Pool, http: httpx2.AsyncClient) -> None:
        self.pool, self.http = pool, http
        self.organization_id = ""
        self.application_ids: list[str] = []

    async def build(self, domain: str) -> None:
        async with db.transaction(self.pool) as database:
            organization = await accounts.create_organization(
                database, domain=domain, display_name=domain, time_zone="Europe/Athens", now=database.clock.now()
            )
            self.organization_id = organization.organization_id
            for name in ("Athens", "Berlin"):
                application = await accounts.create_application(
                    database, organization_id=self.organization_id, display_name=name, now=database.clock.now()
                )
                self.application_ids.append(application.application_id)
        self.imported = await self.put("after_delivery")

    async def put(self, name: str, *, application: int = 0) -> Imported:
        async with db.transaction(self.pool) as database:
            return await service.import_file(
                database,
                organization_id=self.organization_id,
                application_id=self.application_ids[application],
                text=library.text(name),
                slug=name,
                now=database.clock.now(),
            )

    async def token(self, *, scopes: Collection[str] = SCOPES, application_ids: Collection[str] = ()) -> str:
        async with db.transaction(self.pool) as database:
            _, text = await accounts.create_token(
                database,
                organization_id=self.organization_id,
                title="Test",
                scopes=scopes,
                kind="organization",
                user_id=None,
                application_ids=list(application_ids),
                now=database.clock.now(),
            )
        return text

    async def get(self, path: str, token: str | None = None, **headers: str) -> httpx2.Response:
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return await self.http.get(f"/v3.2{path}", headers=headers)

    @property
    def questionnaire_id(self) -> str:
        return self.imported.questionnaire.questionnaire_id

    @property
    def group_id(self) -> str:
        return self.imported.version.definition.groups[1].group_id

    @property
    def question_id(self) -> str:
        return self.imported.version.definition.questions()[0].question_id

    def paths(self) -> dict[str, str]:
        """Every route of the slice with the scope that it needs."""
        one = f"/q/questionnaire/{self.questionnaire_id}"
        return {
            "/q/questionnaire": "Questionnaire.Read",
            one: "Questionnaire.Read",
            f"{one}/group": "Questionnaire Group.Read",
            f"{one}/group/{self.group_id}": "Questionnaire Group.Read",
            f"{one}/group/{self.group_id}/question": "Question.Read",
            f"{one}/question/{self.question_id}": "Question.Read",
        }


@pytest.fixture
async def http(pool: db.Pool) -> AsyncIterator[httpx2.AsyncClient]:
    app: Any = create_app(pool=pool, site=SITE)
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url=SITE.public_url) as http:
        yield http


@pytest.fixture
async def shop(pool: db.Pool, http: httpx2.AsyncClient) -> Shop:
    shop = Shop(pool, http)
    await shop.build("demo")
    return shop


@pytest.fixture
async def neighbour(pool: db.Pool, http: httpx2.AsyncClient) -> Shop:
    shop = Shop(pool, http)
    await shop.build("neighbour")
    return shop


class TestRefused:
    async def test_anonymous(self, shop: Shop) -> None:
        for path in shop.paths():
            response = await shop.get(path)
            assert 401 == response.status_code
            assert "unauthenticated" == response.json()["code"]

    async def test_missing_scope(self, shop: Shop) -> None:
        for path, scope in shop.paths().items():
            response = await shop.get(path, await shop.token(scopes=SCOPES - {scope}))
            assert 403 == response.status_code
            assert [scope] == response.json()["required_scopes"]

    async def test_only_the_scope(self, shop: Shop) -> None:
        for path, scope in shop.paths().items():
            assert 200 == (await shop.get(path, await shop.token(scopes={scope}))).status_code

    async def test_other_organization(self, shop: Shop, neighbour: Shop) -> None:
        token = await neighbour.token()
        assert (
            neighbour.questionnaire_id
            == (await shop.get("/q/questionnaire", token)).json()["results"][0]["questionnaire_id"]
        )
        for path in list(shop.paths())[1:]:
            response = await shop.get(path, token)
            assert 404 == response.status_code
            assert "not_found" == response.json()["code"]

    async def test_other_application(self, shop: Shop) -> None:
        token = await shop.token(application_ids=shop.application_ids[1:])
        assert [] == (await shop.get("/q/questionnaire", token)).json()["results"]
        for path in list(shop.paths())[1:]:
            assert 404 == (await shop.get(path, token)).status_code

    @pytest.mark.parametrize("wrong", [UNKNOWN, "short", "x" * 23, "%2e%2e"])
    async def test_unknown_ids(self, shop: Shop, wrong: str) -> None:
        token = await shop.token()
        for path in list(shop.paths())[1:]:
            for known in (shop.questionnaire_id, shop.group_id, shop.question_id):
                if known in path:
                    assert 404 == (await shop.get(path.replace(known, wrong), token)).status_code

    async def test_group_and_question_of_another_questionnaire(self, shop: Shop) -> None:
        other = await shop.put("relationship")
        group_id = other.version.definition.groups[0].group_id
        question_id = other.version.definition.questions()[0].question_id
        token, one = await shop.token(), f"/q/questionnaire/{shop.questionnaire_id}"
        for path in (f"/group/{group_id}", f"/group/{group_id}/question", f"/question/{question_id}"):
            assert 404 == (await shop.get(one + path, token)).status_code


class TestListQuestionnaires:
    async def test_ok(self, shop: Shop) -> None:
        await shop.put("relationship", application=1)
        response = await shop.get("/q/questionnaire", await shop.token())
        assert 200 == response.status_code
        envelope = response.json()
        assert (1, 10, 1, 2, None) == tuple(
            envelope[name] for name in ("page", "max_per_page", "last_page", "total_results", "next_cursor")
        )
        assert ["Relationship", "After delivery"] == [one["display_name"] for one in envelope["results"]]
        assert all(one.keys() == QUESTIONNAIRE for one in envelope["results"])

    async def test_by_application(self, shop: Shop) -> None:
        await shop.put("relationship", application=1)
        token = await shop.token()
        for column in ("OwnerApplicationId", "owner_application_id"):
            path = f"/q/questionnaire?filter_by[EQUAL][{column}]={shop.application_ids[1]}"
            results = (await shop.get(path, token)).json()["results"]
            assert ["Relationship"] == [one["display_name"] for one in results]

    async def test_pages(self, shop: Shop) -> None:
        for name in ("relationship", "support_case"):
            await shop.put(name)
        envelope = (await shop.get("/q/questionnaire?pagination[max_per_page]=1", await shop.token())).json()
        assert (1, 3, 3) == (len(envelope["results"]), envelope["last_page"], envelope["total_results"])

    async def test_order(self, shop: Shop) -> None:
        await shop.put("relationship")
        path = "/q/questionnaire?order_by[ASC][]=DisplayName"
        results = (await shop.get(path, await shop.token())).json()["results"]
        assert ["After delivery", "Relationship"] == [one["display_name"] for one in results]


class TestGetQuestionnaire:
    async def test_ok(self, shop: Shop) -> None:
        response = await shop.get(f"/q/questionnaire/{shop.questionnaire_id}", await shop.token())
        assert 200 == response.status_code
        body = response.json()
        assert body.keys() == QUESTIONNAIRE
        assert {
            "owner_application_id": shop.application_ids[0],
            "display_name": "After delivery",
            "title": "Your delivery",
            "valid_days": 14,
            "editable": True,
            "template_questionnaire_id": None,
            "key_question_id": shop.question_id,
            "default_locale": "en",
            "locales": ["en", "el", "de", "ar"],
            "public_link": False,
            "responses_max": None,
            "archived_time": None,
            "published_version_id": shop.imported.version.version_id,
            "public_link_url": f"{SITE.public_url}/p/{shop.questionnaire_id}",
            "created_by": None,
        }.items() <= body.items()
        assert body["created_time"].endswith(("+02:00", "+03:00"))

    async def test_only_the_wanted_members(self, shop: Shop) -> None:
        path = f"/q/questionnaire/{shop.questionnaire_id}?response_fields[]=questionnaire_id&response_fields[]=title"
        body = (await shop.get(path, await shop.token())).json()
        assert {"questionnaire_id": shop.questionnaire_id, "title": "Your delivery"} == body

    async def test_unchanged(self, shop: Shop) -> None:
        path, token = f"/q/questionnaire/{shop.questionnaire_id}", await shop.token()
        tag = (await shop.get(path, token)).headers["ETag"]
        assert 304 == (await shop.get(path, token, **{"If-None-Match": tag})).status_code


class TestGroups:
    async def test_list(self, shop: Shop) -> None:
        response = await shop.get(f"/q/questionnaire/{shop.questionnaire_id}/group", await shop.token())
        assert 200 == response.status_code
        groups = response.json()
        assert all(one.keys() == GROUP for one in groups)
        assert [(0, None, 1), (1, "A little more detail", 2)] == [
            (one["position"], one["title"], one["questions_count"]) for one in groups
        ]
        assert {"title": "Etwas genauer"} == groups[1]["translations"]["de"]

    async def test_filter_and_cursor(self, shop: Shop) -> None:
        path, token = f"/q/questionnaire/{shop.questionnaire_id}/group", await shop.token()
        found = (await shop.get(f"{path}?filter_by[NULL][Title]=null", token)).json()
        assert [0] == [one["position"] for one in found]
        first = await shop.get(f"{path}?limit=1", token)
        assert [0] == [one["position"] for one in first.json()]
        link = first.headers["Link"].split(">")[0].removeprefix("<" + SITE.base_url)
        assert [1] == [one["position"] for one in (await shop.get(link, token)).json()]

    async def test_one(self, shop: Shop) -> None:
        path = f"/q/questionnaire/{shop.questionnaire_id}/group/{shop.group_id}"
        response = await shop.get(path, await shop.token())
        assert 200 == response.status_code
        assert {
            "group_id": shop.group_id,
            "version_id": shop.imported.version.version_id,
        }.items() <= response.json().items()
        assert response.headers["ETag"]

    async def test_never_published(self, shop: Shop) -> None:
        async with db.transaction(shop.pool) as database:
            await database.execute("update questionnaire set published_version_id = null")
        one, token = f"/q/questionnaire/{shop.questionnaire_id}", await shop.token()
        assert [] == (await shop.get(f"{one}/group", token)).json()
        assert 404 == (await shop.get(f"{one}/group/{shop.group_id}", token)).status_code
        assert 404 == (await shop.get(f"{one}/question/{shop.question_id}", token)).status_code


class TestQuestions:
    async def test_list(self, shop: Shop) -> None:
        path = f"/q/questionnaire/{shop.questionnaire_id}/group/{shop.group_id}/question"
        response = await shop.get(path, await shop.token())
        assert 200 == response.status_code
        reasons, comment = response.json()
        assert reasons.keys() == QUESTION | {"choices", "choices_min", "choices_max"}
        assert comment.keys() == QUESTION | {"length_max", "multiline"}
        assert ("multiple_choice", 0, True) == (reasons["type"], reasons["position"], reasons["randomize"])
        assert {"value": 90, "label": "Something else", "other": True, "exclusive": False} in reasons["choices"]
        assert "Etwas anderes" == reasons["translations"]["de"]["choices"]["90"]

    async def test_filter(self, shop: Shop) -> None:
        path = f"/q/questionnaire/{shop.questionnaire_id}/group/{shop.group_id}/question"
        found = (
            await shop.get(f"{path}?filter_by[EQUAL][Type]=text&order_by[DESC][]=Position", await shop.token())
        ).json()
        assert ["text"] == [one["type"] for one in found]

    async def test_one(self, shop: Shop) -> None:
        path = f"/q/questionnaire/{shop.questionnaire_id}/question/{shop.question_id}"
        response = await shop.get(path, await shop.token())
        assert 200 == response.status_code
        body: dict[str, Any] = response.json()
        assert body.keys() == QUESTION
        assert ("csat", True, "Very dissatisfied", []) == (
            body["type"],
            body["required"],
            body["low_label"],
            body["jumps"],
        )

    async def test_jumps(self, shop: Shop) -> None:
        text = library.text("support_case").replace(
            "        choices:\n",
            "        jumps:\n"
            "          - target_question_id:\n"
            "            conditions: {subject: 'question:support_resolved', operator: equal, value: 1}\n"
            "        choices:\n",
            1,
        )
        async with db.transaction(shop.pool) as database:
            imported = await service.import_file(
                database,
                organization_id=shop.organization_id,
                application_id=shop.application_ids[0],
                text=text,
                slug="jumping",
                now=database.clock.now(),
            )
        question_id = imported.version.definition.questions()[1].question_id
        path = f"/q/questionnaire/{imported.questionnaire.questionnaire_id}/question/{question_id}"
        assert [
            {
                "target_question_id": None,
                "conditions": {"subject": f"question:{question_id}", "operator": "equal", "value": 1},
            }
        ] == (await shop.get(path, await shop.token())).json()["jumps"]
