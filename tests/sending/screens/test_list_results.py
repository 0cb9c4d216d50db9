"""Lists: a check whose counts add up, repairs, problems in the reader's language, the confirmation, the result."""

import hashlib
import html
import re
from typing import Any

import httpx2
import pytest

from afterword.core.wire import imports as core_imports
from afterword.core.wire.imports import NO_TIME
from afterword.core.wire.tables import BROKEN
from afterword.core.wire.times import EXPECTED
from afterword.kit import texts
from tests.dates import YEAR
from tests.sending.queue.conftest import SMS, Client
from tests.sending.screens.conftest import plain
from tests.sending.screens.test_address_lists import LISTS, choices, upload, work
from tests.sizes import size

FILE = (
    "Πελάτης;E-mail;Order ID;Notes\n"
    'Άννα;ann@example.com;7;"two\nlines"\n'
    "Νίκος;nobody;8;\n"
    "Μαρία;maria@example.com;9\n"
    "Εύα;eve@example.com;10;\n"
    "Άννα;ann@example.com;11;\n"
    "Άννα;ann@example.com;7;\n"
)


async def test_five_steps(client: Client, monkeypatch: pytest.MonkeyPatch, browser: httpx2.AsyncClient) -> None:
    """Of a file in pieces of two rows: where a row stands changes nothing of the counts."""
    monkeypatch.setattr(core_imports, "PIECE_ROWS", 2)
    await client.queue.execute("update pipeline set frequency_cap_days = 30, capped_time = now()")
    await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "eve@example.com"})
    here = await upload(browser, client, FILE.encode("windows-1253"))
    page = (await browser.get(f"{here}/columns")).text
    chosen = choices(page)
    assert ("windows-1253", ";", "1") == (chosen["encoding"], chosen["separator"], chosen["header"])
    assert ["", "responder_channel_identifier", "external_reference", ""] == [
        chosen[f"column{place}"] for place in range(4)
    ]
    assert "Πελάτης" in page
    refused = await browser.post(
        f"{here}/columns", data={**chosen, "column0": "", "column1": "", "column2": "external_reference", "column3": ""}
    )
    assert "No column says who is written to." in plain(refused.text)
    assert 303 == (await browser.post(f"{here}/columns", data=chosen)).status_code
    assert "are not read yet" in plain((await browser.get(f"{here}/check")).text)
    await work(client)

    page = plain((await browser.get(f"{here}/check")).text)
    for told in (
        "will not be asked: asked lately by this pipeline", "6 rows in the file 1will be asked",
        "will not be asked: the address is blocked",
        "1already exists, or belongs to the message of an earlier row",
        "1 row has an address that an earlier row has", "2 faulty rows", "1Column “E-mail”: This is not",
        "1Cells in this row: 3, in the header: 4", "4 Column “E-mail”: This is not",
        "5 Cells in this row: 3, in the header: 4",
    ):  # fmt: skip
        assert told in page, page[page.index("Step 3") :][:900]
    assert f"SHA-256: {hashlib.sha256(FILE.encode('windows-1253')).hexdigest()}" in page
    assert "Uploaded" in page
    assert "by olga@kalamata.example. SHA-256" in page
    faulty = (await browser.get(f"{here}/faulty")).text
    assert ["Πελάτης;E-mail;Order ID;Notes;problem", "Νίκος;nobody;8"] == [
        faulty.lstrip("\ufeff").split("\n")[0], faulty.split("\n")[1][:14],
    ]  # fmt: skip
    readings = plain((await browser.get("/console/settings/audit?tab=readings")).text)
    assert "downloaded a list of addresses." in readings

    corrected = faulty.replace("nobody", "nikos@example.com").replace(";7;", ";12;").encode()
    sent = await browser.post(f"{here}/repair", files={"file": ("corrected.csv", corrected, "text/csv")})
    assert 303 == sent.status_code, plain(sent.text)
    await work(client)
    page = plain((await browser.get(f"{here}/check")).text)
    assert "faulty" not in page
    assert 0 == await client.queue.value("select count(*) from queue_item")
    confirm = plain((await browser.get(f"{here}/confirm")).text)
    assert "Schedule 5 messages" in confirm
    await client.queue.execute("update queue_import set first_time = '2020-01-01'")  # confirmed long after the check
    assert "The first message is sent" in confirm
    assert "2020" not in plain((await browser.get(f"{here}/confirm")).text)
    assert f"{here}/result" == (await browser.post(f"{here}/confirm")).headers["location"]
    assert 409 == (await browser.post(f"{here}/confirm")).status_code
    await work(client)
    assert f"{here}/result" == (await browser.get(f"{here}/columns")).headers["location"]
    assert "5are scheduled" in plain((await browser.get(f"{here}/result")).text)
    assert 5 == await client.queue.value("select count(*) from queue_item")
    remembered = await upload(browser, client, b"Notes,E-mail\nx,ann@example.com\n")
    assert "responder_channel_identifier" == choices((await browser.get(f"{remembered}/columns")).text)["column1"]
    assert "imported" in plain((await browser.get(LISTS)).text)


