"""The OAuth door: every refusal of RFC 6749 section 5.2 first, then the access token and its end."""

import base64
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES, alias_of
from afterword.kit import db
from afterword.kit.web.limits import Limits
from afterword.run.app import create_app
from afterword.tenants.organizations.tokens import service as tokens, store
from tests.conftest import SITE, House
from tests.pruning import prune as pruned
from tests.tenants.organizations.conftest import Desk

FORM = {"content-type": "application/x-www-form-urlencoded"}
GRANT = {"grant_type": "client_credentials"}


async def post(desk: Desk, fields: Any, **headers: str) -> httpx2.Response:
    content = fields if isinstance(fields, (str, bytes)) else urlencode(fields)
    return await desk.http.post("/oauth/token", content=content, headers={**FORM, **headers})


def own(house: House) -> dict[str, str]:
    return {**GRANT, "client_id": house.token_id, "client_secret": house.token}


async def client_of(desk: Desk, scope: str) -> dict[str, str]:
    """The fields of a new client with this scope."""
    made = (await desk.ask("POST", "/token", json={"title": "T", "scopes": [scope]})).json()
    return {**GRANT, "client_id": made["token_id"], "client_secret": made["token"]}


def basic(client_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


def refused(reply: httpx2.Response) -> tuple[int, str]:
    """The refusal, which is a problem document with the RFC's members in any case."""
    document = reply.json()
    assert "application/problem+json" == reply.headers["content-type"]
    assert "no-store" == reply.headers["cache-control"]
    assert document["error_description"] == document["detail"] == document["message"]
    assert reply.status_code == document["status"]
    assert document["type"].endswith(f"/problems/{document['code']}")
    return reply.status_code, document["error"]


class TestRefused:
    async def test_form(self, desk: Desk) -> None:
        wrong: list[tuple[Any, tuple[int, str]]] = [
            ({}, (400, "invalid_request")),
            ({"grant_type": ""}, (400, "invalid_request")),
            ({"grant_type": "password"}, (400, "unsupported_grant_type")),
            ({"grant_type": "refresh_token"}, (400, "unsupported_grant_type")),
            ("grant_type=client_credentials&grant_type=client_credentials", (400, "invalid_request")),
            ("grant_type=client_credentials&scope=a&scope=b", (400, "invalid_request")),
            (b"grant_type=\xff", (400, "invalid_request")),
            ("&".join(f"a{number}=1" for number in range(21)), (400, "invalid_request")),
            (GRANT, (401, "invalid_client")),
            ({**GRANT, "client_id": "x"}, (401, "invalid_client")),
            ({**GRANT, "client_secret": "x"}, (401, "invalid_client")),
            ({**GRANT, "client_id": "x" * 22, "client_secret": "nonsense"}, (401, "invalid_client")),
        ]
        for fields, expected in wrong:
            assert expected == refused(await post(desk, fields)), fields

    async def test_other_media_types(self, desk: Desk) -> None:
        for content_type in ("application/json", "multipart/form-data", ""):
            reply = await post(desk, own(desk.house), **{"content-type": content_type})
            assert (400, "invalid_request") == refused(reply), content_type

    async def test_header(self, desk: Desk) -> None:
        no_colon = "Basic " + base64.b64encode(b"no colon").decode()
        for header in ("Basic", "Basic !", no_colon, "Bearer x", basic("", ""), basic("a", "b")):
            reply = await post(desk, GRANT, authorization=header)
            assert (401, "invalid_client") == refused(reply), header
            assert reply.headers["www-authenticate"].startswith("Basic ")

    async def test_two_ways_at_once(self, desk: Desk) -> None:
        header = basic(desk.house.token_id, desk.house.token)
        assert (400, "invalid_request") == refused(await post(desk, own(desk.house), authorization=header))
        reply = await post(desk, {**GRANT, "client_id": "z" * 22}, authorization=header)
        assert (400, "invalid_request") == refused(reply)

    async def test_other_client_id(self, desk: Desk, neighbour: House) -> None:
        fields = {**own(desk.house), "client_id": neighbour.token_id}
        assert (401, "invalid_client") == refused(await post(desk, fields))

    async def test_ended_client(self, desk: Desk) -> None:
        fields = await client_of(desk, "Queue.Read")
        await desk.ask("DELETE", f"/token/{fields['client_id']}")
        assert (401, "invalid_client") == refused(await post(desk, fields))

    async def test_user_token(self, desk: Desk) -> None:
        text = await desk.token(user_id=desk.house.user_id)
        async with db.connection(desk.pool) as database:
            [token] = await store.list_tokens_like(database, hint=text[4:20], limit=2)
        fields = {**GRANT, "client_id": token.token_id, "client_secret": text}
        assert (400, "unauthorized_client") == refused(await post(desk, fields))

    async def test_access_token_is_no_client(self, desk: Desk) -> None:
        access = (await post(desk, own(desk.house))).json()["access_token"]
        fields = {**own(desk.house), "client_secret": access}
        assert (401, "invalid_client") == refused(await post(desk, fields))

    async def test_scope_that_is_none_or_that_the_client_lacks(self, desk: Desk) -> None:
        for scope in ("Queue.Create", "queue.fly", "queue.create queue.fly", "queue.create,queue.read"):
            assert (400, "invalid_scope") == refused(await post(desk, {**own(desk.house), "scope": scope})), scope
        reader = await client_of(desk, "Queue.Read")
        assert (400, "invalid_scope") == refused(await post(desk, {**reader, "scope": "queue.create"}))

    @pytest.mark.usefixtures("one_minute")
    async def test_failures_are_counted(self, desk: Desk) -> None:
        app: Any = create_app(pool=desk.pool, site=SITE, limits=Limits(failed_authentications=3))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE.public_url) as http:
            fields = urlencode({**GRANT, "client_id": "x" * 22, "client_secret": "nonsense"})
            bad = [await http.post("/oauth/token", content=fields, headers=FORM) for _ in range(5)]
            good = await http.post("/oauth/token", content=urlencode(own(desk.house)), headers=FORM)
        assert [401, 401, 401, 429, 429] == [reply.status_code for reply in bad]
        assert "retry-after" in bad[-1].headers
        assert 200 == good.status_code

    @pytest.mark.usefixtures("one_minute")
    async def test_requests_are_counted(self, desk: Desk) -> None:
        app: Any = create_app(pool=desk.pool, site=SITE, limits=Limits(token_requests=2))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE.public_url) as http:
            replies = [
                await http.post("/oauth/token", content=urlencode(own(desk.house)), headers=FORM) for _ in range(3)
            ]
        assert [200, 200, 429] == [reply.status_code for reply in replies]

    async def test_too_many_alive(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tokens, "ACCESS_TOKENS_MAX", 2)
        replies = [await post(desk, own(desk.house)) for _ in range(3)]
        assert [200, 200, 429] == [reply.status_code for reply in replies]
        await desk.later(seconds=3601)
        assert 200 == (await post(desk, own(desk.house))).status_code

    async def test_only_post(self, desk: Desk) -> None:
        reply = await desk.http.get("/oauth/token")
        assert (405, "method_not_allowed") == (reply.status_code, reply.json()["code"])

    async def test_no_cors(self, desk: Desk) -> None:
        app: Any = create_app(pool=desk.pool, site=SITE, origins=["https://shop.example"])
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE.public_url) as http:
            headers = {**FORM, "origin": "https://shop.example"}
            reply = await http.post("/oauth/token", content=urlencode(own(desk.house)), headers=headers)
        assert 200 == reply.status_code
        assert not [name for name in reply.headers if name.startswith("access-control")]

    async def test_a_browser_gets_a_problem_too(self, desk: Desk) -> None:
        assert (401, "invalid_client") == refused(await post(desk, GRANT, accept="text/html"))


