"""The plans that a connection keeps from when its tables were empty."""

import uuid
from typing import Any, LiteralString

import pytest

from afterword.kit import db
from afterword.sending.queue import late_outcomes, restores
from afterword.sending.queue.late_outcomes import LateAcceptance
from afterword.sending.queue.sending import store as sending_store
from afterword.sending.queue.sending.store import Settlement
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_plans import (
    nodes,
    worker_pool as worker_pool,  # noqa: PLC0414  a fixture
)


async def test_plans_made_on_empty_tables_probe_by_key(queue: Queue, worker_pool: db.Pool) -> None:
    """A plan may outlive the tables it was made for by some seconds: made on empty ones, it must do for full ones."""
    async with db.transaction(worker_pool) as database:
        if await database._connection.fetchval("show server_version_num") < "160000":
            pytest.skip("explains no generic plans")
        generic = Generic(database)
        shares, owner = {queue.lane: 10}, uuid.uuid4()
        settlement = Settlement(organization_id="o", item_id="i", epoch=1, status=4, event_id="e", type="t")
        await sending_store.claim_items(generic, shares=shares, owner=owner, lease_seconds=60)
        await sending_store.update_leases(generic, lease_keys=[settlement.lease_key], lease_seconds=60)
        begins = [(*settlement.lease_key, "i", "r", 1)]
        await sending_store.update_items_to_sending(generic, begins=begins, lease_seconds=60, margin_seconds=5)
        for settle in (
            sending_store.settle_items,
            sending_store.settle_claimed_items,
            sending_store.settle_reaped_items,
        ):
            await settle(generic, settlements=[settlement])
        late = LateAcceptance("o", "i", "e", epoch=1)
        await late_outcomes.settle_late_items(generic, acceptances=[late])
        await late_outcomes.list_locked_items(generic, items=[settlement.key])
        await late_outcomes.list_accepted_late(generic, items=[settlement.key])
        await sending_store.claim_expired_items(generic, lanes=[queue.lane], owner=owner, lease_seconds=60, limit=9)
        await sending_store.list_begun(generic, lease_keys=[settlement.lease_key], margin_seconds=5)
        await restores.count_late_items(generic, minutes=15, limit=101)

    assert 12 == len(generic.plans)
    for plan in generic.plans:
        for node in nodes(plan):
            if (
                node.get("Relation Name") in {"queue_item", "attempt", "suppression", "delivery_report"}
                and node["Node Type"] != "ModifyTable"
            ):
                assert node["Node Type"] in {"Index Scan", "Index Only Scan"}, node
                assert "Index Cond" in node, node


class Generic(db.Database):
    """Catches the statement that a store function sends, and keeps the plan it would have for any values."""

    def __init__(self, database: db.Database) -> None:
        super().__init__(database._connection, database.clock)
        self.plans: list[dict[str, Any]] = []

    async def fetch(self, query: LiteralString, *values: object) -> list[db.Row]:
        [document] = await self._connection.fetchval(f"explain (generic_plan, format json) {query}", *values)
        self.plans.append(document["Plan"])
        return []

    async def fetch_value(self, query: LiteralString, *values: object) -> None:
        await self.fetch(query, *values)
