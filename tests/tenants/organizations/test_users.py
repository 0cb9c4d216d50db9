"""People over HTTP: who may not, what stays, what follows when somebody leaves."""

import asyncio
from typing import Any

import pytest

from afterword.kit import db
from tests.conftest import House
from tests.tenants.organizations.conftest import Desk, refusal, wrong


class TestInvite:
    async def test_admin_makes_no_owner(self, desk: Desk) -> None:
        _, token = await desk.person("admin")
        reply = await desk.ask("POST", "/user", token, json={"email": "new@demo.example", "role": "owner"})
        assert (403, "forbidden") == refusal(reply)

    async def test_token_of_an_admin_makes_no_owner(self, desk: Desk) -> None:
        """An organization's token reaches no further than whoever made it."""
        _, token = await desk.person("admin")
        made = await desk.ask(
            "POST", "/token", token, json={"title": "T", "scopes": ["User.Create"], "kind": "organization"}
        )
        reply = await desk.ask(
            "POST", "/user", made.json()["token"], json={"email": "new@demo.example", "role": "owner"}
        )
        assert (403, "forbidden") == refusal(reply)

    async def test_confined_admin(self, desk: Desk) -> None:
        second = await desk.application()
        _, token = await desk.person("admin", application_ids=[desk.house.application_id])
        document: dict[str, Any] = {"email": "new@demo.example", "role": "agent"}
        assert (403, "forbidden") == refusal(await desk.ask("POST", "/user", token, json=document))
        reply = await desk.ask("POST", "/user", token, json={**document, "application_ids": [second]})
        assert [("/application_ids/0", "unknown_id")] == wrong(reply)
        reply = await desk.ask(
            "POST", "/user", token, json={**document, "application_ids": [desk.house.application_id]}
        )
        assert 201 == reply.status_code

    @pytest.mark.parametrize("email", ["owner@demo.example", "OWNER@DEMO.example"])
    async def test_taken(self, desk: Desk, email: str) -> None:
        reply = await desk.ask("POST", "/user", json={"email": email, "role": "agent"})
        assert (409, "already_exists") == refusal(reply)
        assert "e-mail address" in reply.json()["detail"]

    async def test_wrong(self, desk: Desk, neighbour: House) -> None:
        document = {"email": "nobody", "role": "agent", "application_ids": [neighbour.application_id]}
        reply = await desk.ask("POST", "/user", json=document)
        assert [("/email", "invalid_address"), ("/application_ids/0", "unknown_id")] == wrong(reply)

    async def test_ok(self, desk: Desk) -> None:
        document = {
            "email": "New@Demo.example", "role": "reporting", "first_name": "Ann", "middle_name": "B", "last_name": "C",
            "display_name": "Ann C", "locale": "EL", "time_zone": "Europe/Athens",
            "application_ids": [desk.house.application_id], "active": False,
        }  # fmt: skip
        reply = await desk.ask("POST", "/user", json=document)
        assert 201 == reply.status_code
        made = reply.json()
        assert {**document, "locale": "el"} == {name: made[name] for name in document}
        assert (None, desk.house.token_id) == (made["last_login_time"], made["created_by"])
        assert reply.headers["location"].endswith(f"/v3.2/user/{made['user_id']}")
        shown = (await desk.ask("GET", f"/user/{made['user_id']}")).json()
        assert made == {name: shown[name] for name in made}
        assert ["user.invited"] == await desk.told("user.")


ONLY: dict[str, Any] = {"only_where": "store_id", "only_values": ["Harbour Street", "Station"]}
WRONG_LIMITS: list[tuple[dict[str, Any], str, str]] = [
    ({"only_where": "store_id"}, "/only_values", "required"),
    ({"only_values": ["Station"]}, "/only_where", "required"),
    ({"only_where": "colour", "only_values": ["Station"]}, "/only_where", "unknown_value"),
    ({"only_where": "transaction_id", "only_values": ["1042"]}, "/only_where", "unknown_value"),
    ({"only_where": "first_name", "only_values": ["Ann"]}, "/only_where", "unknown_value"),
    ({"only_where": "order_total", "only_values": ["7", "many"]}, "/only_values/1", "invalid_format"),
    ({**ONLY, "only_values": [str(number) for number in range(51)]}, "/only_values", "too_many"),
    ({**ONLY, "role": "owner"}, "/only_where", "unknown_value"),
]


