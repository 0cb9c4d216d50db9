"""Starts on public links: which addresses are one, who may continue, and the statements that a page takes."""

import httpx2

from afterword.asking.instances.starts import BEGUN_PURPOSE
from afterword.core.answers.values import field_name
from tests.asking.instances.conftest import NPS, SINGLE, Shop
from tests.browser import markup


async def test_no_link(shop: Shop) -> None:
    link = f"/p/{shop.world.questionnaire_id}"
    for reference in ("a" * 101, "a%20b", "a%2Fb", "%C3%A9"):
        assert 404 == (await shop.http.get(f"{link}/ref/{reference}")).status_code
    for columns in ({"public_link": False}, {"public_link": True, "published_version_id": None}):
        await shop.world.set_questionnaire(**columns)
        assert 404 == (await shop.http.get(link)).status_code


async def test_only_who_started_it_goes_on(shop: Shop) -> None:
    address = f"/p/{shop.world.questionnaire_id}/ref/order-17"
    page = await get(shop, address)
    begun = await post(shop, address, **page, **{field_name(NPS): "3", "go": "next"})
    cookie = begun.headers["set-cookie"]
    assert cookie.startswith(f"{BEGUN_PURPOSE}=")
    assert "HttpOnly" in cookie
    assert "Secure" in cookie

    proof = {"Cookie": cookie.partition(";")[0]}
    shop.http.cookies = httpx2.Cookies()
    ours = await shop.http.get(address, headers=proof)
    theirs = await shop.http.get(address)
    assert field_name(NPS) not in theirs.text
    assert "<form" in ours.text
    assert ours.text != theirs.text


async def get(shop: Shop, address: str) -> dict[str, str]:
    response = await shop.http.get(address)
    assert 200 == response.status_code, response.text
    return markup.read(response.text).fields


async def post(shop: Shop, address: str, **fields: str) -> httpx2.Response:
    response = await shop.http.post(address, data=fields)
    assert 303 == response.status_code, response.text
    return response


async def test_answer_page(shop: Shop, statements: list[str]) -> None:
    """Instance, questionnaire with its surroundings, answers; then answers, progress, events and the credit."""
    address = f"/a/{(await shop.issue())['instance_id']}"
    await get(shop, address)  # the version and the declared names are kept from now on
    statements.clear()

    first = await get(shop, address)
    assert 3 == len(statements)

    statements.clear()
    await post(shop, address, **first, **{field_name(NPS): "3", "go": "next"})
    assert 3 + 3 + 1 == len(statements)

    second = await get(shop, f"{address}?page=2")
    statements.clear()
    await post(shop, address, **second, **{field_name(SINGLE): "1", "go": "send"})
    assert 3 + 3 + 2 == len(statements)  # and the progress and the event of the completion


async def test_public_link(shop: Shop, statements: list[str]) -> None:
    address = f"/p/{shop.world.questionnaire_id}"
    await get(shop, address)
    statements.clear()

    page = await get(shop, address)
    assert 2 == len(statements)  # the questionnaire with its surroundings, the credits

    statements.clear()
    await post(shop, address, **page, **{field_name(NPS): "3", "go": "next"})
    # Those two; the lock on this form, the instance that it may have issued, the responder with its event, the instance
    # with its event; answers, progress, events, the credit.
    assert 2 + 2 + 2 + 1 + 4 == len(statements)
