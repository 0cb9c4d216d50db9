"""The history of a case as sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from afterword import errors, ids
from afterword.cases import messages, recoveries
from afterword.cases.alert_instances import service
from afterword.cases.history import Entry
from afterword.cases.messages import Route
from afterword.cases.screens.figures import CASES
from afterword.cases.work import WorkItem
from afterword.console.screens import DOMAIN, Screens, Visit
from afterword.kit.db import Database
from afterword.kit.texts import Marked, Texts
from afterword.kit.texts import texts as texts_of
from afterword.kit.ui.text import near_moment
from afterword.kit.web import html

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


routes = Screens()


@routes.get(f"{CASES}/{{alert_instance_id}}/recovery", scope="Alert Instance.Update")
async def recovery_page(visit: Visit) -> Response:
    words, back = visit.words, f"{CASES}/{visit.id('alert_instance_id')}"
    async with visit.read() as db:
        case = await service.get(db, caller=visit.caller, **visit.ids)
        plan = await recoveries.foresee(db, caller=visit.caller, case=case, site=visit.site)
    moment = near_moment(words, max(plan.planned_time or visit.now, visit.now), now=visit.now, zone=visit.zone)
    sentences = [
        words(
            "“{questionnaire}” goes to {address}. The message leaves {moment}.",
            questionnaire=plan.way.questionnaire_name,
            address=plan.request.responder_channel_identifier,
            moment=moment,
        ),
        *([plan.reason] if plan.reason else []),
        words("The answer comes into the case, and the figures count who is won back."),
    ]
    return visit.page(
        "recovery_of_case.html",
        title=words("Ask the customer again?"),
        sentences=sentences,
        action=f"{back}/recovery",
        back=back,
    )


@routes.post(f"{CASES}/{{alert_instance_id}}/recovery", scope="Alert Instance.Update")
async def ask_again(visit: Visit) -> Response:
    """A second press finds the customer asked already, which is what was wanted."""
    case_id = visit.id("alert_instance_id")
    try:
        async with visit.write() as db:
            await recoveries.ask(db, caller=visit.caller, alert_instance_id=case_id, site=visit.site, now=visit.now)
    except recoveries.AlreadyAsked:
        pass
    return html.redirect(f"{CASES}/{case_id}?done=asked_again")


SEVERITIES: Final[Mapping[str, Marked]] = {
    "low": "Low severity", "normal": "Normal severity", "high": "High severity", "critical": "Critical",
}  # fmt: skip

MAILS: Final = {"message_sent", "message_received"}
STATES: Final[Mapping[str, Marked]] = {
    "sent": "",
    "received": "",
    "failed": "It could not be sent: {error}",
    "unknown": "It may have arrived or not, so it was not sent again: {error}",
}
ON_ITS_WAY: Final[Marked] = "It is on its way."


class Timeline:
    """Turns entries into lines; `statuses` are names by id, `outcome` is that of asking again."""

    def __init__(self, words: Texts, *, now: datetime, zone: str, statuses: Mapping[int, str], outcome: str) -> None:
        self.words = words
        self._now = now
        self._zone = zone
        self._statuses = statuses
        self._outcome = outcome

    def lines(self, entries: Sequence[Entry]) -> list[dict[str, Any]]:
        return [
            {
                "kind": one.kind,
                "id": one.history_id,
                "who": one.user_name,
                "when": self.words.moment(one.created_time, time_zone=self._zone),
                "body": one.body,
                "mail": self._mail(one) if one.kind in MAILS else None,
                "sentences": [] if one.kind in MAILS else self._sentences(one),
            }
            for one in entries
        ]

    def _mail(self, entry: Entry) -> dict[str, Any]:
        address = entry.changes["address"]
        note = STATES.get(entry.changes["state"], ON_ITS_WAY)
        return {
            "head": self.words("To {address}", address=address)
            if entry.kind == "message_sent"
            else self.words("From {address}", address=address),
            "subject": entry.changes["subject"],
            "note": self.words(note, error=entry.changes["error"] or "") if note else "",
            "is_cut": entry.changes["is_cut"],
            "other_sender": entry.changes["other_sender"],
        }

    def _sentences(self, entry: Entry) -> list[str]:
        to = {name: change["to"] for name, change in entry.changes.items()}
        tellers = {
            "assigned_user_id": lambda given: (
                self.words("Owner: {name}", name=entry.owner_name or self.words("somebody"))
                if given
                else self.words("No owner any more.")
            ),
            "status_id": lambda given: self.words("Status: {title}", title=self._statuses.get(given, "?")),
            "severity": lambda given: self.words(SEVERITIES[given]),
            "call_back_time": self._call_back,
            "cause": lambda given: self.words("Cause: {text}", text=given) if given else "",
            "remedy": lambda given: self.words("Remedy: {text}", text=given) if given else "",
            "escalated_time": lambda _: self.words("The case has been open for too long."),
            "recovery_item_id": lambda _: self.words("The customer is asked again."),
            "recovery_time": lambda _: self.words("The customer answered again: {outcome}.", outcome=self._outcome),
            "resolved_time": self._end,
        }
        found = [teller(to[name]) for name, teller in tellers.items() if name in to]
        return [text for text in (*found[:-1], self._clock(to), *found[-1:]) if text]

    def _call_back(self, time: str | None) -> str:
        return self.words("Call back {moment}.", moment=self._moment(time)) if time else self.words("Called back.")

    def _end(self, time: str | None) -> str:
        return self.words("The case was closed.") if time else self.words("The case was opened again.")

    def _clock(self, to: Mapping[str, Any]) -> str:
        due = to.get("due_time")
        if to.get("waiting_since"):
            return self.words("Waits for the customer; the clock stands still.")
        if due is None:
            return self.words("Waits for the customer no longer.") if "waiting_since" in to else ""
        if "waiting_since" in to:
            return self.words("The clock goes on: due {moment}.", moment=self._moment(due))
        return self.words("Due {moment}.", moment=self._moment(due))

    def _moment(self, text: str) -> str:
        return near_moment(self.words, datetime.fromisoformat(text), now=self._now, zone=self._zone)
