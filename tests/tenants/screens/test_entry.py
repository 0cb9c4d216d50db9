"""Logging in and out, resets, invitations and the first set-up: refusals first, then attacks, then the ok."""

import asyncio
import re
from datetime import UTC, datetime
from typing import Any, LiteralString

import httpx2
import pytest
from pyotp.totp import TOTP
from starlette.requests import Request

from afterword.console import screens
from afterword.kit import db, sealing
from afterword.run.cli.setup import setup_url
from afterword.tenants.logins import service
from afterword.tenants.mails import link_context
from afterword.tenants.screens import entry
from tests.tenants.logins.conftest import EMAIL, PASSWORD, SITE, Browser, Office, browser_of, found, log_in

SET_UP: dict[str, Any] = {
    "name": "Olga",
    "email": EMAIL,
    "password": PASSWORD,
    "organization": "Kalamata Books",
}


STATEMENTS: dict[str, LiteralString] = {
    "seen_time": "update login_session set seen_time = seen_time - make_interval(days => $1)",
    "expires_time": "update login_session set expires_time = expires_time - make_interval(days => $1)",
}


async def mailed(pool: db.Pool) -> str:
    """The address in the newest mail that carries a link."""
    async with db.connection(pool) as database:
        row = await database.fetch_one(
            "select mail_id, link from notice_mail where link is not null order by created_time desc limit 1"
        )
    url = sealing.unseal(row["link"], secret=SITE.secret, context=link_context(row["mail_id"]))
    return url.removeprefix(SITE.public_url)


