"""The rules of answering, held on every path that reaches an instance: once, in time, complete, of the right type."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx2
import pytest

from afterword.kit import db
from tests.browser import markup
from tests.browser.conftest import Shop, on_the_loop
from tests.browser.test_answering import count_events, form, set_active
from tests.making import make_token

pytestmark = pytest.mark.asyncio(loop_scope="session")

Fields = dict[str, Any]
# Every address that a form can be sent to; only the first is one of the answer page's.
PATHS = (
    "/a/{}",
    "//a/{}",
    "/a/{}/",
    "/a/{}?page=4&go=send",
    "/v3.2/a/{}",
    "/v3.0/a/{}",
    "/v3.0//a/{}",
    "/s/{}",
    "/p/{}",
)
LAST = 4


@on_the_loop
async def client(hotel: Shop) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=hotel.url, headers={"Accept": "text/html"}) as client:
        yield client


@on_the_loop
async def token(hotel: Shop) -> str:
    return await make_token(hotel.pool, hotel.organization_id)


async def filled(client: httpx2.AsyncClient, hotel: Shop, instance_id: str) -> None:
    """All but the last page: a noisy night jumps to the consent."""
    rows = {hotel.name("grid", row): "1" for row in ("clean", "quiet", "breakfast")}
    for page, fields in ((1, rows), (3, {hotel.name("agree"): "1"})):
        hidden = await form(client, f"/a/{instance_id}?page={page}")
        await client.post(f"/a/{instance_id}", data={**hidden, **fields, "go": "next"})


async def close(hotel: Shop, instance_id: str, rule: str) -> None:
    if rule == "valid_days":
        await hotel.shift(instance_id, 31)
        return
    if rule == "inactive":
        await set_active(hotel, active=False)
        return
    statements = {
        "archived": "update questionnaire set archived_time = now()",
        "responses_max": "update questionnaire set responses_max = 1",
        "finalized": """update questionnaire_instance
                        set finalized = true, completed_time = now(), submitted_time = now()""",
        "deleted": "update questionnaire_instance set deleted_time = now()",
    }
    async with db.transaction(hotel.pool) as database:
        await database.execute(statements[rule])  # pyrefly: ignore[bad-argument-type]  a literal of the table above


@pytest.mark.parametrize("rule", ["valid_days", "inactive", "archived", "responses_max", "finalized", "deleted"])
async def test_closed_on_every_path(client: httpx2.AsyncClient, hotel: Shop, rule: str) -> None:
    instance, other = await hotel.issue(editable=False), await hotel.issue()
    hidden = await form(client, f"/a/{instance.instance_id}?page={LAST}")
    if rule == "responses_max":
        await filled(client, hotel, other.instance_id)  # takes the only seat
    await close(hotel, instance.instance_id, rule)
    before = await hotel.instance(instance.instance_id)
    for path in PATHS:
        for go in ("next", "back", "send"):
            fields = {**hidden, hotel.name("nps"): "9", hotel.name("words"): "late", "go": go}
            answer = await client.post(hotel.url + path.format(instance.instance_id), data=fields)
            assert answer.status_code in {303, 404, 405, 410, 200}, path
            assert "late" not in answer.text
    assert {} == await hotel.answers(instance.instance_id)
    assert before == await hotel.instance(instance.instance_id)


WRONG: Final[tuple[tuple[str, Any, Any], ...]] = (
    ("grid", "clean", "9"), ("grid", "clean", "null"), ("order", 1, "1e0"), ("order", 9, "1"),
    ("nights", None, "NaN"), ("nights", None, "1e1"), ("nights", None, "0x10"), ("distance", None, "Infinity"),
    ("arrival", None, "0000-00-00"), ("arrival", None, "2026-13-01"), ("reached", "email", "a@b"),
    ("reached", "fax", "1"), ("agree", None, "on"),
    ("agree", None, "null"), ("csat", None, "6"), ("ces", None, "true"), ("mood", None, "4"), ("stars", None, "0"),
    ("one", None, "[1]"), ("some", None, ["1", "3"]), ("words", None, "x" * 301), ("thanks", None, "1"),
)  # fmt: skip


async def test_of_its_type(client: httpx2.AsyncClient, hotel: Shop) -> None:
    """A value that is no answer to its question is never stored, whatever else stands in the form."""
    for key, part, value in WRONG:
        instance = await hotel.issue()
        for page in range(1, LAST + 1):
            hidden = await form(client, f"/a/{instance.instance_id}?page={page}")
            await client.post(f"/a/{instance.instance_id}", data={**hidden, hotel.name(key, part): value, "go": "next"})
        assert key not in await hotel.answers(instance.instance_id), (part, value)


async def test_required_on_every_page(client: httpx2.AsyncClient, hotel: Shop) -> None:
    """Whoever goes straight to the end is led back to what is missing, however the required ones are left out."""
    instance = await hotel.issue()
    address = f"/a/{instance.instance_id}"
    hidden = await form(client, f"{address}?page={LAST}")
    for blank in (None, "", " ", "\u00a0", "\x00"):
        names = [hotel.name("agree"), hotel.name("nights"), hotel.name("grid", "clean"), hotel.name("order", 1)]
        fields: Fields = {} if blank is None else dict.fromkeys(names, blank)
        answer = await client.post(address, data={**hidden, **fields, "go": "send"})
        assert f"{address}?page=1&check=1" == answer.headers["location"]
    row = await hotel.instance(instance.instance_id)
    assert (False, None) == (row["finalized"], row["completed_time"])
    assert {} == await hotel.answers(instance.instance_id)


async def test_a_page_that_another_tab_skipped(client: httpx2.AsyncClient, hotel: Shop) -> None:
    """Its form goes on along the new way, and takes back none of the answers of the page before."""
    address = f"/a/{(await hotel.issue()).instance_id}"
    first, second = await form(client, f"{address}?page=1"), await form(client, f"{address}?page=2")
    rooms = {hotel.name("grid", "clean"): "4", hotel.name("grid", "breakfast"): "4", hotel.name("wide", "again"): "7"}
    await client.post(address, data={**first, **rooms, hotel.name("grid", "quiet"): "1", "go": "next"})
    kept = await hotel.answers(address.removeprefix("/a/"))
    assert {"grid", "wide"} == set(kept)
    for go, page in (("next", 3), ("back", 1)):
        answer = await client.post(address, data={**second, hotel.name("nights"): "3", "go": go})
        assert f"{address}?page={page}" == answer.headers["location"]
    assert kept == await hotel.answers(address.removeprefix("/a/"))


async def test_a_change_that_asks_for_more(client: httpx2.AsyncClient, hotel: Shop) -> None:
    """A sent response stays complete: a change that leads to new questions is stored together with their answers."""
    address = f"/a/{(await hotel.issue()).instance_id}"
    rooms = {hotel.name("grid", "clean"): "4", hotel.name("grid", "breakfast"): "4", hotel.name("grid", "quiet"): "1"}
    await client.post(address, data={**await form(client, f"{address}?page=1"), **rooms, "go": "next"})
    for page in (3, 4):
        fields = {**await form(client, f"{address}?page={page}"), hotel.name("agree"): "1", "go": "send"}
        answer = await client.post(address, data=fields)
    assert (303, address) == (answer.status_code, answer.headers["location"])
    kept = await hotel.answers(address.removeprefix("/a/"))
    rooms |= {hotel.name("grid", "quiet"): "4", hotel.name("wide", "again"): "7"}
    whole = await client.post(address, data={**await form(client, f"{address}?page=1"), **rooms, "go": "next"})
    assert 422 == whole.status_code
    assert kept == await hotel.answers(address.removeprefix("/a/"))
    fields = {**markup.read(whole.text).fields, **rooms, hotel.name("agree"): "1"}
    assert "one_page" == fields["layout"]
    more = {hotel.name("order", "2"): "1", hotel.name("nights"): "3", hotel.name("arrival"): "2026-05-01", "go": "send"}
    answer = await client.post(address, data={**fields, **more})
    assert (303, address) == (answer.status_code, answer.headers["location"])
    changed = await hotel.answers(address.removeprefix("/a/"))
    assert {"grid", "wide", "order", "nights", "arrival", "agree"} == set(changed)


async def test_another_instance_s_form(client: httpx2.AsyncClient, hotel: Shop) -> None:
    """A token opens the page of one instance, and no other."""
    one, other = await hotel.issue(), await hotel.issue()
    hidden = await form(client, f"/a/{one.instance_id}?page={LAST}")
    for fields in ({**hidden, "page": "3"}, hidden):
        answer = await client.post(f"/a/{other.instance_id}", data={**fields, hotel.name("nps"): "1", "go": "send"})
        assert 422 == answer.status_code
    assert {} == await hotel.answers(other.instance_id)


@pytest.mark.parametrize("version", ["/v3.2", "/v3.0", "/v3.2/", "//v3.1//"])
async def test_an_update_answers_nothing(client: httpx2.AsyncClient, hotel: Shop, token: str, version: str) -> None:
    """PATCH neither completes nor answers nor reopens: what it does not know and may not set, it leaves alone."""
    instance = await hotel.issue(editable=False)
    path = f"{hotel.url}{version}/q/instance/{instance.instance_id}"
    question_id = hotel.question_id("nps")
    time = "2026-11-21T18:23:45+02:00"
    body = {
        "finalized": True, "completed_time": time, "submitted_time": time,
        "viewed_time": None, "answers": [{"question_id": question_id, "value": 9}], f"q_{question_id}": 9,
        "question_ids": "", "values": {question_id: 9},
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    answer = await client.patch(path, json=body, headers=headers)
    assert 200 == answer.status_code
    assert (False, None, None) == tuple(
        answer.json()[name] for name in ("finalized", "completed_time", "submitted_time")
    )
    assert {} == await hotel.answers(instance.instance_id)
    await close(hotel, instance.instance_id, "finalized")
    reopened = await client.patch(path, json={"finalized": False, "completed_time": None}, headers=headers)
    assert reopened.json()["finalized"]


async def test_completed_once_by_fifty_of_every_path(client: httpx2.AsyncClient, hotel: Shop) -> None:
    """Fifty at once, from both of its addresses, with both buttons: one completes, all others find it done."""
    instance = await hotel.issue(editable=False)
    address = f"/a/{instance.instance_id}"
    await filled(client, hotel, instance.instance_id)
    hidden = await form(client, f"{address}?page={LAST}")
    end = markup.read((await client.get(f"{address}?page={LAST + 1}")).text).fields
    forms = [{**hidden, hotel.name("nps"): "9", "go": "send"}, {**end, "go": "send"}]
    answers = await asyncio.gather(*(client.post(address, data=forms[number % 2]) for number in range(50)))
    assert {303} == {answer.status_code for answer in answers}
    assert 1 == await count_events(hotel, instance.instance_id, "questionnaire_instance.completed")
    assert (await hotel.instance(instance.instance_id))["finalized"]
    assert (await hotel.answers(instance.instance_id)).get("nps") in {9, None}
