"""Past responses in five steps: nothing is guessed, or stored before it is confirmed; removed as one."""

import contextlib
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pyreadstat
import pytest

from afterword.console import screens
from afterword.kit import db
from afterword.listening.imports import service, uploads
from tests.listening.reports.conftest import CHOICE, NPS, SECRET, TEXT, House
from tests.tenants.logins.conftest import Browser

IMPORTS = "/console/responses/imports"
NEW = f"{IMPORTS}/new"
HEAD = "ResponseId,EndDate,How likely?,Which?,Why?"


def file_of(*rows: str, head: str = HEAD) -> bytes:
    return "\n".join([head, *rows]).encode()


GOOD = file_of("R-1,2024-05-01 10:00,9,Choice 2,Quick", "R-2,2024-05-02 10:00,3,Choice 1,Late")


async def sent(browser: Browser, house: House, content: bytes, name: str = "past.csv") -> Any:
    data = {"questionnaire": house.questionnaire_id}
    return await browser.post(NEW, data=data, files={"file": (name, content, "text/csv")})


async def staged(browser: Browser, house: House, content: bytes, name: str = "past.csv") -> str:
    """Send a file; the address of its import."""
    answer = await sent(browser, house, content, name)
    assert 303 == answer.status_code, plain(answer.text)
    return answer.headers["location"].removesuffix("/columns")


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"</?bdi>|[\u2068\u2069]", "", html.unescape(text))))


