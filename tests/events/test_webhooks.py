"""Webhook endpoints over the API: refusals first."""

from typing import Any

from afterword.events.webhooks import seal_context
from afterword.kit import db, sealing
from tests.events.conftest import OPEN_SITE, Desk
from tests.events.test_log import token_of
from tests.making import make_application

URL = "https://shop.example.com/hook"


async def refused(desk: Desk, **members: Any) -> list[tuple[str, str]]:
    """Where and why a new webhook with these members is refused."""
    document = {"title": "Shop", "target_url": URL, **members}
    answer = await desk.ask("POST", "/webhook", status=422, json=document)
    return [(one["pointer"], one["code"]) for one in answer["errors"]]


class TestCreate:
    async def test_address_that_is_not_called(self, desk: Desk) -> None:
        for url in ("http://8.8.8.8/", "https://10.0.0.1/", "https://user:pass@shop.example.com/", "https://[::1]/"):
            assert [("/target_url", "invalid_address")] == await refused(desk, target_url=url), url

    async def test_unknown_types(self, desk: Desk) -> None:
        types = ["tag.added", "tag", "tags.*", "*.added"]
        wrong = [(f"/event_types/{index}", "unknown_value") for index in (1, 2, 3)]
        assert wrong == await refused(desk, event_types=types)
        assert [("/event_types", "too_few")] == await refused(desk, event_types=[])

    async def test_ok(self, desk: Desk) -> None:
        document = {"title": "Shop", "target_url": URL}
        answer = await desk.client.post("/webhook", headers=desk.house.headers, json=document)
        assert 201 == answer.status_code
        made = answer.json()
        assert answer.headers["location"].endswith(f"/webhook/{made['webhook_id']}")
        assert ["questionnaire_instance.completed"] == made["event_types"]
        assert (True, 0, None) == (made["active"], made["consecutive_failures"], made["disabled_time"])
        shown = await desk.ask("GET", f"/webhook/{made['webhook_id']}")
        assert {**made, "secret": None} == shown
        assert [shown] == await desk.ask("GET", "/webhook")

    async def test_the_secret_is_kept_sealed(self, desk: Desk) -> None:
        made = await desk.hook(URL)
        async with db.connection(desk.pool) as database:
            (row,) = await database.fetch("select * from webhook")
        assert made["secret"].encode() not in bytes(row["secret"])
        context = seal_context(desk.house.organization_id, made["webhook_id"])
        assert made["secret"] == sealing.unseal(row["secret"], secret=OPEN_SITE.secret, context=context)


class TestScopes:
    """Nobody has sent out what their token may not read."""

    async def test_create(self, desk: Desk) -> None:
        headers = await token_of(desk, scopes=["Webhook.Create", "Tag.Read"])
        document = {"title": "Shop", "target_url": URL}
        for types in (None, ["questionnaire_instance.*"], ["*"], ["tag.added", "answer.changed"]):
            named = document if types is None else {**document, "event_types": types}
            answer = await desk.client.post("/webhook", headers=headers, json=named)
            assert (403, "insufficient_scope") == (answer.status_code, answer.json()["code"])
        assert ["Questionnaire Instance.Read"] == answer.json()["required_scopes"]
        answer = await desk.client.post("/webhook", headers=headers, json={**document, "event_types": ["tag.*"]})
        assert 201 == answer.status_code

    async def test_update(self, desk: Desk) -> None:
        """Another target takes what the endpoint is told already."""
        path = f"/webhook/{(await desk.hook(URL, event_types=['token.*']))['webhook_id']}"
        headers = await token_of(desk, scopes=["Webhook.Update", "Tag.Read"])
        for changes in ({"target_url": URL + "/else"}, {"event_types": ["user.*"]}):
            answer = await desk.client.patch(path, headers=headers, json=changes)
            assert (403, "insufficient_scope") == (answer.status_code, answer.json()["code"])
        answer = await desk.client.patch(path, headers=headers, json={"title": "New", "active": False})
        assert 200 == answer.status_code


class TestConfined:
    """Tokens of some applications make and see webhooks of those."""

    async def test_all(self, desk: Desk) -> None:
        other_id = await make_application(desk.pool, desk.house.organization_id)
        headers = await token_of(desk, application_ids=[other_id])
        document: dict[str, Any] = {"title": "Shop", "target_url": URL}
        for wrong in ({}, {"application_id": desk.house.application_id}):
            answer = await desk.client.post("/webhook", headers=headers, json={**document, **wrong})
            assert 422 == answer.status_code
        document["application_id"] = other_id
        assert 201 == (await desk.client.post("/webhook", headers=headers, json=document)).status_code


class TestChange:
    async def test_wrong_address(self, desk: Desk) -> None:
        path = f"/webhook/{(await desk.hook(URL))['webhook_id']}"
        answer = await desk.ask("PATCH", path, status=422, json={"target_url": "https://10.0.0.1/"})
        assert "invalid_address" == answer["errors"][0]["code"]

    async def test_ok(self, desk: Desk) -> None:
        path = f"/webhook/{(await desk.hook(URL))['webhook_id']}"
        before = await desk.ask("GET", path)
        assert before == await desk.ask("PATCH", path, json={"title": "Shop"})  # as it was
        after = await desk.ask("PATCH", path, json={"title": "New", "event_types": ["tag.*"], "active": False})
        assert ("New", ["tag.*"], False) == (after["title"], after["event_types"], after["active"])
        assert after == await desk.ask("GET", path)

    async def test_another_questionnaires_application(self, desk: Desk) -> None:
        other_id = await make_application(desk.pool, desk.house.organization_id)
        path = f"/webhook/{(await desk.hook(URL, questionnaire_id=desk.house.questionnaire_id))['webhook_id']}"
        answer = await desk.ask("PATCH", path, status=422, json={"application_id": other_id})
        assert "/application_id" == answer["errors"][0]["pointer"]


class TestSecret:
    async def test_shown_once_even_when_repeated(self, desk: Desk) -> None:
        path = f"/webhook/{(await desk.hook(URL))['webhook_id']}/secret"
        headers = {**desk.house.headers, "Idempotency-Key": "renew-1"}
        first, second = [(await desk.client.post(path, headers=headers)).json() for _ in range(2)]
        assert first["secret"].startswith("whsec_")
        assert {**first, "secret": None} == second


async def test_delete(desk: Desk) -> None:
    path = f"/webhook/{(await desk.hook(URL))['webhook_id']}"
    await desk.ask("DELETE", path, status=204)
    for method in ("GET", "DELETE"):
        await desk.ask(method, path, status=404)
    await desk.ask("GET", f"{path}/delivery", status=404)
    assert [] == await desk.ask("GET", "/webhook")
    assert await desk.value("select secret is null and previous_secret is null from webhook")


async def test_wanted_types(pool: db.Pool) -> None:
    wanted = (["tag.added"], ["tag.*"], ["*"], ["queue_item.*", "tag.added"])
    others = ([], ["tag.removed"], ["tag"], ["t*"], ["*.added"])
    async with db.connection(pool) as database:
        for patterns in (*wanted, *others):
            found = await database.fetch_value("select is_wanted($1::text[], 'tag.added')", patterns)
            assert (patterns in wanted) == found, patterns
