"""Tokens over HTTP: nobody hands out more than they hold, a secret is shown once, an end is an end."""

from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.tenants.organizations import service
from afterword.tenants.organizations.tokens import service as tokens
from afterword.tenants.organizations.tokens import store
from tests.conftest import House
from tests.dates import YEAR
from tests.tenants.organizations.conftest import Desk

MAKER: dict[str, Any] = {"title": "Maker", "scopes": ["Token.Create"]}
DOCUMENT: dict[str, Any] = {"title": "Shop", "scopes": ["Queue.Create", "Queue.Read"]}


def refusal(reply: httpx2.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


def wrong(reply: httpx2.Response) -> list[tuple[str, str]]:
    return [(each["pointer"], each["code"]) for each in reply.json()["errors"]]


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

    async def test_test_tokens_make_test_tokens(self, desk: Desk) -> None:
        token = await desk.token(test=True)
        assert [("/test", "unknown_value")] == wrong(await desk.ask("POST", "/token", token, json=DOCUMENT))
        assert 201 == (await desk.ask("POST", "/token", token, json={**DOCUMENT, "test": True})).status_code

    async def test_organization_tokens_make_no_users_tokens(self, desk: Desk) -> None:
        reply = await desk.ask("POST", "/token", json={**DOCUMENT, "kind": "user"})
        assert [("/kind", "unknown_value")] == wrong(reply)
        assert "belongs to the organization" in reply.json()["errors"][0]["message"]

    async def test_expiry_in_the_past(self, desk: Desk) -> None:
        reply = await desk.ask("POST", "/token", json={**DOCUMENT, "expires_time": "2020-01-01T00:00:00Z"})
        assert [("/expires_time", "out_of_range")] == wrong(reply)

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

    async def test_all_scopes(self, desk: Desk) -> None:
        reply = await desk.ask("POST", "/token", json={**DOCUMENT, "scopes": sorted(SCOPES)})
        assert (201, sorted(SCOPES)) == (reply.status_code, reply.json()["scopes"])


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
        of_all = await id_of(desk, await desk.token(scopes=SCOPES, maker_role="admin"))
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
        assert (201, user_id, 24) == (
            reply.status_code, reply.json()["user_id"], tokens_default()
        )  # fmt: skip


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


def tokens_default() -> int:
    from afterword.tenants.organizations.tokens.api import RotationRequest  # noqa: PLC0415

    return RotationRequest().overlap_hours


async def test_service_names_stay(desk: Desk) -> None:
    """Whoever made tokens before they had a part of their own finds them where they were."""
    assert service.create_token is tokens.create_token
    assert service.revoke_token is tokens.revoke_token
