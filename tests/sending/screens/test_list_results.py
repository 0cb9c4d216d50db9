"""Lists: a check whose counts add up, faulty rows corrected, the confirmation, the result and what can be resumed."""

import hashlib
import html
import re

import pytest

from afterword.core.wire import imports as core_imports
from tests.sending.queue.conftest import Client
from tests.sending.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.sending.queue.conftest import queue as queue  # noqa: PLC0414  a fixture
from tests.sending.screens.test_address_lists import LISTS, choices, upload, work
from tests.sending.screens.test_queue_items import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_queue_items import plain
from tests.sizes import size
from tests.tenants.logins.conftest import browser_of, log_in

FILE = (
    "Πελάτης;E-mail;Order ID;Notes\n"
    'Άννα;ann@example.com;7;"two\nlines"\n'
    "Νίκος;nobody;8;\n"
    "Μαρία;maria@example.com;9\n"
    "Εύα;eve@example.com;10;\n"
    "Άννα;ann@example.com;11;\n"
    "Άννα;ann@example.com;7;\n"
)


async def test_five_steps(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file in pieces of two rows: where a row stands changes nothing of the counts."""
    monkeypatch.setattr(core_imports, "PIECE_ROWS", 2)
    await client.queue.execute("update pipeline set frequency_cap_days = 30, capped_time = now()")
    await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "eve@example.com"})
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await upload(browser, client, FILE.encode("windows-1253"))
        page = (await browser.get(f"{here}/columns")).text
        chosen = choices(page)
        assert ("windows-1253", ";", "1") == (chosen["encoding"], chosen["separator"], chosen["header"])
        assert ["", "responder_channel_identifier", "external_reference", ""] == [
            chosen[f"column{place}"] for place in range(4)
        ]
        assert "Πελάτης" in page
        refused = await browser.post(f"{here}/columns", data={"column2": "external_reference"})
        assert "No column says who is written to." in plain(refused.text)
        assert 303 == (await browser.post(f"{here}/columns", data=chosen)).status_code
        assert "are not read yet" in plain((await browser.get(f"{here}/check")).text)
        await work(client)

        page = plain((await browser.get(f"{here}/check")).text)
        for told in (
            "will not be asked: asked lately by this pipeline", "6 rows in the file 1will be asked",
            "will not be asked: the address is blocked",
            "1are there already, or belong to the message of an earlier row",
            "1 row has an address that an earlier row has", "2 faulty rows", "1Column “E-mail”: This is not",
            "1This row has 3 cells, and the header 4", "4 Column “E-mail”: This is not",
            "5 This row has 3 cells, and the header 4",
        ):  # fmt: skip
            assert told in page, page[page.index("Step 3") :][:900]
        assert f"SHA-256: {hashlib.sha256(FILE.encode('windows-1253')).hexdigest()}" in page
        assert "Uploaded" in page
        assert "by olga@kalamata.example. SHA-256" in page
        faulty = (await browser.get(f"{here}/faulty")).text
        assert ["Πελάτης;E-mail;Order ID;Notes;problem", "Νίκος;nobody;8"] == [
            faulty.lstrip("\ufeff").split("\n")[0], faulty.split("\n")[1][:14],
        ]  # fmt: skip

        corrected = faulty.replace("nobody", "nikos@example.com").replace(";7;", ";12;").encode()
        sent = await browser.post(f"{here}/repair", files={"file": ("corrected.csv", corrected, "text/csv")})
        assert 303 == sent.status_code, plain(sent.text)
        await work(client)
        page = plain((await browser.get(f"{here}/check")).text)
        assert "faulty" not in page
        assert 0 == await client.queue.value("select count(*) from queue_item")
        confirm = plain((await browser.get(f"{here}/confirm")).text)
        assert "Schedule 3 messages" in confirm
        assert "The first message leaves" in confirm
        assert f"{here}/result" == (await browser.post(f"{here}/confirm")).headers["location"]
        assert 409 == (await browser.post(f"{here}/confirm")).status_code
        await work(client)
        assert f"{here}/result" == (await browser.get(f"{here}/columns")).headers["location"]
        assert "5are scheduled" in plain((await browser.get(f"{here}/result")).text)
        assert 5 == await client.queue.value("select count(*) from queue_item")
        remembered = await upload(browser, client, b"Notes,E-mail\nx,ann@example.com\n")
        assert "responder_channel_identifier" == choices((await browser.get(f"{remembered}/columns")).text)["column1"]
        assert "imported" in plain((await browser.get(LISTS)).text)


async def test_nothing_to_confirm(client: Client) -> None:
    """A list without a good row leads back, not on; of two columns of one name each has its own meaning."""
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await upload(browser, client, b"E-mail,Note,Note\nnobody,a,b\n")
        page = (await browser.get(f"{here}/columns")).text
        assert "Note (2)" in page
        chosen = {**choices(page), "column2": "external_reference"}
        assert 303 == (await browser.post(f"{here}/columns", data=chosen)).status_code
        await work(client)
        page = html.unescape((await browser.get(f"{here}/check")).text)
        assert "1 faulty row" in plain(page)
        assert f"{here}/columns" in page
        assert f"{here}/confirm" not in page


async def test_many_rows(client: Client) -> None:
    """77 bad rows among many are corrected alone; an import that failed goes on where it stopped."""
    rows, bad = size(400, 100_000), 77
    lines = [f"person{n}@example.com,{n}" if n % (rows // bad) or n >= bad * (rows // bad) else f"nobody,{n}"
             for n in range(rows)]  # fmt: skip
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await upload(browser, client, "\n".join(["E-mail,Order", *lines, ""]).encode())
        await browser.post(f"{here}/columns", data=choices((await browser.get(f"{here}/columns")).text))
        await work(client)
        page = (await browser.get(f"{here}/check")).text
        assert f"{rows - bad:,}will be asked{bad}have a problem" in plain(page)
        second = re.search(r'href="([^"]*after=\d+)#faulty"', page.replace("&#x2f;", "/"))
        assert second is not None
        assert 27 + 1 == (await browser.get(second[1])).text.count("This is not an e-mail address")
        faulty = (await browser.get(f"{here}/faulty")).text
        assert bad + 2 == len(faulty.split("\n"))
        corrected = re.sub(r"^nobody,(\d+)", r"corrected\1@example.com,\1", faulty, flags=re.MULTILINE)
        await browser.post(f"{here}/repair", files={"file": ("corrected.csv", corrected.encode(), "text/csv")})
        await work(client)
        assert f"Schedule {rows:,} messages" in plain((await browser.get(f"{here}/confirm")).text)
        await browser.post(f"{here}/confirm")
        await client.queue.execute(
            "update queue_import set state = 'failed', error = 'It stopped.', finished_time = now() where not dry_run"
        )
        assert "It stopped." in (await browser.get(f"{here}/result")).text
        assert 303 == (await browser.post(f"{here}/resume")).status_code
        await work(client)
        assert f"{rows:,}are scheduled" in plain((await browser.get(f"{here}/result")).text)
    assert rows == await client.queue.value("select count(distinct external_reference) from queue_item")


async def test_stopped_and_late_corrections(client: Client) -> None:
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await upload(browser, client, b"E-mail,Order\nann@example.com,1\nnobody,2\n")
        await browser.post(f"{here}/columns", data=choices((await browser.get(f"{here}/columns")).text))
        assert f"{here}/check" == (await browser.get(f"{here}/confirm")).headers["location"]
        assert 409 == (await browser.post(f"{here}/confirm")).status_code
        await work(client)
        wrong = await browser.post(f"{here}/repair", files={"file": ("a.csv", b"Mail\na@b.example\n", "text/csv")})
        assert "lack the column" in plain(wrong.text)
        await browser.post(f"{here}/confirm")
        await work(client)
        late = {"file": ("late.csv", b"E-mail,Order,problem\nben@example.com,2,x\n", "text/csv")}
        new = (await browser.post(f"{here}/repair", files=late)).headers["location"]
        assert f"{here}/columns" != new
        assert "responder_channel_identifier" == choices((await browser.get(new)).text)["column0"]
        await client.queue.execute("update queue_list set content = null")
        assert 409 == (await browser.get(f"{here}/faulty")).status_code
        await client.queue.execute("update queue_import set state = 'queued', finished_time = null, next_piece = 0")
        assert "Stop the import?" in (await browser.get(f"{here}/stop")).text
        await browser.post(f"{here}/stop")
        assert "This import was stopped." in (await browser.get(f"{here}/result")).text


async def test_formats(client: Client) -> None:
    """Order of dates and decimal sign: seen in the rows and said how surely; what no row proves is asked."""
    house = client.queue.house
    for name, kind in (("paid", "number"), ("bought", "date")):
        declared = {"name": name, "title": name, "type": kind, "application_id": house.application_id}
        assert 201 == (await client.send("POST", "/q/metadata/questionnaire", declared)).status_code
    rows = ["E-mail;metadata.questionnaire.paid;metadata.questionnaire.bought"]
    rows += ["a@b.example;1.234,50;3/4/2026", "c@d.example;7;5/6/2026", "e@f.example;1.5;31-12-26", "g@h.example;2;"]
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await upload(browser, client, "\n".join(rows[:3]).encode())
        page = (await browser.get(f"{here}/columns")).text
        assert "1 of 1 can only have a decimal comma." in plain(page)
        assert "All 2 can be read both ways." in plain(page)
        chosen = choices(page)
        assert ("comma", "") == (chosen["format1"], chosen["format2"])
        refused = await browser.post(f"{here}/columns", data=chosen)
        assert "say whether the day or the month comes first." in plain(refused.text)
        assert "comma" == choices(refused.text)["format1"]
        assert 303 == (await browser.post(f"{here}/columns", data={**chosen, "format2": "month"})).status_code
        await work(client)
        assert "month" == choices((await browser.get(f"{here}/columns")).text)["format2"]
        await browser.post(f"{here}/confirm")
        await work(client)
        stored = "select metadata -> 'questionnaire' from queue_item where responder_channel_identifier = 'a@b.example'"
        assert {"paid": "1234.50", "bought": "2026-03-04"} == await client.queue.value(stored)
        here = await upload(browser, client, "\n".join(rows).encode())
        page = (await browser.get(f"{here}/columns")).text
        assert "1 of 2 can only have a decimal comma. 1 of 2 can only have a decimal point." in plain(page)
        assert "1 of 3 can only be day before month." in plain(page)
        assert "day" == choices(page)["format2"]
        await browser.post(f"{here}/columns", data={**choices(page), "format1": "comma"})
        await work(client)
        assert "3will be asked1have a problem" in plain((await browser.get(f"{here}/check")).text)
