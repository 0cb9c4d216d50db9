"""The draft of a reply to the customer: typed, or made of a saved text whose variables are filled in."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterword import errors, ids
from afterword.cases import messages
from afterword.cases.messages import Route
from afterword.cases.work.store import WorkItem
from afterword.console.screens import DOMAIN, Visit
from afterword.kit.db import Database
from afterword.kit.texts import texts as texts_of

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
    form, titles = visit.form, [one["title"] for one in texts]
    key = form.text("key") or ids.ordered(visit.now)
    try:
        route = await messages.route_of(
            db, organization_id=visit.caller.organization_id, alert_instance_id=item.alert_instance_id, now=visit.now
        )
    except errors.Conflict as refusal:
        return Draft(refusal.detail or "", "", "", "", key, titles)
    words = texts_of(DOMAIN, route.locale)
    organization = visit.session.organization_name
    subject = form.text("subject") or words("Your feedback to {organization}", organization=organization)
    chosen = visit.query.get("text", "")
    body = form.text("reply")
    if not body and chosen.isascii() and chosen.isdigit() and int(chosen[:3]) < len(texts):
        body = _filled(texts[int(chosen[:3])]["body"], _values(visit, item, route))
    plain = subject.replace("\u2068", "").replace("\u2069", "")
    return Draft("", route.address or "", plain, body, key, titles)


def _values(visit: Visit, item: WorkItem, route: Route) -> dict[str, str]:
    known = route.responder_metadata
    return {
        "customer_name": next((known[name] for name in NAMES if known.get(name)), ""),
        "my_name": visit.session.user_name,
        "organization_name": visit.session.organization_name,
        "alert_title": item.alert_title,
        # The key that the organization gave the message; else the order in the response's metadata.
        "order": route.external_reference or route.instance_metadata.get(ORDER, ""),
    }


def _filled(body: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        body = body.replace(f"{{{name}}}", value)
    return body
