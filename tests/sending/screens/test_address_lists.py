"""Lists: a file, or pasted rows, read as people have them; columns guessed, corrected, remembered."""

import asyncio
import html
import io
import re
import threading
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

import httpx2
import pytest
import xlsxwriter

from afterword.console import screens
from afterword.core.wire import list_columns, tables
from afterword.run.worker.long_work import Importer
from tests.dates import YEAR
from tests.sending.queue.conftest import Client
from tests.sending.screens.conftest import plain

LISTS = "/console/sending/lists"


def choices(page: str) -> dict[str, str]:
    """The chosen option of each select of a page."""
    return {
        name: html.unescape(chosen[1])
        for name, options in re.findall(r'<select[^>]* name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL)
        if (chosen := re.search(r'value="([^"]*)" selected', options))
    }


async def upload(browser: httpx2.AsyncClient, client: Client, content: bytes, name: str = "list.csv") -> str:
    """Send a file; the address of the list."""
    house = client.queue.house
    response = await browser.post(
        f"{LISTS}/new",
        data={"pipeline": f"{house.questionnaire_id}/{client.queue.pipeline_id}"},
        files={"file": (name, content, "text/csv")},
    )
    assert 303 == response.status_code, plain(response.text)
    return response.headers["location"].removesuffix("/columns")


async def test_files_are_read_off_the_loop(
    client: Client, monkeypatch: pytest.MonkeyPatch, browser: httpx2.AsyncClient
) -> None:
    """A long file, or a hostile one, holds up nobody else."""
    threads: dict[str, set[str]] = {}

    def watched(read: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            threads.setdefault(read.__name__, set()).add(threading.current_thread().name)
            return read(*given, **named)

        return run

    names = ("guess", "text_of", "sample_of")
    for module, name in [*((tables, name) for name in names), (list_columns, "guess"), (screens, "read_form")]:
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    threads.clear()
    here = await upload(browser, client, b"Name,E-mail\nAnn,a@b.example\n")
    assert 200 == (await browser.get(f"{here}/columns")).status_code
    assert {*names, "read_form"} == threads.keys()
    assert threading.main_thread().name not in set().union(*threads.values())
    await browser.post(f"{here}/columns", data={"column0": "", "column1": "responder_channel_identifier"})
    assert threading.main_thread().name not in threads["sample_of"]


async def work(client: Client) -> None:
    importer = Importer(client.queue.pool, uuid.uuid4(), secret=client.queue.secret)
    while await importer.work_next(asyncio.Event()):
        pass


async def test_refused(client: Client, browser: httpx2.AsyncClient) -> None:
    pipeline = f"{client.queue.house.questionnaire_id}/{client.queue.pipeline_id}"
    for data, files, told in (
        ({"pipeline": pipeline, "rows": " \n"}, None, "Choose a file, or paste some rows."),
        ({"pipeline": "0" * 22 + "/x", "rows": "ann@example.com"}, None, "no such"),
        ({"pipeline": pipeline}, {"file": ("a.csv", b"\xff\xfe\x00", "text/csv")}, "UTF-16"),
    ):  # fmt: skip
        page = await browser.post(f"{LISTS}/new", data=data, files=files)
        assert told in plain(page.text), told
    here = await upload(browser, client, "Name,E-mail\nÄnne,a@b.example\n".encode("windows-1252"))
    page = (await browser.get(f"{here}/columns?encoding=utf-8")).text
    assert "line 2 has other bytes" in plain(page)
    assert 'value="windows-1252"' in page


async def test_template(client: Client, browser: httpx2.AsyncClient, agent: httpx2.AsyncClient) -> None:
    """Its columns are those that the pipeline knows, and a file with them is read without a question."""
    house = client.queue.house
    query = {"pipeline": f"{house.questionnaire_id}/{client.queue.pipeline_id}"}
    declared = {"name": "gift", "title": "Gift", "type": "boolean", "application_id": house.application_id}
    assert 201 == (await client.send("POST", "/q/metadata/questionnaire", declared)).status_code
    assert f"{LISTS}/template" in html.unescape((await browser.get(f"{LISTS}/new")).text)
    file = await browser.get(f"{LISTS}/template", params=query)
    assert "attachment" in file.headers["content-disposition"]
    names = file.text.lstrip("\ufeff").strip().split(",")
    assert {"responder_channel_identifier", "external_reference", "metadata.questionnaire.gift"} <= set(names)
    row = ["ann@b.example" if name == "responder_channel_identifier" else "" for name in names]
    here = await upload(browser, client, (file.text + ",".join(row) + "\r\n").encode())
    chosen = choices((await browser.get(f"{here}/columns")).text)
    expected = ["" if name == "send_time" else name for name in names]  # blank in all rows: they leave at once
    assert expected == [chosen[f"column{place}"] for place in range(len(names))]
    assert 404 == (await browser.get(f"{LISTS}/template?pipeline=x")).status_code
    assert 403 == (await agent.get(f"{LISTS}/template", params=query)).status_code


async def test_columns(client: Client, browser: httpx2.AsyncClient) -> None:
    pipeline = f"{client.queue.house.questionnaire_id}/{client.queue.pipeline_id}"
    pasted = await browser.post(f"{LISTS}/new", data={"pipeline": pipeline, "rows": "ann@b.example\tAnn"})
    path = pasted.headers["location"]
    chosen = choices((await browser.get(path)).text)
    assert ("0", "\t", "responder_channel_identifier", "") == tuple(
        chosen[name] for name in ("header", "separator", "column0", "column1")
    )
    again = choices((await browser.get(f"{path}?header=1&separator=;")).text)
    assert ("1", ";") == (again["header"], again["separator"])
    first_name = {**chosen, "column1": "metadata.questionnaire.store_id"}
    sent = await browser.post(path, data=first_name)
    assert 303 == sent.status_code, plain(sent.text)[300:900]
    here = await upload(browser, client, b"Column 2;Column 1\nAnn;ann@b.example\n")
    remembered = choices((await browser.get(f"{here}/columns")).text)
    assert ("metadata.questionnaire.store_id", "responder_channel_identifier") == (
        remembered["column0"], remembered["column1"],
    )  # fmt: skip
    twice = {**remembered, "column0": "responder_channel_identifier"}
    assert "The columns 1 and 2 have the same meaning." in plain(
        (await browser.post(f"{here}/columns", data=twice)).text
    )
    assert "not imported" in plain((await browser.get(LISTS)).text)
    assert "Delete this list?" in (await browser.get(f"{here}/stop")).text
    await browser.post(f"{here}/stop")
    assert 404 == (await browser.get(f"{here}/columns")).status_code


async def test_a_time_to_send_is_never_dropped(client: Client, browser: httpx2.AsyncClient) -> None:
    """One that is not read makes faulty rows; a date alone asks for its hour, one that is over for its meaning."""
    for value, told in (
        ("soon", "will be asked1has a problem"), (f"{YEAR}/12/05 15:04:00", "1will be asked"),
        (f"{YEAR}-12-05 15:04\nben@example.com;", "1will be asked1has a problem"),
        (f"12/5/{YEAR}", "say whether the day or the month comes first."), (f"13.12.{YEAR}", "say at which hour"),
        ("2026-01-01 10:00", "say what it means."),
    ):  # fmt: skip
        here = await upload(browser, client, f"Email;Send date\nann@example.com;{value}\n".encode())
        chosen = choices((await browser.get(f"{here}/columns")).text)
        assert chosen["column1"] == ("?" if "2026-" in value else "send_time")
        page = await browser.post(f"{here}/columns", data=chosen)
        if page.status_code == 303:
            await work(client)
            page = await browser.get(f"{here}/check")
        assert told in plain(page.text), value
    here = await upload(browser, client, f"Email;Send date\nann@example.com;13.12.{YEAR}\n".encode())
    chosen = {**choices((await browser.get(f"{here}/columns")).text), "hour1": "10:00"}
    assert 303 == (await browser.post(f"{here}/columns", data=chosen)).status_code
    assert 'value="10:00"' in (await browser.get(f"{here}/columns")).text
    await work(client)
    assert f"December 13, {YEAR}" in plain((await browser.get(f"{here}/confirm")).text) or (
        f"Dec 13, {YEAR}" in plain((await browser.get(f"{here}/confirm")).text)
    )


async def test_remembers_what_a_person_changed(client: Client, browser: httpx2.AsyncClient) -> None:
    """A column that nobody touched is guessed anew; one that somebody chose is not, even where the guess was empty."""
    here = await upload(browser, client, b"Email;Date;Shop\nann@example.com;2026-01-01;7\n")
    chosen = {**choices((await browser.get(f"{here}/columns")).text), "column2": "metadata.questionnaire.store_id"}
    assert "" == chosen["column1"]
    assert 303 == (await browser.post(f"{here}/columns", data=chosen)).status_code
    assert ["Shop"] == [row["name"] for row in await client.queue.fetch("select name from queue_list_column")]
    here = await upload(browser, client, f"Email;Date;Shop\nann@example.com;{YEAR}-12-05 15:04;7\n".encode())
    chosen = choices((await browser.get(f"{here}/columns")).text)
    assert ("send_time", "metadata.questionnaire.store_id") == (chosen["column1"], chosen["column2"])


async def test_workbook(client: Client, browser: httpx2.AsyncClient) -> None:
    """Its letters are never wrong, so nothing is said of encodings."""
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["Email", "Order number", "Send date", "Όνομα"])
        sheet.write_row(1, 0, ["ann@example.com", 4901234567890])
        sheet.write_datetime(1, 2, datetime(YEAR, 12, 5, 15, 4), book.add_format({"num_format": "dd/mm/yyyy"}))  # noqa: DTZ001
    here = await upload(browser, client, content.getvalue(), "people.xlsx")
    page = (await browser.get(f"{here}/columns")).text
    assert "Sample of the text" not in page
    await browser.post(f"{here}/columns", data=choices(page))
    await work(client)
    await browser.post(f"{here}/confirm")
    await work(client)
    found = "select array[external_reference, to_char(send_time at time zone 'UTC', 'MM-DD')] from queue_item"
    assert ["4901234567890", "12-05"] == await client.queue.value(found)


async def test_around_the_table(client: Client, browser: httpx2.AsyncClient) -> None:
    """Lines above and below are left out and can be changed; words show the encoding."""
    text = "Alte Mühle;;\nE-Mail;Name;Summe\nann@example.com;Jürgen;1\nbo@example.com;Bo;2\nSumme;;3\n"
    here = await upload(browser, client, text.encode("windows-1252"))
    page = (await browser.get(f"{here}/columns")).text
    assert 'name="rows_above" inputmode="numeric" maxlength="3" value="1"' in page
    assert 'name="rows_below" inputmode="numeric" maxlength="3" value="1"' in page
    assert "Sample of the text: Jürgen." in plain(page)
    again = (await browser.get(f"{here}/columns?rows_above=0&rows_below=0")).text
    assert "Alte Mühle" in plain(again)
    form = {**choices(page), "rows_above": "1", "rows_below": "1"}
    assert 303 == (await browser.post(f"{here}/columns", data=form)).status_code
    await work(client)
    assert "2 rows in the file 2will be asked" in plain((await browser.get(f"{here}/check")).text)


async def test_new_fields(client: Client, browser: httpx2.AsyncClient) -> None:
    """A column becomes a field with a word: of the person it is personal; names begin with a letter and differ."""
    content = "E-Mail,Vorname,Κατάστημα,Όροφος,2nd floor\nann@example.com,Ann,Αθήνα,1,yes\n".encode()
    path = await upload(browser, client, content)
    page = (await browser.get(f"{path}/columns")).text
    assert "+ New field of the person" in plain(page)
    meanings = ["responder_channel_identifier", "new.responder", *["new.questionnaire"] * 3]
    form = {**choices(page), **{f"column{place}": each for place, each in enumerate(meanings)}}
    assert 303 == (await browser.post(f"{path}/columns", data=form)).status_code
    declared = {
        one["name"]: (one["title"], one["type"], one["anonymize"])
        for kind in ("responder", "questionnaire")
        for one in (await client.send("GET", f"/q/metadata/{kind}")).json()
        if not one["read_only"]
    }
    expected = {"vorname": ("Vorname", True), "field": ("Κατάστημα", False), "field_2": ("Όροφος", False)}
    expected["field_2nd_floor"] = ("2nd floor", False)
    assert {name: (title, "text", is_personal) for name, (title, is_personal) in expected.items()} == declared


async def test_unknown_conflict(client: Client, browser: httpx2.AsyncClient) -> None:
    """A form that does not say it, or says what we do not know, is asked again: nothing is checked meanwhile."""
    path = await upload(browser, client, b"email\nann@example.com\n")
    form = choices((await browser.get(f"{path}/columns")).text)
    for given in ({}, {"on_conflict": "overwrite"}):
        refused = await browser.post(f"{path}/columns", data={**form, "on_conflict": "", **given})
        assert (422, True) == (refused.status_code, 'href="#on_conflict"' in refused.text)
    assert 303 == (await browser.post(f"{path}/columns", data={**form, "on_conflict": "error"})).status_code
