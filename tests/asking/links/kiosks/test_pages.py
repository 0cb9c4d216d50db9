"""Kiosk mode: what is kept of a person who walks away, posts that arrive late or twice, and the PIN to leave."""

import html
from typing import Any

from afterword.core.answers.values import field_name
from afterword.kit import db
from tests.asking.instances.conftest import NPS, PUBLIC_URL, SINGLE, Shop
from tests.asking.instances.test_starts import get, post
from tests.asking.links.test_public_links import codes, made
from tests.browser import markup


async def kiosk(shop: Shop, **members: object) -> tuple[str, str]:
    """The path of the kiosk of a new link, and the link's id."""
    link = await made(shop, kiosk={"idle_seconds": 30}, locale="en", **members)
    return link["url"].removeprefix(PUBLIC_URL) + "/kiosk", link["link_id"]


async def counts(shop: Shop) -> tuple[int, int, int]:
    """All instances, those with an answer, and those that are complete."""
    async with db.connection(shop.world.pool) as database:
        row = await database.fetch_one(
            "select count(*), count(submitted_time), count(completed_time) from questionnaire_instance"
        )
    return row[0], row[1], row[2]


async def test_settings(shop: Shop) -> None:
    """Nobody reads the PIN again, in the database and its log neither."""
    path = f"/q/questionnaire/{shop.world.questionnaire_id}/link"
    for wrong, pointer in (
        ({"kiosk": {"idle_seconds": 5}}, "/kiosk/idle_seconds"),
        ({"kiosk": {"layout": "by_group"}}, "/kiosk/layout"),
        ({"kiosk_pin": "12a4"}, "/kiosk_pin"),
        ({"kiosk": {}, "one_response_per": "browser"}, "/one_response_per"),
    ):
        assert [pointer] == [one for one, _ in codes(await shop.post(path, {"title": "x", **wrong}))]
    link = await made(shop, kiosk={"thanks_seconds": 5}, kiosk_pin="471147")
    kiosk = {"idle_seconds": 60, "thanks_seconds": 5, "layout": "by_question"}
    assert (kiosk, True) == (link["kiosk"], link["has_kiosk_pin"])
    assert "kiosk_pin" not in link
    async with db.connection(shop.world.pool) as database:
        kept = await database.fetch_value("select kiosk_pin_hash from public_link")
        logged = "\n".join(row["text"] for row in await database.fetch("select a::text as text from audit_entry a"))
    assert "471147" not in kept + logged
    assert kept not in logged
    one = f"/q/link/{link['link_id']}"
    assert not (await shop.patch(one, {"kiosk_pin": None, "kiosk": None})).json()["has_kiosk_pin"]
    for gone in ("", "/leave", f"/{'0' * 22}"):
        assert 404 == (await shop.http.get(f"{link['url'].removeprefix(PUBLIC_URL)}/kiosk{gone}")).status_code


async def test_kept_delivered_and_sent(shop: Shop) -> None:
    """One form makes an instance for each person; a post that comes twice makes none more."""
    path, _ = await kiosk(shop)
    page = await get(shop, path)
    assert "one_page" == page["layout"]  # it works without a connection, so the script alone shows it in steps
    base = page["start"]
    begun = {**page, "start": f"{base}.1", field_name(NPS): "3", "go": "keep"}
    for _ in range(2):
        where = (await post(shop, path, **begun)).headers["location"]
    assert where.startswith(f"{path}/")
    assert (1, 1, 0) == await counts(shop)
    whole = {**page, field_name(NPS): "9", field_name(SINGLE): "1", "go": "deliver"}
    for number in (2, 3, 2, 3):
        await post(shop, path, **{**whole, "start": f"{base}.{number}"})
    assert (3, 3, 2) == await counts(shop)
    without = {**page, "start": f"{base}.4", "go": "deliver", field_name(NPS): "5"}  # no answer to a required question
    await post(shop, path, **without)
    assert (4, 4, 2) == await counts(shop)
    forged = await shop.http.post(path, data={**whole, "start": "another.1"})
    assert 422 == forged.status_code
    shown = await shop.http.post(path, data={**page, "start": f"{base}.5", field_name(NPS): "5", "go": "send"})
    assert (422, (5, 5, 2)) == (shown.status_code, await counts(shop))
    rest = markup.read(shown.text)
    done = await post(
        shop, rest.data["action"], **rest.fields, **{field_name(NPS): "5", field_name(SINGLE): "1", "go": "send"}
    )
    thanks = await shop.http.get(done.headers["location"])
    assert (5, 5, 3) == await counts(shop)
    assert f'content="10;url={path}"' in html.unescape(thanks.text)
    assert {path} == {
        url for url in markup.read(thanks.text).links if url.startswith("/") and "/static/" not in url
    } - {f"{path}/leave"}
    mailed = (await shop.issue())["instance_id"]
    assert 404 == (await shop.http.get(f"{path}/{mailed}")).status_code


async def test_steps(shop: Shop) -> None:
    """The script turns the page into a start screen and a step for each question, unless the link wants one page."""
    for members, is_stepped in (({}, True), ({"layout": "one_page"}, False)):
        path = (await made(shop, kiosk=members, locale="en"))["url"].removeprefix(PUBLIC_URL) + "/kiosk"
        assert is_stepped == ('data-start="Start"' in (await shop.http.get(path)).text)


async def test_a_kiosk_from_before_layouts(shop: Shop) -> None:
    path, link_id = await kiosk(shop)
    async with db.transaction(shop.world.pool) as database:
        await database.execute("update public_link set kiosk = kiosk - 'layout' where link_id = $1", link_id)
    assert 'data-start="Start"' in (await shop.http.get(path)).text


async def test_leave(shop: Shop) -> None:
    path, link_id = await kiosk(shop, kiosk_pin="4711")
    for pin, status in (("", 422), ("47110", 422), ("4711", 200)):
        left = await shop.http.post(f"{path}/leave", data={"pin": pin})
        assert (status, status == 200) == (left.status_code, "data-left" in left.text)
    tries = [(await shop.http.post(f"{path}/leave", data={"pin": "1"})).status_code for _ in range(61)]
    assert 429 == tries[-1]
    transport: Any = shop.http._transport
    transport.client = ("203.0.113.7", 1)  # those of strangers keep nobody here
    assert 200 == (await shop.http.post(f"{path}/leave", data={"pin": "4711"})).status_code
    many = [(await shop.http.post(f"{path}/leave", data={"pin": "4711"})).status_code for _ in range(61)]
    assert {200} == set(many)  # right ones are not counted
    await shop.patch(f"/q/link/{link_id}", {"kiosk_pin": None})
    other, _ = await kiosk(shop)
    assert "data-left" in (await shop.http.post(f"{other}/leave")).text


async def test_worker(shop: Shop) -> None:
    """It may keep the pages of its own kiosk, and of nothing else."""
    path, _ = await kiosk(shop)
    link = (await made(shop))["url"].removeprefix(PUBLIC_URL)
    assert 404 == (await shop.http.get(f"{link}/kiosk/worker")).status_code
    served = await shop.http.get(f"{path}/worker")
    assert (200, path, "no-cache") == (
        served.status_code, served.headers["service-worker-allowed"], served.headers["cache-control"],
    )  # fmt: skip
    assert "default-src 'none'; connect-src 'self'" == served.headers["content-security-policy"]
    direct = await shop.http.get("/static/public/kiosk_worker.js")
    assert "service-worker-allowed" not in direct.headers
