"""People: found by address, name and order key; the timeline of one, and all that one may ask to be done."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances import responders
from afterword.asking.instances.responders import ResponderView, ShownResponder
from afterword.asking.questionnaires import metadata
from afterword.asking.questionnaires.metadata import DEFINITIONS_MAX, LISTING
from afterword.console.response_list import BANDS, CHANNELS
from afterword.console.screens import Screens, Visit, download
from afterword.core.charts import Point, trend
from afterword.core.questionnaires.metadata import GLOBAL, name_of
from afterword.core.wire.lists import Page, Rows
from afterword.kit import db as databases
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import (
    ROWS,
    SEARCH_CHARACTERS,
    Column,
    Listing,
    address,
    key_of,
    page_links,
    page_of,
    read_key,
)
from afterword.kit.web import html
from afterword.listening.responses import service as responses
from afterword.listening.responses.service import Filter
from afterword.people.responders import suppressions
from afterword.people.responders.store import Suppression
from afterword.privacy import profiles, service as privacy
from afterword.privacy.profiles import Entry
from afterword.sending.queue import lists
from afterword.tenants.organizations import retention

PEOPLE: Final = "/console/people"
ONE: Final = "/console/people/{responder_id}"
PROOFS: Final = "/console/settings/erasures"
HOLDS: Final = "/console/settings/retention/holds"
ENTRIES: Final = 50
SCALE: Final = (0, 10)
NOTE_CHARACTERS_MAX: Final = 500
KINDS: Final[Mapping[str, Marked]] = {
    "waiting": "Planned", "sent": "Sent", "not_sent": "Not sent", "issued": "Link issued",
    "viewed": "Questionnaire opened", "answered": "Response given", "case_opened": "Case opened",
    "case_closed": "Case closed", "suppressed": "Do not contact",
}  # fmt: skip
REMINDERS: Final[Mapping[str, Marked]] = {
    "waiting": "Reminder planned", "sent": "Reminder sent", "not_sent": "Reminder not sent",
}  # fmt: skip
SUPPRESSIONS: Final[Mapping[str, Marked]] = {
    "unsubscribed": "The person does not want messages", "complaint": "Reported as spam", "blocked": "Blocked by us",
    "hard_bounce": "The address does not exist", "erased": "The person was erased",
}  # fmt: skip
BY_HAND: Final[tuple[suppressions.Reason, ...]] = ("unsubscribed", "complaint", "blocked")
MODES: Final[Mapping[str, Marked]] = {
    "anonymize": "Keep scores without the person: figures stay as they are",
    "erase": "Delete the responses too: they disappear from every figure",
}
ERASED: Final[Mapping[str, Marked]] = {  # by the names of the API
    "Responder": "Person", "Address": "Addresses", "Suppression": "Blocked addresses", "Contact": "Contacts counted",
    "Queue Item": "Messages", "Cancelled Queue Item": "Cancelled messages", "Attempt": "Attempts",
    "Delivery Report": "Delivery reports", "Provider Reference": "Message numbers of providers",
    "Outbox Message": "Messages in the outbox", "Test Send": "Test messages", "Import": "Files of lists",
    "Import Row": "Rows of lists", "Questionnaire Instance": "Responses", "Answer": "Answers",
    "Kept Answer": "Answers that wait for others", "Tag": "Tags", "Event": "Entries of the event log",
    "Delivery": "Deliveries", "Export": "Files of exports", "Source Event": "Events of shops and help desks",
}  # fmt: skip

routes = Screens()


@routes.get(PEOPLE, scope="Responder.Read", for_limited="part")
async def list_people(visit: Visit, db: Database) -> Response:
    words = visit.words
    search = visit.query.get("q", "").strip()
    is_searched = len(search) in SEARCH_CHARACTERS
    page = page_of(responders.RESPONDERS, visit.query)
    if visit.caller.limit is None:
        found = await responders.find(db, caller=visit.caller, search=search if is_searched else None, page=page)
    else:
        found = Rows(await _own(visit, db, search))
    views = await responders.views_of(db, caller=visit.caller, responders=found.items, now=visit.now)
    if is_searched:
        await profiles.note(db, caller=visit.caller, action="searched", now=visit.now)
    is_wrong = bool(search) and not is_searched
    columns = (words("Name"), words("Address"), words("Last message"), words("Last answer"))
    return visit.page(
        "persons.html",
        title=words("People"),
        search=search,
        label=words("Name, address or order key" if visit.caller.limit is None else "Address or order key, in full"),
        list=Listing(
            rows=[] if is_wrong else [_row(visit, views[one.responder_id]) for one in found.items],
            columns=[Column(text=each) for each in columns],
            empty=words("Enter at least three letters.")
            if is_wrong
            else words("No one found. Enter the address or the order key in full.")
            if search and visit.caller.limit is not None
            else words(
                "No one found. Enter an order key in full; for a name, the first letters of its words are enough."
            )
            if search
            else words("No one has been asked yet. People appear here with their first message or answer."),
            **page_links(found, visit.query, PEOPLE, q=search),
        ),
    )


async def _own(visit: Visit, db: Database, search: str) -> list[ShownResponder]:
    """Those whom the search names in full, else those of the newest responses, within the reader's limit."""
    caller, instance_ids, keys = visit.caller, list[str | None](), list[bytes]()
    if search:
        keys = [key for _, key in lists.keys_of(search, secret=visit.site.secret)]
        if {"Queue.Read", "Questionnaire Value.Read"} <= caller.scopes and search.isprintable():
            wanted = lists.RequestedItems(external_reference=search, with_order_key=True)
            items = await lists.list_items(db, caller=caller, wanted=wanted, limit=ROWS)
            instance_ids = [one.questionnaire_instance_id for one in items.items]
    elif caller.reads_answers:
        chosen = Filter(only=caller.only, to_time=visit.now, test=caller.test)
        newest = await responses.list_responses(db, **caller.part, chosen=chosen, after="", limit=ROWS)
        instance_ids = [one.instance_id for one in newest]
    found = [one for one in instance_ids if one]
    return await responders.list_own(db, **caller.sight, instance_ids=found, address_keys=keys)


