"""Applications over HTTP: refusals, the envelope, what a confined caller sees."""

import base64
import time
from collections.abc import AsyncIterator, Collection
from typing import Any

import httpx2
import pytest

from afterword import db
from afterword.app import create_app
from afterword.core.organizations.access import SCOPES
from afterword.core.wire.site import Site
from afterword.organizations import service

SITE = Site("https://answers.example", b"k" * 32)
MEMBERS = {
    "application_id", "organization_id", "application_type_id", "display_name", "description", "time_zone",
    "default_locale", "website_urls", "brand", "active", "created_time", "updated_time", "created_by", "updated_by",
}  # fmt: skip


class Shop:
    """An organization with three applications, and its API."""

    def __init__(self, pool: db.Pool, http: httpx2.AsyncClient) -> None:
        self.pool, self.http = pool, http
        self.organization_id = ""
        self.application_ids: list[str] = []

    async def build(self, domain: str) -> None:
        async with db.transaction(self.pool) as database:
            organization = await service.create_organization(
                database, domain=domain, display_name=domain, time_zone="Europe/Athens", now=database.clock.now()
            )
            self.organization_id = organization.organization_id
            for name in ("Athens", "Berlin", "Cairo"):
                application = await service.create_application(
                    database,
                    organization_id=self.organization_id,
                    display_name=name,
                    website_urls=["https://shop.example"],
                    now=database.clock.now(),
                )
                self.application_ids.append(application.application_id)

    async def token(self, *, scopes: Collection[str] = SCOPES, application_ids: Collection[str] = ()) -> str:
        async with db.transaction(self.pool) as database:
            _, text = await service.create_token(
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


@pytest.fixture
async def http(pool: db.Pool) -> AsyncIterator[httpx2.AsyncClient]:
    app: Any = create_app(pool=pool, site=SITE)  # the two libraries type ASGI differently
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


class TestListApplications:
    async def test_anonymous(self, shop: Shop) -> None:
        response = await shop.get("/application")
        assert 401 == response.status_code
        assert 'Bearer realm="afterword"' == response.headers["WWW-Authenticate"]
        assert "unauthenticated" == response.json()["code"]
        assert response.json()["message"]

    @pytest.mark.parametrize("name", ["token", "access_token"])
    async def test_token_in_the_url(self, shop: Shop, name: str) -> None:
        token = await shop.token()
        for response in (
            await shop.get(f"/application?{name}={token}"),
            await shop.get(f"/application?{name}=", token),
        ):
            assert 401 == response.status_code
            assert token not in response.text

    async def test_missing_scope(self, shop: Shop) -> None:
        response = await shop.get("/application", await shop.token(scopes=SCOPES - {"Application.Read"}))
        assert 403 == response.status_code
        assert ["Application.Read"] == response.json()["required_scopes"]
        assert 'Bearer error="insufficient_scope", scope="application.read"' == response.headers["WWW-Authenticate"]

    async def test_other_domain(self, shop: Shop) -> None:
        response = await shop.http.get(
            "/v3.2/application", headers={"esat-auth": await shop.token(), "esat-domain": "neighbour"}
        )
        assert 403 == response.status_code
        assert "domain_mismatch" == response.json()["code"]

    async def test_other_organization(self, shop: Shop, neighbour: Shop) -> None:
        response = await shop.get("/application", await neighbour.token())
        assert set(neighbour.application_ids) == {one["application_id"] for one in response.json()["results"]}

    async def test_ok(self, shop: Shop) -> None:
        response = await shop.get("/application", await shop.token(scopes={"Application.Read"}))
        assert 200 == response.status_code
        envelope = response.json()
        assert (1, 10, 1, 3, None) == tuple(
            envelope[name] for name in ("page", "max_per_page", "last_page", "total_results", "next_cursor")
        )
        assert shop.application_ids[::-1] == [one["application_id"] for one in envelope["results"]]
        assert all(one.keys() == MEMBERS for one in envelope["results"])
        newest = envelope["results"][0]
        assert ("Cairo", True, ["https://shop.example"]) == (
            newest["display_name"],
            newest["active"],
            newest["website_urls"],
        )
        assert newest["created_time"].endswith(("+02:00", "+03:00"))

    async def test_filter_and_order(self, shop: Shop) -> None:
        token = await shop.token()
        query = "filter_by[NOT_EQUAL][DisplayName]=Berlin&order_by[ASC][]=DisplayName"
        response = await shop.get(f"/application?{query}", token)
        assert ["Athens", "Cairo"] == [one["display_name"] for one in response.json()["results"]]

    async def test_pages(self, shop: Shop) -> None:
        token = await shop.token()
        response = await shop.get("/application?pagination[page]=2&pagination[max_per_page]=2", token)
        assert shop.application_ids[:1] == [one["application_id"] for one in response.json()["results"]]
        assert (2, 3) == (response.json()["last_page"], response.json()["total_results"])

    async def test_confined_caller(self, shop: Shop) -> None:
        token = await shop.token(application_ids=shop.application_ids[:2])
        envelope = (await shop.get("/application", token)).json()
        assert 2 == envelope["total_results"]
        assert set(shop.application_ids[:2]) == {one["application_id"] for one in envelope["results"]}


class TestGetApplication:
    async def test_anonymous(self, shop: Shop) -> None:
        assert 401 == (await shop.get(f"/application/{shop.application_ids[0]}")).status_code

    async def test_missing_scope(self, shop: Shop) -> None:
        token = await shop.token(scopes={"Application.Update", "Organization.Read"})
        assert 403 == (await shop.get(f"/application/{shop.application_ids[0]}", token)).status_code

    async def test_not_there(self, shop: Shop, neighbour: Shop) -> None:
        confined = await shop.token(application_ids=shop.application_ids[:1])
        everything = await shop.token()
        answers = [
            await shop.get(f"/application/{application_id}", token)
            for application_id, token in (
                (shop.application_ids[1], confined),
                (neighbour.application_ids[0], everything),
                ("a" * 22, everything),
                ("short", everything),
            )
        ]
        assert [404] * 4 == [answer.status_code for answer in answers]
        bodies = [answer.json() for answer in answers[:3]]
        for body in bodies:
            del body["request_id"], body["instance"]
        assert bodies[0] == bodies[1] == bodies[2]

    async def test_ok(self, shop: Shop) -> None:
        token = await shop.token(scopes={"Application.Read"}, application_ids=shop.application_ids[:1])
        response = await shop.get(f"/application/{shop.application_ids[0]}", token)
        assert 200 == response.status_code
        assert MEMBERS == response.json().keys()
        assert "Athens" == response.json()["display_name"]
        assert '"1"' == response.headers["ETag"]
        again = await shop.get(
            f"/application/{shop.application_ids[0]}", token, **{"If-None-Match": response.headers["ETag"]}
        )
        assert 304 == again.status_code


class TestRevocation:
    async def test_at_once(self, shop: Shop) -> None:
        token = await shop.token()
        assert 200 == (await shop.get("/application", token)).status_code
        async with db.transaction(shop.pool) as database:
            token_id = await database.fetch_value("select token_id from token where selector = $1", token[4:20])
            await service.revoke_token(
                database, organization_id=shop.organization_id, token_id=token_id, now=database.clock.now()
            )
            shop.pool.clock.set(
                await database.fetch_value("select now() + interval '1 second'"), monotonic=time.monotonic()
            )
        response = await shop.get("/application", token)
        assert (401, "token_revoked") == (response.status_code, response.json()["code"])


class TestUpdateOrganization:
    async def test_languages_logo_and_address(self, shop: Shop) -> None:
        headers = {"Authorization": f"Bearer {await shop.token()}"}
        [found] = (await shop.http.get("/v3.2/organization", headers=headers)).json()["results"]
        path = f"/v3.2/organization/{found['organization_id']}"
        assert (None, [], {}) == (found["postal_address"], found["locales"], found["brand"])
        for wrong, pointer in (
            ({"brand": {"logo": "data:image/png;base64,AAAA"}}, "/brand/logo"),
            ({"brand": {"logo": "https://shop.example/logo.png"}}, "/brand/logo"),
            ({"brand": {"logo": f"/asset/{'0' * 22}/{'0' * 10}-1x1.png"}}, "/brand/logo"),
            ({"brand": {"font": "comic"}}, "/brand/font"),
            ({"brand": {"layout": "one_page"}}, "/brand/layout"),
            ({"brand": None}, "/brand"),
            ({"postal_address": "a" * 501}, "/postal_address"),
            ({"locales": ["xx-yy-zz-?"]}, "/locales/0"),
            ({"locales": ["el", "de"]}, "/default_locale"),
        ):
            refused = await shop.http.patch(path, json=wrong, headers=headers)
            assert 422 == refused.status_code, wrong
            assert pointer == refused.json()["errors"][0]["pointer"]
        logo = f"data:image/png;base64,{base64.b64encode(bytes.fromhex('89504e470d0a1a0a')).decode()}"
        given = {"postal_address": "1 Harbour Street", "locales": ["en", "el"], "brand": {"logo": logo, "font": None}}
        changed = (await shop.http.patch(path, json=given, headers=headers)).json()
        assert ("1 Harbour Street", ["en", "el"], {"logo": logo}) == tuple(
            changed[name] for name in ("postal_address", "locales", "brand")
        )
        removed = (await shop.http.patch(path, json={"brand": {}}, headers=headers)).json()
        assert (["en", "el"], {}) == (removed["locales"], removed["brand"])
