"""GET /audit: whom it shows what, and entries that nobody changes."""

import codecs
import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from afterword.kit import db
from afterword.tenants import audit
from tests.run.test_app import client_of
from tests.tenants.logins.conftest import (
    SITE,
    Office,
    found,
    office as office,  # noqa: PLC0414  a fixture
)
from tests.tenants.logins.test_service import token_of


async def listed(office: Office, headers: dict[str, str], query: str = "") -> list[dict[str, Any]]:
    async with client_of(office.pool, site=SITE) as client:
        answer = await client.get(f"/v3.2/audit?limit=100{query}", headers=headers)
    assert 200 == answer.status_code, answer.text
    return answer.json()["results"]


async def change_name(office: Office, headers: dict[str, str], name: str) -> None:
    async with client_of(office.pool, site=SITE) as client:
        sent = {"display_name": name}
        answer = await client.patch(f"/v3.2/application/{office.application_id}", json=sent, headers=headers)
    assert 200 == answer.status_code, answer.text


class TestRefused:
    @pytest.mark.parametrize(
        "statement",
        ["update audit_entry set actor_id = null", "delete from audit_entry", "truncate audit_entry"],
    )
    async def test_entries_are_not_changed(self, office: Office, statement: Any) -> None:
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="the audit log is not changed"):
            async with db.transaction(office.pool) as database:
                await database.execute(statement)


class TestList:
    async def test_change_with_before_and_after(self, office: Office) -> None:
        headers = await token_of(office)
        await change_name(office, headers, "Shop in Athens")
        entry, *_ = await listed(office, headers, f"&filter_by[EQUAL][ThingId]={office.application_id}")
        assert ("changed", "application", "Shop in Athens") == (
            entry["action"],
            entry["thing_kind"],
            entry["thing_name"],
        )
        assert ({"display_name": "Shop"}, {"display_name": "Shop in Athens"}) == (entry["before"], entry["after"])
        assert ("token", "Tests") == (entry["actor_kind"], entry["actor_name"])

    async def test_change_of_nothing_is_none(self, office: Office) -> None:
        headers = await token_of(office)
        await change_name(office, headers, "Shop")
        made = await listed(office, headers, f"&filter_by[EQUAL][ThingId]={office.application_id}")
        assert ["created"] == [one["action"] for one in made]

    async def test_secrets_and_names_are_dashes(self, office: Office) -> None:
        entries = await listed(office, await token_of(office))
        token, *_ = [one for one in entries if one["thing_kind"] == "token"]
        assert ("—", "—") == (token["after"]["selector"], token["after"]["verifier_digest"])
        user, *_ = [one for one in entries if one["thing_kind"] == "user" and one["action"] == "created"]
        assert ("—", "owner") == (user["after"]["email"], user["after"]["role"])


class TestFile:
    async def test_wrong(self, office: Office) -> None:
        async with client_of(office.pool, site=SITE) as client:
            wrong = await client.get("/v3.2/audit/file?format=xlsx&actor_id=1", headers=await token_of(office))
            assert 422 == wrong.status_code

    async def test_equal_to_the_list(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        """Read in pages of two, of this organization alone; formulas are texts; the download is noted."""
        monkeypatch.setattr(audit, "PAGE_ENTRIES", 2)
        other = await found(office.pool, domain="patras", email="pan@patras.example")
        headers = await token_of(office)
        await change_name(office, headers, "=1+1")
        entries = await listed(office, headers)
        async with client_of(office.pool, site=SITE) as client:
            lines = await client.get("/v3.2/audit/file?format=jsonl", headers=headers)
            table = await client.get(
                f"/v3.2/audit/file?thing_kind=application&thing_id={office.application_id}&action=changed"
                "&from_time=2026-01-01T00:00:00Z",
                headers=headers,
            )
            monkeypatch.setattr(audit, "FILE_ENTRIES_MAX", 3)
            few = await client.get("/v3.2/audit/file?format=jsonl", headers=headers)
        own, *others = [json.loads(line) for line in lines.text.splitlines()]
        assert ("downloaded", "audit", entries) == (own["action"], own["thing_kind"], others)
        assert other.organization_id not in lines.text
        assert 3 == len(few.text.splitlines())
        assert table.content.startswith(codecs.BOM_UTF8)
        [row] = csv.DictReader(io.StringIO(table.content.decode("utf-8-sig")))
        assert ("changed", "'=1+1") == (row["action"], row["thing_name"])
        assert '{"display_name":"=1+1"}' == row["after"]
        assert re.fullmatch(r'attachment; filename="audit-[0-9-]{10}\.csv"', table.headers["content-disposition"])
        noted = [one for one in await listed(office, headers) if one["thing_kind"] == "audit"]
        assert [("downloaded", "jsonl"), ("downloaded", "csv"), ("downloaded", "jsonl")] == [
            (one["action"], one["after"]["format"]) for one in noted
        ]


async def test_retention(office: Office) -> None:
    """Entries younger than two years stay, older ones go by the job alone."""
    async with db.transaction(office.pool) as database:
        now = database.clock.now()
        assert 0 == await audit.prune_entries(database, now=now, limit=100)
        whole = await audit.prune_entries(database, now=now + timedelta(days=audit.KEPT_DAYS + 1), limit=100)
        assert whole > 0
        assert 0 == await database.fetch_value("select count(*) from audit_entry")
