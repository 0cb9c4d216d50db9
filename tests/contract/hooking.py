"""Webhooks for the contract tests: one with a delivery, one deleted, and the arguments of their stores."""

from datetime import UTC, datetime
from typing import Any

from afterword.kit import db
from tests.conftest import settled
from tests.contract.wire import Wire


async def hooking(pool: db.Pool, wire: Wire, *, token: str) -> tuple[dict[str, str], dict[str, str]]:
    """A webhook, a delivery to it and its event, a chat, and a webhook that was deleted, by the names of their ids."""
    made: list[str] = []
    for title in ("Shop", "Gone"):
        document = {"title": title, "target_url": "https://example.com/hook", "event_types": ["questionnaire.*"]}
        webhook = await wire.done("POST", "/v3.2/webhook", token=token, document=document)
        made.append(webhook["webhook_id"])
    await settled(pool)
    path = f"/v3.2/webhook/{made[0]}"
    span = {"from_time": "2026-01-01T00:00:00Z"}
    assert (await wire.done("POST", f"{path}/redelivery", token=token, document=span))["count"]
    delivery = (await wire.done("GET", f"{path}/delivery?limit=1", token=token))["results"][0]
    await wire.done("DELETE", f"/v3.2/webhook/{made[1]}", token=token)
    ids = {name: delivery[name] for name in ("webhook_id", "delivery_id", "event_id")}
    document = {"title": "Desk", "kind": "webhook", "address": "https://chat.invalid/hook"}
    chat = await wire.done("POST", "/v3.2/chat", token=token, document=document)
    return ids | {"chat_id": chat["chat_id"]}, {"webhook_id": made[1]}


def arguments() -> dict[str, Any]:
    """Arguments of the stores of webhooks."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return {"xid": 0, "seq": 0, "until": moment, "failed": True, "resume_time": moment, "columns": {}}