async def test_only_some_rows(client: Client, browser: httpx2.AsyncClient) -> None:
    """Rows that do not meet the condition are left out, from the check to the import, and after a repair."""
    lines = [
        "E-mail,Order,Status",
        "ann@example.com,1,Delivered",
        "ben@example.com,2,open",
        "cleo,3,delivered",
        "d@e.example,4,",
    ]
    here = await upload(browser, client, "\n".join(lines).encode())
    page = (await browser.get(f"{here}/columns")).text
    assert '<option value="column:Status">Status</option>' in page
    chosen = {**choices(page), "column2": "", "group": "all", "subject-0": "column:Status", "operator-0": "equal"}
    refused = await browser.post(f"{here}/columns", data={**chosen, "value-0": ""})
    assert "A value to compare with is required." in plain(refused.text)
    assert re.search(r'id="subject-0"[^>]*>.*?value="column:Status" selected', refused.text, re.DOTALL)
    for document, told in (
        ('{"subject": "column:Town", "operator": "is_empty"}', "The file's header has no such column."),
        (
            '{"subject": "column:Status", "operator": "equal", "value": "lost"}',
            "No row of the file meets the condition.",
        ),
    ):
        refused = await browser.post(f"{here}/columns", data={**chosen, "document": document})
        assert told in plain(refused.text)

    assert 303 == (await browser.post(f"{here}/columns", data={**chosen, "value-0": "delivered"})).status_code
    told = "2are left out: only rows count where “Status” is delivered"
    await work(client)
    page = (await browser.get(f"{here}/check")).text
    for text in ("4 rows in the file", "1will be asked", told, "1 faulty row", "4 Column “E-mail”: This is not"):
        assert text in plain(page), text
    again = (await browser.get(f"{here}/columns")).text
    assert re.search(r'name="value-0" value="delivered"', again)
    cell = re.search(r'name="(cell-3-\d+)"', page)
    check = re.search(r'name="check" value="([^"]+)"', page)
    assert cell
    assert check
    repaired = {cell[1]: "cleo@example.com", "check": check[1]}
    assert 303 == (await browser.post(f"{here}/rows", data=repaired)).status_code
    await work(client)
    confirm = plain((await browser.get(f"{here}/confirm")).text)
    assert "Schedule 2 messages" in confirm
    assert told in confirm
    await browser.post(f"{here}/confirm")
    await work(client)
    page = plain((await browser.get(f"{here}/result")).text)
    assert "2are scheduled" in page
    assert told in page
    people = await client.queue.fetch("select responder_channel_identifier as one from queue_item")
    assert {"ann@example.com", "cleo@example.com"} == {row["one"] for row in people}


async def test_nothing_to_confirm(client: Client, browser: httpx2.AsyncClient) -> None:
    """A list without a good row leads back, not on; of two columns of one name each has its own meaning."""
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


