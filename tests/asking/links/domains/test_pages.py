"""The pages on an organization's host: its own and no other, with the addresses that lead there."""

import re
from urllib.parse import urlsplit

import httpx2

from afterword.core.answers.values import field_name
from afterword.kit import db
from afterword.tenants import mails
from afterword.tenants.mails import compose
from tests.asking.instances.conftest import NPS, Shop
from tests.asking.links.domains.conftest import HOST, Place
from tests.asking.links.test_public_links import made
from tests.browser import markup
from tests.conftest import settled
from tests.tenants.organizations.test_assets import picture

OTHERS = ("/", "/console", "/console/login", "/docs", "/openapi.json", "/v3.2/q/questionnaire", "/oauth/token",
          "/metrics", "/inbound/x", "/preview/x", "/static/console/console.css", "/problems/invalid")  # fmt: skip


async def test_only_its_own_pages(place: Place) -> None:
    """Pages of another organization are not found there, as those of nobody; its health is told."""
    await place.active(place.shop)
    theirs = await _own_pages(place.other)
    mine = await _own_pages(place.shop)
    for path in OTHERS:
        assert 404 == (await place.at(HOST, path, headers=_bearer(place.shop))).status_code, path
    for path in ("/healthz", "/readyz", "/static/public/box.js", "/theme/x.css"):
        ours = await place.at("answers.example", path)
        assert ours.status_code == (await place.at(HOST.upper() + ":443", path)).status_code, path
    for path, foreign in zip(mine, theirs, strict=True):
        assert (await place.at(HOST, path)).status_code in {200, 302}, path
        unknown = re.sub(r"(?<=/)[^/]{8,}", lambda match: "z" * len(match[0]), foreign, count=1)
        found, absent = [await place.at(HOST, each) for each in (foreign, unknown)]
        assert (404, 404) == (found.status_code, absent.status_code), foreign
        assert _without_id(absent) == _without_id(found)
        posted, absent = [await place.at(HOST, each, "POST") for each in (foreign, unknown)]
        assert posted.status_code == absent.status_code >= 404, foreign
        for host in ("answers.example", "unknown.example"):
            assert (await place.at(host, foreign)).status_code in {200, 302}, foreign


async def test_answers_and_links(place: Place) -> None:
    """Somebody answers there; what is told of it names the host, and the address of before works on."""
    shop = place.shop
    before = await shop.issue()
    await place.active(shop)
    ours = place.site.url_of(HOST)
    issued = await shop.issue()
    assert issued["collection_url"].startswith(f"{ours}/a/")
    assert issued["collection_url_short"].startswith(f"{ours}/s/")
    link = await made(shop, one_response_per="browser", locale="en", box={"delay_seconds": 5})
    assert link["url"].startswith(f"{ours}/l/")
    path = link["url"].removeprefix(ours)
    page = await place.at(HOST, path)
    assert "form-action 'self'" in page.headers["content-security-policy"]
    sent = {**markup.read(page.text).fields, field_name(NPS): "3", "go": "next"}
    posted = await place.at(HOST, path, "POST", data=sent, headers={"Origin": ours})
    assert (303, True) == (posted.status_code, posted.headers["location"].startswith("/a/"))
    assert f"Path={path}" in posted.headers["set-cookie"]
    assert "domain" not in posted.headers["set-cookie"].lower()
    assert 200 == (await place.at(HOST, posted.headers["location"])).status_code
    for url in (before["collection_url"], before["collection_url_short"]):
        assert (await place.at("answers.example", url.removeprefix(place.site.public_url))).status_code in {200, 302}
    await settled(shop.world.pool)
    told = (await shop.get("/event?limit=50")).json()["results"]
    assert issued["collection_url"] in str(told)


async def test_mail_that_confirms(place: Place) -> None:
    await place.active(place.shop)
    link = await made(place.shop, one_response_per="address", locale="en")
    path = link["url"].removeprefix(place.site.url_of(HOST))
    fields = markup.read((await place.at(HOST, path)).text).fields
    assert 200 == (await place.at(HOST, path, "POST", data={**fields, "email": "ann@example.com"})).status_code
    async with db.transaction(place.shop.world.pool) as database:
        now = database.clock.now()
        [mail] = await mails.claim_mails(database, now=now, limit=9)
    message = compose(mail, recipient="ann@example.com", sender="a@example.com", site=place.site, now=now)
    assert f"{link['url']}?by=" in message.text


def _without_id(response: httpx2.Response) -> str:
    return response.text.replace(response.headers["x-request-id"], "")


def _bearer(shop: Shop) -> dict[str, str]:
    return {"Authorization": f"Bearer {shop.token}"}


async def _own_pages(shop: Shop) -> list[str]:
    """The path of a page of each kind."""
    issued, link = await shop.issue(), await made(shop)
    headers = {"Content-Type": "image/png"}
    uploaded = await shop.send("POST", "/asset", content=picture(), headers=headers)
    async with db.transaction(shop.world.pool) as database:
        unsubscribe_id = await database.fetch_value(
            """insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
                 unsubscribe_id)
               select organization_id, 1, '\\x00', responder_id, 'ann@example.com', left(organization_id, 11) || $2
               from responder where organization_id = $1 limit 1 returning unsubscribe_id""",
            *(shop.world.caller.organization_id, "u" * 11),
        )
    urls = [issued["collection_url"], issued["collection_url_short"], link["url"], uploaded.json()["url"]]
    return [*(urlsplit(url).path for url in urls), f"/u/{unsubscribe_id}", f"/p/{shop.world.questionnaire_id}"]
