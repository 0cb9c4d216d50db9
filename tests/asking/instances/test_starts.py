"""Starts on public links: which addresses are one, and who may continue by a reference that others guess."""

import httpx2
import pytest

from afterword.asking.instances.starts import BEGUN_PURPOSE
from afterword.core.answers.values import field_name
from tests.asking.instances.conftest import NPS, Shop
from tests.asking.instances.test_statements import get, post


@pytest.mark.parametrize("reference", ["a" * 101, "a%20b", "a%2Fb", "%C3%A9"])
async def test_no_reference(shop: Shop, reference: str) -> None:
    assert 404 == (await shop.http.get(f"/p/{shop.world.questionnaire_id}/ref/{reference}")).status_code


@pytest.mark.parametrize("columns", [{"public_link": False}, {"published_version_id": None}])
async def test_no_link(shop: Shop, columns: dict[str, object]) -> None:
    await shop.world.set_questionnaire(**columns)
    assert 404 == (await shop.http.get(f"/p/{shop.world.questionnaire_id}")).status_code


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
