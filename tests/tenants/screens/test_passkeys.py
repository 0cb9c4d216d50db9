"""Passkeys: answers that were stolen, forged or made for another place, then the ok."""

import html
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from afterword.core.wire.site import Site
from afterword.kit import db
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import EMAIL, OWN, PASSWORD, Office, log_in
from tests.tenants.logins.passkeys.authenticator import Authenticator

LOCAL = Site("http://localhost", b"s" * 32)
NEW = "/console/settings/passkeys"
ACCOUNT = "/console/settings/account"
BEN = "ben@kalamata.example"


@asynccontextmanager
async def browser_of(pool: db.Pool) -> AsyncGenerator[httpx2.AsyncClient]:
    """A browser at an address where passkeys work."""
    async with client_of(pool, site=LOCAL) as client:
        client.headers.update(OWN)
        yield client


async def options_of(client: httpx2.AsyncClient, path: str) -> dict[str, Any]:
    found = re.search(r'data-options="([^"]*)"', (await client.get(path)).text)
    assert found is not None, path
    return json.loads(html.unescape(found[1]))


async def make(client: httpx2.AsyncClient, device: Authenticator) -> httpx2.Response:
    credential = device.create(await options_of(client, NEW))
    return await client.post(NEW, data={"title": "My phone", "credential": credential})


async def removals(client: httpx2.AsyncClient) -> list[str]:
    """The pages that remove the passkeys of the person."""
    return re.findall(rf"{NEW}/\w{{32}}", html.unescape((await client.get(ACCOUNT)).text))


async def answer(client: httpx2.AsyncClient, credential: str) -> httpx2.Response:
    return await client.post("/console/login/passkey", data={"credential": credential})


async def test_not_at_a_number_or_without_tls(office: Office) -> None:
    async with client_of(office.pool, site=Site("http://192.0.2.7", b"s" * 32)) as client:
        client.headers.update(OWN)
        assert "passkey" not in (await client.get("/console/login")).text
        await log_in(client)
        for path in (ACCOUNT, NEW):
            page = (await client.get(path)).text
            assert "https address" in page
            assert "data-passkey" not in page
        for path, data in ((NEW, {"title": "a"}), ("/console/login/passkey", {})):
            credential = Authenticator().create({"user": {"id": "AA"}, "challenge": "AA"})
            assert 422 == (await client.post(path, data={**data, "credential": credential})).status_code


async def test_making_one(office: Office) -> None:
    """The password is asked for again, other sessions end, recovery codes are shown; no forged answer is stored."""
    async with browser_of(office.pool) as client, browser_of(office.pool) as other:
        await log_in(client)
        await log_in(other)
        strange = await options_of(other, NEW)
        async with db.transaction(office.pool) as database:
            await database.execute("update login_session set proven_time = now() - interval '16 minutes'")
        assert "/console/proof" in (await client.get(NEW)).headers["location"]
        assert "/console/proof" in (await client.post(NEW, data={"title": "a"})).headers["location"]
        await client.post("/console/proof", data={"password": PASSWORD})
        options = await options_of(client, NEW)
        assert ("localhost", "required", EMAIL) == (
            options["rp"]["id"],
            options["authenticatorSelection"]["userVerification"],
            options["user"]["name"],
        )
        forged = {
            "another session's challenge": Authenticator().create(strange),
            "a challenge of a log-in": Authenticator().create(
                {**options, "challenge": (await options_of(client, "/console/proof"))["challenge"]}
            ),
            "a challenge of one's own": Authenticator().create({**options, "challenge": "A" * 80}),
            "another origin": Authenticator().create(options, origin="http://localhost.evil.example"),
            "another host": Authenticator(host="evil.example").create(options),
            "nobody verified": Authenticator().create(options, verified=False),
            "nothing": "",
        }
        for name, credential in forged.items():
            refused = await client.post(NEW, data={"title": "My phone", "credential": credential})
            assert 422 == refused.status_code, name
            assert 'value="My phone"' in refused.text, name
        device = Authenticator()
        credential = device.create(options)
        nameless = await client.post(NEW, data={"title": "", "credential": credential})
        assert 422 == nameless.status_code
        made = await client.post(NEW, data={"title": "<b>My phone", "credential": credential})
        assert 10 == len(re.findall(r"<code>[a-z2-9-]{19}</code>", made.text))
        assert 303 == (await other.get(ACCOUNT)).status_code
        again = await client.post(NEW, data={"title": "Copy", "credential": credential})
        assert 422 == again.status_code  # its challenge is used
        assert f"{ACCOUNT}?done=passkey" == (await make(client, Authenticator())).headers["location"]
        assert "<b>My phone" not in (await client.get(ACCOUNT)).text
        assert 2 == len(await removals(client))
        assert 409 == (await make(client, device)).status_code  # an authenticator that ignores the known ones


