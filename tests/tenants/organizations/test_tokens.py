"""Tokens over HTTP: nobody hands out more than they hold, their networks, an end is an end, times of use."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.run.app import create_app
from afterword.tenants.organizations.tokens import service as tokens, store
from afterword.tenants.organizations.tokens.access import TICKS_MAX, TokenUses
from tests.conftest import SITE, House
from tests.dates import YEAR
from tests.run.test_app import client_of
from tests.tenants.organizations.conftest import Desk, refusal, wrong
from tests.tenants.organizations.test_pages import FORM, own

MAKER: dict[str, Any] = {"title": "Maker", "scopes": ["Token.Create"]}
DOCUMENT: dict[str, Any] = {"title": "Shop", "scopes": ["Queue.Create", "Queue.Read"]}


class TestCreate:
    async def test_scopes_of_others(self, desk: Desk) -> None:
        token = await desk.token(scopes=["Token.Create", "Queue.Read"])
        document = {**DOCUMENT, "scopes": ["Queue.Read", "Queue.Create", "Queue.Fly", "queue.read"]}
        reply = await desk.ask("POST", "/token", token, json=document)
        assert [(f"/scopes/{place}", "unknown_scope") for place in (1, 2, 3)] == wrong(reply)
        held, absent, _ = (error["message"].partition(".")[0] for error in reply.json()["errors"])
        assert ("You do not hold this scope, so you cannot pass it on", "There is no such scope") == (held, absent)

    async def test_what_the_role_does_not_hold(self, desk: Desk) -> None:
        _, token = await desk.person("admin")
        reply = await desk.ask("POST", "/token", token, json={**DOCUMENT, "scopes": ["Plan.Create"]})
        assert [("/scopes/0", "unknown_scope")] == wrong(reply)

    async def test_applications_of_others(self, desk: Desk, neighbour: House) -> None:
        second = await desk.application()
        confined = await desk.token(application_ids=[desk.house.application_id])
        for application_id in (second, neighbour.application_id, "z" * 22):
            reply = await desk.ask("POST", "/token", confined, json={**DOCUMENT, "application_ids": [application_id]})
            assert [("/application_ids/0", "unknown_id")] == wrong(reply)

    async def test_limit(self, desk: Desk) -> None:
        wrongly = await desk.ask("POST", "/token", json={**DOCUMENT, "only_where": "colour", "only_values": ["red"]})
        assert [("/only_where", "unknown_value")] == wrong(wrongly)
        limit = {"only_where": "store_id", "only_values": ["Station"]}
        made = await desk.ask("POST", "/token", json={**DOCUMENT, "scopes": ["Token.Create", "Queue.Read"], **limit})
        assert (201, "store_id", ["Station"]) == (
            made.status_code,
            made.json()["only_where"],
            made.json()["only_values"],
        )
        reply = await desk.ask("POST", "/token", made.json()["token"], json={**DOCUMENT, "scopes": ["Queue.Read"]})
        assert (403, "forbidden") == refusal(reply)
        path = f"/token/{made.json()['token_id']}/rotation"
        owner = await desk.token(scopes=["Token.Create", "Queue.Read"])
        assert ["Station"] == (await desk.ask("POST", path, owner, json={})).json()["only_values"]

    async def test_test_tokens_make_test_tokens(self, desk: Desk) -> None:
        token = await desk.token(test=True)
        assert [("/test", "unknown_value")] == wrong(await desk.ask("POST", "/token", token, json=DOCUMENT))
        assert 201 == (await desk.ask("POST", "/token", token, json={**DOCUMENT, "test": True})).status_code

    async def test_organization_tokens_make_no_users_tokens(self, desk: Desk) -> None:
        reply = await desk.ask("POST", "/token", json={**DOCUMENT, "kind": "user"})
        assert [("/kind", "unknown_value")] == wrong(reply)
        assert "belongs to the organization" in reply.json()["errors"][0]["message"]

    async def test_ok(self, desk: Desk) -> None:
        user_id, token = await desk.person("admin")
        document = {**DOCUMENT, "expires_time": f"{YEAR}-01-15T10:30:00+02:00"}
        reply = await desk.ask("POST", "/token", token, json=document)
        assert 201 == reply.status_code
        assert "no-store" == reply.headers["cache-control"]
        made = reply.json()
        assert {**document, "kind": "user", "user_id": user_id, "test": False} == {
            name: made[name] for name in (*document, "kind", "user_id", "test")
        }
        text = made.pop("token")
        assert text[4:12] == made["hint"]
        assert 200 == (await desk.ask("GET", "/q/instance", await desk.token(scopes=SCOPES))).status_code
        listed = f"/q/questionnaire/{desk.house.questionnaire_id}/pipeline/{desk.house.pipeline_id}/queue/item"
        assert 200 == (await desk.ask("GET", listed, text)).status_code
        shown = await desk.ask("GET", f"/token/{made['token_id']}")
        assert {**made, "token": None} == shown.json()
        assert text not in shown.text + (await desk.ask("GET", "/token")).text
        assert ["token.created"] == await desk.told("token.")

    async def test_nothing_keeps_the_secret(self, desk: Desk) -> None:
        text = (await desk.ask("POST", "/token", json=DOCUMENT)).json()["token"]
        async with db.connection(desk.pool) as database:
            rows = await database.fetch("select to_jsonb(t)::text from token t union all select data::text from event")
        assert not [row for row in rows if text[21:53] in row[0]]

    async def test_nothing_keeps_the_secret_for_a_repetition(self, desk: Desk) -> None:
        """With an Idempotency-Key the answer is kept, but not what it showed once."""
        first = await desk.ask("POST", "/token", json=DOCUMENT, headers={"Idempotency-Key": "make"})
        path = f"/token/{first.json()['token_id']}/rotation"
        for number, (address, document) in enumerate((("/token", DOCUMENT), (path, {"overlap_hours": 1}))):
            sent = {"Idempotency-Key": "make" if number == 0 else "rotate"}
            made = first if number == 0 else await desk.ask("POST", address, json=document, headers=sent)
            again = await desk.ask("POST", address, json=document, headers=sent)
            assert made.json()["token"].startswith("afw_")
            assert (201, {**made.json(), "token": None}) == (again.status_code, again.json())
            assert "true" == again.headers["idempotency-replayed"]
            assert len(again.content) == int(again.headers["content-length"])
            async with db.connection(desk.pool) as database:
                kept = await database.fetch("select convert_from(body, 'UTF8') as body from idempotency_key")
            assert number + 1 == len(kept)
            assert not [row for row in kept if made.json()["token"][21:53] in row["body"]]


class TestRevoke:
    async def test_of_an_owner_by_an_admin(self, desk: Desk) -> None:
        text = await desk.token(user_id=desk.house.user_id)
        _, admin = await desk.person("admin")
        token_id = await id_of(desk, text)
        assert (403, "forbidden") == refusal(await desk.ask("DELETE", f"/token/{token_id}", admin))

    async def test_ok(self, desk: Desk) -> None:
        made = (await desk.ask("POST", "/token", json=DOCUMENT)).json()
        path = f"/token/{made['token_id']}"
        assert 204 == (await desk.ask("DELETE", path)).status_code
        assert 204 == (await desk.ask("DELETE", path)).status_code
        assert (401, "token_revoked") == refusal(await desk.ask("GET", "/q/instance", made["token"]))
        shown = (await desk.ask("GET", path)).json()
        assert shown["revoked_time"] is not None
        assert ["token.created", "token.revoked"] == await desk.told("token.")


class TestDescendants:
    """A token's descendants neither outlive it nor exceed it."""

    async def test_end_with_their_maker_at_the_latest(self, desk: Desk) -> None:
        maker = (await desk.ask("POST", "/token", json={**MAKER, "expires_time": f"{YEAR}-01-15T10:30:00Z"})).json()
        for asked, expected in ((None, maker["expires_time"]), (f"{YEAR + 1}-01-01T00:00:00Z", maker["expires_time"])):
            made = await desk.ask("POST", "/token", maker["token"], json={**MAKER, "expires_time": asked})
            assert expected == made.json()["expires_time"]
        rotated = await desk.ask("POST", f"/token/{maker['token_id']}/rotation", maker["token"], json={})
        assert maker["expires_time"] == rotated.json()["expires_time"]

    async def test_rotated_by_one_that_ends_sooner(self, desk: Desk) -> None:
        maker = (await desk.ask("POST", "/token", json={**MAKER, "expires_time": f"{YEAR}-01-15T10:30:00Z"})).json()
        lasting = (await desk.ask("POST", "/token", json=MAKER)).json()
        rotated = await desk.ask("POST", f"/token/{lasting['token_id']}/rotation", maker["token"], json={})
        assert maker["expires_time"] == rotated.json()["expires_time"]

    async def test_are_revoked_with_their_maker(self, desk: Desk) -> None:
        maker = (await desk.ask("POST", "/token", json=MAKER)).json()
        child = (await desk.ask("POST", "/token", maker["token"], json=MAKER)).json()
        grandchild = (await desk.ask("POST", "/token", child["token"], json=MAKER)).json()
        await desk.ask("DELETE", f"/token/{maker['token_id']}")
        await desk.later(seconds=2)  # what was seen good is so for a second
        for text in (maker["token"], child["token"], grandchild["token"]):
            assert (401, "token_revoked") == refusal(await desk.ask("POST", "/token", text, json=MAKER))

    async def test_go_on_with_the_successor(self, desk: Desk) -> None:
        maker = (await desk.ask("POST", "/token", json=MAKER)).json()
        child = (await desk.ask("POST", "/token", maker["token"], json=MAKER)).json()
        path = f"/token/{maker['token_id']}/rotation"
        successor = (await desk.ask("POST", path, maker["token"], json={"overlap_hours": 0})).json()
        assert 201 == (await desk.ask("POST", "/token", child["token"], json=MAKER)).status_code
        await desk.ask("DELETE", f"/token/{successor['token_id']}")
        await desk.later(seconds=2)
        assert (401, "token_revoked") == refusal(await desk.ask("POST", "/token", child["token"], json=MAKER))

    async def test_access_tokens_have_none(self, desk: Desk) -> None:
        maker = (await desk.ask("POST", "/token", json=MAKER)).json()
        form = {"grant_type": "client_credentials", "client_id": maker["token_id"], "client_secret": maker["token"]}
        access = (await desk.http.post("/oauth/token", data=form)).json()["access_token"]
        for path in ("/token", f"/token/{maker['token_id']}/rotation"):
            reply = await desk.ask("POST", path, access, json=MAKER if path == "/token" else {})
            assert (403, "forbidden") == refusal(reply)


