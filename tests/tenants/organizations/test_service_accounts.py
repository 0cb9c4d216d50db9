"""Service accounts: users without an address and a log-in; their tokens act as they, and end with them."""

from typing import Any

import pytest

from tests.tenants.organizations.conftest import Desk, refusal, wrong
from tests.tenants.organizations.test_pages import FORM, GRANT, basic
from tests.tenants.organizations.test_tokens import DOCUMENT, id_of

ACCOUNT: dict[str, Any] = {"service": True, "display_name": "Nightly export", "role": "admin"}


async def made(desk: Desk, **members: Any) -> dict[str, Any]:
    reply = await desk.ask("POST", "/user", json={**ACCOUNT, **members})
    assert 201 == reply.status_code, reply.text
    return reply.json()


async def token_of(desk: Desk, user_id: str, token: str = "", **members: Any) -> dict[str, Any]:
    reply = await desk.ask("POST", "/token", token, json={**DOCUMENT, "user_id": user_id, **members})
    assert 201 == reply.status_code, reply.text
    return reply.json()


class TestMade:
    async def test_wrong(self, desk: Desk) -> None:
        for members, pointer in (
            ({"role": "owner"}, "/role"),
            ({"display_name": None}, "/display_name"),
            ({"email": "export@demo.example"}, "/email"),
            ({"service": False}, "/email"),
        ):
            assert [pointer] == [at for at, _ in wrong(await desk.ask("POST", "/user", json={**ACCOUNT, **members}))]

    async def test_stays_no_person(self, desk: Desk) -> None:
        """A change makes no owner of it, and leaves it a name."""
        path = f"/user/{(await made(desk))['user_id']}"
        for change in ({"role": "owner"}, {"display_name": None}):
            assert 422 == (await desk.ask("PATCH", path, json=change)).status_code

    async def test_ok(self, desk: Desk) -> None:
        account = await made(desk)
        assert (True, None, None) == tuple(account[name] for name in ("service", "email", "last_login_time"))

    async def test_listed_where_asked_for(self, desk: Desk) -> None:
        """A client that knows only people gets no user without an address."""
        await desk.person("agent")
        account = (await made(desk))["user_id"]
        for query, is_listed in (
            ("", False), ("?filter_by[EQUAL][Role]=admin", False), ("?filter_by[EQUAL][Service]=0", False),
            ("?filter_by[EQUAL][Service]=1", True), ("?filter_by[NOT_NULL][Service]=1", True),
        ):  # fmt: skip
            found = (await desk.ask("GET", f"/user{query}")).json()
            assert is_listed == (account in {one["user_id"] for one in found["results"]}), query
            assert len(found["results"]) == found["total_results"]
            assert is_listed or None not in {one["email"] for one in found["results"]}


class TestCannotLogIn:
    async def test_invitation(self, desk: Desk) -> None:
        account = await made(desk)
        assert (403, "forbidden") == refusal(await desk.ask("POST", f"/user/{account['user_id']}/invitation"))

    async def test_database_holds_it(self, desk: Desk) -> None:
        """No code can give it an address or a login."""
        user_id = (await made(desk))["user_id"]
        for change in ("email = 'export@demo.example'", "login_id = 'x'", "role = 'owner'"):
            with pytest.raises(Exception, match=r"organization_user_service_check|foreign key"):
                await desk.execute(f"update organization_user set {change} where user_id = $1", user_id)

    async def test_is_no_assignee(self, desk: Desk) -> None:
        account = await made(desk)
        found = (await desk.ask("GET", "/alert/assignee")).json()["results"]
        assert account["user_id"] not in {one["user_id"] for one in found}
        assert found


