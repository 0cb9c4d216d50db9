"""Networks of tokens: of one, and of all of an organization. Requests from elsewhere are refused in each way in."""

from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from afterword.run.app import create_app
from tests.conftest import SITE
from tests.dates import YEAR
from tests.run.test_app import client_of
from tests.tenants.organizations.conftest import Desk
from tests.tenants.organizations.test_pages import FORM, own
from tests.tenants.organizations.test_tokens import DOCUMENT, id_of, refusal, wrong

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
    @pytest.mark.parametrize("network", ["office", "203.0.113.7/24", "", "::1/129"])
    async def test_no_network(self, desk: Desk, network: str) -> None:
        for method, path in (("POST", "/token"), ("PATCH", f"/token/{desk.house.token_id}")):
            reply = await desk.ask(method, path, json={**DOCUMENT, "networks": [OFFICE, network]})
            assert ("/networks/1", 422) == (wrong(reply)[0][0], reply.status_code)

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
