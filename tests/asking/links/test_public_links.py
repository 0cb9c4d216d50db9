"""Public links over the API: who may, what is refused, and what each response then says of its link."""

from typing import Any

import httpx2

from tests.asking.instances.conftest import Shop


def path(shop: Shop) -> str:
    return f"/q/questionnaire/{shop.world.questionnaire_id}/link"


def codes(response: httpx2.Response) -> list[tuple[str, str]]:
    return [(one["pointer"], one["code"]) for one in response.json()["errors"]]


async def made(shop: Shop, **members: Any) -> dict[str, Any]:
    response = await shop.post(path(shop), {"title": "Poster", **members})
    assert 201 == response.status_code, response.text
    return response.json()


async def test_wrong(shop: Shop) -> None:
    day = {"opens_time": "2026-12-02T09:00:00+02:00", "closes_time": "2026-12-01T09:00:00+02:00"}
    assert [("/closes_time", "out_of_range")] == codes(await shop.post(path(shop), {"title": "x", **day}))
    both = {"title": "x", "takes_reference": True, "one_response_per": "browser"}
    assert [("/one_response_per", "exclusive")] == codes(await shop.post(path(shop), both))
    link = await made(shop, takes_reference=True)
    changed = await shop.patch(f"/q/link/{link['link_id']}", {"one_response_per": "address"})
    assert [("/one_response_per", "exclusive")] == codes(changed)


async def test_made_changed_and_removed(shop: Shop) -> None:
    link = await made(shop, metadata={"store_id": 7, "till": ""}, parameters=["transaction_id"], responses_max=5)
    assert link["url"].startswith("https://answers.example/l/")
    assert ({"store_id": "7"}, "open", 0) == (link["metadata"], link["state"], link["responses_count"])
    one = f"/q/link/{link['link_id']}"
    read = await shop.get(one)
    assert link == read.json()
    changed = await shop.patch(
        one, {"active": False, "responses_max": None}, headers={"If-Match": read.headers["etag"]}
    )
    assert ("off", None, link["url"]) == tuple(changed.json()[name] for name in ("state", "responses_max", "url"))
    assert 412 == (await shop.patch(one, {"title": "x"}, headers={"If-Match": read.headers["etag"]})).status_code
    for list_path in (path(shop), "/q/link"):
        listed = (await shop.get(f"{list_path}?filter_by[EQUAL][Title]=Poster")).json()["results"]
        assert [changed.json()] == listed
    assert 204 == (await shop.delete(one)).status_code
    assert 404 == (await shop.get(one)).status_code


async def test_qr(shop: Shop) -> None:
    path = f"/q/link/{(await made(shop))['link_id']}/qr"
    assert 422 == (await shop.get(f"{path}?format=gif")).status_code
    drawn, picture = await shop.get(path), await shop.get(f"{path}?format=png&pixels=300")
    assert ("image/svg+xml", True) == (drawn.headers["content-type"], b"<svg" in drawn.content)
    assert ("image/png", b"\x89PNG") == (picture.headers["content-type"], picture.content[:4])
    assert int.from_bytes(picture.content[16:20], "big") <= 300
