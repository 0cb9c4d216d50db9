"""Cases: the list by due time, and the page where one is worked on, with its history as sentences."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors, ids
from afterword.cases import assignments, history as history_store, mailboxes, messages, recoveries
from afterword.cases.alert_instances import service as alert_instances, store
from afterword.cases.alert_instances.store import WorkItem
from afterword.cases.assignments import Assignee
from afterword.cases.history import Entry
from afterword.cases.messages import Route
from afterword.cases.screens import figures as case_figures
from afterword.cases.screens.figures import CASES, SEVERITIES, outcome_text, row_of, with_load
from afterword.cases.screens.settings import MAILBOX_PATH
from afterword.cases.settings import SETTINGS
from afterword.cases.statuses import STATUS, title_of
from afterword.console.answers import ShownResponse, answers_of, note_person
from afterword.console.inputs import same_version
from afterword.console.screens import DOMAIN, Screens, Undo, Visit
from afterword.core.organizations.access import Sight
from afterword.core.text import placeholders
from afterword.core.wire import times
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts, texts as texts_of
from afterword.kit.ui.lists import address, key_of, read_key, read_number
from afterword.kit.ui.text import call_text, near_moment
from afterword.kit.web import fields, html, static

ONE: Final = f"{CASES}/{{alert_instance_id}}"
NAMES = ("name", "full_name", "first_name")  # of the responder's metadata, the first that is there
ORDER = "transaction_id"


class ReplyDraft(msgspec.Struct, frozen=True):
    """`wrong`: why nobody can write to the customer. `key` is new for each form, so that it sends one mail."""

    wrong: str
    address: str
    subject: str
    body: str
    key: str
    titles: Sequence[str]


async def reply_draft(
    db: Database, visit: Visit, item: WorkItem, *, texts: Sequence[dict[str, str]], subject: str
) -> ReplyDraft:
    """`subject`: that of the last mail of the case, which mail programs show together with its answers."""
    form, titles = visit.form, [one["title"] for one in texts]
    key = form.text("key") or ids.ordered(visit.now)
    try:
        route = await messages.route_of(
            db, organization_id=visit.caller.organization_id, alert_instance_id=item.alert_instance_id, now=visit.now
        )
    except errors.Conflict as refusal:
        return ReplyDraft(visit.words.said(refusal.detail), "", "", form.text("reply"), key, titles)
    words = texts_of(DOMAIN, route.locale)
    organization = visit.session.organization_name
    if subject:
        subject = f"{'' if ANSWERED.match(subject) else 'Re: '}{subject}"[:SUBJECT_CHARACTERS_MAX]
    subject = form.text("subject") or subject or words("Your feedback to {organization}", organization=organization)
    chosen = visit.query.get("text", "")
    body = form.text("reply")
    if not body and chosen.isascii() and chosen.isdigit() and int(chosen[:3]) < len(texts):
        values = _values(visit, item, route)
        body = placeholders.parse(texts[int(chosen[:3])]["body"], values.__contains__).fill(values)
        for name, value in values.items():  # older texts have single braces
            body = body.replace(f"{{{name}}}", value)
    plain = subject.replace("\u2068", "").replace("\u2069", "")
    return ReplyDraft("", route.address or "", plain, body, key, titles)


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


routes = Screens()


@routes.get(f"{ONE}/recovery", scope="Alert Instance.Update")
async def recovery_page(visit: Visit, db: Database) -> Response:
    words, back = visit.words, f"{CASES}/{visit.id('alert_instance_id')}"
    case = await alert_instances.get(db, caller=visit.caller, **visit.ids)
    plan = await recoveries.foresee(db, caller=visit.caller, case=case, site=visit.site)
    moment = near_moment(words, max(plan.planned_time or visit.now, visit.now), now=visit.now, zone=visit.zone)
    sentences = [
        words(
            "“{questionnaire}” goes to {address}. The message is sent {moment}.",
            questionnaire=plan.way.questionnaire_name,
            address=plan.request.responder_channel_identifier,
            moment=moment,
        ),
        *([plan.reason] if plan.reason else []),
        words("The answer appears in the case, and the figures count who is won back."),
    ]
    return visit.page(
        "recovery_of_case.html",
        title=words("Ask the customer again?"),
        sentences=sentences,
        action=f"{back}/recovery",
        back=back,
    )


@routes.post(f"{ONE}/recovery", scope="Alert Instance.Update")
async def ask_again(visit: Visit) -> Response:
    """A second press finds the customer asked already, which is what was wanted."""
    case_id = visit.id("alert_instance_id")
    with suppress(recoveries.AlreadyAsked):
        async with visit.write() as db:
            await recoveries.ask(db, alert_instance_id=case_id, **visit.acting)
    return html.redirect(f"{CASES}/{case_id}?done=asked_again")


MAILS: Final = {"message_sent", "message_received"}
STATES: Final[Mapping[str, Marked]] = {
    "sent": "",
    "received": "",
    "failed": "It could not be sent: {error}",
    "unknown": "It may have arrived, so it was not sent again: {error}",
}
CAUSES: Final[Sequence[Marked]] = ("Late delivery", "Damaged goods", "Wrong product", "Price", "Unfriendly service")
REMEDIES: Final[Sequence[Marked]] = ("Apology", "Replacement", "Refund", "Discount")  # both while none are declared
ON_ITS_WAY: Final[Marked] = "It is being sent."


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Turns entries into lines; `statuses` are names by id, `outcome` is that of asking again."""

    words: Texts
    now: datetime
    zone: str
    statuses: Mapping[int, str]
    outcome: str

    def lines(self, entries: Sequence[Entry]) -> list[dict[str, Any]]:
        return [
            {
                "kind": one.kind,
                "id": one.history_id,
                "who": one.user_name,
                "when": self.words.moment(one.created_time, time_zone=self.zone),
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
            "status_id": lambda given: self.words("Status: {title}", title=self.statuses.get(given, "?")),
            "severity": lambda given: self.words(SEVERITIES[given]),
            "call_back_time": self._call_back,
            "cause": lambda given: self.words("Cause: {text}", text=given) if given else "",
            "remedy": lambda given: self.words("Action taken: {text}", text=given) if given else "",
            "escalated_time": lambda _: self.words("The case has been open for too long."),
            "recovery_item_id": lambda _: self.words("The customer is asked again."),
            "recovery_time": lambda _: self.words("The customer answered again: {outcome}.", outcome=self.outcome),
            "resolved_time": lambda time: (
                self.words("The case was closed.") if time else self.words("The case was opened again.")
            ),
        }
        found = [teller(to[name]) for name, teller in tellers.items() if name in to]
        return [text for text in (*found[:-1], self._clock(to), *found[-1:]) if text]

    def _call_back(self, time: str | None) -> str:
        return self.words("Call back {moment}.", moment=self._moment(time)) if time else self.words("Called back.")

    def _clock(self, to: Mapping[str, Any]) -> str:
        due = to.get("due_time")
        if to.get("waiting_since"):
            return self.words("Waiting for the customer; the clock is paused.")
        if due is None:
            return self.words("No longer waiting for the customer.") if "waiting_since" in to else ""
        if "waiting_since" in to:
            return self.words("The clock is running: due {moment}.", moment=self._moment(due))
        return self.words("Due {moment}.", moment=self._moment(due))

    def _moment(self, text: str) -> str:
        return near_moment(self.words, datetime.fromisoformat(text), now=self.now, zone=self.zone)


TABS: Final[Mapping[str, Marked]] = {
    "open": "Open", "overdue": "Overdue", "mine": "Mine", "unassigned": "Without an owner", "waiting": "Waiting",
    "call_back": "Call back", "closed": "Closed",
}  # fmt: skip
ROWS: Final = 50
ID_CHARACTERS_MAX: Final = 22
FIGURES_DAYS: Final = 30
ENTRIES_MAX: Final = 500
CLOSED: Final = timedelta(days=store.CLOSED_DAYS)
BODY_CHARACTERS_MAX: Final = 5_000
CHOICE_CHARACTERS_MAX: Final = 100
SUBJECT_CHARACTERS_MAX: Final = 200
ANSWERED: Final = re.compile(r"\w{1,4}\s?:")  # such as “Re:” or “AW:”
REPLY_CHARACTERS_MAX: Final = 20_000
KEY_CHARACTERS_MAX: Final = 50
NEW_STATUS, BEGUN_STATUS, CLOSED_STATUS = 1, 2, 3
NUMBER_CHARACTERS_MAX: Final = 50
ENTRIES: Final = fields.listing_of(history_store.RESOURCE)  # the newest of a long history

CHANGED: Final[Marked] = (
    "Somebody changed this case in the meantime. It stands below with your choices: check and save again."
)


@routes.get(CASES, scope="Alert Instance.Read", for_limited="part")
async def list_cases(visit: Visit, db: Database) -> Response:
    tab = visit.query.get("tab", "")
    tab, application = tab if tab in TABS else "open", visit.query.get("application", "")[:ID_CHARACTERS_MAX]
    sight = visit.caller.sight
    if application:
        own = sight["application_ids"]
        sight["application_ids"] = [application if not own or application in own else ""]
    counts = await store.count_cases(db, **sight, user_id=visit.caller.user_id, now=visit.now)
    found = await _listed(visit, db, tab, sight)
    has_figures = visit.may_open(case_figures.FIGURES)
    figures = await case_figures.figures_of(visit, db, days=FIGURES_DAYS, group=None) if has_figures else None
    rows = [row_of(visit, one) for one in found[:ROWS]]
    last = found[ROWS - 1] if len(found) > ROWS else None
    return visit.page(
        "cases.html",
        title=visit.words("Cases"),
        tabs=[
            {
                "url": address(CASES, tab=name, application=application),
                "text": visit.words(text),
                "count": counts.get(name),
                "is_current": name == tab,
            }
            for name, text in TABS.items()
        ],
        rows=rows,
        filters=[(visit.words("One application"), address(CASES, tab=tab))] if application else [],
        next_url=address(CASES, tab=tab, application=application, after=_key_of(last, tab)) if last else "",
        first_url=address(CASES, tab=tab, application=application) if "after" in visit.query else "",
        closed_days=store.CLOSED_DAYS,
        tab=tab,
        figures=case_figures.short(visit, figures) if figures else [],
        figures_url=case_figures.FIGURES,
        figures_days=FIGURES_DAYS,
    )


@routes.get(f"{ONE}/mail/{{message_id}}", scope="Alert Instance.Read", for_limited="part")
async def mail_page(visit: Visit, db: Database) -> Response:
    """All of a mail, with what the mail program of the customer quoted."""
    item = await _item(visit, db)
    found = await messages.get_message(db, organization_id=visit.caller.organization_id, **visit.ids)
    mail = errors.found(found, "There is no such mail.")
    note_person(visit, item.responder_id)
    return visit.page(
        "case_mail.html",
        title=mail.subject or visit.words("Full e-mail"),
        head=visit.words("From {address}", address=mail.address),
        when=visit.words.moment(mail.created_time, time_zone=visit.zone),
        mail=mail,
    )


@routes.post(ONE, scope="Alert Instance.Update", for_limited="part", again=(errors.Invalid, errors.Stale))
async def change_case(visit: Visit, db: Database) -> Response:
    """Change status, owner, cause and remedy, unless somebody else was faster: then both versions are shown."""
    form = visit.form
    changes: dict[str, Any] = {
        "status_id": read_number(form.text("status_id")) or 0,
        "assigned_user_id": form.text("assigned_user_id") or None,
    }
    for name in ("cause", "remedy"):
        if name in form.values:
            changes[name] = form.text(name, CHOICE_CHARACTERS_MAX) or None
    body, before = form.text("body", BODY_CHARACTERS_MAX), await _item(visit, db)
    case = await _update(visit, db, changes, expect=same_version(visit, CHANGED))
    if body:
        await _comment(visit, db, body)
    version = (await _item(visit, db)).version
    is_changed = any(getattr(before, name) != value for name, value in changes.items())
    done = "closed" if case.resolved_time is not None else "changed" if is_changed else "saved"
    return visit.did(f"{CASES}/{case.alert_instance_id}", done, _undo(before, version) if is_changed else None)


def _undo(before: WorkItem, version: int) -> Undo:
    fields = {name: getattr(before, name) or "" for name in ("assigned_user_id", "cause", "remedy")}
    fields |= {"status_id": str(before.status_id), "version": str(version)}
    return Undo(f"{CASES}/{before.alert_instance_id}", fields)


@routes.post(f"{ONE}/owner", scope="Alert Instance.Update", for_limited="part", again=(errors.Stale,), at=ONE)
async def take_case(visit: Visit, db: Database) -> Response:
    """Make the case one's own, unless somebody else was faster; work on a new one has begun then."""
    item = await _item(visit, db)
    changes: dict[str, Any] = {"assigned_user_id": visit.caller.user_id}
    if item.status_id == NEW_STATUS:
        changes["status_id"] = BEGUN_STATUS
    case = await _update(visit, db, changes, expect=same_version(visit, CHANGED))
    return visit.did(f"{CASES}/{case.alert_instance_id}", "assigned", _undo(item, case.version))


@routes.post(f"{ONE}/waiting", scope="Alert Instance.Update", for_limited="part")
async def wait(visit: Visit, db: Database) -> Response:
    waits = visit.form.text("waiting") == "true"
    case = await _update(visit, db, {"waiting": waits})
    return html.redirect(f"{CASES}/{case.alert_instance_id}?done={'waits' if waits else 'goes_on'}")


@routes.post(f"{ONE}/call-back", scope="Alert Instance.Update", for_limited="part", again=(errors.Invalid,), at=ONE)
async def call_back(visit: Visit, db: Database) -> Response:
    """Note when to call which number; without a time the call is done."""
    form, moment = visit.form, None
    if text := form.text("call_back_time"):
        try:
            moment = times.parse_date_time(text, zone=times.zone_of(visit.zone), now=visit.now).instant
        except times.InvalidDateTime as wrong:
            raise errors.Invalid.at("/call_back_time", wrong.code, wrong.message) from None
        if moment <= visit.now:
            raise errors.Invalid.at("/call_back_time", "out_of_range", "That time has passed.")
    number = form.text("call_back_number", NUMBER_CHARACTERS_MAX) if moment else ""
    changes = {"call_back_time": moment, "call_back_number": number or None}
    case = await _update(visit, db, changes)
    return html.redirect(f"{CASES}/{case.alert_instance_id}?done={'call_noted' if moment else 'called'}")


@routes.post(
    f"{ONE}/message", scope="Alert Instance.Update", for_limited="part", again=(errors.Invalid, errors.Conflict), at=ONE
)
async def reply(visit: Visit) -> Response:
    """Write to the customer; a form that was sent twice sends one mail."""
    form = visit.form
    subject, body, then = form.text("subject"), form.text("reply"), form.text("then")
    wrong = [
        errors.FieldError("out_of_range", sentence, pointer=f"/{name}")
        for name, text, most, sentence in (
            ("subject", subject, SUBJECT_CHARACTERS_MAX, visit.words("Enter a subject of at most 200 characters.")),
            ("reply", body, REPLY_CHARACTERS_MAX, visit.words("Enter a reply of at most 20,000 characters.")),
        )
        if not 0 < len(text) <= most
    ]
    changes = {"wait": {"waiting": True}, "close": {"status_id": CLOSED_STATUS}}.get(then, {})
    errors.check(wrong)
    message = await visit.change(
        messages.send,
        caller=visit.caller,
        **visit.ids,
        subject=subject,
        body=body,
        changes=dict[str, Any](changes),
        key=form.text("key", KEY_CHARACTERS_MAX) or None,
        now=visit.now,
    )
    done = {"wait": "replied_waits", "close": "replied_closed"}.get(then, "replied")
    return html.redirect(f"{CASES}/{message.alert_instance_id}?done={done}")


@routes.post(f"{ONE}/comment", scope="Alert Instance.Update", for_limited="part", again=(errors.Invalid,), at=ONE)
async def comment(visit: Visit, db: Database) -> Response:
    body = visit.form.text("body")
    if not 0 < len(body) <= BODY_CHARACTERS_MAX:
        raise errors.Invalid.at("/body", "too_long", visit.words("Enter a comment of at most 5,000 characters."))
    await _comment(visit, db, body)
    return html.redirect(f"{CASES}/{visit.id('alert_instance_id')}?done=commented")


async def _update(
    visit: Visit, db: Database, changes: Mapping[str, Any], *, expect: errors.Expect = errors.ANY
) -> store.Case:
    return await alert_instances.update(
        db, caller=visit.caller, **visit.ids, changes=changes, now=visit.now, expect=expect
    )


async def _comment(visit: Visit, db: Database, body: str) -> None:
    await alert_instances.comment(db, caller=visit.caller, **visit.ids, body=body, now=visit.now)


async def _listed(visit: Visit, db: Database, tab: str, sight: Sight) -> list[WorkItem]:
    key = read_key(visit.query.get("after", ""))
    if tab == "closed":
        before, since = key[0] if key else visit.now, visit.now - CLOSED
        return await store.list_closed(db, **sight, before=before, since=since, limit=ROWS + 1)
    return await store.list_work(
        db,
        **sight,
        tab=tab,
        user_id=visit.caller.user_id,
        now=visit.now,
        after=(min(key[0], store.NEVER), key[1]) if key else None,
        limit=ROWS + 1,
    )


def _key_of(item: WorkItem, tab: str) -> str:
    time = item.resolved_time if tab == "closed" else item.due_time
    return key_of(time or store.NEVER, item.alert_instance_id)


async def _item(visit: Visit, db: Database) -> WorkItem:
    caller = visit.caller
    item = await store.get_work(db, **caller.sight, alert_instance_id=visit.id("alert_instance_id"))
    return errors.found(item, "There is no such case.")


@routes.get(ONE, scope="Alert Instance.Read", for_limited="part")
async def _page(visit: Visit, db: Database, *, refusal: errors.Refusal | None = None) -> Response:
    organization_id, case_id = visit.caller.organization_id, visit.id("alert_instance_id")
    item = await _item(visit, db)
    history = await history_store.list_entries(
        db, organization_id=organization_id, alert_instance_id=case_id, page=Page.first(ENTRIES, limit=ENTRIES_MAX)
    )
    statuses = await nouns.every(STATUS, db, **visit.caller.part)
    assignees = await assignments.list_assignees(
        db, **visit.caller.part, application_id=item.application_id, instance_id=item.instance_id or ""
    )
    settings = await nouns.get(SETTINGS, db, caller=visit.caller, key=organization_id)
    response = (
        await answers_of(db, caller=visit.caller, instance_id=item.instance_id, words=visit.words)
        if item.instance_id
        else None
    )
    subject = next((str(one.changes["subject"]) for one in history.items if one.kind in MAILS), "")
    draft = await reply_draft(db, visit, item, texts=settings.saved_texts, subject=subject)
    mailbox = await mailboxes.get(db, organization_id=organization_id)
    note_person(visit, item.responder_id)
    named = {each.status_id: title_of(visit.words, each.status_id, each.title) for each in statuses}
    timeline = Timeline(
        words=visit.words, now=visit.now, zone=visit.zone, statuses=named, outcome=outcome_text(visit.words, item)
    )
    form = visit.form
    return visit.page(
        "case.html",
        title=item.alert_title,
        row=row_of(visit, item),
        item=item,
        response=response,
        facts=_facts(visit, item, response) if response else [],
        may_take="Alert Instance.Update" in visit.caller.scopes
        and item.resolved_time is None
        and item.assigned_user_id != visit.caller.user_id
        and visit.caller.user_id in {one.user_id for one in assignees.items},
        script=static.url("console/edit.js"),
        entries=timeline.lines(history.items[::-1]),
        is_cut=history.has_more,
        call_back=_call_back(visit, item),
        draft=draft,
        mailbox=mailbox,
        mailbox_url=MAILBOX_PATH,
        statuses=list(named.items()),
        users=_owners(visit, item, assignees.items),
        causes=settings.causes or [*map(visit.words, CAUSES)],
        remedies=settings.remedies or [*map(visit.words, REMEDIES)],
        typed=form.text("body"),
        chosen={
            "status_id": read_number(form.text("status_id")) or item.status_id,
            "user": form.text("assigned_user_id") or item.assigned_user_id or "",
            "cause": form.text("cause") or item.cause or "",
            "remedy": form.text("remedy") or item.remedy or "",
        },
        may_ask_again=visit.is_open(f"{ONE}/recovery"),
        person_url=f"/console/people/{item.responder_id}" if visit.is_open("/console/people/{responder_id}") else "",
        refusal=refusal,
    )


def _facts(visit: Visit, item: WorkItem, response: ShownResponse) -> list[tuple[str, str]]:
    words, answered = visit.words, response.submitted_time
    return [
        (words("Questionnaire"), item.questionnaire_name or ""),
        (words("First answer"), words.moment(answered, time_zone=visit.zone) if answered else ""),
        (words("Language"), words.language_name(response.locale)),
        (words("Order"), item.external_reference or ""),
        *response.facts,
    ]


def _owners(visit: Visit, item: WorkItem, assignees: Sequence[Assignee]) -> list[tuple[str, str]]:
    """Users who may take the case, each with the number of their open cases, and its owner even if no longer one.

    The numbers are of all branches: a reader of some sees names alone.
    """
    found = [
        (one.user_id, with_load(visit.words, one.display_name or one.email, one.open_cases))
        if visit.caller.limit is None
        else (one.user_id, one.display_name or one.email)
        for one in assignees
    ]
    owner = item.assigned_user_id
    if owner and owner not in dict(found):
        found.append((owner, item.owner_name or visit.words("somebody")))
    return found


def _call_back(visit: Visit, item: WorkItem) -> dict[str, str]:
    """The call that is noted, in words and as the fields of a form have it."""
    if "Responder.Read" not in visit.caller.scopes:
        item = replace(item, call_back_number=None, call_back_note=None)
    time = item.call_back_time
    local = time.astimezone(times.zone_of(visit.zone)) if time else None
    typed = visit.form.text("call_back_time"), visit.form.text("call_back_number")
    return {
        "when": call_text(visit.words, item.call_back_time, item.call_back_until_time, now=visit.now, zone=visit.zone),
        "number": item.call_back_number or "",
        "note": item.call_back_note or "",
        "time_field": typed[0] or (f"{local:%Y-%m-%dT%H:%M}" if local else ""),
        "number_field": typed[1] or item.call_back_number or "",
    }