class TestLimit:
    async def test_wrong(self, desk: Desk) -> None:
        user_id, _ = await desk.person("agent")
        for limit, pointer, code in WRONG_LIMITS:
            document = {"email": "new@demo.example", "role": "agent", **limit}
            assert [(pointer, code)] == wrong(await desk.ask("POST", "/user", json=document)), limit
            if "role" not in limit:
                assert [(pointer, code)] == wrong(await desk.ask("PATCH", f"/user/{user_id}", json=limit)), limit

    async def test_personal_names(self, desk: Desk) -> None:
        for name, anonymize in (("branch", False), ("card", True)):
            document = {"name": name, "title": name, "type": "text", "level": "organization", "anonymize": anonymize}
            assert 201 == (await desk.ask("POST", "/q/metadata/questionnaire", json=document)).status_code
        user_id, _ = await desk.person("agent")
        card = await desk.ask("PATCH", f"/user/{user_id}", json={"only_where": "card", "only_values": ["1"]})
        assert [("/only_where", "unknown_value")] == wrong(card)
        branch = await desk.ask("PATCH", f"/user/{user_id}", json={"only_where": "branch", "only_values": ["1"]})
        assert 200 == branch.status_code

    async def test_it_holds_at_once_and_is_told_of(self, desk: Desk) -> None:
        user_id, token = await desk.person("admin")
        assert 200 == (await desk.ask("GET", "/user", token)).status_code
        reply = await desk.ask("PATCH", f"/user/{user_id}", json={**ONLY, "only_values": ["Station", "Station"]})
        assert ("store_id", ["Station"]) == (reply.json()["only_where"], reply.json()["only_values"])
        async with db.connection(desk.pool) as database:
            changed = await database.fetch_value(
                "select string_agg(to_jsonb(a)::text, '') from audit_entry a where thing_id = $1", user_id
            )
        assert "Station" in changed
        fresh = await desk.token(scopes=["User.Read"], user_id=user_id)
        refused = await desk.ask("GET", "/user", fresh)
        assert (403, "forbidden") == refusal(refused)
        assert "where store_id is Station" in refused.json()["detail"]
        reply = await desk.ask("PATCH", f"/user/{user_id}", json={"only_where": None, "only_values": []})
        assert 200 == reply.status_code
        again = await desk.token(scopes=["User.Read"], user_id=user_id)
        assert 200 == (await desk.ask("GET", "/user", again)).status_code

    async def test_an_owner_sees_everything(self, desk: Desk) -> None:
        user_id, _ = await desk.person("admin")
        assert 200 == (await desk.ask("PATCH", f"/user/{user_id}", json=ONLY)).status_code
        reply = await desk.ask("PATCH", f"/user/{user_id}", json={"role": "owner"})
        assert [("/only_where", "unknown_value")] == wrong(reply)


class TestMe:
    async def test_organization_tokens_have_none(self, desk: Desk) -> None:
        for method in ("GET", "PATCH", "DELETE"):
            reply = await desk.ask(method, "/user/me", json={})
            assert (404, "not_found") == refusal(reply)
            assert "belongs to the organization" in reply.json()["detail"]

    async def test_everybody_changes_their_own_profile(self, desk: Desk) -> None:
        for role in ("owner", "admin", "reporting", "agent"):
            user_id, token = await desk.person(role, scopes=["Application.Read"])
            me = (await desk.ask("GET", "/user/me", token)).json()
            assert (user_id, role, ["Application.Read"]) == (me["user_id"], me["role"], me["scopes"])
            assert [desk.house.application_id] == [one["application_id"] for one in me["applications"]]
            for path in ("/user/me", f"/user/{user_id}"):
                reply = await desk.ask("PATCH", path, token, json={**me, "first_name": path, "locale": "fr"})
                assert (200, path, "fr") == (reply.status_code, reply.json()["first_name"], reply.json()["locale"])

    async def test_but_not_their_standing(self, desk: Desk) -> None:
        applications = {"application_ids": [desk.house.application_id]}
        for role in ("owner", "admin", "agent"):
            _, token = await desk.person(role)
            for change in ({"role": "reporting"}, applications, {"active": False}, ONLY):
                reply = await desk.ask("PATCH", "/user/me", token, json=change)
                assert (403, "forbidden") == refusal(reply), (role, change)

    async def test_of_others_only_with_the_scope(self, desk: Desk) -> None:
        other, _ = await desk.person("agent")
        _, token = await desk.person("agent")
        reply = await desk.ask("PATCH", f"/user/{other}", token, json={"first_name": "X"})
        assert (403, "insufficient_scope") == refusal(reply)

    async def test_leaving_needs_the_scope(self, desk: Desk) -> None:
        """A token for one little thing does not end its user."""
        _, token = await desk.person("admin", scopes=["User.Read"])
        assert (403, "insufficient_scope") == refusal(await desk.ask("DELETE", "/user/me", token))


