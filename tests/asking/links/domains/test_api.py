"""Custom domains over the API: who may, which hosts, what proves one, and that one organization holds it."""

from datetime import timedelta

import pytest

from afterword.asking.links import domains
from afterword.kit import db
from afterword.run.worker.jobs import DomainChecks
from tests.asking.links.domains.conftest import HOST, Place


async def test_refused(place: Place) -> None:
    shop, path = place.shop, place.path(place.shop)
    assert 404 == (await shop.get(path)).status_code
    assert 404 == (await shop.send("POST", f"{path}/check")).status_code


async def test_hosts(place: Place) -> None:
    shop, path = place.shop, place.path(place.shop)
    for host in ("answers.example", "ask.shop.example/a", "127.0.0.1"):
        refused = await shop.send("PUT", path, json={"host": host})
        assert (422, "/host") == (refused.status_code, refused.json()["errors"][0]["pointer"]), host
    assert HOST == (await place.claimed(shop, "https://Ask.Shop.example./"))["host"]
    found = await place.claimed(shop, "ερωτήσεις.example")
    assert found["host"].startswith("xn--")
    assert ("pending", "answers.example") == (found["state"], found["target"])


async def test_proven_reached_lost_and_back(place: Place) -> None:
    """Links have the host from the first call to it, and ours again once its record is gone."""
    shop = place.shop
    domain = await place.claimed(shop)
    questionnaire = f"/q/questionnaire/{shop.world.questionnaire_id}"

    async def link() -> str:
        return (
            (await shop.get(questionnaire)).json()["public_link_url"].removesuffix(f"/p/{shop.world.questionnaire_id}")
        )

    assert ("pending", "record_missing") == _state(await place.checked(shop))
    assert 404 == (await place.at("x.example", f"/domains/ask?domain={HOST}")).status_code
    place.publish(domain)
    assert ("proven", "not_reached") == _state(await place.checked(shop))  # nobody listens behind the port
    assert 200 == (await place.at("x.example", f"/domains/ask?domain={HOST}")).status_code
    assert place.site.public_url == await link()
    async with db.connection(shop.world.pool) as database:
        claimed = await domains.get_domain(database, organization_id=shop.world.caller.organization_id)
    assert claimed is not None
    reach = domains.reach_url(claimed, site=place.site).removeprefix(place.site.url_of(HOST))
    for host, path in (("x.example", reach), (HOST, f"{reach[:-1]}-")):
        assert 404 == (await place.at(host, path)).status_code
    async with place.open():
        assert ("active", None) == _state(await place.checked(shop))
    assert place.site.url_of(HOST) == await link()
    place.records.clear()
    await _worker(place, hours=7)
    assert ("lost", "record_missing") == _state((await shop.get(place.path(shop))).json())
    assert 404 == (await place.at("x.example", f"/domains/ask?domain={HOST}")).status_code
    assert place.site.public_url == await link()
    place.publish(domain)
    async with place.open():
        assert ("active", None) == _state(await place.checked(shop))
    assert 204 == (await shop.delete(place.path(shop))).status_code
    await domains.refresh(shop.world.pool, site=place.site)
    assert place.site.public_url == await link()


async def test_no_name_server_changes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = await place.active(place.shop)
    monkeypatch.setattr(domains, "ASK_SECONDS_MAX", 0.1)
    object.__setattr__(place.site, "name_servers", (("127.0.0.1", 9),))
    after = await place.checked(place.shop)
    assert ("active", "not_asked") == _state(after)
    assert before["proven_time"] == after["proven_time"]


async def test_takeover(place: Place) -> None:
    """A host that points here proves nothing: each organization has a record of its own, and one of them holds it."""
    mine = await place.active(place.shop)
    theirs = await place.claimed(place.other)
    assert mine["record_value"] != theirs["record_value"]
    async with place.open():
        assert ("pending", "record_missing") == _state(await place.checked(place.other))
        place.publish(theirs)
        assert ("pending", "in_use") == _state(await place.checked(place.other))
        assert "active" == (await place.checked(place.shop))["state"]
        place.records[mine["record_name"]].remove(mine["record_value"])  # the host has a new owner
        assert ("active", None) == _state(await place.checked(place.other))
        assert ("lost", "record_missing") == _state(await place.checked(place.shop))
        place.publish(mine)
        assert ("lost", "in_use") == _state(await place.checked(place.shop))


async def test_another_host_begins_anew(place: Place) -> None:
    domain = await place.active(place.shop)
    kept = await place.shop.send("PUT", place.path(place.shop), json={"host": HOST}, headers={"If-Match": '"99"'})
    assert 412 == kept.status_code
    assert domain["state"] == (await place.claimed(place.shop))["state"]
    assert ("pending", None) == _state(await place.claimed(place.shop, "other.shop.example"))
    async with db.connection(place.shop.world.pool) as database:
        assert await domains.get_holder(database, host=HOST) is None


def _state(domain: dict[str, object]) -> tuple[object, object]:
    return domain["state"], domain["problem"]


async def _worker(place: Place, *, hours: int) -> None:
    """A turn of the worker so many hours later."""
    async with db.transaction(place.shop.world.pool) as database:
        await database.execute(
            "update custom_domain set checked_time = checked_time - $1::interval", timedelta(hours=hours)
        )
    checks = DomainChecks(pool=place.shop.world.pool, site=place.site)
    assert 1 == await checks.turn()
    await checks.land()
    assert 0 == await checks.turn()  # and reads what is held