class TestRotation:
    async def test_who_may_not(self, desk: Desk) -> None:
        """The answer shows a secret: it takes who holds as much."""
        _, admin = await desk.person("admin")
        of_owner = await id_of(desk, await desk.token(user_id=desk.house.user_id, scopes=["Queue.Read"]))
        of_operator = await id_of(desk, await desk.token(scopes=["Queue.Read"]))
        of_all = await id_of(desk, await desk.token(scopes=SCOPES, maker=replace(desk.house.caller, role="admin")))
        small = await desk.token(scopes=["Token.Create"])
        for token_id, token in ((of_owner, admin), (of_operator, admin), (of_all, admin), (of_operator, small)):
            reply = await desk.ask("POST", f"/token/{token_id}/rotation", token, json={})
            assert (403, "forbidden") == refusal(reply)

    async def test_applications_of_others(self, desk: Desk) -> None:
        """A token for one application gets no successor of a token for all, not even of the same user's."""
        second = await desk.application()
        applications = [desk.house.application_id, second]
        scopes = ["Queue.Read", "Token.Create"]
        user_id, whole = await desk.person("admin", application_ids=applications, scopes=scopes)
        confined = await desk.token(user_id=user_id, application_ids=[second], scopes=scopes)
        named = await desk.token(user_id=user_id, application_ids=applications, scopes=scopes)
        for text in (whole, named):
            reply = await desk.ask("POST", f"/token/{await id_of(desk, text)}/rotation", confined, json={})
            assert (403, "forbidden") == refusal(reply)
        for text, token in ((whole, whole), (confined, whole), (confined, confined)):
            reply = await desk.ask("POST", f"/token/{await id_of(desk, text)}/rotation", token, json={})
            assert 201 == reply.status_code

    async def test_what_has_ended(self, desk: Desk) -> None:
        made = (await desk.ask("POST", "/token", json=DOCUMENT)).json()
        await desk.ask("DELETE", f"/token/{made['token_id']}")
        reply = await desk.ask("POST", f"/token/{made['token_id']}/rotation", json={})
        assert (409, "token_ended") == refusal(reply)

    @pytest.mark.parametrize("hours", [-1, 169])
    async def test_overlap_out_of_range(self, desk: Desk, hours: int) -> None:
        reply = await desk.ask("POST", f"/token/{desk.house.token_id}/rotation", json={"overlap_hours": hours})
        assert [("/overlap_hours", "out_of_range")] == wrong(reply)

    async def test_ok(self, desk: Desk) -> None:
        """With the same rights and as long to live; the old one lives on beside it for its hours."""
        document = {**DOCUMENT, "expires_time": f"{YEAR}-01-15T10:30:00+02:00"}
        old = (await desk.ask("POST", "/token", json=document)).json()
        reply = await desk.ask("POST", f"/token/{old['token_id']}/rotation", json={"overlap_hours": 2})
        assert 201 == reply.status_code
        new = reply.json()
        assert new["token_id"] != old["token_id"]
        assert reply.headers["location"].endswith(f"/token/{new['token_id']}")
        alike = ("title", "scopes", "kind", "application_ids", "test")
        assert {name: old[name] for name in alike} == {name: new[name] for name in alike}
        assert timedelta(seconds=3) > abs(lifetime(old) - lifetime(new))
        left = (await desk.ask("GET", f"/token/{old['token_id']}")).json()
        assert timedelta(hours=2, seconds=3) > lifetime(left) > timedelta(hours=1, minutes=59)
        for text in (old["token"], new["token"]):
            reply = await desk.ask("GET", f"/q/queue/item/{'z' * 22}", text)
            assert 404 == reply.status_code
        await desk.later(seconds=2 * 3600 + 1)
        assert (401, "token_expired") == refusal(await desk.ask("GET", f"/q/queue/item/{'z' * 22}", old["token"]))
        assert 404 == (await desk.ask("GET", f"/q/queue/item/{'z' * 22}", new["token"])).status_code

    async def test_at_once(self, desk: Desk) -> None:
        old = (await desk.ask("POST", "/token", json=DOCUMENT)).json()
        new = (await desk.ask("POST", f"/token/{old['token_id']}/rotation", json={"overlap_hours": 0})).json()
        assert (401, "token_revoked") == refusal(await desk.ask("GET", "/q/instance", old["token"]))
        assert 404 == (await desk.ask("GET", f"/q/queue/item/{'z' * 22}", new["token"])).status_code
        assert ["token.created", "token.created", "token.revoked"] == await desk.told("token.")

    async def test_own(self, desk: Desk) -> None:
        user_id, _ = await desk.person("admin")
        text = await desk.token(user_id=user_id, scopes=["Token.Create"])
        reply = await desk.ask("POST", f"/token/{await id_of(desk, text)}/rotation", text, json={})
        assert (201, user_id) == (reply.status_code, reply.json()["user_id"])


