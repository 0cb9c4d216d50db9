"""The audit log in the console: sentences, filters as links, and pages that lead on."""

import html
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from afterword.kit import db
from afterword.kit.texts import texts
from afterword.tenants.audit import Entry
from afterword.tenants.screens import audit
from afterword.tenants.screens.audit import AUDIT, history_url, sentence_of
from tests.tenants.logins.conftest import EMAIL, Browser, Office, browser_of, log_in

WORDS = texts("console", "en")
NEXT = re.compile(r'rel="next" href="([^"]+)"')


def entry(**more: Any) -> Entry:
    given: dict[str, Any] = dict.fromkeys(Entry.__struct_fields__)
    given |= {"entry_id": "e" * 22, "created_time": datetime(2026, 11, 25, tzinfo=UTC), "actor_kind": "user"}
    given |= {"actor_name": "Ann", "actor_role": "owner", "action": "changed"}
    return Entry(**(given | more))


def said(**more: Any) -> str:
    return sentence_of(WORDS, entry(**more)).replace("\u2068", "").replace("\u2069", "")


AUDITED = re.compile(r"write_audit_entry\('(\w+)'")


def test_kinds() -> None:
    """Whatever the database notes has a name, in the language of the reader."""
    schema = (Path(audit.__file__).parents[2] / "run/migrations/schema.sql").read_text(encoding="utf-8")
    assert set() == set(AUDITED.findall(schema)) - {*audit.KINDS}


@pytest.mark.parametrize(("language", "name"), [("de", "diese Organisation"), ("el", "αυτόν τον οργανισμό")])
def test_the_organization_is_the_object(language: str, name: str) -> None:
    sentence = sentence_of(texts("console", language), entry(thing_kind="organization", action="created"))
    assert sentence.replace("\u2068", "").replace("\u2069", "").endswith(f"{name}.")


PIPELINE = {"thing_kind": "pipeline", "thing_name": "After delivery"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {**PIPELINE, "before": {"frequency_cap_days": 30}, "after": {"frequency_cap_days": 14}},
            "Ann (Owner) changed the frequency cap in days of the pipeline “After delivery” from 30 to 14.",
        ),
        (
            {**PIPELINE, "before": {"paused": False}, "after": {"paused": True}},
            "Ann (Owner) changed whether it is paused of the pipeline “After delivery” from no to yes.",
        ),
        (
            {**PIPELINE, "before": {"messages": {}}, "after": {"messages": "—"}},
            "Ann (Owner) changed the messages of the pipeline “After delivery”.",
        ),
        (
            {**PIPELINE, "before": dict.fromkeys("abcde", 1), "after": dict.fromkeys("abcde", 2)},
            "Ann (Owner) changed a, b, c, 2 more of the pipeline “After delivery”.",
        ),
        (
            {"thing_kind": "report", "action": "downloaded", "thing_name": "distribution"},
            "Ann (Owner) downloaded the report “Distribution”.",
        ),
        (
            {"thing_kind": "report", "action": "downloaded", "thing_id": "r" * 22, "thing_name": "distribution"},
            "Ann (Owner) downloaded the report “distribution”.",
        ),
        ({"thing_kind": "login", "action": "login_failed"}, "A log-in as Ann (Owner) failed."),
        ({"thing_kind": "responder", "action": "read", "actor_role": None}, "Ann opened a person."),
        (
            {"thing_kind": "user", "action": "deleted", "actor_name": None},
            "Former member (Owner) removed the user.",
        ),
        ({"thing_kind": "plan", "actor_kind": "system", "action": "created"}, "Afterword created the plan."),
        ({"thing_kind": "new_kind", "action": "new_act"}, "Ann (Owner): new act, new kind."),
    ],
)  # fmt: skip
def test_sentence(more: dict[str, Any], expected: str) -> None:
    assert expected == said(**more)


def test_quotes_of_the_language() -> None:
    changed = entry(**PIPELINE, before={"paused": False}, after={"paused": True})
    assert "„\u2068After delivery\u2069“" in sentence_of(texts("console", "de"), changed)


async def test_log_ins_changes_and_their_filters(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client, password="wrong")
        await log_in(client)
        await client.post("/console/settings/account", data={"display_name": "Olga", "locale": ""})
        page = await client.get(f"{AUDIT}?group=logins")
        assert 200 == page.status_code
        assert "logged in from a browser that was not known." in page.text
        assert "192.0.2.0" in page.text
        assert "created" not in page.text
        page = await client.get(f"{AUDIT}?actor={office.user_id}&group=changes")
        assert "the user" in page.text
        assert "<dd" in page.text
        assert "Olga" in page.text  # the name of today
        assert EMAIL not in re.sub(r"<select.*?</select>", "", page.text, flags=re.DOTALL)
        page = await client.get(history_url("application", office.application_id))
        assert ["created"] == re.findall("\u2069 (created|changed) ", page.text)
        assert "No entries of this kind" in (await client.get(f"{AUDIT}?first=2100-01-01")).text


async def test_pages_show_each_entry_once(office: Office, browser: Browser) -> None:
    async with db.transaction(office.pool) as database:
        await database.execute(
            """insert into audit_entry (organization_id, created_time, actor_kind, action, thing_kind, thing_name)
               select $1, now() + n * interval '1 s', 'command', 'created', 'sequence', 'no. ' || n
               from generate_series(1, $2::int) n""",
            office.organization_id,
            2 * audit.ROWS,
        )
    seen: list[str] = []
    url = AUDIT + "?kind=sequence"
    while url:
        text = (await browser.get(url)).text
        seen += re.findall(r"“\u2068(no\. \d+)\u2069”", text)
        found = NEXT.search(text)
        url = html.unescape(found[1]) if found else ""
    assert [f"no. {n}" for n in range(2 * audit.ROWS, 0, -1)] == seen


async def test_file(office: Office, browser: Browser) -> None:
    """The entries of the filter."""
    page = html.unescape((await browser.get(f"{AUDIT}?group=logins&actor={office.user_id}")).text)
    links = re.findall(r'href="([^"]+/file[^"]+)"', page)
    assert 2 == len(links)
    table, lines = [(await browser.get(link)).text for link in links]
    assert ["login"] == [json.loads(line)["thing_kind"] for line in lines.splitlines()]
    assert 2 == len(table.splitlines())
    assert "downloaded \u2068the audit log" in (await browser.get(AUDIT)).text
