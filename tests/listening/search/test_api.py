"""One search over people, responses, items, cases and questionnaires, within scopes and applications."""

from typing import Any

from afterword.core.organizations.access import SCOPES
from tests.asking.instances.conftest import (
    Shop,
    shop as shop,  # noqa: PLC0414  a fixture
    world as world,  # noqa: PLC0414  a fixture
)
from tests.asking.instances.test_responders import asked
from tests.privacy.conftest import (
    CANARY,
    Desk,
    desk as desk,  # noqa: PLC0414  a fixture
    people,
)


async def kinds(shop: Shop, text: str) -> list[str]:
    response = await shop.get(f"/search?q={text}")
    assert 200 == response.status_code, response.text
    return [one["kind"] for one in response.json()["results"]]


async def test_refused_and_out_of_reach(shop: Shop) -> None:
    await asked(shop, email="ann@example.com", name="Ann Smith")
    assert 422 == (await shop.get(f"/search?q={'x' * 201}")).status_code
    assert ["responder"] == await kinds(shop, "smith")
    assert [] == await kinds(shop, "sm")
    for other in (
        await shop.of_another_organization(),
        await shop.of_another_application(),
        await shop.with_token(scopes=SCOPES - {"Responder.Read"}),
        await shop.with_token(scopes=SCOPES - {"Responder Value.Read"}),
    ):
        assert [] == await kinds(other, "smith")


async def test_each_kind(desk: Desk) -> None:
    [known] = await people(desk, [CANARY])

    async def found(text: str) -> dict[str, list[dict[str, Any]]]:
        results = (await desk.ask("GET", f"/search?q={text}"))["results"]
        return {kind: [one for one in results if one["kind"] == kind] for kind in {one["kind"] for one in results}}

    by_order = await found(f"order-{CANARY}")
    assert [known.responder_id] == [one["id"] for one in by_order["responder"]]
    assert [known.item_ids[1]] == [one["id"] for one in by_order["queue_item"]]
    assert 1 == len(by_order["alert_instance"])
    by_address = await found(known.address)
    assert known.item_ids[2] in {one["id"] for one in by_address["queue_item"]}
    title = await desk.value("select display_name from questionnaire limit 1")
    assert desk.house.questionnaire_id in {one["id"] for one in (await found(title[:12]))["questionnaire"]}
    assert 1 == len((await found("any"))["alert_instance"])  # the title of the alert
    assert {} == await found("%25%25%25")