def _row(visit: Visit, view: ResponderView) -> dict[str, Any]:
    name = _name(visit.words, view)
    addresses = [one.identifier for one in view.identifiers if one.identifier != name]
    return {"view": view, "name": name, "addresses": addresses, "marks": _marks(visit.words, view)}


def _name(words: Texts, view: ResponderView) -> str:
    if view.responder.anonymized_time is not None:
        return words("Erased person")
    return name_of(view.values or {}) or next((one.identifier for one in view.identifiers), words("Unknown person"))


def _marks(words: Texts, view: ResponderView) -> list[str]:
    marks: tuple[tuple[Marked, bool], ...] = (
        ("Test", view.details.only_tests),
        ("Do not contact", any(one.suppressed for one in view.identifiers)),
    )
    return [words(text) for text, holds in marks if holds]


@routes.get(ONE, scope="Responder.Read", for_limited="part")
async def _person(visit: Visit, db: Database, *, refusal: errors.Refusal | None = None) -> Response:
    words, caller, responder_id = visit.words, visit.caller, visit.id("responder_id")
    view = await _view(visit, db)
    after = read_key(visit.query.get("after", ""))
    rows, next_key = await timeline_rows(
        visit, db, responder_id, is_whole=view.responder.is_whole, limit=ENTRIES, after=after
    )
    may_read = "Suppression.Read" in caller.scopes and not caller.is_limited
    values = await _values(visit, db, view.values) if view.values is not None else []
    await profiles.note(db, caller=caller, action="read", responder_id=responder_id, now=visit.now)
    may_stop = "Suppression.Create" in caller.scopes and not caller.is_limited and not view.responder.anonymized_time
    url, key = f"{PEOPLE}/{responder_id}", {"organization_id": caller.organization_id, "responder_id": responder_id}
    may_hold = visit.may_open(f"{HOLDS}/new") and not view.responder.anonymized_time
    return visit.page(
        "person.html",
        title=_name(words, view),
        refusal=refusal,
        view=view,
        marks=_marks(words, view),
        channels=CHANNELS,
        values=values,
        facts=[
            (words("Language"), words.language_name(view.responder.locale) if view.responder.locale else ""),
            (words("Time zone"), view.responder.time_zone or ""),
            (words("Known since"), visit.date(view.responder.created_time)),
            (words("Erased"), visit.date(view.responder.anonymized_time)),
        ]
        if view.responder.is_whole or caller.limit is None
        else [],
        timeline=rows,
        scores=scores_of(words, rows),
        next_url=address(url, after=next_key) if next_key else "",
        first_url=url if after else "",
        url=url,
        reasons=[(name, words(SUPPRESSIONS[name])) for name in BY_HAND],
        stoppable=[each for each in view.identifiers if not each.suppressed] if may_stop else [],
        stopped=await _suppressed(visit, db, responder_id) if may_read else [],
        causes=SUPPRESSIONS,
        may_download=not caller.is_limited and {*profiles.SUBJECT_SCOPES} <= caller.scopes,
        may_erase="Responder.Delete" in caller.scopes and not caller.is_limited,
        may_hold=may_hold,
        is_held=may_hold and await retention.get_is_held(db, **key),
    )


