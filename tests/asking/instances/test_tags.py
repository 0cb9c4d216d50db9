"""Tags on instances: who may put them there, how they are written, what is told."""

import asyncio
from urllib.parse import quote

import pytest

from tests.asking.instances.conftest import Shop
from tests.asking.instances.test_api import codes


async def tags_of(shop: Shop, instance_id: str) -> list[str]:
    response = await shop.get(f"/q/instance/{instance_id}/tag")
    assert 200 == response.status_code, response.text
    return [tag["tag"] for tag in response.json()]


@pytest.fixture
async def instance_id(shop: Shop) -> str:
    return (await shop.issue())["instance_id"]


class TestRefusals:
    async def test_no_tag(self, shop: Shop, instance_id: str) -> None:
        """The fifty-first is refused too."""
        path = f"/q/instance/{instance_id}/tag"
        for tag, code in (("  ", "too_short"), ("a/b", "invalid_format"), ("..", "invalid_format")):
            response = await shop.post(path, {"tag": tag})
            assert (422, [("/tag", code)]) == (response.status_code, codes(response))
        for number in range(50):
            assert 201 == (await shop.post(path, {"tag": f"t{number}"})).status_code

        refused = await shop.post(path, {"tag": "one more"})

        assert (422, "too_many") == (refused.status_code, codes(refused)[0][1])
        assert 201 == (await shop.post(path, {"tag": "t7"})).status_code
        assert 50 == len(await tags_of(shop, instance_id))


class TestAdd:
    async def test_ok(self, shop: Shop, instance_id: str) -> None:
        response = await shop.post(f"/q/instance/{instance_id}/tag", {"tag": "  Call   BACK "})

        assert 201 == response.status_code
        assert response.headers["location"].endswith(f"/q/instance/{instance_id}/tag/call%20back")
        body = response.json()
        assert {"instance_id", "tag", "created_time", "created_by"} == set(body)
        assert (instance_id, "call back") == (body["instance_id"], body["tag"])
        assert ["call back"] == await tags_of(shop, instance_id)
        again = await shop.post(f"/q/instance/{instance_id}/tag", {"tag": "CALL back"})  # changes nothing
        assert (201, body) == (again.status_code, again.json())
        assert ["tag.added"] == [name for name in await shop.world.news(instance_id) if name.startswith("tag.")]

    async def test_at_the_same_moment(self, shop: Shop, instance_id: str) -> None:
        path = f"/q/instance/{instance_id}/tag"
        answers = await asyncio.gather(*(shop.post(path, {"tag": "vip"}) for _ in range(4)))

        assert [201] * 4 == [answer.status_code for answer in answers]
        assert ["tag.added"] == [name for name in await shop.world.news(instance_id) if name.startswith("tag.")]


class TestRemove:
    async def test_ok(self, shop: Shop, instance_id: str) -> None:
        path = f"/q/instance/{instance_id}/tag"
        for tag in ("vip", "επείγον; 100 %"):
            await shop.post(path, {"tag": tag})

        assert 204 == (await shop.delete(f"{path}/{quote('Επείγον; 100 %')}")).status_code

        assert ["vip"] == await tags_of(shop, instance_id)
        told = [event for event in await shop.world.events(instance_id) if event.type == "tag.removed"]
        assert ["επείγον; 100 %"] == [event.data["tag"] for event in told]
