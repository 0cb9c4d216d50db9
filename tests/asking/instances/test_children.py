"""Trees of instances with those that were issued because of them; and the list of an organization."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from afterword import ids
from afterword.asking.instances import issuing, resources, store
from afterword.asking.instances.issuing import ItemIssueInput
from afterword.asking.instances.resources import children_of
from afterword.asking.instances.store import Instance
from afterword.kit import db
from tests.asking.instances.conftest import NOW, Shop, World


async def child_of(
    world: World, parent: Instance, *, minutes: int = 0, questionnaire_id: str | None = None
) -> Instance:
    now = NOW + timedelta(minutes=minutes)
    want = ItemIssueInput(
        organization_id=parent.organization_id,
        item_id=ids.ordered(now),
        channel_id=1,
        pipeline_id=ids.ordered(NOW),
        questionnaire_id=questionnaire_id or parent.questionnaire_id,
        responder_id=parent.responder_id,
        locale=None,
        metadata={},
        previous_questionnaire_instance_id=parent.instance_id,
    )
    async with db.transaction(world.pool) as database:
        issued = await issuing.issue_for_items(database, items=[want], now=now, draw=lambda: 0.0)
    return next(iter(issued.values()))


def shape(instance: dict[str, Any]) -> Any:
    return instance["instance_id"], [shape(child) for child in instance["children"]]


async def listed(shop: Shop, query: str = "") -> dict[str, dict[str, Any]]:
    path = f"/q/questionnaire/{shop.world.questionnaire_id}/instance/children?limit=500&{query}"
    response = await shop.get(path)
    assert 200 == response.status_code, response.text
    return {one["instance_id"]: one for one in response.json()["results"]}


class TestChildren:
    async def test_nothing(self, shop: Shop) -> None:
        assert {} == await listed(shop)

    async def test_ok(self, shop: Shop) -> None:
        root = await shop.world.issue()
        second, first = [await child_of(shop.world, root, minutes=minutes) for minutes in (2, 1)]
        grandchild = await child_of(shop.world, first, minutes=3)

        found = await listed(shop)

        assert 4 == len(found)
        tree = (root.instance_id, [(first.instance_id, [(grandchild.instance_id, [])]), (second.instance_id, [])])
        assert tree == shape(found[root.instance_id])
        plain = (await shop.get(f"/q/instance/{grandchild.instance_id}")).json()
        assert {**plain, "children": []} == found[root.instance_id]["children"][0]["children"][0]

    async def test_depth_and_breadth(self, shop: Shop) -> None:
        root = await shop.world.issue()
        line = [root]
        for minutes in range(resources.DEPTH_MAX + 1):
            line.append(await child_of(shop.world, line[-1], minutes=minutes))
        async with db.connection(shop.world.pool) as database:
            found, few = [
                await store.list_descendants(
                    database,
                    **shop.world.caller.reach,
                    instance_ids=[root.instance_id],
                    depth_max=resources.DEPTH_MAX,
                    children_max=1,
                    limit=limit,
                )
                for limit in (resources.DESCENDANTS_MAX, 2)
            ]
        assert [one.instance_id for one in line[1 : resources.DEPTH_MAX + 1]] == [one.instance_id for one in found]
        assert found[:2] == few
        below = (await listed(shop))[root.instance_id]
        for _ in range(resources.DEPTH_MAX):
            [below] = below["children"]
        assert [] == below["children"]

    async def test_deleted_children_and_those_below(self, shop: Shop) -> None:
        root = await shop.world.issue()
        child = await child_of(shop.world, root)
        await child_of(shop.world, child, minutes=1)
        await shop.delete(f"/q/instance/{child.instance_id}")
        assert [] == (await listed(shop))[root.instance_id]["children"]

    async def test_response_fields(self, shop: Shop) -> None:
        root = await shop.world.issue()
        page = await shop.get(
            f"/q/questionnaire/{shop.world.questionnaire_id}/instance/children?response_fields=instance_id,children"
        )
        assert [{"instance_id": root.instance_id, "children": []}] == page.json()["results"]

    async def test_a_page_takes_two_statements(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        for _ in range(5):
            await child_of(shop.world, await shop.world.issue())
        asked: list[str] = []
        fetch = db.Database.fetch

        async def counting(database: db.Database, query: Any, *values: object) -> Any:
            asked.append(query)
            return await fetch(database, query, *values)

        monkeypatch.setattr(db.Database, "fetch", counting)
        await listed(shop)
        assert 1 == len([query for query in asked if "recursive tree" in query])


class TestOfOrganization:
    async def test_ok(self, shop: Shop) -> None:
        instance = await shop.issue()
        page = (await shop.get(f"/q/organization/{shop.world.caller.organization_id}/instance")).json()
        assert [instance] == page["results"]
        assert (await shop.get("/q/instance")).json() == page


async def test_rows_to_trees(world: World) -> None:
    root = await world.issue()

    def child(name: str, parent: str, minutes: int) -> "msgspec.Struct":
        return msgspec.structs.replace(
            root, instance_id=name, previous_questionnaire_instance_id=parent,
            created_time=NOW + timedelta(minutes=minutes),
        )  # fmt: skip

    rows = [child("late", "root", 3), child("b", "root", 1), child("a", "root", 1), child("deep", "a", 2)]
    found = children_of([*rows, rows[0]])  # pyrefly: ignore[bad-argument-type]
    assert {"root": ["a", "b", "late"], "a": ["deep"]} == {
        parent: [each.instance_id for each in below] for parent, below in found.items()
    }