class TestLogIn:
    async def test_anonymous(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            response = await client.get("/console/settings/people?a=1")
            assert (303, "/console/login?next=%2Fconsole%2Fsettings%2Fpeople%3Fa%3D1") == (
                response.status_code,
                response.headers["location"],
            )
            posted = await client.post("/console/settings/people", data={"email": "x@y.example"})
            assert (401, True) == (posted.status_code, "Your session has ended" in posted.text)

    async def test_wrong(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            wrong = await log_in(client, password="not this one at all")
            nobody = await log_in(client, email="nobody@kalamata.example")
            assert [422, 422] == [wrong.status_code, nobody.status_code]
            assert wrong.text.replace(EMAIL, "") == nobody.text.replace("nobody@kalamata.example", "")
            assert "afterword" not in client.cookies

    async def test_ok(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            response = await log_in(client)
            assert (303, "/console") == (response.status_code, response.headers["location"])
            cookie = next(one for one in response.headers.get_list("set-cookie") if one.startswith("afterword="))
            assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
            page = await client.get("/console/settings/people")
        assert 200 == page.status_code
        assert EMAIL in page.text
        assert "same-origin" == page.headers["referrer-policy"]
        assert "trusted-types 'none'" in page.headers["content-security-policy"]

    async def test_goes_on_inside_alone(self, office: Office) -> None:
        for going_on in (
            "https://evil.example", "//evil.example/console", "/v3.2/x", "/console\\@evil", "javascript:1",
        ):  # fmt: skip
            async with browser_of(office.pool) as client:
                data = {"email": EMAIL, "password": PASSWORD, "next": going_on}
                response = await client.post("/console/login", data=data)
            assert "/console" == response.headers["location"], going_on

    async def test_fixation(self, office: Office) -> None:
        """A cookie that somebody planted is worth nothing after the log-in."""
        async with browser_of(office.pool) as client:
            client.cookies.set("afterword", "p" * 22, domain="testserver.local")
            await log_in(client)
            assert "p" * 22 != client.cookies["afterword"]
        async with browser_of(office.pool) as thief:
            thief.cookies.set("afterword", "p" * 22)
            assert 303 == (await thief.get("/console/settings/account")).status_code

    async def test_theft_after_log_out(self, office: Office, browser: Browser) -> None:
        stolen = browser.cookies["afterword"]
        assert 303 == (await browser.post("/console/logout")).status_code
        async with browser_of(office.pool) as thief:
            thief.cookies.set("afterword", stolen)
            assert 303 == (await thief.get("/console/settings/account")).status_code

    async def test_removed_user(self, office: Office) -> None:
        await office.add_user("ann@kalamata.example")
        async with browser_of(office.pool) as client:
            await log_in(client, email="ann@kalamata.example")
            async with db.transaction(office.pool) as database:
                await database.execute("update organization_user set active = false where email like 'ann@%'")
            assert 303 == (await client.get("/console/settings/account")).status_code

    async def test_times(self, office: Office) -> None:
        """A session ends after 14 days without use, and after 30 in any case."""
        for column, days in {"seen_time": 15, "expires_time": 31}.items():
            async with browser_of(office.pool) as client:
                await log_in(client)
                assert 200 == (await client.get("/console/settings/account")).status_code
                async with db.transaction(office.pool) as database:
                    await database.execute(STATEMENTS[column], days)
                assert 303 == (await client.get("/console/settings/account")).status_code

    async def test_unknown_address_takes_the_same_work(
        self, office: Office, statements: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As many hashes and the same statements: time tells nobody which addresses have a login."""
        hashes: list[str] = []

        def noted(password_hash: str, password: str) -> bool:
            hashes.append(password)
            return False

        monkeypatch.setattr(service, "_matches", noted)
        work: list[tuple[int, list[str]]] = []
        for email in (EMAIL, "nobody@kalamata.example"):
            statements.clear()
            hashes.clear()
            async with browser_of(office.pool) as client:
                await log_in(client, email=email, password="wrong")
            work.append((len(hashes), list(statements)))
        assert 1 == work[0][0]
        assert work[0] == work[1]


class TestOrigin:
    """Forms of other sites are refused, the log-in's own too."""

    async def test_log_in(self, office: Office) -> None:
        for headers, status in (
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Sec-Fetch-Site": "same-site"}, 403),
            ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({}, 403),
            ({"Referer": "http://evil.example/http://testserver/"}, 403),
            ({"Referer": "http://testserver.evil.example/console/login"}, 403),
            ({"Referer": "http://testserver@evil.example/console/login"}, 403),
            ({"Referer": "https://testserver/console/login"}, 403),
            ({"Referer": "http://testserver:81/console/login"}, 403),
            ({"Referer": "http://[testserver/"}, 403),
            ({"Referer": "/console/login"}, 403),
            ({"Referer": ""}, 403),
            ({"Referer": "http://testserver/console/login", "Origin": "null"}, 403),
            ({"Referer": "http://testserver/console/login", "Sec-Fetch-Site": "cross-site"}, 403),
            ({"Sec-Fetch-Site": "none"}, 303),
            ({"Origin": "http://testserver"}, 303),
            ({"Referer": "http://testserver/console/login?next=/console"}, 303),  # lynx, w3m and elinks send it alone
        ):
            async with browser_of(office.pool) as client:
                del client.headers["Sec-Fetch-Site"]
                data = {"email": EMAIL, "password": PASSWORD}
                response = await client.post("/console/login", data=data, headers=headers)
            assert status == response.status_code, headers


class TestGuessing:
    async def test_many_at_once(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        """No more are compared than one after the other."""
        compared = 0

        async def is_right(*_: object) -> bool:
            nonlocal compared
            compared += 1
            await asyncio.sleep(0)
            return False

        monkeypatch.setattr(service, "is_right", is_right)
        async with browser_of(office.pool, source="198.51.100.7") as client:
            answers = await asyncio.gather(*(log_in(client, password="wrong") for _ in range(service.FAILURES_MAX + 8)))
        assert service.FAILURES_MAX == compared
        assert 8 == sum(429 == answer.status_code for answer in answers)

    async def test_right_ones_do_not_count(self, office: Office) -> None:
        async with browser_of(office.pool, source="198.51.100.7") as client:
            for _ in range(3):
                await log_in(client)
                client.cookies.clear()
            await log_in(client, password="wrong")
        async with db.connection(office.pool) as database:
            rows = await database.fetch("select failures from login_failure order by 1")
        assert [1, 1] == [row["failures"] for row in rows]  # of the login, and of its network

    async def test_a_network_must_wait(self, office: Office) -> None:
        async with browser_of(office.pool, source="198.51.100.7") as client:
            for _ in range(service.FAILURES_MAX):
                assert 422 == (await log_in(client, password="wrong")).status_code
            refused = await log_in(client)
            assert (429, "900") == (refused.status_code, refused.headers["retry-after"])

    async def test_nobody_locks_out_another_network_or_a_known_browser(self, office: Office) -> None:
        async with (
            browser_of(office.pool, source="198.51.100.7") as known,
            browser_of(office.pool, source="198.51.100.8") as stranger,
            browser_of(office.pool, source="203.0.113.9") as elsewhere,
        ):
            await log_in(known)
            await known.post("/console/logout")
            for _ in range(service.FAILURES_MAX + 1):
                await log_in(stranger, password="wrong")
            assert [429, 303, 303] == [(await log_in(client)).status_code for client in (stranger, known, elsewhere)]


class TestSecondFactor:
    async def test_code_once(self, office: Office, browser: Browser) -> None:
        shown = await browser.post("/console/settings/totp")
        found = re.search(r"<code>([A-Z2-7 ]+)</code>", shown.text)
        assert found is not None
        code = await current_code(office, found[1].replace(" ", ""))
        codes = await browser.post("/console/settings/totp/confirm", data={"code": code})
        assert 200 == codes.status_code
        recovery = re.findall(r"<code>([a-z2-9-]{19})</code>", codes.text)
        assert 10 == len(recovery)
        await browser.post("/console/logout")
        assert "/console/login/code?next=%2Fconsole" == (await log_in(browser)).headers["location"]
        assert 303 == (await browser.get("/console/settings/account")).status_code
        replayed = await browser.post("/console/login/code", data={"code": code})
        assert 422 == replayed.status_code
        entered = await browser.post("/console/login/code", data={"code": recovery[0].upper()})
        assert (303, "/console") == (entered.status_code, entered.headers["location"])
        await browser.post("/console/logout")
        await log_in(browser)
        assert 422 == (await browser.post("/console/login/code", data={"code": recovery[0]})).status_code

    async def test_codes_are_not_guessed(self, office: Office, browser: Browser) -> None:
        """After ten wrong ones the right one is refused too; the password does not begin the count anew."""
        shown = await browser.post("/console/settings/totp")
        found = re.search(r"<code>([A-Z2-7 ]+)</code>", shown.text)
        assert found is not None
        secret = found[1].replace(" ", "")
        code = await current_code(office, secret)
        assert 200 == (await browser.post("/console/settings/totp/confirm", data={"code": code})).status_code
        async with browser_of(office.pool, source="198.51.100.7") as thief:
            for _ in range(service.FAILURES_MAX):
                await log_in(thief)
                assert 422 == (await thief.post("/console/login/code", data={"code": "000000"})).status_code
            assert 429 == (await thief.post("/console/login/code", data={"code": code})).status_code
            assert 429 == (await log_in(thief)).status_code

    async def test_without_the_password_first(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            for pending in ("", "00", "zz", "ab" * 60):
                client.cookies.set("afterword-pending", pending, domain="testserver.local")
                response = await client.post("/console/login/code", data={"code": "123456"})
                assert "/console/login" == response.headers["location"]


async def current_code(office: Office, secret: str) -> str:
    async with db.connection(office.pool) as database:
        return TOTP(secret).at(database.clock.now())


class TestReset:
    async def test_nothing_is_looked_up_before_the_answer(self) -> None:
        """So its time tells nothing: there is not even a database here."""
        request = Request({"type": "http", "state": {}})
        guest = screens.Guest(request, datetime.now(UTC), screens.Form({"email": [EMAIL]}))
        answer = await entry.send_reset(guest)
        assert (303, True) == (answer.status_code, answer.background is not None)

    async def test_unknown_address(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            answers = [await client.post("/console/reset", data={"email": email}) for email in (EMAIL, "no@x.example")]
        assert answers[0].headers["location"] == answers[1].headers["location"]
        async with db.connection(office.pool) as database:
            assert 1 == await database.fetch_value("select count(*) from notice_mail")

    async def test_ok_once(self, office: Office) -> None:
        async with browser_of(office.pool) as client, browser_of(office.pool) as other:
            await log_in(other)
            await client.post("/console/reset", data={"email": EMAIL.upper()})
            link = await mailed(office.pool)
            assert [200, 200] == [(await client.get(link)).status_code for _ in range(2)]  # scanners open links
            assert 422 == (await client.post(link, data={"password": "too short"})).status_code
            changed = await client.post(link, data={"password": "another four words here"})
            assert (303, "/console?done=reset") == (changed.status_code, changed.headers["location"])
            assert 303 == (await other.get("/console/settings/account")).status_code  # its session has ended
            assert 410 == (await client.post(link, data={"password": "yet another four words"})).status_code
            assert 422 == (await log_in(other)).status_code
            assert 303 == (await log_in(other, password="another four words here")).status_code

    async def test_mailbox_is_not_filled(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            for _ in range(6):
                await client.post("/console/reset", data={"email": EMAIL})
        async with db.connection(office.pool) as database:
            assert 3 == await database.fetch_value("select count(*) from notice_mail")


class TestInvitation:
    async def invite(self, client: httpx2.AsyncClient, pool: db.Pool, email: str) -> str:
        await log_in(client)
        data = {"email": email, "name": "Ben", "role": "agent"}
        response = await client.post("/console/settings/people", data=data)
        assert (303, "/console/settings/people?done=invited") == (response.status_code, response.headers["location"])
        return await mailed(pool)

    async def test_new_person(self, office: Office) -> None:
        async with browser_of(office.pool) as owner, browser_of(office.pool) as ben:
            link = await self.invite(owner, office.pool, "ben@kalamata.example")
            assert "ben@kalamata.example" in (await ben.get(link)).text
            assert 422 == (await ben.post(link, data={"password": "kalamata books 1"})).status_code
            assert 303 == (await ben.post(link, data={"password": PASSWORD})).status_code
            assert 200 == (await ben.get("/console/settings/account")).status_code
            assert 410 == (await ben.post(link, data={"password": PASSWORD})).status_code
            assert 403 == (await ben.post("/console/settings/people", data={})).status_code

    async def test_person_of_two_organizations(self, office: Office) -> None:
        other = await found(office.pool, domain="patras", email="ben@kalamata.example")
        async with browser_of(office.pool) as owner, browser_of(office.pool) as ben:
            link = await self.invite(owner, office.pool, "ben@kalamata.example")
            assert 422 == (await ben.post(link, data={"password": "not the one of ben"})).status_code
            assert 303 == (await ben.post(link, data={"password": PASSWORD})).status_code
            page = await ben.get("/console/settings/account")
            options = re.findall(r'<option value="(\w{22}/\w{22})"', page.text)
            assert {office.organization_id, other.organization_id} == {one[:22] for one in options}
            for option in options:
                before = ben.cookies["afterword"]
                assert 303 == (await ben.post("/console/switch", data={"user": option})).status_code
                assert before != ben.cookies["afterword"]
                async with browser_of(office.pool) as thief:
                    thief.cookies.set("afterword", before)
                    assert 303 == (await thief.get("/console/settings/account")).status_code
            refused = await ben.post("/console/switch", data={"user": f"{office.organization_id}/{office.user_id}"})
            assert 404 == refused.status_code

    async def test_withdrawn(self, office: Office) -> None:
        async with browser_of(office.pool) as owner, browser_of(office.pool) as ben:
            link = await self.invite(owner, office.pool, "ben@kalamata.example")
            async with db.transaction(office.pool) as database:
                await database.execute(
                    "update organization_user set removed_time = now(), active = false where email like 'ben@%'"
                )
            assert 410 == (await ben.get(link)).status_code
            assert 410 == (await ben.post(link, data={"password": PASSWORD})).status_code


class TestSetUp:
    async def test_without_an_owner(self, pool: db.Pool) -> None:
        async with browser_of(pool) as client:
            assert "afterword setup" in (await client.get("/console/login")).text
            for path in ("/console/setup/" + "0" * 22, "/console/invitation/x", "/console/reset/x"):
                assert 410 == (await client.get(path)).status_code
                assert 410 == (await client.post(path, data=SET_UP)).status_code

    async def test_two_claim_it_at_once(self, pool: db.Pool) -> None:
        link = await setup_url(pool, SITE)
        assert link is not None
        path = link.removeprefix(SITE.public_url)
        async with browser_of(pool) as first, browser_of(pool) as second:
            answers = await asyncio.gather(
                first.post(path, data=SET_UP), second.post(path, data={**SET_UP, "email": "eve@evil.example"})
            )
        assert [303, 410] == sorted(answer.status_code for answer in answers)
        async with db.connection(pool) as database:
            assert 1 == await database.fetch_value("select count(*) from organization_user")
        assert await setup_url(pool, SITE) is None

    async def test_mistakes_do_not_use_it_up(self, pool: db.Pool) -> None:
        link = await setup_url(pool, SITE)
        assert link is not None
        path = link.removeprefix(SITE.public_url)
        async with browser_of(pool) as client:
            for wrong in (
                {"password": "short"},
                {"email": "no address"},
                {"organization": ""},
            ):
                page = await client.post(path, data={**SET_UP, **wrong})
                assert 422 == page.status_code, wrong
                assert 'value="Olga"' in page.text
            assert "/console/welcome" == (await client.post(path, data=SET_UP)).headers["location"]
            assert 200 == (await client.get("/console/settings/people")).status_code
        async with browser_of(pool) as thief:
            assert 410 == (await thief.get(path)).status_code
            assert 410 == (await thief.post(path, data={**SET_UP, "email": "eve@evil.example"})).status_code

    @pytest.mark.parametrize("email", ["new@kalamata.example", EMAIL])  # another owner, and one that a command made
    async def test_for_the_organization_that_is_there(self, pool: db.Pool, email: str) -> None:
        office = await found(pool)
        async with db.transaction(pool) as database:
            await database.execute("update organization_user set login_id = null")
            await database.execute("delete from login")
        link = await setup_url(pool, SITE)
        assert link is not None
        async with browser_of(pool) as client:
            data = {**SET_UP, "email": email}
            assert "Step 1 of 4" in (await client.get(link.removeprefix(SITE.public_url))).text
            answer = await client.post(link.removeprefix(SITE.public_url), data=data)
        assert 303 == answer.status_code
        async with db.connection(pool) as database:
            assert [office.organization_id] == [
                row[0] for row in await database.fetch("select organization_id from organization")
            ]
            assert "Olga" == await database.fetch_value(
                "select display_name from organization_user where login_id is not null"
            )
