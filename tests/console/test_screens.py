"""The frame of screens: forms within limits, addresses of our own, networks and devices in words."""

import re
from html import unescape
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import pytest

from afterword import errors
from afterword.console import screens
from afterword.kit import db
from afterword.kit.nouns.declaration import is_unseen
from afterword.sending.screens.provider_forms import FIELDS
from tests.kit.nouns.declared import all_nouns
from tests.tenants.logins.conftest import (
    PASSWORD,
    Browser,
    Office,
    browser_of,
    log_in,
    office as office,  # noqa: PLC0414  a fixture
)

NEW_ALERT: Final = "/console/settings/alerts/new"
ALERT: Final = {"title": "Late & “quoted”", "description": "Two\nlines", "severity": "normal",
         "trigger": "completed", "status_id": "1", "group": "all", "seen": ""}  # fmt: skip
HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')


@pytest.mark.parametrize(
    ("given", "own"),
    [
        ("/console/responses?tab=all", "/console/responses?tab=all"),
        ("/console", "/console"),
        ("/consoles", "/console"),
        ("", "/console"),
        ("https://evil.example/console", "/console"),
        ("http://[evil", "/console"),
        ("//evil.example/console", "/console"),
        ("/console/\\evil", "/console"),
        ("/console/\r\nSet-Cookie: a=b", "/console"),
    ],
)
def test_own_address(given: str, own: str) -> None:
    assert own == screens.own_address(given)


async def test_refused_in_the_readers_words(office: Office) -> None:
    """The page of a refusal names neither members of the API nor bytes."""
    async with browser_of(office.pool) as client:
        await log_in(client)
        greek = {"Accept-Language": "el"}
        wrong = await client.post("/console/settings/address", data={"email": "ann"}, headers=greek)
        assert 422 == wrong.status_code
        assert "1 πεδίο έχει λάθος." in wrong.text
        assert "email." not in wrong.text
        content = b"x" * screens.UPLOAD_BYTES_MAX
        large = await client.post("/console/sending/lists/new", files={"file": ("a.csv", content)}, headers=greek)
        assert 413 == large.status_code
        assert "ξεπερνούν τα \u206816\u2069 MB" in large.text


async def test_what_a_role_lacks_is_said_in_the_readers_words(office: Office) -> None:
    await office.add_user("agent@demo.example")
    async with browser_of(office.pool) as client:
        await log_in(client, email="agent@demo.example")
        refused = await client.get("/console/reports", headers={"Accept-Language": "de"})
        assert 403 == refused.status_code
        assert "Ihre Rolle umfasst das nicht." in refused.text
        assert "Report.Read" not in refused.text
        assert "www-authenticate" not in refused.headers


def kept_of(page: str) -> dict[str, str]:
    """The fields of the form that can be sent again."""
    form = page.partition('<form method="post" class="stack"')[2].partition("</form>")[0]
    return {unescape(name): unescape(value) for name, value in HIDDEN.findall(form)}


def test_secrets_are_known_by_their_names() -> None:
    """A form that is kept to be sent again asks for them anew; a chat's form shows its address after a mistake, too."""
    declared = {one.name for noun in all_nouns() for one in noun.members if is_unseen(one.role)}
    typed = {one.name for fields in FIELDS.values() for one in fields if one.kind == "secret"}
    assert {"address"} == (declared | typed) - screens.SECRETS


