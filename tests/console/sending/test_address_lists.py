"""Lists: a file, or pasted rows, read as people have them; columns guessed, corrected, remembered."""

import html
import re
import threading
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from afterword.console import screens
from afterword.core.wire import list_files
from tests.console.sending.test_sending import client as client  # noqa: PLC0414  a fixture
from tests.console.sending.test_sending import plain
from tests.logins.conftest import browser_of, found, log_in
from tests.queue.client import Client
from tests.queue.conftest import http as http  # noqa: PLC0414  a fixture
from tests.queue.conftest import queue as queue  # noqa: PLC0414  a fixture

LISTS = "/console/sending/lists"


def choices(page: str) -> dict[str, str]:
    """The chosen option of each select of a page."""
    return {
        name: html.unescape(chosen[1])
        for name, options in re.findall(r'<select[^>]* name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL)
        if (chosen := re.search(r'value="([^"]*)" selected', options))
    }


async def upload(browser: httpx2.AsyncClient, client: Client, content: bytes) -> str:
    """Send a file; the address of the list."""
    house = client.queue.house
    response = await browser.post(
        f"{LISTS}/new",
        data={"pipeline": f"{house.questionnaire_id}/{client.queue.pipeline_id}"},
        files={"file": ("list.csv", content, "text/csv")},
    )
    assert 303 == response.status_code, plain(response.text)
    return response.headers["location"].removesuffix("/columns")


async def test_files_are_read_off_the_loop(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long file, or a hostile one, holds up nobody else."""
    threads: dict[str, set[str]] = {}

    def watched(read: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            threads.setdefault(read.__name__, set()).add(threading.current_thread().name)
            return read(*given, **named)

        return run

    names = ("guess", "text_of", "sample_of", "columns_of")
    for module, name in [*((list_files, name) for name in names), (screens, "read_form")]:
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        threads.clear()
        here = await upload(browser, client, b"Name,E-mail\nAnn,a@b.example\n")
        assert 200 == (await browser.get(f"{here}/columns")).status_code
        assert {*names, "read_form"} == threads.keys()
        assert threading.main_thread().name not in set().union(*threads.values())
        await browser.post(f"{here}/columns", data={"column0": "", "column1": "responder_channel_identifier"})
        assert threading.main_thread().name not in threads["sample_of"]


async def test_refused(client: Client) -> None:
    pipeline = f"{client.queue.house.questionnaire_id}/{client.queue.pipeline_id}"
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
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


async def test_template(client: Client) -> None:
    """Its columns are those that the pipeline knows, and a file with them is read without a question."""
    house = client.queue.house
    query = {"pipeline": f"{house.questionnaire_id}/{client.queue.pipeline_id}"}
    declared = {"name": "gift", "title": "Gift", "type": "boolean", "application_id": house.application_id}
    assert 201 == (await client.send("POST", "/q/metadata/questionnaire", declared)).status_code
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        assert f"{LISTS}/template" in html.unescape((await browser.get(f"{LISTS}/new")).text)
        file = await browser.get(f"{LISTS}/template", params=query)
        assert "attachment" in file.headers["content-disposition"]
        names = file.text.lstrip("\ufeff").strip().split(",")
        assert {"responder_channel_identifier", "external_reference", "metadata.questionnaire.gift"} <= set(names)
        row = ["ann@b.example" if name == "responder_channel_identifier" else "" for name in names]
        here = await upload(browser, client, (file.text + ",".join(row) + "\r\n").encode())
        chosen = choices((await browser.get(f"{here}/columns")).text)
        assert names == [chosen[f"column{place}"] for place in range(len(names))]
        assert 404 == (await browser.get(f"{LISTS}/template?pipeline=x")).status_code
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser, email="ben@demo.example")
        assert 403 == (await browser.get(f"{LISTS}/template", params=query)).status_code


async def test_columns(client: Client) -> None:
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
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
        assert "Forget this list?" in (await browser.get(f"{here}/stop")).text
        await browser.post(f"{here}/stop")
        assert 404 == (await browser.get(f"{here}/columns")).status_code


async def test_others(client: Client) -> None:
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        here = await upload(browser, client, b"ann@example.com\nben@example.com\n")
        assert "Column 1" in (await browser.get(f"{here}/columns")).text
    await found(client.queue.pool, domain="patras", email="pan@patras.example")
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser, email="pan@patras.example")
        assert "list.csv" not in (await browser.get(LISTS)).text
        for method, path in (
            ("GET", "columns"), ("POST", "columns"), ("GET", "check"), ("POST", "repair"), ("GET", "faulty"),
            ("GET", "confirm"), ("POST", "confirm"), ("GET", "result"), ("POST", "resume"), ("POST", "stop"),
            ("GET", "alike"), ("POST", "alike"),
        ):  # fmt: skip
            assert (
                404
                == (
                    await browser.request(method, f"{here}/{path}", data={"a": "b"} if method == "POST" else None)
                ).status_code
            )
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser, email="ben@demo.example")
        assert 403 == (await browser.post(f"{here}/confirm")).status_code
        assert 403 == (await browser.post(f"{here}/alike")).status_code