class TestRights:
    async def test_follow_the_role(self, desk: Desk) -> None:
        """A user's token opens what the user's role opens now."""
        user_id, token = await desk.person("admin")
        assert 200 == (await desk.ask("GET", "/token", token)).status_code
        await desk.ask("PATCH", f"/user/{user_id}", json={"role": "agent"})
        await desk.later(seconds=1)
        reply = await desk.ask("GET", "/token", token)
        assert (403, "insufficient_scope") == refusal(reply)
        assert "its user's role" in reply.json()["detail"]
        assert 200 == (await desk.ask("GET", "/user", token)).status_code

    async def test_end_with_the_users_activity(self, desk: Desk) -> None:
        user_id, token = await desk.person("admin")
        await desk.ask("PATCH", f"/user/{user_id}", json={"active": False})
        assert (401, "token_revoked") == refusal(await desk.ask("GET", "/token", token))
        await desk.ask("PATCH", f"/user/{user_id}", json={"active": True})
        await desk.later(seconds=1)
        assert 200 == (await desk.ask("GET", "/token", token)).status_code


async def id_of(desk: Desk, text: str) -> str:
    async with db.connection(desk.pool) as database:
        [token] = await store.list_tokens_like(database, hint=text[4:20], limit=2)
    return token.token_id


