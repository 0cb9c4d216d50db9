"""A link in a box on websites, and in kiosk mode: who may frame which page, and what a person leaves behind."""

import html
from typing import Any

import httpx2

from afterword import ids
from afterword.asking.instances.call_backs import PURPOSE
from afterword.core.answers.suspicion import token_of
from afterword.core.answers.values import field_name
from afterword.kit import db
from afterword.kit.web.html import CONTENT_SECURITY_POLICY
from tests.asking.instances.conftest import NPS, PUBLIC_URL, SINGLE, Shop
from tests.asking.instances.test_starts import get, post
from tests.asking.links.test_public_links import codes, made
from tests.browser import markup
from tests.conftest import SITE as PAGES

SITE = "https://shop.example"


async def box(shop: Shop, *websites: str, **members: Any) -> tuple[str, dict[str, Any]]:
    """The path of the box of a new link, and the link."""
    async with db.transaction(shop.world.pool) as database:
        await database.execute("update application set website_urls = $1", list(websites))
    found = await made(shop, **{"box": {"delay_seconds": 5}, "locale": "en", **members})
    return found["url"].removeprefix(PUBLIC_URL) + "/box", found


def framers(response: httpx2.Response) -> str:
    return response.headers["content-security-policy"].rpartition("frame-ancestors ")[2]


async def test_settings_of_a_box(shop: Shop) -> None:
    """Refused in the API, kept as a whole, and told to listed websites alone while somebody may answer."""
    for wrong, at in (
        ({"share_percent": 0}, "share_percent"),
        ({"position": "top"}, "position"),
        ({"scroll_percent": 101}, "scroll_percent"),
    ):
        refused = await shop.post(f"/q/questionnaire/{shop.world.questionnaire_id}/link", {"title": "x", "box": wrong})
        assert [f"/box/{at}"] == [pointer for pointer, _ in codes(refused)]
    path, link = await box(shop, f"{SITE}/shop")
    assert (5, 30, "corner") == tuple(link["box"][name] for name in ("delay_seconds", "again_days", "position"))
    settings = f"{path}/settings?lang=de"
    told = await shop.http.get(settings, headers={"Origin": SITE})
    assert (200, SITE) == (told.status_code, told.headers["access-control-allow-origin"])
    assert {**link["box"], "once": False, "collapsed": False, "close": "Close"}.items() <= told.json().items()
    one = f"/q/link/{link['link_id']}"
    for origin, changes in (
        ("https://other.example", {}),
        (SITE, {"active": False}),
        (SITE, {"active": True, "box": None}),
    ):
        await shop.patch(one, changes)
        unknown = await shop.http.get(settings, headers={"Origin": origin})
        assert (404, False) == (unknown.status_code, "access-control-allow-origin" in unknown.headers)
    for gone in (path, f"{path}/{'0' * 22}"):
        assert 404 == (await shop.http.get(gone)).status_code
    assert (await shop.get(one)).json()["box"] is None


async def test_framed_by_websites_alone(shop: Shop) -> None:
    path, link = await box(shop, f"{SITE}/shop", "http://localhost:8080", "https://bad host;")
    assert f"{SITE} http://localhost:8080" == framers(await shop.http.get(path))
    shop.http.cookies = httpx2.Cookies()
    began = await post(shop, path, **await get(shop, path), **{field_name(NPS): "3", "go": "next"})
    assert "set-cookie" not in began.headers
    second = began.headers["location"]
    assert second.startswith(f"{path}/")
    page = await shop.http.get(second)
    assert (f"{SITE} http://localhost:8080", True) == (
        framers(page),
        f'action="{second.partition("?")[0]}"' in html.unescape(page.text),
    )
    assert 'class="brand"' not in page.text
    missed = await shop.http.post(second.partition("?")[0], data={**await get(shop, second), "go": "send"})
    assert SITE in framers(missed)
    await post(shop, second.partition("?")[0], **await get(shop, second), **{field_name(SINGLE): "1", "go": "send"})
    assert "data-done" in (await shop.http.get(second.partition("?")[0])).text
    own = token_of(PAGES.secret, PURPOSE, second.partition("?")[0].rpartition("/")[2])
    assert SITE in framers(await shop.http.post(f"{second.partition('?')[0]}/call", data={"token": own}))
    plain = second.replace(path, "/a")
    mailed = (await shop.issue())["instance_id"]
    for other in (plain, link["url"].removeprefix(PUBLIC_URL), f"/a/{mailed}"):
        assert "'none'" == framers(await shop.http.get(other))
    assert 404 == (await shop.http.get(f"{path}/{mailed}")).status_code  # no instance of this link
    assert CONTENT_SECURITY_POLICY == (await shop.http.get(f"{path}/{mailed}")).headers["content-security-policy"]
    nowhere, _ = await box(shop)
    assert "'none'" == framers(await shop.http.get(nowhere))


async def test_questions_shown_first(shop: Shop) -> None:
    """Others are unfolded, and stand open once one of them has an error; the page itself shows all."""
    path, link = await box(shop, SITE)
    async with db.transaction(shop.world.pool) as database:
        await database.execute(
            """insert into questionnaire_visual
                 (organization_id, visual_id, questionnaire_id, title, active, configuration)
               values ($1, $2, $3, 'Ours', true, '{"layout": "one_page"}')""",
            *(shop.world.caller.organization_id, ids.ordered(database.clock.now()), shop.world.questionnaire_id),
        )
    for count, has_others in ((1, True), (0, False), (200, False)):
        await shop.world.set_questionnaire(non_collapsed_questions_count=count, desktop_collapsed=True)
        page = await shop.http.get(path)
        assert has_others == ("<summary>More questions" in page.text)
    await shop.world.set_questionnaire(non_collapsed_questions_count=1)
    assert "<summary>" not in (await shop.http.get(link["url"].removeprefix(PUBLIC_URL))).text
    wrong = await shop.http.post(path, data={**await get(shop, path), "go": "send"})
    assert (422, True) == (wrong.status_code, '<details class="others" open>' in wrong.text)
    told = await shop.http.get(f"{path}/settings", headers={"Origin": SITE})
    assert told.json()["collapsed"]


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


async def test_settings_of_a_kiosk(shop: Shop) -> None:
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
