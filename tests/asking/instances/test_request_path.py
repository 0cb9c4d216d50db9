"""The length of a write's path: a request calls functions of few files of this package."""

import pytest

from afterword.core.answers.values import field_name
from tests.asking.instances.conftest import NPS, SINGLE, Shop
from tests.browser import markup
from tests.request_path import WRITE_FILES_MAX, crossing


@pytest.fixture
async def instance_id(shop: Shop) -> str:
    return (await shop.issue())["instance_id"]


async def fields(shop: Shop, address: str) -> dict[str, str]:
    return markup.read((await shop.http.get(address)).text).fields


async def test_instance(shop: Shop, instance_id: str) -> None:
    http, address = shop.http, f"/v3.2/q/instance/{instance_id}"
    http.headers["Authorization"] = f"Bearer {shop.token}"
    await crossing("asking/instances", http, "POST", f"/v3.2{shop.instances}", json={}, status=201)
    await crossing("asking/instances", http, "POST", f"{address}/tag", json={"tag": "vip"}, status=201)
    await crossing("asking/instances", http, "PATCH", address, json={"valid_days": 3})
    await crossing("asking/instances", http, "DELETE", address, status=204)


async def test_answers(shop: Shop, instance_id: str) -> None:
    address = f"/a/{instance_id}"
    first = {**await fields(shop, address), field_name(NPS): "3", "go": "next"}
    await crossing("asking/instances", shop.http, "POST", address, data=first, status=303)
    last = {**await fields(shop, f"{address}?page=2"), field_name(SINGLE): "1", "go": "send"}
    await crossing("asking/instances", shop.http, "POST", address, data=last, status=303)


async def test_public_link(shop: Shop) -> None:
    """Two writes: the part that issues the instance and the one that saves answers; the start has an own file."""
    address = f"/p/{shop.world.questionnaire_id}"
    first = {**await fields(shop, address), field_name(NPS): "3", "go": "next"}
    await crossing(
        "asking/instances", shop.http, "POST", address, data=first, status=303, files_max=WRITE_FILES_MAX + 3
    )