def lifetime(token: dict[str, Any]) -> timedelta:
    return datetime.fromisoformat(token["expires_time"]) - datetime.fromisoformat(token["created_time"])


OFFICE = "203.0.113.0/24"
INSIDE, OUTSIDE, PROXY = "203.0.113.7", "198.51.100.7", "10.0.0.1"
REFUSED = (403, "network_not_allowed")
OWN = ["127.0.0.0/8"]  # of the test's client


def client_at(desk: Desk, source: str) -> httpx2.AsyncClient:
    return client_of(desk.pool, source=source)


async def seen(desk: Desk, source: str, token: str, path: str = "/token") -> httpx2.Response:
    async with client_at(desk, source) as client:
        return await client.get(f"/v3.2{path}", headers={"Authorization": f"Bearer {token}"})


async def policy(desk: Desk, **members: Any) -> httpx2.Response:
    return await desk.ask("PUT", f"/organization/{desk.house.organization_id}/login", json=members)


class TestStored:
    async def test_no_network(self, desk: Desk) -> None:
        for network in ("office", "203.0.113.7/24", "", "::1/129"):
            for method, path in (("POST", "/token"), ("PATCH", f"/token/{desk.house.token_id}")):
                reply = await desk.ask(method, path, json={**DOCUMENT, "networks": [OFFICE, network]})
                assert ("/networks/1", 422) == (wrong(reply)[0][0], reply.status_code), network

    async def test_too_many(self, desk: Desk) -> None:
        networks = [f"10.0.{number}.0/24" for number in range(101)]
        assert [("/networks", "too_many")] == wrong(
            await desk.ask("POST", "/token", json={**DOCUMENT, "networks": networks})
        )

    async def test_as_they_are_written_usually(self, desk: Desk) -> None:
        given = [" 203.0.113.7", "2001:DB8:0::/48", "203.0.113.7/32"]
        made = (await desk.ask("POST", "/token", json={**DOCUMENT, "networks": given})).json()
        assert ["203.0.113.7/32", "2001:db8::/48"] == made["networks"]

    async def test_a_token_gives_its_own_networks_on(self, desk: Desk) -> None:
        confined = await desk.token(networks=OWN)
        beyond = await desk.ask("POST", "/token", confined, json={**DOCUMENT, "networks": [*OWN, OFFICE]})
        assert [("/networks/1", "out_of_range")] == wrong(beyond)
        narrow = await desk.ask("POST", "/token", confined, json={**DOCUMENT, "networks": ["127.0.0.1"]})
        assert ["127.0.0.1/32"] == narrow.json()["networks"]
        assert OWN == (await desk.ask("POST", "/token", confined, json=DOCUMENT)).json()["networks"]

    async def test_rotation_keeps_them(self, desk: Desk) -> None:
        confined = await desk.token(networks=OWN)
        for text in (confined, desk.house.token):
            path = f"/token/{await id_of(desk, confined)}/rotation"
            assert OWN == (await desk.ask("POST", path, text, json={})).json()["networks"]
        path = f"/token/{desk.house.token_id}/rotation"
        assert (403, "forbidden") == refusal(await desk.ask("POST", path, confined, json={}))


