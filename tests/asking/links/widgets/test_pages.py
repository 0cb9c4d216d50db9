"""The box on websites: who may frame which page, and an answer that needs no cookie."""

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


async def test_settings(shop: Shop) -> None:
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