def scores_of(words: Texts, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The scores of the person's newest question, the oldest first; None where there is nothing to compare."""
    scored = [row for row in rows if row["score"] is not None]
    shown = [row["score"] for row in reversed(scored) if row["question_id"] == scored[0]["question_id"]]
    if len(shown) < 2:  # noqa: PLR2004  two ends
        return None
    points = [Point(one) for one in shown]
    chart = trend(points, bounds=SCALE, mirrored=words.direction == "rtl") if len(points) > 2 else None  # noqa: PLR2004  else a dash
    return {"text": words("Scores: {scores}", scores=", ".join(map(words.number, shown))), "chart": chart}


async def _view(visit: Visit, db: Database) -> ResponderView:
    """The person as far as the reader may see; raises NotFound."""
    found = await responders.get(db, caller=visit.caller, responder_id=visit.id("responder_id"))
    views = await responders.views_of(db, caller=visit.caller, responders=[found], now=visit.now)
    return views[found.responder_id]


async def _values(visit: Visit, db: Database, values: Mapping[str, str]) -> list[tuple[str, str]]:
    """The values of the person, with the titles that the organization or the product gave to the names."""
    page = Page.first(LISTING, limit=DEFINITIONS_MAX)
    found = await metadata.list_definitions(db, **visit.caller.part, kind="responder", page=page)
    titles = {one.name: one.title for one in found.items if not one.read_only}
    return [
        (titles.get(name) or GLOBAL.title("responder", name, visit.words), value)
        for name, value in sorted(values.items())
    ]


async def timeline_rows(
    visit: Visit,
    db: Database,
    responder_id: str,
    *,
    is_whole: bool,
    limit: int,
    after: tuple[datetime, str] | None = None,
) -> tuple[list[dict[str, Any]], str]:
    """A person's timeline for the macro `timeline`, the newest first, and the key of the next page if there is one.

    `is_whole`: the reader may see all that is held of the person. Empty for readers who may not read it.
    """
    if not {*profiles.TIMELINE_SCOPES} <= visit.caller.scopes:
        return [], ""
    page = replace(Page.first(profiles.TIMELINE, limit=limit), after=after)
    found = await profiles.list_entries(
        db, caller=visit.caller, responder_id=responder_id, is_whole=is_whole, page=page
    )
    last = found.items[-1] if found.next_key is not None else None
    return [_entry(visit, one) for one in found.items], key_of(last.time, last.entry_id) if last else ""


def _entry(visit: Visit, entry: Entry) -> dict[str, Any]:
    words = visit.words
    text = (REMINDERS if entry.source == "reminder" else KINDS).get(entry.kind) or KINDS[entry.kind]
    details = [
        entry.title or "",
        words(CHANNELS.get(entry.channel_id, "Link")) if entry.channel_id else "",
        words("Order {key}", key=entry.order_key) if entry.order_key and entry.kind in {"sent", "waiting"} else "",
    ]
    reason = words(SUPPRESSIONS.get(entry.reason or "", "")) if entry.kind == "suppressed" else entry.result or ""
    return {
        "kind": entry.kind,
        "text": words(text),
        "url": _url(visit, entry),
        "when": visit.moment(entry.time),
        "details": " · ".join(filter(None, details)),
        "reason": reason,
        "score": entry.score,
        "question_id": entry.score_question_id,
        "band": entry.band or "",
        "band_text": words(BANDS[entry.band]) if entry.band else "",
        "comment": entry.comment or "",
        "is_test": entry.test,
    }


def _url(visit: Visit, entry: Entry) -> str:
    if entry.alert_instance_id:
        return f"/console/cases/{entry.alert_instance_id}" if "Alert Instance.Read" in visit.caller.scopes else ""
    if entry.kind == "answered":
        return f"/console/responses/{entry.instance_id}"
    return f"/console/sending/{entry.item_id}" if entry.item_id and entry.kind in REMINDERS else ""


async def _suppressed(visit: Visit, db: Database, responder_id: str) -> list[Suppression]:
    found = await profiles.list_suppressions_of(
        db, organization_id=visit.caller.organization_id, responder_id=responder_id
    )
    return [one for one in found if one.expires_time is None or one.expires_time > visit.now]


@routes.post(f"{ONE}/suppression", scope="Suppression.Create", again=(errors.Invalid, errors.Conflict), at=ONE)
async def stop_messages(visit: Visit, db: Database) -> Response:
    form, responder_id = visit.form, visit.id("responder_id")
    channel, _, identifier = form.text("address").partition(":")
    reason: suppressions.Reason = next((one for one in BY_HAND if one == form.text("reason")), "blocked")
    view = await _view(visit, db)
    chosen = [one for one in view.identifiers if (str(one.channel_id), one.identifier) == (channel, identifier)]
    if not chosen:
        raise errors.Invalid.at("/address", "unknown_value", visit.words("Choose an address of this person."))
    if len(form.text("note")) > NOTE_CHARACTERS_MAX:
        raise errors.Invalid.at("/note", "too_long", visit.words("Enter at most 500 characters."))
    channel_id, note = cast("Any", chosen[0].channel_id), form.text("note") or None
    request = suppressions.SuppressionRequest(channel_id=channel_id, identifier=identifier, reason=reason, note=note)
    await suppressions.add(db, caller=visit.caller, request=request, secret=visit.site.secret, now=visit.now)
    return html.redirect(f"{PEOPLE}/{responder_id}?done=stopped")


@routes.get(f"{ONE}/suppression/{{suppression_id}}", scope="Suppression.Read")
async def lift_page(visit: Visit) -> Response:
    words = visit.words
    one = await visit.reading(_suppression)
    return visit.confirm(
        title=words("Allow messages again"),
        sentences=[
            words(
                "No messages go to {address} since {date}: {reason}.",
                address=one.identifier,
                date=visit.date(one.created_time),
                reason=words(SUPPRESSIONS.get(one.reason, one.reason)),
            ),
            words("Allow messages again only if the person wishes it, or if the address was mistyped or works again."),
        ],
        button=words("Allow messages to this address"),
        back=f"{PEOPLE}/{visit.id('responder_id')}",
        is_harmless=True,
    )


@routes.post(f"{ONE}/suppression/{{suppression_id}}", scope="Suppression.Delete")
async def lift(visit: Visit, db: Database) -> Response:
    one = await _suppression(visit, db)
    await nouns.delete(suppressions.SUPPRESSION, db, key=one.suppression_id, **visit.acting)
    return html.redirect(f"{PEOPLE}/{visit.id('responder_id')}?done=lifted")


async def _suppression(visit: Visit, db: Database) -> Suppression:
    visit.caller.require_all()
    await responders.get(db, caller=visit.caller, responder_id=visit.id("responder_id"))
    for one in await _suppressed(visit, db, visit.id("responder_id")):
        if one.suppression_id == visit.id("suppression_id"):
            return one
    raise errors.NotFound("There is no such suppression.")


@routes.get(f"{ONE}/subject", scope="Responder Value.Read", proof=True)
async def download_copy(visit: Visit) -> Response:
    for scope in profiles.SUBJECT_SCOPES:
        visit.caller.require(scope)
    file = await profiles.subject(
        databases.on_demand(visit.pool),
        **visit.acting,
        **visit.ids,
        zone=ZoneInfo(visit.zone),
        is_readable=visit.query.get("format") == "html",
    )
    return download(file)


@routes.post(f"{ONE}/erasure", scope="Responder.Delete", proof=True, again=(errors.Invalid,))
async def erase(visit: Visit) -> Response:
    form = visit.form
    if len(form.text("reason")) > NOTE_CHARACTERS_MAX:
        raise errors.Invalid.at("/reason", "too_long", visit.words("Enter at most 500 characters."))
    made = await visit.change(
        privacy.request,
        caller=visit.caller,
        **visit.ids,
        mode="erase" if form.text("mode") == "erase" else "anonymize",
        suppress=form.text("suppress") == "1",
        reason=form.text("reason") or None,
        now=visit.now,
    )
    return html.redirect(f"{PEOPLE}/erasure/{made.erasure_id}")


@routes.get(f"{ONE}/erasure", scope="Responder.Delete", proof=True)
async def _erasure_form(visit: Visit, db: Database, *, refusal: errors.Refusal | None = None) -> Response:
    words, responder_id = visit.words, visit.id("responder_id")
    counts = await profiles.count_entries(db, caller=visit.caller, responder_id=responder_id)
    view = await _view(visit, db)
    title = words("Erase {name}", name=_name(words, view))
    if await retention.get_is_held(db, organization_id=visit.caller.organization_id, responder_id=responder_id):
        kept = words("A legal hold keeps the data of this person. Lift it first.")
        return visit.confirm(title=title, sentences=[kept], button="", uses=[("Legal holds", "", HOLDS)])
    of_person = len(view.identifiers), len(view.values or {})
    numbers = (
        (of_person[0], words.plural("{n} address", "{n} addresses", of_person[0])),
        (of_person[1], words.plural("{n} value", "{n} values", of_person[1])),
        *_numbers(words, counts),
    )
    return visit.page(
        "erase.html",
        title=title,
        refusal=refusal,
        numbers=[text for count, text in numbers if count],
        modes=[(mode, words(text)) for mode, text in MODES.items()],
        mode=visit.form.text("mode") or "anonymize",
        is_suppressed=visit.request.method == "GET" or visit.form.text("suppress") == "1",
        url=f"{PEOPLE}/{responder_id}",
    )


def _numbers(words: Texts, counts: Mapping[str, int]) -> list[tuple[int, str]]:
    """The entries that an erasure is about: the number, and the sentence."""
    sent, waiting, ended, answered, cases = (
        counts.get(kind, 0) for kind in ("sent", "waiting", "not_sent", "answered", "case_opened")
    )
    return [
        (sent, words.plural("{n} message that was sent", "{n} messages that were sent", sent)),
        (
            waiting,
            words.plural(
                "{n} planned message, which will be cancelled", "{n} planned messages, which will be cancelled", waiting
            ),
        ),
        (ended, words.plural("{n} message that was not sent", "{n} messages that were not sent", ended)),
        (answered, words.plural("{n} response", "{n} responses", answered)),
        (cases, words.plural("{n} case with its comments and mails", "{n} cases with their comments and mails", cases)),
    ]


@routes.get(PROOFS, scope="Responder.Read")
async def list_proofs(visit: Visit, db: Database) -> Response:
    words, after = visit.words, visit.query.get("after", "")
    before = after if ids.is_id(after) else ""
    found = await privacy.list_erasures(db, caller=visit.caller, before=before, limit=ROWS + 1)
    return visit.page(
        "things.html",
        title=words("Proofs of erasure"),
        lead=words("One proof for each person whose data was erased. None says who it was."),
        list=Listing(
            rows=[
                {
                    "url": f"{PEOPLE}/erasure/{one.erasure_id}",
                    "title": visit.moment(one.requested_time),
                    "state": "" if one.finished_time else words("running"),
                    "when": "",
                    "more": words(MODES[one.mode]),
                    "seen": one.erasure_id,
                }
                for one in found[:ROWS]
            ],
            empty=words("Nobody has been erased yet. The page of each person has “Erase this person”."),
            next_url=address(PROOFS, after=found[ROWS - 1].erasure_id) if len(found) > ROWS else "",
            first_url=PROOFS if before else "",
        ),
    )


@routes.get("/console/people/erasure/{erasure_id}", scope="Responder.Read")
async def erasure_page(visit: Visit) -> Response:
    found = await visit.find(privacy.get_erasure)
    words = visit.words
    return visit.page(
        "erasure.html",
        title=words("The person is erased") if found.state == "done" else words("The person is being erased"),
        erasure=found,
        mode=words(MODES[found.mode]),
        counts=[(words(ERASED[name]), found.counts[name]) for name in ERASED if name in found.counts],
    )