class TestUpdate:
    async def test_refused(self, desk: Desk) -> None:
        """More networks open more: it takes a caller who holds as much."""
        path, document = f"/token/{desk.house.token_id}", {"networks": []}
        small = await desk.token(scopes=["Token.Update"])
        assert (403, "forbidden") == refusal(await desk.ask("PATCH", path, small, json=document))

    async def test_confined_token_stays_confined(self, desk: Desk) -> None:
        confined = await desk.token(networks=OWN)
        path = f"/token/{await id_of(desk, confined)}"
        assert OWN == (await desk.ask("PATCH", path, confined, json={"networks": []})).json()["networks"]

    async def test_ok(self, desk: Desk) -> None:
        made = (await desk.ask("POST", "/token", json=DOCUMENT)).json()
        path = f"/token/{made['token_id']}"
        changed = (await desk.ask("PATCH", path, json={"networks": [OFFICE]})).json()
        assert ([OFFICE], "Shop") == (changed["networks"], changed["title"])
        changed = (await desk.ask("PATCH", path, json={"title": "Shop 2"})).json()
        assert ([OFFICE], "Shop 2") == (changed["networks"], changed["title"])
        assert changed == (await desk.ask("GET", path)).json()


class TestUsed:
    async def test_from_elsewhere(self, desk: Desk) -> None:
        text = await desk.token(networks=[OFFICE, "2001:db8::/48"])
        for source, expected in (
            (OUTSIDE, 403), ("2001:db9::1", 403), ("", 403), ("unix", 403),
            (INSIDE, 200), (f"::ffff:{INSIDE}", 200), ("2001:db8::1", 200),
        ):  # fmt: skip
            reply = await seen(desk, source, text)
            assert expected == reply.status_code, source
            if expected == REFUSED[0]:
                assert REFUSED == refusal(reply)
                assert OFFICE not in reply.text

    async def test_a_list_that_is_emptied(self, desk: Desk) -> None:
        text = await desk.token(networks=[OFFICE])
        assert REFUSED == refusal(await seen(desk, OUTSIDE, text))
        await desk.ask("PATCH", f"/token/{await id_of(desk, text)}", json={"networks": []})
        assert 200 == (await seen(desk, OUTSIDE, text)).status_code

    async def test_known_token_from_another_address(self, desk: Desk) -> None:
        """A token that was used a moment ago is in the memory of the process."""
        text = await desk.token(networks=OWN)
        assert 200 == (await desk.ask("GET", "/token", text)).status_code
        transport: Any = desk.http._transport
        transport.client = (OUTSIDE, 1)
        assert REFUSED == refusal(await desk.ask("GET", "/token", text))

    async def test_wrong_tokens_are_not_told_of_networks(self, desk: Desk) -> None:
        ended = await desk.token(networks=[OFFICE])
        await desk.ask("DELETE", f"/token/{await id_of(desk, ended)}")
        assert (401, "token_revoked") == refusal(await seen(desk, OUTSIDE, ended))

    async def test_behind_a_proxy(self, desk: Desk) -> None:
        """The client of a trusted proxy counts; a header of anybody else does not."""
        text = await desk.token(networks=[OFFICE])
        app: Any = ProxyHeadersMiddleware(create_app(pool=desk.pool, site=SITE), trusted_hosts=PROXY)  # pyrefly: ignore[bad-argument-type]
        for peer, told, expected in ((PROXY, INSIDE, 200), (PROXY, OUTSIDE, 403), (OUTSIDE, INSIDE, 403)):
            transport = httpx2.ASGITransport(app=app, client=(peer, 1))
            async with httpx2.AsyncClient(transport=transport, base_url=SITE.public_url) as client:
                headers = {"Authorization": f"Bearer {text}", "X-Forwarded-For": told}
                assert expected == (await client.get("/v3.2/token", headers=headers)).status_code, (peer, told)

    async def test_access_tokens_have_those_of_their_parent(self, desk: Desk) -> None:
        await desk.ask("PATCH", f"/token/{desk.house.token_id}", json={"networks": [*OWN, OFFICE]})
        await desk.later(seconds=1)
        form = urlencode(own(desk.house))
        async with client_at(desk, OUTSIDE) as client:
            reply = await client.post("/oauth/token", content=form, headers=FORM)
            assert (403, "network_not_allowed", "unauthorized_client") == (
                *refusal(reply), reply.json()["error"],
            )  # fmt: skip
        access = (await desk.http.post("/oauth/token", content=form, headers=FORM)).json()["access_token"]
        assert REFUSED == refusal(await seen(desk, OUTSIDE, access))
        assert 200 == (await seen(desk, INSIDE, access)).status_code