async def test_logging_in(office: Office) -> None:
    """Without password and code; a stolen answer, or one of a copied key, opens nothing."""
    device, copy = Authenticator(), Authenticator()
    async with browser_of(office.pool) as client:
        await log_in(client)
        await make(client, device)
    copy.key, copy.credential_id, copy.user_handle = device.key, device.credential_id, device.user_handle
    async with browser_of(office.pool) as client, browser_of(office.pool) as thief:
        options = await options_of(client, "/console/login")
        assert (
            403 == (await client.post("/console/login/passkey", headers={"Sec-Fetch-Site": "cross-site"})).status_code
        )
        wrong = {
            "another origin": device.get(options, origin="http://evil.example"),
            "nobody verified": device.get(options, verified=False),
            "unknown credential": Authenticator(user_handle=device.user_handle).get(options),
            "unknown key": Authenticator(credential_id=device.credential_id).get(options),
            "another person": Authenticator(credential_id=device.credential_id, key=device.key, user_handle="AAAA").get(
                options
            ),
            "a challenge of one's own": device.get({**options, "challenge": "A" * 80}),
            "nothing": "",
        }
        for name, credential in wrong.items():
            refused = await answer(client, credential)
            assert 422 == refused.status_code, name
            assert "not accepted" in refused.text, name
            assert "afterword" not in client.cookies
        credential = device.get(options)
        entered = await client.post("/console/login/passkey", data={"credential": credential, "next": ACCOUNT})
        assert (303, ACCOUNT) == (entered.status_code, entered.headers["location"])
        assert 200 == (await client.get(ACCOUNT)).status_code
        assert 422 == (await answer(thief, credential)).status_code  # replayed
        stale = await options_of(thief, "/console/login")
        assert 422 == (await answer(thief, copy.get(stale))).status_code  # its count has gone back
        async with db.transaction(office.pool) as database:
            actions = await database.fetch("select action from audit_entry where thing_kind = 'login'")
            assert {"passkey_added", "logged_in_anew", "login_failed"} <= {row["action"] for row in actions}
            assert await database.fetch_value("select used_time is not null from login_passkey")


async def test_as_second_step(office: Office) -> None:
    """After the password a passkey or a recovery code is asked for, no code of an app that was never proven."""
    device = Authenticator()
    async with browser_of(office.pool) as client:
        await log_in(client)
        recovery = re.findall(r"<code>([a-z2-9-]{19})</code>", (await make(client, device)).text)
        await client.post("/console/settings/totp")
        await client.post("/console/logout")
        step = (await log_in(client)).headers["location"]
        assert step.startswith("/console/login/code")
        assert 303 == (await client.get(ACCOUNT)).status_code
        assert "recovery codes" in (await client.get(step)).text
        assert 422 == (await client.post("/console/login/code", data={"code": "123456"})).status_code
        assert 303 == (await answer(client, device.get(await options_of(client, step)))).status_code
        await client.post("/console/logout")
        await log_in(client)
        entered = await client.post("/console/login/code", data={"code": recovery[0]})
        assert "/console" == entered.headers["location"]


async def test_proof_and_removal(office: Office) -> None:
    """A passkey proves its own person; one of another person neither proves nor can be removed."""
    await office.add_user(BEN)
    device, bens = Authenticator(), Authenticator()
    async with browser_of(office.pool) as client, browser_of(office.pool) as ben:
        for one, email, key in ((client, EMAIL, device), (ben, BEN, bens)):
            await log_in(one, email=email)
            await make(one, key)
        [theirs], [own] = await removals(ben), await removals(client)
        assert [404, 404] == [(await client.request(method, theirs)).status_code for method in ("GET", "POST")]
        async with db.transaction(office.pool) as database:
            await database.execute("update login_session set proven_time = now() - interval '16 minutes'")
        for key, status in ((bens, 422), (device, 303)):
            assert "/console/proof" in (await client.get(own)).headers["location"]
            given = {"credential": key.get(await options_of(client, "/console/proof")), "next": own}
            assert status == (await client.post("/console/proof/passkey", data=given)).status_code
        page = await client.get(own)
        assert "only second factor" in page.text
        assert 303 == (await client.post(own)).status_code
        assert 404 == (await client.get(own)).status_code
        assert 422 == (await answer(ben, device.get(await options_of(ben, "/console/proof")))).status_code
        await client.post("/console/logout")
        assert "/console" == (await log_in(client)).headers["location"]  # the password alone again
        async with db.connection(office.pool) as database:
            assert 10 == await database.fetch_value("select count(*) from login_recovery_code")  # those of Ben