class TestLoggedOut:
    """A form that arrives after its session has ended."""

    @pytest.mark.parametrize(
        "path",
        [
            "/console/settings/account",
            "/console/settings/mailbox",
            "/console/settings/providers/new",
            "/console/logout",
        ],
    )
    async def test_secrets_are_not_shown(self, office: Office, path: str) -> None:
        async with browser_of(office.pool) as client:
            answer = await client.post(
                path, data={"password": "secret"}, headers={"Referer": f"{client.base_url}{path}"}
            )
            assert 303 == answer.status_code
            assert answer.headers["location"].startswith("/console/login")

    async def test_a_file_is_not_read(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            new = "/console/sending/lists/new"
            files = {"file": ("a.csv", b"x" * screens.UPLOAD_BYTES_MAX)}
            answer = await client.post(new, files=files, headers={"Referer": f"{client.base_url}{new}"})
            assert (303, f"/console/login?next={quote(new, safe='')}") == (
                answer.status_code,
                answer.headers["location"],
            )

    async def test_with_a_file_can_be_sent_again(self, office: Office) -> None:
        """The page keeps the text; the file is chosen again."""
        async with browser_of(office.pool) as client:
            new = "/console/settings/pictures"
            late = await client.post(new, data={"title": "Our “logo”"}, files={"file": ("a.png", b"picture")})
            assert 401 == late.status_code
            assert 'enctype="multipart/form-data"' in late.text
            assert {"title": "Our “logo”"} == kept_of(late.text)
            assert ("a.png", True) == (*re.findall(r'id="file-hint">([^<]*)', late.text), 'type="file"' in late.text)

    async def test_with_a_secret_can_be_sent_again(self, office: Office) -> None:
        """The page keeps the text; it asks for the secret again, with room for lines where it had some."""
        async with browser_of(office.pool) as client:
            account = {"kind": "smtp", "host": "mail.example", "username": "ann"}
            late = await client.post("/console/settings/providers/new", data={**account, "password": "se cret"})
            assert (401, account, False) == (late.status_code, kept_of(late.text), "se cret" in late.text)
            assert re.search(r'<input[^>]* name="password" type="password" value=""[^>]* required', late.text)
            lines = await client.post("/console/settings/exports/new", data={"title": "All", "secret": "one\ntwo"})
            assert (401, {"title": "All"}, False) == (lines.status_code, kept_of(lines.text), "two" in lines.text)
            assert re.search(r'<textarea[^>]* name="secret"', lines.text)

    def test_every_secret_is_known(self) -> None:
        """No page shows what was typed into a field that hides it."""
        templates = Path(screens.__file__).parents[1] / "templates/console"
        texts = "".join(path.read_text() for path in templates.glob("*.html"))
        hiding = {*re.findall(r'field\("(\w+)", [^{}]*type="password"', texts)}
        hiding |= {field.name for fields in FIELDS.values() for field in fields if field.kind == "secret"}
        assert hiding <= screens.SECRETS

    async def test_of_another_site(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            answer = await client.post(NEW_ALERT, data=ALERT, headers={"Sec-Fetch-Site": "cross-site"})
            assert (403, False) == (answer.status_code, ALERT["title"] in answer.text)

    async def test_can_be_sent_again(self, office: Office) -> None:
        async with browser_of(office.pool) as client:
            sent = {**ALERT, "application_id": office.application_id}
            late = await client.post(NEW_ALERT, data=sent, headers={"Referer": f"{client.base_url}{NEW_ALERT}"})
            assert 401 == late.status_code
            assert f'href="/console/login?next={quote(NEW_ALERT, safe="")}"' in unescape(late.text)
            kept = kept_of(late.text)
            assert sent == kept
            await log_in(client)
            assert 303 == (await client.post(NEW_ALERT, data=kept)).status_code
            assert "Late &amp; “quoted”" in (await client.get("/console/settings/alerts")).text


class TestProof:
    """A form that arrives when the password must be given again."""

    @pytest.fixture
    async def late(self, office: Office, browser: Browser) -> Browser:
        async with db.transaction(office.pool) as database:
            await database.execute("update login_session set proven_time = proven_time - interval '1 hour'")
        return browser

    @pytest.mark.parametrize("path", ["/console/settings/mailbox", "/console/settings/password"])
    async def test_secrets_are_not_shown(self, late: Browser, path: str) -> None:
        answer = await late.post(path, data={"password": "secret"}, headers={"Referer": f"{late.base_url}{path}"})
        assert 303 == answer.status_code
        assert answer.headers["location"].startswith("/console/proof?next=")

    async def test_can_be_sent_again(self, late: Browser) -> None:
        people = "/console/settings/people"
        sent = {"name": "Zoe “Z”", "email": "zoe@kalamata.example", "role": "agent"}
        asked = await late.post(people, data=sent, headers={"Referer": f"{late.base_url}{people}"})
        assert 401 == asked.status_code
        assert f'href="/console/proof?next={quote(people, safe="")}"' in unescape(asked.text)
        kept = kept_of(asked.text)
        assert sent == kept
        assert "zoe@" not in (await late.get(people)).text
        assert 303 == (await late.post("/console/proof", data={"password": PASSWORD, "next": people})).status_code
        assert f"{people}?done=invited" == (await late.post(people, data=kept)).headers["location"]

    async def test_of_a_page_that_asks_first(self, late: Browser) -> None:
        """The password was given when the page was opened, and is too old once its form arrives."""
        new, sent = "/console/settings/providers/new", {"kind": "smtp", "title": "Ours", "host": "mail.example"}
        asked = await late.post(new, data={**sent, "password": "secret"}, headers={"Referer": f"{late.base_url}{new}"})
        assert 401 == asked.status_code
        assert f'href="/console/proof?next={quote(new, safe="")}"' in unescape(asked.text)
        assert (sent, False) == (kept_of(asked.text), 'value="secret"' in asked.text)


@pytest.mark.parametrize(
    ("language", "clock"), [("en-US", r"1?\d:\d\d\u202f[AP]M"), ("en-GB", r"[012]\d:\d\d"), ("el-GR", r"[012]\d:\d\d")]
)
async def test_dates_as_in_the_readers_region(office: Office, language: str, clock: str) -> None:
    """The language is English by choice; the clock is that of the browser's region."""
    async with browser_of(office.pool) as client:
        await log_in(client)
        await client.post("/console/settings/account", data={"locale": "en"})
        page = (await client.get("/console/settings/account", headers={"Accept-Language": language})).text
        assert re.search(rf"\d, {clock}\b", page)


@pytest.mark.parametrize(
    "path", ["sending/lists/new", "responses/imports/new", "questionnaires/new", "settings/pictures"]
)
async def test_an_empty_file(browser: Browser, path: str) -> None:
    """The page does not ask for a file as if none had been chosen, and does not go on without it."""
    sent = await browser.post(f"/console/{path}", data={"display_name": "Ours"}, files={"file": ("a.csv", b"")})
    assert (422, True) == (sent.status_code, "This file is empty." in sent.text)


class TestForm:
    def test_too_much(self) -> None:
        with pytest.raises(errors.Malformed):
            screens.read_form(b"&".join(b"a=1" for _ in range(screens.FIELDS_MAX + 1)))
        with pytest.raises(errors.TooLarge):
            screens.read_form(urlencode({"a": "x" * (screens.VALUE_CHARACTERS_MAX + 1)}).encode())
        with pytest.raises(errors.Malformed):
            screens.read_form("a=é".encode())
        with pytest.raises(errors.Malformed):
            screens.read_form(b"a=%ff")

    def test_file(self) -> None:
        """One that was not chosen is none; an empty one was chosen."""
        form = screens.Form({}, {"file": b" \n", "logo": b"x"})
        assert (None, b"x") == (form.file("picture"), form.file("logo"))
        with pytest.raises(errors.Invalid) as raised:
            form.file()
        assert [("/file", "too_short")] == [(one.pointer, one.code) for one in raised.value.errors]

    def test_ok(self) -> None:
        form = screens.read_form(b"a=+x+&a=y&b=%C3%A9%00&c=1%0D%0A2")
        assert ("x", " x ", ["+x+".replace("+", " "), "y"]) == (form.text("a"), form.secret("a"), form.all("a"))
        assert ("é", "1\n2", "", []) == (form.text("b"), form.text("c"), form.text("d"), form.all("d"))