class TestOfAll:
    async def test_own_address_stays_in(self, desk: Desk) -> None:
        reply = await policy(desk, token_networks=[OFFICE])
        assert [("/token_networks", "out_of_range")] == wrong(reply)
        assert [("/token_networks/0", "invalid_format")] == wrong(await policy(desk, token_networks=["office"]))

    async def test_both_lists_hold(self, desk: Desk) -> None:
        assert [*OWN, OFFICE] == (await policy(desk, token_networks=[*OWN, OFFICE])).json()["token_networks"]
        free, bound = await desk.token(), await desk.token(networks=[OUTSIDE, f"{INSIDE}/32"])
        for token, source, expected in (
            (free, INSIDE, 200), (free, OUTSIDE, 403), (bound, INSIDE, 200), (bound, OUTSIDE, 403),
            (bound, "203.0.113.8", 403),
        ):  # fmt: skip
            assert expected == (await seen(desk, source, token)).status_code, (token, source)
        assert [] == (await policy(desk)).json()["token_networks"]
        assert 200 == (await seen(desk, OUTSIDE, free)).status_code

    async def test_other_organizations_are_free(self, desk: Desk, neighbour: Any) -> None:
        await policy(desk, token_networks=OWN)
        assert 200 == (await seen(desk, OUTSIDE, neighbour.token)).status_code


