"""The draft of a reply to the customer: typed, or made of a saved text whose variables are filled in."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterword import errors, ids
from afterword.alerts.cases import service as cases
from afterword.alerts.messages import service as messages
from afterword.alerts.work.store import WorkItem
from afterword.console.screens import DOMAIN, Visit
from afterword.db import Database
from afterword.instances import store as instances_store
from afterword.instances.store import Instance
from afterword.queue import store as queue_store
from afterword.responders import store as responders_store
from afterword.texts import texts as texts_of

NAMES = ("name", "full_name", "first_name")  # of the responder's metadata, the first that is there
ORDER = "transaction_id"


@dataclass(frozen=True, slots=True)
class Draft:
    """`wrong`: why nobody can write to the customer. `key` is new for each form, so that it sends one mail."""

    wrong: str
    address: str
    subject: str
    body: str
    key: str
    titles: Sequence[str]


async def draft(db: Database, visit: Visit, item: WorkItem, *, texts: Sequence[dict[str, str]]) -> Draft:
    case = await cases.get(db, caller=visit.caller, alert_instance_id=item.alert_instance_id)
    form, titles = visit.form, [one["title"] for one in texts]
    key = form.text("key") or ids.ordered(visit.now)
    try:
        route = await messages.route_of(db, case=case, now=visit.now)
    except errors.Conflict as refusal:
        return Draft(refusal.detail or "", "", "", "", key, titles)
    words = texts_of(DOMAIN, route.locale)
    organization = visit.session.organization_name
    subject = form.text("subject") or words("Your feedback to {organization}", organization=organization)
    chosen = visit.query.get("text", "")
    body = form.text("reply")
    if not body and chosen.isascii() and chosen.isdigit() and int(chosen[:3]) < len(texts):
        body = _filled(texts[int(chosen[:3])]["body"], await _values(db, visit, item))
    plain = subject.replace("\u2068", "").replace("\u2069", "")
    return Draft("", route.address or "", plain, body, key, titles)


async def _values(db: Database, visit: Visit, item: WorkItem) -> dict[str, str]:
    organization_id = visit.caller.organization_id
    responder = instance = None
    if item.responder_id:
        responder = await responders_store.get_responder(
            db, organization_id=organization_id, responder_id=item.responder_id
        )
    if item.instance_id:
        instance = await instances_store.get_instance(db, organization_id=organization_id, instance_id=item.instance_id)
    known = responder.metadata if responder else {}
    return {
        "customer_name": next((known[name] for name in NAMES if known.get(name)), ""),
        "my_name": visit.session.user_name,
        "organization_name": visit.session.organization_name,
        "alert_title": item.alert_title,
        "order": await _order(db, instance) if instance else "",
    }


async def _order(db: Database, instance: Instance) -> str:
    """The key that the organization gave the message; else the order in the response's metadata."""
    item = None
    if instance.item_id:
        item = await queue_store.get_item(db, organization_id=instance.organization_id, item_id=instance.item_id)
    return (item and item.external_reference) or instance.metadata.get(ORDER, "")


def _filled(body: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        body = body.replace(f"{{{name}}}", value)
    return body