async def test_many_rows(client: Client, browser: httpx2.AsyncClient) -> None:
    """77 bad rows among many are corrected alone; an import that failed goes on where it stopped."""
    rows, bad = size(400, 100_000), 77
    lines = [f"person{n}@example.com,{n}" if n % (rows // bad) or n >= bad * (rows // bad) else f"nobody,{n}"
             for n in range(rows)]  # fmt: skip
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


async def test_stopped_and_late_corrections(client: Client, browser: httpx2.AsyncClient) -> None:
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


async def test_formats(client: Client, browser: httpx2.AsyncClient) -> None:
    """Order of dates and decimal sign: seen in the rows and said how surely; what no row proves is asked."""
    house = client.queue.house
    for name, kind in (("paid", "number"), ("bought", "date")):
        declared = {"name": name, "title": name, "type": kind, "application_id": house.application_id}
        assert 201 == (await client.send("POST", "/q/metadata/questionnaire", declared)).status_code
    rows = ["E-mail;metadata.questionnaire.paid;metadata.questionnaire.bought"]
    rows += ["a@b.example;1.234,50;3/4/2026", "c@d.example;7;5/6/2026", "e@f.example;1.5;31-12-26", "g@h.example;2;"]
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
    assert "1 of 3 can only be day first." in plain(page)
    assert "day" == choices(page)["format2"]
    await browser.post(f"{here}/columns", data={**choices(page), "format1": "comma"})
    await work(client)
    assert "3will be asked1has a problem" in plain((await browser.get(f"{here}/check")).text)


async def checked(browser: httpx2.AsyncClient, client: Client, content: bytes) -> str:
    """Send a file and check it; the address of the list."""
    here = await upload(browser, client, content)
    sent = await browser.post(f"{here}/columns", data=choices((await browser.get(f"{here}/columns")).text))
    assert 303 == sent.status_code, plain(sent.text)
    await work(client)
    return here


async def problems(browser: httpx2.AsyncClient, here: str) -> list[str]:
    """The addresses of the repairs that the check offers, the most frequent problem first."""
    page = html.unescape((await browser.get(f"{here}/check")).text)
    return re.findall(rf'href="({here}/alike\?kind=\w+)"', page)


async def test_countries_of_phones(client: Client, browser: httpx2.AsyncClient) -> None:
    """Of all numbers without a country; one that does not exist there stays, with its own problem."""
    sms = await client.queue.pipeline(channel_id=SMS)
    client = Client(client.http, sms)
    rows = ["Phone;Order", *(f"21012345{n:02};{n}" for n in range(30)), "+44 20 7946 0958;30", "12345;31"]
    here = await checked(browser, client, "\n".join(rows).encode())
    [one] = await problems(browser, here)
    page = (await browser.get(one)).text
    assert "Repair 31 rows" in plain(page)
    assert "11 other values are not shown." in plain(page)
    assert 'name="every"' not in page
    assert "Greece" in page
    for country, told in (("", "This changes no row."), ("XX", "Choose a country of the list.")):
        refused = await browser.post(one, data={"country": country})
        assert 422 == refused.status_code
        assert told in plain(refused.text)
    assert 303 == (await browser.post(one, data={"country": "GR"})).status_code
    assert 409 == (await browser.post(one, data={"country": "GR"})).status_code
    await work(client)
    page = plain((await browser.get(f"{here}/check")).text)
    assert "31will be asked1has a problem" in page
    assert "33 Column “Phone”" in page
    assert [one] == await problems(browser, here)
    assert "Repair 1 row" in plain((await browser.get(one)).text)
    await browser.post(one, data={"wrong0": "12345", "right0": "+30 210 7654321"})
    await work(client)
    assert "32will be asked" in plain((await browser.get(f"{here}/check")).text)
    assert 404 == (await browser.get(one)).status_code
    await browser.post(f"{here}/confirm")
    assert 409 == (await browser.post(one, data={"country": "GR"})).status_code
    await work(client)
    assert 31 == await client.queue.value(
        "select count(*) from queue_item where responder_channel_identifier like '+30%'"
    )


async def test_values(client: Client, browser: httpx2.AsyncClient) -> None:
    """A wrong value has its right one, all others have one; what a browser changes on the way is not offered."""
    rows = ["E-mail,Language,Order"]
    rows += [f"p{n}@example.com,{'martian!' if n < 3 else 'el' if n < 6 else '?'},{n}" for n in range(8)]
    rows += ['p8@example.com,"a\nb",8', "nobody,el,9", "p10@example.com", 'p11@example.com,<b>"x"</b>,11']
    here = await checked(browser, client, "\n".join(rows).encode("utf-16"))
    first, second = await problems(browser, here)
    page = (await browser.get(first)).text
    assert "Repair 7 rows" in plain(page)
    assert "martian! 3" in plain(page)
    assert "1 other value is not shown." in plain(page)
    assert "<b>" not in page
    assert 'name="country"' not in page
    refused = await browser.post(first, data={"every": "x" * 201, "wrong0": "martian!", "right0": "el"})
    assert "at most 200 characters" in plain(refused.text)
    assert 'name="right0" value="el"' in refused.text
    await browser.post(first, data={"every": "en", "wrong0": "martian!", "right0": "el"})
    await work(client)
    page = plain((await browser.get(f"{here}/check")).text)
    assert "10will be asked2have a problem" in page
    assert "Cells in this row: 1, in the header: 3" in page
    assert [second] == await problems(browser, here)
    assert 'name="every"' not in (await browser.get(second)).text
    await browser.post(f"{here}/confirm")
    await work(client)
    counts = await client.queue.value(
        "select jsonb_object_agg(locale, n) from (select locale, count(*) as n from queue_item group by 1) l"
    )
    assert {"el": 6, "en": 4} == counts


async def test_rows_in_place(client: Client, browser: httpx2.AsyncClient, agent: httpx2.AsyncClient) -> None:
    """The wrong cells stand in fields as they are in the file; one button corrects all of the page."""
    rows = ["E-mail,Language,Order", "nobody,el,1", "b@example.com,martian!,2", "c@example.com", "d@example.com,GR,4"]
    here = await checked(browser, client, "\n".join(rows).encode())
    page = (await browser.get(f"{here}/check")).text
    fields = dict(re.findall(r'name="(cell-\d+-\d+)" value="([^"]*)"', html.unescape(page)))
    assert ["GR", "martian!", "nobody"] == sorted(fields.values())
    assert "cell-" not in (await agent.get(f"{here}/check")).text
    sent = {"check": re.findall(r'name="check" value="(\w+)"', page)[0], **fields}
    first = next(name for name, value in fields.items() if value == "nobody")
    for wrong, status, told in (
        ({**sent, "check": "0" * 22}, 409, "The list was checked again meanwhile."),
        ({**sent, first: "x" * 201}, 422, "at most 200 characters"),
        ({**sent, "cell-1-999": "a@example.com", "cell-1": "a"}, 422, "This changes no row."),
        (sent, 422, "This changes no row."),
    ):
        refused = await browser.post(f"{here}/rows", data=wrong)
        assert (status, True) == (refused.status_code, told in plain(refused.text))
    right = {"nobody": "a@example.com", "martian!": "", "GR": "el"}
    mended = {**sent, **{name: right[value] for name, value in fields.items()}}
    assert 303 == (await browser.post(f"{here}/rows", data=mended)).status_code
    assert 409 == (await browser.post(f"{here}/rows", data=mended)).status_code
    await work(client)
    page = (await browser.get(f"{here}/check")).text
    assert "3will be asked1has a problem" in plain(page)
    assert "cell-" not in page  # a row of too few cells is corrected in the file
    await browser.post(f"{here}/confirm")
    assert 409 == (await browser.post(f"{here}/rows", data=mended)).status_code


async def test_agent(client: Client, browser: httpx2.AsyncClient, agent: httpx2.AsyncClient) -> None:
    """Whoever only reads sees no repair, and none of what stands in the rows."""
    here = await checked(browser, client, b"E-mail,Order\nnobody,1\n")
    [one] = await problems(browser, here)
    assert 404 == (await browser.get(f"{here}/alike?kind=0")).status_code
    assert [] == await problems(agent, here)
    assert 403 == (await agent.get(one)).status_code
    assert 403 == (await agent.post(one, data={"wrong0": "nobody", "right0": "a@b.example"})).status_code


GREEK = {"accept-language": "el"}
words = texts.texts("console", "el")
HEADER = (
    "responder_channel_identifier,locale,send_time,external_reference,metadata.questionnaire.transaction_id,"
    "metadata.questionnaire.score,metadata.questionnaire.transaction_date,metadata.questionnaire.store_pickup"
)
AT = f"{YEAR}-12-05 10:00"
GOOD = f"ann@example.com,el,{AT},1,,,,"
ROWS = {
    f"nobody,,{AT},,,,,": "This is not an e-mail address, such as ann@example.com.",
    f",,{AT},2,,,,": "This is required.",
    f"a\x01b@example.com,,{AT},,,,,": "An address has no control characters and no line breaks.",
    f"{'a' * 321}@b.example,,{AT},,,,,": "At most {n} characters are allowed.",
    f"b@example.com,!!,{AT},,,,,": "A language tag is expected, such as el or en-US.",
    "b2@example.com,,,,,,,": NO_TIME,
    "c@example.com,,tomorrow,,,,,": EXPECTED,
    "c2@example.com,,2027-02-30 10:00,,,,,": "There is no such day, or no such time of the day.",
    "d@example.com,,2999-01-01 10:00,,,,,": "The date must lie between {first} and {last}.",
    "e@example.com,,2026-01-01T10:00+15:00,,,,,": "The offset must lie between -14:00 and +14:00.",
    "f@example.com,,2026-01-01T23:59:60Z,,,,,": "Leap seconds are not taken; use the second before or after.",
    f"g@example.com,,{AT},1,,,,": "An item of this pipeline that is not aborted has this external reference.",
    f"i@example.com,,{AT},,{'x' * 4097},,,": "A metadata value has at most {n} characters.",
    f"j@example.com,,{AT},,,many,,": "This is not a number.",
    f"k@example.com,,{AT},,,,monday,": "A date is expected, such as 2026-11-21 or 21/11/2026.",
    f"l@example.com,,{AT},,,,,perhaps": "This is not a boolean.",
    "m@example.com": "Cells in this row: {cells}, in the header: {columns}.",
    f'n@example.com,"a"b,{AT},,,,,': BROKEN,
    f"o@example.com,\x00,{AT},,,,,": "The character NUL is not allowed.",
    f"p@example.com,{'x' * 65_536},{AT},,,,,": "A row may have {n} bytes.",
}
PHONES = {
    "x12": "A phone number has digits, and + with the country code in front.",
    "210 123 4567": "A phone number without + and country code needs a locale that names its country.",
    "+999 1234567": "This is not a phone number, such as +30 210 123 4567.",
    "+30 12": "A phone number with these digits does not exist in that country.",
}


@pytest.mark.parametrize("is_of_phones", [False, True])
async def test_each_kind_in_greek(client: Client, browser: httpx2.AsyncClient, *, is_of_phones: bool) -> None:
    """On the page, on that of a repair, and in the file of faulty rows; the API says them in English."""
    rows, content = ROWS, "\n".join([HEADER, GOOD, *ROWS])
    if is_of_phones:
        sms = await client.queue.pipeline(channel_id=SMS)
        rows, content, client = PHONES, "\n".join(["responder_channel_identifier", *PHONES]), Client(client.http, sms)
    here = await checked(browser, client, f"{content}\n".encode())
    kept = await client.queue.fetch("select problem from queue_import_row where state = 'failed' order by row")
    kept_problems: list[dict[str, Any]] = [row["problem"] for row in kept]
    kinds = [problem["kinds"][0] for problem in kept_problems]
    assert [*rows.values()] == [kind["text"] for kind in kinds]
    english = plain((await browser.get(f"{here}/check")).text)
    greek = plain((await browser.get(f"{here}/check", headers=GREEK)).text)
    faulty = (await browser.get(f"{here}/faulty", headers=GREEK)).text
    for problem, kind in zip(kept_problems, kinds, strict=True):
        translated = words(kind["text"])
        assert not translated.isascii(), kind["text"]
        start = translated.partition("{")[0]
        assert start in greek
        assert start in faulty
        [first, *_] = problem["errors"] or [{"message": problem["detail"]}]
        assert first["message"].partition(": ")[2] or first["message"] in english
    [one, *_] = await problems(browser, here)
    assert "Στήλη «" in plain((await browser.get(one, headers=GREEK)).text)


async def test_pipeline_that_counts_from_a_date(client: Client, browser: httpx2.AsyncClient) -> None:
    """A column has to have the date; a row without it, or with one that is none, is faulty, in Greek too."""
    await client.queue.change_pipeline("delay_from = 'questionnaire_metadata:transaction_date', delay_cap_days = 3")
    rows = f"E-mail;Bought\nann@b.example;{YEAR}-05-30\nbob@b.example;\neve@b.example;soon\nold@b.example;2026-01-01\n"
    here = await upload(browser, client, rows.encode())
    page = await browser.get(f"{here}/columns")
    assert "A message without a send time is due 3 days after its “Transaction date”." in plain(page.text)
    chosen = {**choices(page.text), "column1": ""}
    refused = await browser.post(f"{here}/columns", data=chosen)
    assert (422, True) == (
        refused.status_code,
        "The pipeline counts from “Transaction date”." in plain(refused.text),
    )
    chosen["column1"] = "metadata.questionnaire.transaction_date"
    assert 303 == (await browser.post(f"{here}/columns", data=chosen)).status_code
    await work(client)
    page = plain((await browser.get(f"{here}/check")).text)
    assert "2have a problem" in page
    assert "Column “Bought”: The pipeline counts from this date. Give it, or a time to send." in page
    assert "Column “Bought”: A date is expected, such as 2026-11-21 or 21/11/2026." in page
    assert "too late to send" in page
    greek = plain((await browser.get(f"{here}/check", headers=GREEK)).text)
    assert words("The pipeline counts from this date. Give it, or a time to send.") in greek
    every = [one for one in await problems(browser, here) if "from this date" in plain((await browser.get(one)).text)]
    assert 303 == (await browser.post(every[0], data={"every": f"{YEAR}-05-31"})).status_code
    await work(client)
    assert "1has a problem" in plain((await browser.get(f"{here}/check")).text)


async def test_refusals_in_greek(client: Client, browser: httpx2.AsyncClient) -> None:
    """A refused form says its sentence, with numbers as they are written there."""
    here = await checked(browser, client, b"E-mail,Order\nnobody,1\n")
    [one] = await problems(browser, here)
    refused = await browser.post(one, data={"wrong0": "nobody", "right0": "x" * 201}, headers=GREEK)
    assert " 200 χαρακτήρες." in plain(refused.text)
    gone = await browser.get(f"/console/sending/lists/{'0' * 22}/check", headers=GREEK)
    assert words("There is no such list.") in plain(gone.text)


async def test_why_a_faulty_row_was_not_asked(client: Client, browser: httpx2.AsyncClient) -> None:
    """The newest lists are searched where there is no message, as long as their files are kept."""

    async def told(asked: str) -> str:
        return html.unescape((await browser.get("/console/sending", params={"q": asked})).text)

    assert "No message found." in await told("ann(at)example.com")
    here = await checked(browser, client, b"Name,E-mail\nEve,eve@example.com\nAnn, Ann(at)example.com\n")
    assert "No message found." in await told("eve@example.com")  # of a row without a problem
    assert "No message found." in await told("(at)example.com")
    page = await told("ann(at)EXAMPLE.com")
    assert "No message found." not in page
    assert "Line 3 of list.csv has a problem, so no message was scheduled. Column “E-mail”:" in plain(page)
    [row] = re.findall(rf'href="({here}/check[?]after=1#faulty)"', page)
    assert 'value="Ann(at)example.com"' in html.unescape((await browser.get(row)).text)
    await browser.post(f"{here}/confirm")
    await work(client)
    assert f'href="{here}/result?after=1#faulty"' in await told("ann(at)example.com")
    await upload(browser, client, b"E-mail\nzoe(at)example.com\n")  # nobody has checked it
    assert "No message found." in await told("zoe(at)example.com")
    await client.create(responder_channel_identifier="ann@example.com", external_reference="Ann")
    assert "Line 3" not in await told("Ann")  # there is a message
    await client.queue.execute("update queue_list set content = null")
    assert "No message found." in await told("ann(at)example.com")