async def test_change_is_in_the_audit_log(desk: Desk) -> None:
    """With its actor, before and after."""
    made = (await desk.ask("POST", "/token", json={**DOCUMENT, "expires_time": f"{YEAR}-01-15T10:30:00Z"})).json()
    await desk.ask("PATCH", f"/token/{made['token_id']}", json={"networks": [OFFICE]})
    entries = (await desk.ask("GET", f"/audit?filter_by[EQUAL][ThingId]={made['token_id']}")).json()["results"]
    [changed] = [entry for entry in entries if entry["action"] == "changed"]
    assert (desk.house.token_id, {"networks": []}, {"networks": [OFFICE]}) == tuple(
        changed[name] for name in ("actor_id", "before", "after")
    )


class TestTicks:
    async def test_requests_write_nothing(self, desk: Desk) -> None:
        ticks = TokenUses()
        app: Any = create_app(pool=desk.pool, site=SITE, ticks=ticks)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=SITE.public_url) as http:
            for _ in range(3):
                await http.get("/v3.2/organization", headers=desk.house.headers)
                await http.get("/v3.2/organization", headers={"Authorization": "Bearer nobody"})
        assert await last_used(desk) is None
        used = ticks.take()
        assert [(desk.house.organization_id, desk.house.token_id)] == list(used)
        assert {} == ticks.take()
        await write(desk, used)
        assert next(iter(used.values())) == await last_used(desk)
        shown = (await desk.ask("GET", f"/token/{desk.house.token_id}")).json()
        assert shown["last_used_time"] is not None

    async def test_at_most_once_a_minute(self, desk: Desk) -> None:
        now = desk.pool.clock.now()
        key = (desk.house.organization_id, desk.house.token_id)
        for seconds, expected in ((0, 0), (59, 0), (60, 60), (30, 60), (119, 60), (120, 120)):
            await write(desk, {key: now + timedelta(seconds=seconds)})
            assert now + timedelta(seconds=expected) == await last_used(desk)

    async def test_strangers_are_nobody(self, desk: Desk, neighbour: House) -> None:
        await write(
            desk,
            {
                (neighbour.organization_id, desk.house.token_id): desk.pool.clock.now(),
                ("o", "t"): desk.pool.clock.now(),
            },
        )
        assert await last_used(desk) is None

    def test_bounded(self, house: House) -> None:
        ticks = TokenUses()
        for number in range(TICKS_MAX + 5):
            ticks.note((house.organization_id, str(number)), now=datetime(2026, 1, 1, tzinfo=UTC))
        assert TICKS_MAX == len(ticks.take())


async def write(desk: Desk, used: dict[tuple[str, str], datetime]) -> None:
    async with db.transaction(desk.pool) as database:
        await tokens.note_use(database, used=used)


async def last_used(desk: Desk) -> datetime | None:
    async with db.connection(desk.pool) as database:
        found = await store.get_token(
            database, organization_id=desk.house.organization_id, token_id=desk.house.token_id
        )
    assert found is not None
    return found.last_used_time
