"""The answer page's cost in SQL statements: each thing is read once per request."""

import httpx2

from afterword.core.answers.values import field_name
from tests.asking.instances.conftest import NPS, SINGLE, Shop
from tests.browser import markup


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
