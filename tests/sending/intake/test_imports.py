"""Imports from the request to the items, and what becomes of one whose worker is stopped in the middle."""

import asyncio
import json
import uuid
import zlib
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx2
import msgspec
import pytest

from afterword import errors
from afterword.core.organizations.access import SCOPES
from afterword.core.wire import imports as core_imports
from afterword.kit import db
from afterword.kit.db import leases
from afterword.kit.db.leases import ATTEMPTS_MAX, LeaseLost
from afterword.run.worker.long_work import STEPS_A_TURN, Importer
from afterword.sending.intake.imports import service
from afterword.sending.intake.imports.service import Import
from tests.conftest import House
from tests.dates import YEAR
from tests.event_log import list_events
from tests.pruning import prune
from tests.sending.queue.conftest import SMS, Client, Queue

HEADER = "responder_channel_identifier,locale,external_reference"
CSV = {"Content-Type": "text/csv"}


def lines(*rows: str, header: str = HEADER) -> bytes:
    return "\n".join([header, *rows, ""]).encode()


def many(count: int, *, reference: str = "order") -> bytes:
    return lines(*(f"a{n}@example.com,el,{reference}-{n}" for n in range(count)))


@dataclass
class Importing:
    """The house's imports: sent through the API, worked off by a worker's hands."""

    client: Client
    queue: Queue
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def path(self) -> str:
        return f"{self.client.pipeline}/queue/import"

    def importer(self) -> Importer:
        return Importer(self.queue.pool, uuid.uuid4(), secret=self.queue.secret)

    async def post(self, content: bytes, query: str = "", **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.http.post(
            f"{self.path}{query}", content=content, headers={**CSV, **self.client.headers, **names}
        )

    async def send(self, content: bytes, query: str = "", **headers: str) -> dict[str, Any]:
        response = await self.post(content, query, **headers)
        assert 201 == response.status_code, response.text
        return response.json()

    async def work(self) -> int:
        """Work off all that waits; how many turns it took."""
        turns, importer = 0, self.importer()
        while await importer.work_next(self.stop):
            turns += 1
        return turns

    async def get(self, job: dict[str, Any]) -> dict[str, Any]:
        return await self.client.ok("GET", f"/q/import/{job['import_id']}")

    async def done(self, content: bytes, query: str = "", **headers: str) -> dict[str, Any]:
        job = await self.send(content, query, **headers)
        await self.work()
        return await self.get(job)

    async def rows(self, job: dict[str, Any], query: str = "") -> list[dict[str, Any]]:
        return (await self.client.ok("GET", f"/q/import/{job['import_id']}/row?limit=500{query}"))["results"]

    async def claim(self, owner: uuid.UUID) -> service.ImportRecord:
        job = await self.queue.run(service.IMPORTS.claim, owner=owner, now=await self.queue.now())
        assert job is not None
        return job

    async def step(self, job: service.ImportRecord, owner: uuid.UUID) -> service.ImportRecord:
        async with db.transaction(self.queue.pool) as database:
            now = database.clock.now()
            return await service.work(database, job=job, owner=owner, secret=self.queue.secret, now=now)

    async def items(self) -> int:
        return await self.queue.value("select count(*) from queue_item")

    async def pieces(self) -> int:
        return await self.queue.value("select count(*) from queue_import_piece")


@pytest.fixture
def importing(http: httpx2.AsyncClient, queue: Queue) -> Importing:
    return Importing(Client(http, queue), queue)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of ten rows."""
    monkeypatch.setattr(core_imports, "PIECE_ROWS", 10)


def counts(job: dict[str, Any]) -> tuple[str, int, int, int, int, int]:
    names = ("state", "rows_total", "rows_created", "rows_updated", "rows_skipped", "rows_failed")
    found: Any = tuple(job[name] for name in names)
    return found


class TestRefusals:
    async def test_wrong(self, importing: Importing) -> None:
        for content, query, expected in (
            (b"", "", (422, "invalid")),
            (lines(), "", (422, "invalid")),
            (lines("a", header="E-mail"), "", (422, "invalid")),
            (lines("a,b,c").decode().encode("utf-16"), "", (400, "malformed_encoding")),
            (lines("a,José,c").decode().encode("latin-1"), "", (400, "malformed_encoding")),
            (lines("a,b,c"), "?separator=x", (422, "invalid")),
            (lines("a,b,c"), "?on_conflict=perhaps", (422, "invalid")),
            (lines("a,b,c"), "?dry_run=perhaps", (422, "invalid")),
            (lines("a,b,c"), "?map=locale", (422, "invalid")),
            (lines("a,b,c"), "?map[x]=locale", (422, "invalid")),
            (lines("a,b,c"), "?date_order=year", (422, "invalid")),
            (
                lines("a@b.example,5/12/2030 10:00", header="responder_channel_identifier,send_time"),
                "",
                (422, "invalid"),
            ),
        ):
            response = await importing.post(content, query)
            assert expected == (response.status_code, response.json()["code"])
            assert 0 == await importing.queue.value("select count(*) from queue_import")

    async def test_other_types(self, importing: Importing) -> None:
        for content_type in ("application/json", "text/plain", "text/csv; charset=latin-1", ""):
            response = await importing.post(lines("a,b,c"), content_type=content_type)
            assert (415, "unsupported_media_type") == (response.status_code, response.json()["code"])

    async def test_says_what_an_unknown_column_may_be(self, importing: Importing) -> None:
        response = await importing.post(lines("a@b.example,1", header="E-mail,Order ID"))
        found = {error["pointer"]: error["message"] for error in response.json()["errors"]}
        assert "did you mean responder_channel_identifier?" in found["/E-mail"]
        assert "did you mean external_reference?" in found["/Order ID"]

    async def test_lines_above_the_header(self, importing: Importing) -> None:
        for content, expected in (
            ("Report;;\nMade 21.11.2026;;\n;;\nE-Mail;Name;Sum\nann@example.com;Ann;1\nbo@example.com;Bo;2\n", True),
            ("sep=;\nReport;;\nE-Mail;Name;Sum\nann@example.com;Ann;1\nbo@example.com;Bo;2\n", True),
            ("E-Mail;Name;Sum\nann@example.com;Ann;1\nbo@example.com;Bo;2\n", False),
            ("E-Mail\nann@example.com;Ann;1\nbo@example.com;Bo;2\n", False),
        ):
            for query in ("", "?map[E-Mail]=responder_channel_identifier&map[Name]=&map[Sum]=x"):
                response = await importing.post(content.encode(), query)
                found = [error["message"] for error in response.json()["errors"]]
                assert (422, expected) == (response.status_code, found == [core_imports.LINES_ABOVE])

    async def test_not_published(self, importing: Importing) -> None:
        await importing.queue.execute("update questionnaire set published_version_id = null")
        response = await importing.post(lines("a,b,c"))
        assert (409, "questionnaire_not_published") == (response.status_code, response.json()["code"])

    async def test_update_needs_its_scope(self, importing: Importing) -> None:
        narrow = replace(importing, client=await importing.client.with_token(SCOPES - {"Queue.Update"}))
        response = await narrow.post(lines("a,b,c"), "?on_conflict=update")
        assert (403, ["Queue.Update"]) == (response.status_code, response.json()["required_scopes"])

    async def test_too_many_wait(self, importing: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(leases, "OPEN_MAX", 1)
        await importing.send(lines("a,b,c"))
        assert 429 == (await importing.post(lines("a,b,c"))).status_code

    async def test_large(self, importing: Importing) -> None:
        response = await importing.post(b"x" * (32 * 1_048_576 + 1))
        assert (413, "body_too_large") == (response.status_code, response.json()["code"])


class TestImport:
    async def test_ok(self, importing: Importing) -> None:
        header = "E-mail;Sprache;Datum;Bestellung;Summe;Vorname;Notiz"
        row = f"ann@example.com;el;{YEAR}-07-01 09:00;order-1;12,50;Ann;=1+1"
        mapping = {
            "E-mail": "responder_channel_identifier", "Sprache": "locale", "Datum": "send_time",
            "Bestellung": "external_reference", "Summe": "metadata.questionnaire.order_total",
            "Vorname": "metadata.responder.first_name", "Notiz": "",
        }  # fmt: skip
        query = "?separator=;&" + "&".join(f"map[{name}]={column}" for name, column in mapping.items())
        content = b"\xef\xbb\xbf" + lines(row, header=header)
        job = await importing.send(content, query)
        assert ("queued", 1, None, None) == tuple(
            job[name] for name in ("state", "rows_total", "finished_time", "error")
        )
        await importing.work()

        job = await importing.get(job)
        assert ("done", 1, 1, 0, 0, 0) == counts(job)
        [made] = await importing.rows(job)
        assert (1, "created", "order-1", None) == (
            made["row"],
            made["state"],
            made["external_reference"],
            made["problem"],
        )
        item = await importing.client.ok("GET", f"/q/queue/item/{made['item_id']}")
        assert ("ann@example.com", "el", f"{YEAR}-07-01T09:00:00+03:00", job["created_by"]) == tuple(
            item[name] for name in ("responder_channel_identifier", "locale", "send_time", "created_by")
        )
        metadata = await importing.queue.value("select metadata from queue_item")
        assert {"questionnaire": {"order_total": "12,50"}, "responder": {"first_name": "Ann"}} == metadata
        listed = await importing.client.ok("GET", importing.path)
        assert [job] == listed["results"]
        assert 0 == await importing.pieces()

    @pytest.mark.parametrize(
        ("content", "query", "state"),
        [
            ('"E-mail";"When"\n"a@b.example";"{year}/12/05 10:00:00"\n', "", "created"),
            ('sep=;\n"E-mail";"When"\n"a@b.example";"5.12.{year} 10:00"\n', "&date_order=day", "created"),
            ("E-mail,When\na@b.example,12/5/{year} 10:00 AM\n", "&date_order=month", "created"),
            ("E-mail\tWhen\na@b.example\tnext week\n", "", "failed"),
            ("E-mail,When\na@b.example,5.12.{year}\n", "&date_order=day", "failed"),  # at no hour
        ],
    )
    async def test_as_spreadsheets_write_it(self, importing: Importing, content: str, query: str, state: str) -> None:
        columns = f"?map[E-mail]=responder_channel_identifier&map[When]=send_time{query}"
        job = await importing.done(content.format(year=YEAR).encode(), columns)
        assert [state] == [row["state"] for row in await importing.rows(job)]
        sent = "select to_char(send_time at time zone 'UTC', 'MM-DD') from queue_item"
        assert ("12-05" if state == "created" else None) == await importing.queue.value(sent)

    async def test_what_a_spreadsheet_spoiled(self, importing: Importing) -> None:
        header = "responder_channel_identifier,locale,external_reference"
        job = await importing.done(lines("a@b.example,GR,1", "c@d.example,Greek,4.9E+12", header=header))
        found = [row["problem"]["errors"][0] for row in await importing.rows(job)]
        assert ["/locale", "/external_reference"] == [error["pointer"] for error in found]
        assert "the code of a country" in found[0]["message"]
        assert "A spreadsheet has rounded this number." in found[1]["message"]

    async def test_addresses_of_spreadsheets(self, importing: Importing) -> None:
        """Items have the sender's own text, not what the spreadsheet added to it."""
        sms = await importing.queue.pipeline(channel_id=SMS)
        phones = replace(importing, client=Client(importing.client.http, sms))
        numbers = [
            "'+306900000001",
            "+306900000002.0",
            "\u202a+306900000003\u202c",
            "+30690\u200b0000004",
            "+30 690 0000005",
        ]
        await phones.done(lines(*numbers, header="responder_channel_identifier"))
        await importing.done(lines("'ann@example.com'", " o'hara@example.com", header="responder_channel_identifier"))
        expected = [
            *(f"+30690000000{n}" for n in range(1, 5)), "+30 690 0000005", "ann@example.com", "o'hara@example.com",
        ]  # fmt: skip
        found = await importing.queue.fetch("select responder_channel_identifier as one from queue_item")
        assert sorted(expected) == sorted(row["one"] for row in found)

    @pytest.mark.parametrize("query", ["", "?dry_run=1", "?on_conflict=update"])
    async def test_a_blank_time_is_not_at_once(self, importing: Importing, query: str) -> None:
        header = "responder_channel_identifier,send_time"
        job = await importing.done(lines(f"a@b.example,{YEAR}-12-05 10:00", "c@d.example, ", header=header), query)
        first, second = await importing.rows(job)
        assert ("created", "failed") == (first["state"], second["state"])
        assert "/send_time" == second["problem"]["errors"][0]["pointer"]
        assert "has no time to send. Leave the column out" in second["problem"]["errors"][0]["message"]

    async def test_tells(self, importing: Importing) -> None:
        job = await importing.done(lines("ann@example.com,,", "nobody,,"))
        [event] = await importing.queue.run(
            list_events, organization_id=importing.queue.house.organization_id, subject_id=job["import_id"]
        )
        assert ("import.finished", "worker") == (event.type, event.actor_kind)
        assert {**job, "created_time": 0, "finished_time": 0} == {
            **msgspec.to_builtins(Import.of_log(event.data, UTC)), "created_time": 0, "finished_time": 0,
        }  # fmt: skip

    async def test_pieces_that_an_earlier_release_cut(self, importing: Importing) -> None:
        """They lack the numbers of rows, all of which count."""
        job = await importing.send(lines("nobody,,", "ann@example.com,,"))
        held = msgspec.json.decode(
            zlib.decompress(await importing.queue.value("select content from queue_import_piece"))
        )
        del held["numbers"]
        content = zlib.compress(msgspec.json.encode(held))
        await importing.queue.execute("update queue_import_piece set content = $1", content)
        await importing.work()
        assert [(1, 2, "failed"), (2, 3, "created")] == [
            (row["row"], row["line"], row["state"]) for row in await importing.rows(job)
        ]

    async def test_bad_rows(self, importing: Importing) -> None:
        """Each with its number, the column of the file, and the part of the request that it is."""
        rows = [
            "a@example.com,el,1",
            "nobody,el,2",
            "b@example.com,!!,3",
            "c@example.com,el",
            ",el,4",
            f"d@example.com,,{'x' * 101}",
            "nobody,!!,5",
        ]
        header = "E-Mail,locale,Order"
        mapping = "?map[E-Mail]=responder_channel_identifier&map[Order]=external_reference"
        job = await importing.done(lines(*rows, header=header), mapping)
        assert ("done", 7, 1, 0, 0, 6) == counts(job)
        failed = await importing.rows(job, "&filter_by[EQUAL][State]=failed")
        found = [
            (row["row"], row["problem"]["errors"][0]["pointer"], row["problem"]["errors"][0]["code"]) for row in failed
        ]
        assert [
            (2, "/responder_channel_identifier", "invalid_address"), (3, "/locale", "invalid_locale"),
            (4, "", "invalid_format"), (5, "/responder_channel_identifier", "required"),
            (6, "/external_reference", "too_long"), (7, "/locale", "invalid_locale"),
        ] == found  # fmt: skip
        places = [[error["message"].partition(":")[0] for error in row["problem"]["errors"]] for row in failed]
        assert [
            ["Row 2, column “E-Mail”"], ["Row 3, column “locale”"], ["Row 4"], ["Row 5, column “E-Mail”"],
            ["Row 6, column “Order”"], ["Row 7, column “locale”", "Row 7, column “E-Mail”"],
        ] == places  # fmt: skip
        assert {(422, "invalid")} == {(row["problem"]["status"], row["problem"]["code"]) for row in failed}
        assert "nobody" not in str(failed)

    @pytest.mark.parametrize(
        ("policy", "expected", "states"),
        [
            ("error", ("done", 3, 1, 0, 0, 2), ["failed", "created", "failed"]),
            ("skip", ("done", 3, 1, 0, 2, 0), ["skipped", "created", "skipped"]),
            ("update", ("done", 3, 1, 1, 1, 0), ["updated", "created", "skipped"]),
        ],
    )
    @pytest.mark.parametrize("dry", [False, True])
    async def test_references(
        self, importing: Importing, policy: str, expected: tuple[Any, ...], states: list[str], *, dry: bool
    ) -> None:
        """Those of live items, and of earlier rows of the file."""
        await importing.client.create(external_reference="1")
        before = await importing.queue.fetch("select item_id, locale, version from queue_item order by item_id")
        rows = ["ann@example.com,el,1", "b@example.com,,2", "b@example.com,,2"]
        job = await importing.done(lines(*rows), f"?on_conflict={policy}&dry_run={int(dry)}")
        assert expected == counts(job)
        assert states == [row["state"] for row in await importing.rows(job)]
        if dry:
            after = await importing.queue.fetch("select item_id, locale, version from queue_item order by item_id")
            assert before == after
        else:
            assert 2 == await importing.items()
            locale = await importing.queue.value("select locale from queue_item where external_reference = '1'")
            assert ("el" if policy == "update" else None) == locale

    @pytest.mark.parametrize("dry_run", [0, 1])
    async def test_only_some_rows(self, importing: Importing, monkeypatch: pytest.MonkeyPatch, dry_run: int) -> None:
        """Those that do not meet the condition make no item and no error; rows keep their numbers in the file."""
        monkeypatch.setattr(core_imports, "PIECE_ROWS", 2)
        content = lines(
            "ann@example.com,Athens,1", "ben@example.com,Berlin,2", "cleo,ATHENS ,3", "dora@example.com,,4",
            "eve@example.com", "flo@example.com,Athens,", "ann@example.com,Berlin,7",
            header="responder_channel_identifier,City,external_reference",
        )  # fmt: skip
        mapped = {"map[City]": "", "dry_run": dry_run}

        def query(condition: object) -> str:
            return f"?{urlencode({**mapped, 'filter': json.dumps(condition)})}"

        city = {"subject": "column:City", "operator": "equal", "value": "athens"}
        for wrong, parameter, code in (
            ({**city, "subject": "column:Town"}, "filter[subject]", "unknown_column"),
            (
                {"all": [city, {**city, "subject": "responder_metadata:City"}]},
                "filter[all][1][subject]",
                "unknown_column",
            ),
            ({**city, "operator": "greater"}, "filter[operator]", "wrong_type"),
        ):
            refused = await importing.post(content, query(wrong))
            assert "errors" in refused.json(), refused.text
            error = refused.json()["errors"][0]
            assert (422, parameter, code) == (refused.status_code, error["parameter"], error["code"]), refused.text
        for text, told in (
            (query({**city, "value": "Rome"}), "No row of the file meets the condition."),
            ("?map[City]=&filter={", "A condition as JSON is expected."),
        ):
            refused = await importing.post(content.replace(b"eve@example.com\n", b""), text)
            assert 422 == refused.status_code
            assert told in refused.text

        job = await importing.done(content, query({"any": [city, {"subject": "column:City", "operator": "is_empty"}]}))
        counts = [job[f"rows_{name}"] for name in ("total", "created", "failed", "left_out", "repeated")]
        assert [5, 3, 2, 2, 0] == counts
        rows = await importing.rows(job)
        assert [(1, 2, "created"), (3, 4, "failed"), (4, 5, "created"), (5, 6, "failed"), (6, 7, "created")] == [
            (row["row"], row["line"], row["state"]) for row in rows
        ]
        assert "Row 3, column" in rows[1]["problem"]["errors"][0]["message"]

    async def test_again(self, importing: Importing) -> None:
        """The same file once more makes nothing twice."""
        first = await importing.done(many(30))
        again = await importing.done(many(30), "?on_conflict=skip")
        assert (("done", 30, 30, 0, 0, 0), ("done", 30, 0, 0, 30, 0)) == (counts(first), counts(again))
        refused = await importing.done(many(30))
        assert ("done", 30, 0, 0, 0, 30) == counts(refused)
        [row, *_] = await importing.rows(refused)
        assert ("already_exists", 409) == (row["problem"]["code"], row["problem"]["status"])
        assert 30 == await importing.items()

    async def test_strict(self, importing: Importing) -> None:
        header = "responder_channel_identifier,metadata.questionnaire.transaction_date"
        content = lines("a@example.com,soon", "b@example.com,2026-11-20", header=header)
        assert ("done", 2, 2, 0, 0, 0) == counts(await importing.done(content))
        assert ("done", 2, 1, 0, 0, 1) == counts(await importing.done(content, Prefer="handling=strict"))
        unknown = lines("a@example.com,1", header="responder_channel_identifier,metadata.questionnaire.nobody")
        response = await importing.post(unknown, Prefer="handling=strict")
        assert "unknown_metadata" == response.json()["errors"][0]["code"]

    async def test_idempotency_key(self, importing: Importing) -> None:
        first = await importing.send(many(3), Idempotency_Key="one")
        again = await importing.post(many(3), Idempotency_Key="one")
        assert (201, first, "true") == (again.status_code, again.json(), again.headers["idempotency-replayed"])
        for content, query in ((many(4), ""), (many(3), "?dry_run=1")):
            response = await importing.post(content, query, Idempotency_Key="one")
            assert (422, "idempotency_key_reused") == (response.status_code, response.json()["code"])
        assert 1 == await importing.queue.value("select count(*) from queue_import")


class TestForm:
    async def test_ok(self, importing: Importing) -> None:
        files = {"file": ("C:\\lists\\customers λ.csv", many(2), "text/csv")}
        data = {"dry_run": "1", "map[locale]": ""}
        response = await importing.client.http.post(
            importing.path, files=files, data=data, headers=importing.client.headers
        )
        assert 201 == response.status_code, response.text
        assert ("customers λ.csv", True) == (response.json()["file_name"], response.json()["dry_run"])
        assert ["responder_channel_identifier", "external_reference"] == await importing.queue.value(
            "select columns from queue_import"
        )

    async def test_the_query_wins(self, importing: Importing) -> None:
        files = {"file": ("a.csv", many(2), "text/csv")}
        response = await importing.client.http.post(
            f"{importing.path}?dry_run=0", files=files, data={"dry_run": "1"}, headers=importing.client.headers
        )
        assert response.json()["dry_run"] is False


class TestDryRun:
    @pytest.mark.usefixtures("small")
    async def test_writes_nothing(self, importing: Importing) -> None:
        """It counts as the import itself will, across pieces too."""
        rows = [f"a{n}@example.com,,{n % 25}" for n in range(40)] + ["nobody,,"]
        events = await importing.queue.value("select count(*) from event where type like 'queue_item.%'")
        dry = await importing.done(lines(*rows), "?dry_run=1")
        assert 0 == await importing.items()
        assert events == await importing.queue.value("select count(*) from event where type like 'queue_item.%'")
        assert {None} == {row["item_id"] for row in await importing.rows(dry)}
        real = await importing.done(lines(*rows))
        assert ("done", 41, 25, 0, 0, 16) == counts(real) == counts(dry)
        assert [row["state"] for row in await importing.rows(dry)] == [
            row["state"] for row in await importing.rows(real)
        ]

    async def test_asks_the_rules(self, importing: Importing) -> None:
        """With the reason of each row that would not be sent, and a line where the file has more than rows."""
        await importing.queue.execute("update pipeline set frequency_cap_days = 30, capped_time = now()")
        rows = ['"ann@example.com\n",,1', "ben@example.com,,3", "ann@example.com,,4"]
        dry = await importing.done(lines(*rows), "?dry_run=1")
        assert ({"frequency_cap": 1}, 3, 1) == (dry["reasons"], dry["rows_created"], dry["rows_repeated"])
        assert dry["first_time"] is not None
        found = await importing.rows(dry)
        assert [(1, 2, None), (2, 4, None), (3, 5, "frequency_cap")] == [
            (row["row"], row["line"], row["reason"]) for row in found
        ]
        real = await importing.done(
            lines("Ρόδη@example.com,,5").decode().encode("windows-1253"), "?encoding=windows-1253"
        )
        assert ({}, None) == (real["reasons"], real["first_time"])

    async def test_resumed(self, importing: Importing) -> None:
        job = await importing.send(many(3))
        path = f"/q/import/{job['import_id']}/resumption"
        assert "queued" == (await importing.client.send("POST", path)).json()["state"]
        await importing.queue.execute("update queue_import set state = 'failed', finished_time = now()")
        assert "queued" == (await importing.client.send("POST", path)).json()["state"]
        await importing.work()
        assert 409 == (await importing.client.send("POST", path)).status_code


class TestCancel:
    @pytest.mark.usefixtures("small")
    async def test_between_pieces(self, importing: Importing) -> None:
        job = await importing.send(many(100))
        owner = uuid.uuid4()
        held = await importing.step(await importing.claim(owner), owner)
        response = await importing.client.send("DELETE", f"/q/import/{job['import_id']}")
        assert 204 == response.status_code
        with pytest.raises(LeaseLost):
            await importing.step(held, owner)
        assert 0 == await importing.work()
        assert ("cancelled", 100, 10, 0, 0, 0) == counts(await importing.get(job))
        assert (10, 0, 10) == (await importing.items(), await importing.pieces(), len(await importing.rows(job)))

    @pytest.mark.usefixtures("small")
    async def test_while_a_piece_is_worked_off(self, importing: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
        """Cancelling waits for nobody, and nothing of the piece in hand stays."""
        job = await importing.send(many(20))
        insert_rows = service.insert_rows

        async def cancelled_meanwhile(*arguments: Any, **options: Any) -> None:
            await insert_rows(*arguments, **options)
            assert 204 == (await importing.client.send("DELETE", f"/q/import/{job['import_id']}")).status_code

        monkeypatch.setattr(service, "insert_rows", cancelled_meanwhile)
        assert 0 == await importing.work()
        assert ("cancelled", 20, 0, 0, 0, 0) == counts(await importing.get(job))
        assert (0, 0) == (await importing.items(), await importing.pieces())

    async def test_forget(self, importing: Importing) -> None:
        job = await importing.done(many(3))
        assert 204 == (await importing.client.send("DELETE", f"/q/import/{job['import_id']}")).status_code
        assert 404 == (await importing.client.send("GET", f"/q/import/{job['import_id']}")).status_code
        assert 3 == await importing.items()


@pytest.mark.usefixtures("small")
class TestFaults:
    async def test_a_fault_at_every_step(self, importing: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever fails at whatever step, the import goes on, and nothing is lost or doubled."""
        job = await importing.send(many(40))
        for name in ("get_piece", "insert_rows", "_settle_piece"):
            real, failures = getattr(service, name), [True]

            async def broken(
                *arguments: Any, _real: Any = real, _failures: list[bool] = failures, **options: Any
            ) -> Any:
                found = await _real(*arguments, **options)
                if _failures.pop() if _failures else False:
                    raise RuntimeError("cut off")
                return found

            monkeypatch.setattr(service, name, broken)
            with pytest.raises(RuntimeError, match="cut off"):
                await importing.importer().work_next(importing.stop)
        await importing.work()
        assert ("done", 40, 40, 0, 0, 0) == counts(await importing.get(job))
        assert list(range(1, 41)) == [row["row"] for row in await importing.rows(job)]
        assert (40, 40) == (
            await importing.items(),
            await importing.queue.value("select count(distinct external_reference) from queue_item"),
        )  # fmt: skip

    async def test_two_workers_believe_that_it_is_theirs(self, importing: Importing) -> None:
        job = await importing.send(many(20))
        first, second = uuid.uuid4(), uuid.uuid4()
        theirs = await importing.claim(first)
        await importing.queue.execute("update queue_import set lease_until = now() - interval '1 second'")
        ours = await importing.claim(second)
        await importing.step(ours, second)
        with pytest.raises(LeaseLost):
            await importing.step(theirs, first)
        await importing.queue.execute("update queue_import set lease_until = now() - interval '1 second'")
        await importing.work()
        assert ("done", 20, 20, 0, 0, 0) == counts(await importing.get(job))
        assert 20 == await importing.items()

    async def test_both_at_the_same_moment(self, importing: Importing) -> None:
        """Of two transactions on the same piece one settles it; the other's rows go with it."""
        job = await importing.send(lines(*(f"a{n}@example.com,," for n in range(20))))
        owner = uuid.uuid4()
        held = await importing.claim(owner)
        found = await asyncio.gather(importing.step(held, owner), importing.step(held, owner), return_exceptions=True)
        assert 1 == sum(isinstance(each, service.ImportRecord) for each in found), found
        assert 10 == await importing.items()
        assert 10 == (await importing.get(job))["rows_created"]

    async def test_only_one_of_an_organization(self, importing: Importing) -> None:
        await importing.send(many(3))
        await importing.send(many(3, reference="other"))
        await importing.claim(uuid.uuid4())
        assert (
            await importing.queue.run(service.IMPORTS.claim, owner=uuid.uuid4(), now=await importing.queue.now())
            is None
        )

    async def test_fails_for_good(self, importing: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
        job = await importing.send(many(30))
        owner = uuid.uuid4()
        held = await importing.step(await importing.claim(owner), owner)
        await importing.queue.run(service.IMPORTS.release, job=held, owner=owner, is_tried=False)
        get_piece = service.get_piece

        async def broken(*arguments: Any, **options: Any) -> Any:
            raise RuntimeError("never")

        monkeypatch.setattr(service, "get_piece", broken)
        for _ in range(ATTEMPTS_MAX):
            with pytest.raises(RuntimeError):
                await importing.importer().work_next(importing.stop)
        assert 1 == await importing.work()
        failed = await importing.get(job)
        assert ("failed", 30, 10, 0, 0, 0) == counts(failed)
        assert failed["error"].endswith("It stopped after row 10.")
        assert "import.failed" == await importing.queue.value(
            "select type from event where subject_id = $1", job["import_id"]
        )
        monkeypatch.setattr(service, "get_piece", get_piece)
        async with db.transaction(importing.queue.pool) as database:
            now, caller = database.clock.now(), importing.queue.house.caller
            stored = await service.get(database, caller=caller, import_id=job["import_id"])
            await service.resume(database, job=stored, now=now)
        await importing.work()
        assert ("done", 30, 30, 0, 0, 0) == counts(await importing.get(job))

    async def test_kills_its_workers(self, importing: Importing) -> None:
        """Attempts count from their claim: a piece that ends each worker is not tried for ever."""
        job = await importing.send(many(30))
        owner = uuid.uuid4()
        held = await importing.step(await importing.claim(owner), owner)
        for _ in range(ATTEMPTS_MAX):
            await importing.queue.execute("update queue_import set lease_until = now() - interval '1 second'")
            held = await importing.claim(uuid.uuid4())
        await importing.queue.execute("update queue_import set lease_until = now() - interval '1 second'")
        assert (ATTEMPTS_MAX + 1, 1) == (held.attempts, await importing.work())
        assert ("failed", 30, 10, 0, 0, 0) == counts(await importing.get(job))

    async def test_its_pipeline_is_gone(self, importing: Importing) -> None:
        job = await importing.send(many(30))
        await importing.queue.execute("update pipeline set deleted_time = now(), slug = null")
        await importing.work()
        failed = await importing.get(job)
        assert ("failed", 30, 0, 0, 0, 0) == counts(failed)
        assert failed["error"]

    async def test_nothing_left_to_go_on_with(self, importing: Importing) -> None:
        job = await importing.done(many(3))
        async with db.transaction(importing.queue.pool) as database:
            now, caller = database.clock.now(), importing.queue.house.caller
            stored = await service.get(database, caller=caller, import_id=job["import_id"])
            with pytest.raises(errors.Conflict):
                await service.resume(database, job=stored, now=now)


@pytest.mark.usefixtures("small")
class TestTurns:
    async def test_a_large_one_starves_nobody(self, importing: Importing, neighbour: House) -> None:
        """Another's file of some rows waits for one turn of a large one, not for all of it."""
        large = await importing.send(many(STEPS_A_TURN * 10 * 4))
        other = Queue(importing.queue.pool, neighbour, neighbour.pipeline_id)
        theirs = Importing(Client(importing.client.http, other), other)
        importer = importing.importer()
        assert await importer.work_next(importing.stop)
        small = await theirs.send(many(5))
        for _ in range(2):
            assert await importer.work_next(importing.stop)
        assert ("done", 5, 5, 0, 0, 0) == counts(await theirs.get(small))
        assert "running" == (await importing.get(large))["state"]

    async def test_stops_between_pieces(self, importing: Importing) -> None:
        job = await importing.send(many(100))
        importing.stop.set()
        assert await importing.importer().work_next(importing.stop)
        assert ("running", 100, 0, 0, 0, 0) == counts(await importing.get(job))
        importing.stop.clear()
        await importing.work()
        assert ("done", 100, 100, 0, 0, 0) == counts(await importing.get(job))


@pytest.mark.usefixtures("small")
class TestPrune:
    async def prune(self, importing: Importing, days: int, *, limit: int = 1_000) -> int:
        async with db.transaction(importing.queue.pool) as database:
            now = database.clock.now() + timedelta(days=days, minutes=1)
            return await prune(database, "rests of imports", "rows of imports", "imports", now=now, limit=limit)

    async def test_in_parts(self, importing: Importing) -> None:
        job = await importing.done(many(25))
        assert 0 == await self.prune(importing, service.KEEP_DAYS - 1)
        assert [10, 10, 6, 0] == [await self.prune(importing, service.KEEP_DAYS, limit=10) for _ in range(4)]
        assert 404 == (await importing.client.send("GET", f"/q/import/{job['import_id']}")).status_code
        assert 25 == await importing.items()

    async def test_the_rest_of_a_failed_file(self, importing: Importing) -> None:
        await importing.send(many(25))
        await importing.queue.execute("update pipeline set deleted_time = now(), slug = null")
        await importing.work()
        assert 3 == await importing.pieces()
        assert 3 == await self.prune(importing, service.REST_DAYS)
        assert 0 == await importing.pieces()

    async def test_what_has_not_ended_stays(self, importing: Importing) -> None:
        await importing.send(many(25))
        assert 0 == await self.prune(importing, 400)


async def test_ten_thousand_rows(importing: Importing) -> None:
    """All of them once, each with its event, in as many transactions as pieces."""
    job = await importing.done(many(10_000))
    assert ("done", 10_000, 10_000, 0, 0, 0) == counts(job)
    count = "select count(*), count(distinct external_reference) from queue_item"
    assert [(10_000, 10_000)] == [tuple(row.values()) for row in await importing.queue.fetch(count)]
    transactions = await importing.queue.value(
        "select count(distinct xid) from event where type = 'queue_item.created'"
    )
    assert (10, 0) == (transactions, await importing.pieces())
    events = await importing.queue.value("select count(*) from event where type = 'queue_item.created'")
    assert 10_000 == events