class TestGranted:
    async def test_form(self, desk: Desk) -> None:
        reply = await post(desk, {**own(desk.house), "scope": " queue.read  questionnaire_instance.read "})
        assert 200 == reply.status_code
        assert ("no-store", "no-cache") == (reply.headers["cache-control"], reply.headers["pragma"])
        document = reply.json()
        text = document.pop("access_token")
        assert {
            "token_type": "Bearer", "expires_in": 3600, "scope": "questionnaire_instance.read queue.read",
        } == document  # fmt: skip
        assert 200 == (await desk.ask("GET", "/q/instance", text)).status_code
        assert 403 == (await desk.ask("GET", "/application", text)).status_code

    async def test_basic(self, desk: Desk) -> None:
        header = basic(desk.house.token_id, desk.house.token.replace("_", "%5F"))
        for content_type in ("application/x-www-form-urlencoded; charset=UTF-8", "APPLICATION/x-www-form-urlencoded"):
            reply = await post(desk, {**GRANT, "scope": ""}, authorization=header, **{"content-type": content_type})
            assert 200 == reply.status_code
            assert " ".join(sorted(alias_of(scope) for scope in SCOPES)) == reply.json()["scope"]

    async def test_is_its_parents(self, desk: Desk) -> None:
        """Organization, applications, rate limit and name of the actor are the parent's; lists do not show it."""
        parent = await desk.token(application_ids=[desk.house.application_id], scopes=["Tag.Read", "Token.Read"])
        async with db.connection(desk.pool) as database:
            [token] = await store.list_tokens_like(database, hint=parent[4:20], limit=2)
        granted = await post(desk, {**GRANT, "client_id": token.token_id, "client_secret": parent})
        text = granted.json()["access_token"]
        shown = (await desk.ask("GET", "/token", text)).json()["results"]
        assert [token.token_id] == [each["token_id"] for each in shown]

    async def test_ends_after_an_hour(self, desk: Desk) -> None:
        text = (await post(desk, own(desk.house))).json()["access_token"]
        await desk.later(seconds=3599)
        assert 200 == (await desk.ask("GET", "/plan", text)).status_code
        await desk.later(seconds=2)
        reply = await desk.ask("GET", "/plan", text)
        assert (401, "token_expired") == (reply.status_code, reply.json()["code"])

    async def test_ends_with_its_parent(self, desk: Desk) -> None:
        fields = await client_of(desk, "Plan.Read")
        text = (await post(desk, fields)).json()["access_token"]
        assert 200 == (await desk.ask("GET", "/plan", text)).status_code
        await desk.ask("DELETE", f"/token/{fields['client_id']}")
        await desk.later(seconds=1)
        reply = await desk.ask("GET", "/plan", text)
        assert (401, "token_revoked") == (reply.status_code, reply.json()["code"])

    async def test_storage_is_pruned(self, desk: Desk) -> None:
        for _ in range(3):
            await post(desk, own(desk.house))
        now = desk.pool.clock.now()
        assert [0, 0, 2, 1, 0] == [
            await prune(desk, now + timedelta(seconds=seconds)) for seconds in (0, 7199, 7201, 7201, 7201)
        ]

    async def test_aliases_are_told_apart(self) -> None:
        assert len(SCOPES) == len({alias_of(scope) for scope in SCOPES})


async def prune(desk: Desk, now: Any) -> int:
    async with db.transaction(desk.pool) as database:
        return await pruned(database, "access tokens", now=now, limit=2)