def chosen(page: str) -> dict[str, str]:
    """The chosen option of each select."""
    selects = re.findall(r'<select[^>]* name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL)
    return {name: found[1] for name, rest in selects if (found := re.search(r'value="([^"]*)" selected', rest))}


async def choose(browser: Browser, here: str, **given: str) -> Any:
    """Send the columns as they were guessed, with changes."""
    page = (await browser.get(f"{here}/columns")).text
    return await browser.post(f"{here}/columns", data={**chosen(page), **given})


async def worked(house: House) -> int:
    steps = 0
    while True:
        async with db.transaction(house.pool) as database:
            if not await uploads.work_next(database, secret=SECRET, now=database.clock.now()):
                return steps
        steps += 1


async def checked(browser: Browser, house: House, content: bytes) -> str:
    here = await staged(browser, house, content)
    await choose(browser, here)
    await worked(house)
    return here


async def read(browser: Browser, path: str) -> str:
    answer = await browser.get(path)
    assert 200 == answer.status_code, (answer.status_code, answer.headers.get("location"), plain(answer.text))
    return plain(answer.text)


async def count(house: House) -> int:
    return (await house.get("/q/response?imported=true")).json()["total_results"]


async def test_five_steps(owner: House, browser: Browser) -> None:
    assert "No import yet" in await read(browser, IMPORTS)
    here = await staged(browser, owner, GOOD)
    page = (await browser.get(f"{here}/columns")).text
    meant = ["external_id", "completed_time", f"answer.{NPS}", f"answer.{CHOICE}", f"answer.{TEXT}"]
    assert meant == [chosen(page)[f"column{place}"] for place in range(5)]
    checking = await choose(browser, here)
    assert (303, f"{here}/check") == (checking.status_code, checking.headers["location"])
    waiting = await browser.get(f"{here}/check")
    assert ("2", True) == (waiting.headers["Refresh"], "are being checked" in waiting.text)
    assert 1 == await worked(owner)
    said = await read(browser, f"{here}/check")
    assert "2 will be imported 0 are there already 0 are refused" in said
    assert "May 1, 2024" in said
    assert "Which? Choice 2 Why? Quick" in said
    assert 0 == await count(owner)
    said = await read(browser, f"{here}/confirm")
    assert "2 responses are added to" in said
    done = await browser.post(f"{here}/confirm")
    assert here == done.headers["location"]
    await worked(owner)
    said = await read(browser, here)
    assert "2 were imported 0 were there already 0 were refused" in said
    assert 2 == await count(owner)
    listed = await read(browser, IMPORTS)
    assert "past.csv" in listed
    assert "2 0 " in listed
    import_id = here.rpartition("/")[2]
    shown = await read(browser, f"/console/responses?imported={import_id}&period=3650")
    assert "Late" in shown


async def test_a_row_that_is_wider_than_the_header(owner: House, browser: Browser) -> None:
    """Its last cells would be lost."""
    here = await checked(browser, owner, file_of("R-1,2024-05-01 10:00,9,,Quick, and kind", "R-2,2024-05-01,9,,,,"))
    said = await read(browser, f"{here}/check")
    assert "1 will be imported 0 are there already 1 is refused" in said
    assert "Cells in this row: 6, in the header: 5." in said


async def test_a_file_is_refused(owner: House, browser: Browser) -> None:
    """With a sentence on the page of the form, which keeps the questionnaire; nothing is stored."""
    refused = await sent(browser, owner, b"a,b\n")
    assert (422, True) == (refused.status_code, "The file has no rows." in plain(refused.text))
    assert f'value="{owner.questionnaire_id}" selected' in refused.text
    nobodys = await browser.post(NEW, data={"questionnaire": owner.application_id}, files={"file": ("a.csv", GOOD)})
    assert 404 == nobodys.status_code
    large = await sent(browser, owner, b"a\n" + b"x" * screens.UPLOAD_BYTES_MAX)
    assert (413, True) == (large.status_code, "more than 16 MB" in plain(large.text))
    assert "No import yet" in await read(browser, IMPORTS)


async def test_what_nobody_knows_is_asked(owner: House, browser: Browser) -> None:
    """A column without a meaning, two with the same, dates in an open order, and values that no question has."""
    head = "Id,End,Colour,Score,Why?"
    rows = ("R-1,05/01/2024,Choice 2,9,Quick", "R-2,05/02/2024,Blu,very likely,Late", "R-3,05/02/2024,Blu,9,")
    here = await staged(browser, owner, file_of(*rows, head=head))
    assert "?" == chosen((await browser.get(f"{here}/columns")).text)["column2"]
    refused = await choose(browser, here)
    assert (422, True) == (refused.status_code, "“Colour”: say what it means" in plain(refused.text))
    meant = {"column0": "external_id", "column1": "completed_time", "column2": f"answer.{CHOICE}"}
    twice = await choose(browser, here, **meant, column3=f"answer.{CHOICE}")
    assert (422, True) == (twice.status_code, "another column has this meaning too" in plain(twice.text))
    meant["column3"] = f"answer.{NPS}"
    undated = await choose(browser, here, **meant)
    assert (422, True) == (undated.status_code, "day or the month comes first" in plain(undated.text))
    assert f"answer.{NPS}" == chosen(undated.text)["column3"]
    forged = await choose(browser, here, **{**meant, "column4": "answer.nothing"}, dates="day")
    assert (422, True) == (forged.status_code, "No column can mean “answer.nothing”" in plain(forged.text))
    assert 303 == (await choose(browser, here, **meant, dates="day")).status_code
    await worked(owner)
    said = await read(browser, f"{here}/check")
    assert "1 will be imported 0 are there already 2 are refused" in said
    assert "3 Column “Colour”: There is no choice with this value or label. Column “Score”:" in said
    assert "Values that fit no question" in said
    assert ("Blu 2" in said, "very likely 1" in said) == (True, True)
    page = (await browser.get(f"{here}/check")).text
    names = [(field, html.unescape(text)) for field, text in re.findall(r'for="(right\d+)"><bdi>([^<]+)', page)]
    right = {"Blu": "Choice 3", "very likely": "10"}
    await browser.post(f"{here}/check", data={field: right[text] for field, text in names})
    await worked(owner)
    assert "3 will be imported 0 are there already 0 are refused" in await read(browser, f"{here}/check")
    assert "Jan 5, 2024" in await read(browser, f"{here}/check")
    await browser.post(f"{here}/confirm")
    await worked(owner)
    async with db.connection(owner.pool) as database:
        stored = await database.fetch_column("select value from answer where question_id = $1", CHOICE)
    assert [2, 3, 3] == sorted(stored)


async def test_kinds_of_files(owner: House, browser: Browser, tmp_path: Path) -> None:
    row = {"external_id": "R-1", "completed_time": "2024-05-01T10:00:00Z"}
    path, book, target = tmp_path / "past.sav", openpyxl.Workbook(), io.BytesIO()
    pyreadstat.write_sav(pl.DataFrame({**{name: [value] for name, value in row.items()}, NPS: [9]}), path)
    for line in ([*row, NPS], [*row.values(), 9]):
        book.worksheets[0].append(line)
    book.save(target)
    for kind, content in (
        ("json_lines", b'\n\n{"external_id": 1, "answers": {}}\n' + json.dumps({**row, "answers": {NPS: 9}}).encode()),
        ("json", json.dumps({"data": [{**row, NPS: 9}]}).encode()),
        ("sav", path.read_bytes()),
        ("xlsx", target.getvalue()),
    ):
        here = await staged(browser, owner, content, name=f"past.{kind}")
        assert (kind == "json_lines") is ("names its members itself" in await read(browser, f"{here}/columns"))
        assert 303 == (await choose(browser, here)).status_code
        await worked(owner)
        said = await read(browser, f"{here}/check")
        assert ("1 will be imported" in said, "1 is refused" in said) == (True, kind == "json_lines"), kind
        assert (kind == "json_lines") is ("3 Column “external_id”: A text is expected." in said)
        assert "How likely? 9" in said
        one = await owner.send("GET", f"/q/response/import/{here.rpartition('/')[2]}")
        assert kind == one.json()["format"]


async def test_interrupted(owner: House, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends a step, the next one goes on with its piece, and no row is there twice."""
    monkeypatch.setattr(uploads, "ROWS_A_STATEMENT", 10)
    rows = [f"R-{number},2024-05-01 10:00,{number % 11},Choice 1,Fine" for number in range(24)]
    here = await staged(browser, owner, file_of(*rows, "R-24,2024-05-01 10:00,99,,"))
    await choose(browser, here)
    assert 3 == await worked(owner)
    assert "24 will be imported 0 are there already 1 is refused" in await read(browser, f"{here}/check")
    assert "26 Column “How likely?”" in await read(browser, f"{here}/check")
    await browser.post(f"{here}/confirm")
    with contextlib.suppress(KeyboardInterrupt):
        async with db.transaction(owner.pool) as database:
            assert 1 == await uploads.work_next(database, secret=SECRET, now=database.clock.now())
            assert 1 == await database.fetch_value("select next_piece from response_upload")
            raise KeyboardInterrupt
    assert 0 == await count(owner)
    assert 3 == await worked(owner)
    assert "24 were imported 0 were there already 1 was refused" in await read(browser, here)
    assert 24 == await count(owner)


async def test_failed_and_resumed(owner: House, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    here = await staged(browser, owner, GOOD)
    await choose(browser, here)

    async def failing(*_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    with monkeypatch.context() as patched:
        patched.setattr(service, "add", failing)
        assert 1 == await worked(owner)
    assert "Something went wrong on our side. Resume" in await read(browser, f"{here}/check")
    await browser.post(f"{here}/resume")
    await worked(owner)
    assert "2 will be imported" in await read(browser, f"{here}/check")
    await browser.post(f"{here}/confirm")
    await owner.execute("delete from response_upload_piece")  # as an erasure does
    await worked(owner)
    assert "The file is no longer kept. Send it again." in await read(browser, here)
    assert 0 == await count(owner)


async def test_steps_in_their_order(owner: House, browser: Browser) -> None:
    """Nothing is imported before its check, or twice; each address leads to the step that the file is at."""
    here = await staged(browser, owner, GOOD)
    assert f"{here}/columns" == (await browser.get(here)).headers["location"]
    assert 409 == (await browser.post(f"{here}/confirm")).status_code
    await choose(browser, here)
    assert f"{here}/check" == (await browser.get(here)).headers["location"]
    assert 409 == (await browser.post(f"{here}/confirm")).status_code
    await worked(owner)
    for status in (303, 409):
        assert status == (await browser.post(f"{here}/confirm")).status_code
    assert 409 == (await browser.post(f"{here}/check")).status_code
    await worked(owner)
    assert here == (await browser.get(f"{here}/check")).headers["location"]
    again = await checked(browser, owner, GOOD)
    assert "0 will be imported 2 are there already" in await read(browser, f"{again}/check")


async def test_removed_before_it_is_confirmed(owner: House, browser: Browser) -> None:
    """No step goes on with it."""
    here = await checked(browser, owner, GOOD)
    await browser.post(f"{here}/removal")
    assert 409 == (await browser.post(f"{here}/confirm")).status_code
    assert 409 == (await browser.get(f"{here}/columns")).status_code
    for step in ("/check", "/confirm"):
        assert here == (await browser.get(f"{here}{step}")).headers["location"]
    said = await read(browser, here)
    assert ("are being removed" in said, "will be imported" in said) == (True, False)
    assert 0 == await worked(owner)


async def test_removed_as_one(owner: House, browser: Browser) -> None:
    here = await checked(browser, owner, GOOD)
    await browser.post(f"{here}/confirm")
    await worked(owner)
    assert "2 responses are removed." in await read(browser, f"{here}/removal")
    assert here == (await browser.post(f"{here}/removal")).headers["location"]
    waiting = await browser.get(here)
    assert ("2", True) == (waiting.headers["Refresh"], "are being removed" in waiting.text)
    for _ in range(3):
        async with db.transaction(owner.pool) as database:
            await service.remove_next(database, now=database.clock.now())
    assert "Its responses were removed" in await read(browser, here)
    assert 0 == await count(owner)