class TestUpdate:
    async def test_admin_and_owner(self, desk: Desk) -> None:
        _, token = await desk.person("admin")
        agent, _ = await desk.person("agent")
        for document in ({"first_name": "X"}, {"role": "admin"}, {"active": False}):
            reply = await desk.ask("PATCH", f"/user/{desk.house.user_id}", token, json=document)
            assert (403, "forbidden") == refusal(reply)
        assert (403, "forbidden") == refusal(await desk.ask("DELETE", f"/user/{desk.house.user_id}", token))
        assert (403, "forbidden") == refusal(await desk.ask("PATCH", f"/user/{agent}", token, json={"role": "owner"}))
        reply = await desk.ask("PATCH", f"/user/{agent}", token, json={"role": "admin"})
        assert (200, "admin") == (reply.status_code, reply.json()["role"])

    async def test_confined_admin(self, desk: Desk) -> None:
        second = await desk.application()
        _, token = await desk.person("admin", application_ids=[desk.house.application_id])
        whole, _ = await desk.person("agent")
        foreign, _ = await desk.person("agent", application_ids=[second])
        own, _ = await desk.person("agent", application_ids=[desk.house.application_id])
        for user_id in (whole, foreign):
            assert (403, "forbidden") == refusal(
                await desk.ask("PATCH", f"/user/{user_id}", token, json={"role": "admin"})
            )
            assert (403, "forbidden") == refusal(await desk.ask("DELETE", f"/user/{user_id}", token))
        assert (403, "forbidden") == refusal(
            await desk.ask("PATCH", f"/user/{own}", token, json={"application_ids": []})
        )
        reply = await desk.ask("PATCH", f"/user/{own}", token, json={"application_ids": [second]})
        assert [("/application_ids/0", "unknown_id")] == wrong(reply)
        assert 204 == (await desk.ask("DELETE", f"/user/{own}", token)).status_code

    @pytest.mark.parametrize("document", [{"role": "admin"}, {"active": False}])
    async def test_last_owner(self, desk: Desk, document: dict[str, Any]) -> None:
        await desk.person("admin")
        path = f"/user/{desk.house.user_id}"
        assert (409, "last_owner") == refusal(await desk.ask("PATCH", path, json=document))
        assert (409, "last_owner") == refusal(await desk.ask("DELETE", path))
        assert 200 == (await desk.ask("PATCH", path, json={"display_name": "Still here"})).status_code
        await desk.person("owner")
        assert 200 == (await desk.ask("PATCH", path, json=document)).status_code

    async def test_an_inactive_owner_is_none(self, desk: Desk) -> None:
        other, _ = await desk.person("owner")
        assert 200 == (await desk.ask("PATCH", f"/user/{other}", json={"active": False})).status_code
        assert (409, "last_owner") == refusal(await desk.ask("DELETE", f"/user/{desk.house.user_id}"))
        assert 204 == (await desk.ask("DELETE", f"/user/{other}")).status_code

    async def test_two_owners_leave_at_once(self, desk: Desk) -> None:
        """One of them stays."""
        _, first_token = await desk.person("owner")
        _, second_token = await desk.person("owner")
        await desk.ask("DELETE", f"/user/{desk.house.user_id}")
        replies = await asyncio.gather(
            desk.ask("DELETE", "/user/me", first_token), desk.ask("DELETE", "/user/me", second_token)
        )
        assert [204, 409] == sorted(reply.status_code for reply in replies)

    async def test_email_stays(self, desk: Desk) -> None:
        path = f"/user/{desk.house.user_id}"
        reply = await desk.ask("PATCH", path, json={"email": "other@demo.example", "last_name": "L"})
        assert ("owner@demo.example", "L") == (reply.json()["email"], reply.json()["last_name"])

    async def test_a_deleted_application_stays_in_the_list(self, desk: Desk) -> None:
        """An empty list would open the whole organization."""
        second = await desk.application()
        user_id, _ = await desk.person("agent", application_ids=[second])
        assert 204 == (await desk.ask("DELETE", f"/application/{second}")).status_code
        model = (await desk.ask("GET", f"/user/{user_id}")).json()
        assert [second] == model["application_ids"]
        more = [second, desk.house.application_id]
        reply = await desk.ask("PATCH", f"/user/{user_id}", json={**model, "application_ids": more})
        assert (200, more) == (reply.status_code, reply.json()["application_ids"])


class TestRemove:
    async def test_ok(self, desk: Desk) -> None:
        user_id, token = await desk.person("admin")
        another = await desk.token(user_id=user_id, scopes=["User.Read"])
        assert 200 == (await desk.ask("GET", "/user/me", another)).status_code
        assert 204 == (await desk.ask("DELETE", f"/user/{user_id}")).status_code
        for method in ("GET", "PATCH", "DELETE"):
            assert (404, "not_found") == refusal(await desk.ask(method, f"/user/{user_id}", json={}))
        listed = (await desk.ask("GET", "/user")).json()["results"]
        assert user_id not in {each["user_id"] for each in listed}
        await desk.later(seconds=1)  # for so long a process takes what it saw good
        for text in (token, another):
            assert (401, "token_revoked") == refusal(await desk.ask("GET", "/user/me", text))
        assert ["user.removed"] == await desk.told("user.")
        assert ["token.revoked"] * 2 == await desk.told("token.revoked")

    async def test_the_address_is_free_again(self, desk: Desk) -> None:
        document = {"email": "back@demo.example", "role": "agent"}
        made = (await desk.ask("POST", "/user", json=document)).json()
        await desk.ask("DELETE", f"/user/{made['user_id']}")
        again = await desk.ask("POST", "/user", json=document)
        assert 201 == again.status_code
        assert made["user_id"] != again.json()["user_id"]

    async def test_leaving(self, desk: Desk) -> None:
        user_id, token = await desk.person("admin")
        assert 204 == (await desk.ask("DELETE", "/user/me", token)).status_code
        assert 404 == (await desk.ask("GET", f"/user/{user_id}")).status_code