class TestTokens:
    async def test_refused(self, desk: Desk, neighbour: Any) -> None:
        """Of a person, of another organization, and by people who may not make tokens of the organization."""
        account = await made(desk)
        person, _ = await desk.person("agent")
        for user_id in (person, neighbour.user_id, "z" * 22):
            reply = await desk.ask("POST", "/token", json={**DOCUMENT, "user_id": user_id})
            assert [("/user_id", "unknown_id")] == wrong(reply)
        theirs = {**DOCUMENT, "user_id": account["user_id"]}
        assert [("/user_id", "unknown_id")] == wrong(await desk.ask("POST", "/token", neighbour.token, json=theirs))
        _, confined = await desk.person("admin", application_ids=[desk.house.application_id])
        assert (403, "forbidden") == refusal(await desk.ask("POST", "/token", confined, json=theirs))

    async def test_act_as_the_account(self, desk: Desk) -> None:
        """With no more than its role, and as the actor of the audit log."""
        account = await made(desk, role="agent")
        token = await token_of(desk, account["user_id"], scopes=["Application.Create"])
        assert ("user", account["user_id"]) == (token["kind"], token["user_id"])
        document = {"display_name": "Created"}
        lacking = await desk.ask("POST", "/application", token["token"], json=document)
        assert (403, "insufficient_scope") == refusal(lacking)
        await desk.ask("PATCH", f"/user/{account['user_id']}", json={"role": "admin"})
        await desk.later(seconds=1)
        made_by = await desk.ask("POST", "/application", token["token"], json=document)
        assert 201 == made_by.status_code, made_by.text
        entries = (await desk.ask("GET", f"/audit?filter_by[EQUAL][ActorId]={account['user_id']}")).json()["results"]
        assert [("user", "Nightly export", "created", "application")] == [
            tuple(one[name] for name in ("actor_kind", "actor_name", "action", "thing_kind")) for one in entries
        ]

    async def test_survive_the_person_who_made_them(self, desk: Desk) -> None:
        account = await made(desk)
        person, admin = await desk.person("admin")
        token = (await token_of(desk, account["user_id"], admin))["token"]
        assert 204 == (await desk.ask("DELETE", f"/user/{person}")).status_code
        await desk.later(seconds=1)
        assert 404 == (await desk.ask("GET", f"/q/queue/item/{'z' * 22}", token)).status_code

    async def test_end_with_the_account(self, desk: Desk) -> None:
        account = await made(desk)
        token = (await token_of(desk, account["user_id"]))["token"]
        path, asked = f"/user/{account['user_id']}", f"/q/queue/item/{'z' * 22}"
        for method, document, expected in (
            ("PATCH", {"active": False}, 401), ("PATCH", {"active": True}, 404), ("DELETE", None, 401),
        ):  # fmt: skip
            assert (await desk.ask(method, path, json=document)).is_success
            await desk.later(seconds=1)
            assert expected == (await desk.ask("GET", asked, token)).status_code, method

    async def test_rotated_by_an_admin_alone(self, desk: Desk) -> None:
        account = await made(desk)
        text = (await token_of(desk, account["user_id"], scopes=["Queue.Read"]))["token"]
        path = f"/token/{await id_of(desk, text)}/rotation"
        _, admin = await desk.person("admin")
        new = (await desk.ask("POST", path, admin, json={})).json()
        assert account["user_id"] == new["user_id"]
        person, agent = await desk.person("agent")
        assert (403, "insufficient_scope") == refusal(await desk.ask("POST", path, agent, json={}))
        assert person != account["user_id"]

    async def test_are_clients_of_oauth(self, desk: Desk) -> None:
        account = await made(desk)
        token = await token_of(desk, account["user_id"])
        headers = {**FORM, "authorization": basic(token["token_id"], token["token"])}
        reply = await desk.http.post("/oauth/token", data=GRANT, headers=headers)
        assert 200 == reply.status_code
        asked = await desk.ask("GET", f"/q/queue/item/{'z' * 22}", reply.json()["access_token"])
        assert 404 == asked.status_code


async def test_events_of_people_alone(desk: Desk) -> None:
    account = await made(desk)
    await token_of(desk, account["user_id"])
    assert 204 == (await desk.ask("DELETE", f"/user/{account['user_id']}")).status_code
    assert [] == await desk.told("user.")
    assert ["token.created", "token.revoked"] == await desk.told("token.")
