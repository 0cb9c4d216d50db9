"""Settings: shops and help desks, each with its address, its rules as sentences and its last events."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import condition_rows
from afterword.asking.questionnaires.condition_rows import Subject, Subjects
from afterword.console import conditions
from afterword.console.inputs import Input, document_of, filled, placed, read_as
from afterword.console.nouns import inputs_of, saved, screens_of
from afterword.console.removals import removal
from afterword.console.screens import Marked, Visit
from afterword.core.questionnaires.conditions import Kind
from afterword.core.sources import KINDS, rules
from afterword.core.sources.notes import LABELS, NOTES
from afterword.core.sources.parts import SourceKind, Value, What
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import Texts
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.web import html
from afterword.sending.intake.sources import api, notes, records, service, store
from afterword.sending.intake.sources.records import RULE, SOURCE, Source, SourceRule
from afterword.sending.intake.sources.store import EVENTS, SourceEventRecord
from afterword.sending.pipelines.resources import duration_of
from afterword.sending.screens import queue_items
from afterword.sending.screens.pipelines import choices_of
from afterword.tenants.screens import members

PATH: Final = "/console/settings/sources"
ONE: Final = f"{PATH}/{{source_id}}"
ONE_RULE: Final = f"{ONE}/rules/{{source_rule_id}}"
SEEN_MAX: Final = 100  # events whose values are offered
TRIED_SHOWN: Final = 20
LINES: Final = frozenset({"events", "values"})  # settings with many lines
NUMBERS: Final = frozenset({"total", "refunded", "items"})
KINDS_OF: Final[Mapping[type, Kind]] = {bool: "boolean", int: "number", float: "number"}
RULE_BLANK: Final = SimpleNamespace(
    what="order.delivered", conditions=None, unless=["order.cancelled", "order.refunded"], age_days_max=14, active=True
)
WHATS: Final[Mapping[What, Marked]] = {
    "order.created": "an order is placed", "order.paid": "an order is paid", "order.shipped": "an order is shipped",
    "order.delivered": "an order is delivered", "order.cancelled": "an order is cancelled",
    "order.refunded": "an order is refunded", "customer.created": "a customer registers",
    "subscription.ended": "a subscription ends", "ticket.created": "a ticket is opened",
    "ticket.solved": "a ticket is solved", "ticket.reopened": "a ticket is reopened", "other": "something else happens",
}  # fmt: skip
STATES: Final[Mapping[str, Marked]] = {
    "waiting": "scheduled", "asked": "asked", "cancelled": "cancelled", "no_rule": "no rule for it",
}  # fmt: skip
REASONS: Final[Mapping[str, Marked]] = {
    "test": "only a trial of the sender", "too_old": "the event is too old", "stopped": "another event stops it",
    "no_address": "the event has no address", "inactive": "the pipeline was deleted",
    "already_asked": "asked already", "too_late": "the message is being sent already",
    "invalid_address": "the address is wrong", "questionnaire_not_published": "the questionnaire is not published",
}  # fmt: skip

UNCHANGED: Final[Marked] = "Empty: no change."
AGAIN: Final = (errors.Invalid, errors.Forbidden, errors.Stale, errors.Conflict)  # they are shown in the form

routes = screens_of(SOURCE, without=("new", "edit"))


def _inputs(kind: SourceKind, *, is_new: bool = False) -> list[Input]:
    title, application, active = inputs_of(SOURCE)
    settings = [Input(f"settings-{name}", "area" if name in LINES else "text", label)
                for name, label in kind.settings.items()]  # fmt: skip
    hint = "It is stored sealed and never shown. You can add it later." if is_new else UNCHANGED
    inputs = [title, application, *settings, Input("secret", "text", kind.secret_label, hint), active]
    return inputs if is_new or kind.name not in NOTES else [*inputs, *_note_inputs(kind.name)]


def _note_inputs(name: str) -> list[Input]:
    user, token, hint = LABELS[name]
    inputs = [
        Input("note_active", "switch", "Scores are written back as notes", "Only your colleagues there read a note. "
              "It stays there when the person is erased here."),
        Input("note_address", "text", "Address of the account", "It starts with https://."),
        Input("note_user", "text", user, hint),
        Input("note_token", "text", token, UNCHANGED if user else hint),
    ]  # fmt: skip
    return [one for one in inputs if one.label and not (one.name == "note_address" and NOTES[name].address)]


async def _source(visit: Visit) -> Source | None:
    """The source of the address; None on the page of a new one."""
    return await visit.row(SOURCE) if "source_id" in visit.ids else None


def _kind(name: str) -> SourceKind:
    if name not in KINDS:
        raise errors.NotFound("There is no such system.")
    return KINDS[name]


@routes.get(f"{PATH}/new", scope="Source.Create")
@routes.get(f"{ONE}/edit", scope="Source.Update")
async def source_form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, source = visit.words, await _source(visit)
    name = source.kind if source else visit.form.text("kind") or visit.query.get("kind", "")
    if not name:
        kinds = [(f"{PATH}/new?kind={one.name}", words(one.label)) for one in KINDS.values()]
        return visit.page("source_kinds.html", title=words("Connect a shop or help desk"), kinds=kinds)
    kind, is_limited = _kind(name), bool(visit.caller.application_ids)
    applications = await visit.reading(members.applications_of)
    inputs = _inputs(kind, is_new=source is None)
    if len(applications) < 2 and not is_limited:  # noqa: PLR2004  there is nothing to choose
        inputs = [one for one in inputs if one.name != "application_id"]
    stored = msgspec.structs.asdict(source) if source else {"active": True, "settings": {}}
    stored |= {f"settings-{name}": text for name, text in stored["settings"].items()}
    every = [] if is_limited else [("", words("all applications"))]
    return visit.page(
        "source_form.html",
        title=source.title if source else words(kind.label),
        source_id=source.source_id if source else "",
        kind=kind.name,
        **filled(
            visit,
            inputs,
            SimpleNamespace(**stored),
            version=source.version if source else "",
            refusal=refusal and placed(refusal, lambda pointer: pointer.replace("/settings/", "/settings-", 1)),
            options={"application_id": [*every, *((one.application_id, one.display_name) for one in applications)]},
        ),
    )


@routes.post(f"{PATH}/new", scope="Source.Create", again=AGAIN)
@routes.post(f"{ONE}/edit", scope="Source.Update", again=AGAIN)
async def save_source(visit: Visit) -> Response:
    source = await _source(visit)
    kind = _kind(source.kind if source else visit.form.text("kind"))
    document = document_of(visit.form, _inputs(kind)) | ({} if source else {"kind": kind.name})
    settings = {name: document.pop(f"settings-{name}") for name in kind.settings}
    document["settings"] = {name: text for name, text in settings.items() if text}
    kept = await saved(visit, SOURCE, source, document, partial(nouns.create, SOURCE))
    return html.redirect(f"{PATH}/{kept.source_id}?done=saved")


@routes.post(f"{ONE}/notes/test", scope="Source.Update")
async def test_notes(visit: Visit) -> Response:
    source = await notes.try_notes(visit.pool, caller=visit.caller, source_id=visit.id("source_id"), site=visit.site)
    return html.redirect(f"{PATH}/{source.source_id}{'' if source.note_problem else '?done=notes_work'}")


@routes.get(ONE, scope="Source.Read")
async def source_page(visit: Visit) -> Response:
    words, source = visit.words, await visit.row(SOURCE)
    async with visit.read() as db:
        found = await store.list_events(db, **records.place_of(source), page=page_of(EVENTS, visit.query))
        said = await _rules_of(visit, db, source)
        failed = await notes.list_failed(db, **records.place_of(source))
    kind, here = KINDS.get(source.kind), f"{PATH}/{source.source_id}"
    return visit.page(
        "source.html",
        title=source.title,
        source=source,
        kind=words(records.kind_label(source)),
        here=here,
        url=visit.site.source_url(source.source_id),
        steps=[words(one) for one in kind.steps] if kind else [],
        call_body=kind.template if kind else "",
        state=records.state_of(words, source),
        calls=_calls(visit, source),
        takes_notes=source.kind in NOTES,
        failed=failed,
        rules=said,
        list=Listing(
            rows=[(one, _state(words, one), _capital(words(WHATS[one.what]))) for one in found.items],
            empty=words("Nothing has happened yet. Events are kept for 30 days."),
            **page_links(found, visit.query, here),
        ),
    )


def _calls(visit: Visit, source: Source) -> list[str]:
    """Sentences on the calls: the last one, and those that were refused."""
    words, told = visit.words, list[str]()
    if source.last_time is None:
        told.append(words("Waiting for the first call."))
    else:
        told.append(words("Last call: {moment}.", moment=visit.near(source.last_time)))
    if not source.sealed_secret:
        told.append(words("The secret is missing, so every call is refused. Enter it under “Edit”."))
    if source.refused_count:
        told.append(words.plural("{n} call was refused.", "{n} calls were refused.", source.refused_count))
    return told


def _state(words: Texts, one: SourceEventRecord) -> str:
    return _not_asked(words, one.decisions[0]["reason"]) if one.state == "not_asked" else words(STATES[one.state])


def _not_asked(words: Texts, reason: str) -> str:
    text = words(REASONS[reason]) if reason in REASONS else queue_items.reason_text(words, reason)
    return words("not asked: {reason}", reason=text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@routes.get(f"{ONE}/events/{{source_event_id}}", scope="Source.Read")
async def event_page(visit: Visit) -> Response:
    words, source = visit.words, await visit.row(SOURCE)
    async with visit.read() as db:
        event = await api.get_event(db, caller=visit.caller, **visit.ids)
        said = {one.source_rule_id: text for one, text in await _rules_of(visit, db, source)}
    labels = KINDS[source.kind].values if source.kind in KINDS else {}
    return visit.page(
        "source_event.html",
        title=" · ".join(filter(None, (_capital(words(WHATS[event.what])), event.subject))),
        source=source,
        event=event,
        state=_capital(_state(words, event)),
        decisions=[
            {
                "rule": said.get(one["source_rule_id"]) or words("A rule that was removed"),
                "state": _not_asked(words, one["reason"]) if one["reason"] else words(STATES[one["state"]]),
                "detail": "" if one["reason"] in {*REASONS, *queue_items.REASONS} else one["detail"] or "",
                "url": f"/console/sending/{one['item_id']}" if one["item_id"] else "",
            }
            for one in event.decisions
        ],
        values=[(words(labels.get(name, name)), rules.text_of(value)) for name, value in event.values.items()],
    )


async def _rules_of(visit: Visit, db: Database, source: Source) -> list[tuple[SourceRule, str]]:
    """Each with its sentence, the oldest first."""
    found = await records.rules_of(db, source_id=source.source_id, **visit.caller.reach)
    subjects = await _subjects(visit, db, source)
    choices = await choices_of(visit, db, also=[one.pipeline_id for one in found])
    titles = {one.pipeline_id: one.title for one, _ in choices}
    return [(one, sentence_of(visit.words, one, titles, subjects)) for one in found]


async def _subjects(visit: Visit, db: Database, source: Source) -> Subjects:
    """The values that rules may compare: those that the kind names, and those of the last events."""
    seen: dict[str, Counter[Value]] = defaultdict(Counter)
    page = Page.first(EVENTS, limit=SEEN_MAX)
    for event in (await store.list_events(db, **records.place_of(source), page=page)).items:
        for name, value in event.values.items():
            seen[name][value] += 1
    try:
        labels = records.kind_of(source.kind, source.settings).values
    except errors.Invalid:
        labels = {}
    return {
        f"{rules.SUBJECT}{name}": Subject(
            f"{rules.SUBJECT}{name}",
            visit.words(labels.get(name, name)),
            _kind_of(name, seen[name]),
            seen=[(rules.text_of(value), count) for value, count in seen[name].items()],
        )
        for name in dict.fromkeys([*labels, *seen])
    }


def _kind_of(name: str, seen: Collection[Value]) -> Kind:
    kinds = {KINDS_OF.get(type(one), "text") for one in seen} or {"number" if name in NUMBERS else "text"}
    return kinds.pop() if len(kinds) == 1 else "text"


def sentence_of(words: Texts, rule: SourceRule, titles: Mapping[str, str], subjects: Subjects) -> str:
    """The rule in words; `titles`: of pipelines."""
    known = condition_rows.with_named(subjects, rule.conditions)
    pipeline = titles.get(rule.pipeline_id) or words("a pipeline that was deleted")
    named = {"event": words(WHATS[rule.what]), "pipeline": pipeline}
    if rule.conditions is None:
        told = [words("When {event}, ask through “{pipeline}”.", **named)]
    else:
        named["condition"] = condition_rows.sentence_of(words, rule.conditions, known)
        told = [words("When {event} and {condition}, ask through “{pipeline}”.", **named)]
    delay = duration_of(words, {"days": rule.delay_days or 0, "hours": rule.delay_hours or 0, "minutes": 0})
    if delay:
        told.append(words("The message leaves {delay} later.", delay=delay))
    if rule.unless:
        stops = f" {words('or')} ".join(words(WHATS[one]) for one in WHATS if one in rule.unless)
        told.append(words("Nobody is asked if {events}.", events=stops))
    return " ".join(told)


@routes.get(f"{ONE}/rules/new", scope="Source.Create")
@routes.get(ONE_RULE, scope="Source.Update")
async def rule_form(
    visit: Visit, refusal: errors.Refusal | None = None, *, tried: Mapping[str, Any] | None = None
) -> Response:
    words, source, rule = visit.words, await visit.row(SOURCE), await _rule(visit)
    async with visit.read() as db:
        subjects = await _subjects(visit, db, source)
        choices = await choices_of(visit, db, also=[rule.pipeline_id] if rule else ())
        pipelines = [(one.pipeline_id, text) for one, text in choices]
    stored, kind = rule or RULE_BLANK, KINDS.get(source.kind)
    known = condition_rows.with_named(subjects, stored.conditions)
    values = visit.form.values
    typed = conditions.typed(visit.form) if values else conditions.stored(stored.conditions, known)
    whats = [(one, words(text)) for one, text in WHATS.items() if kind is None or one in kind.whats]
    return visit.page(
        "source_rule.html",
        title=words("Rule") if rule else words("New rule"),
        source=source,
        here=f"{PATH}/{source.source_id}",
        path=visit.request.url.path,
        rule_id=rule.source_rule_id if rule else "",
        conditions=conditions.values_of(words, typed, known),
        has_pipelines=bool(pipelines),
        tried=tried,
        **filled(
            visit,
            inputs_of(RULE),
            stored,
            version=rule.version if rule else "",
            refusal=refusal and placed(refusal, partial(conditions.place_of, values=typed)),
            options={"pipeline_id": pipelines, "what": whats, "unless": whats},
        ),
    )


@routes.post(f"{ONE}/rules/new", scope="Source.Create", again=AGAIN)
@routes.post(ONE_RULE, scope="Source.Update", again=AGAIN)
async def save_rule(visit: Visit) -> Response:
    """Save the form, or only try it on the last events."""
    source, rule = await visit.row(SOURCE), await _rule(visit)
    async with visit.read() as db:
        subjects = await _subjects(visit, db, source)
    condition = conditions.condition_of(visit, conditions.typed(visit.form), subjects)
    document = document_of(visit.form, inputs_of(RULE)) | {"conditions": condition}
    if visit.form.text("then") == "try":
        columns = read_as(structs.creation_of(RULE), document, visit).named()
        tried = await visit.load(service.try_rule, source_id=source.source_id, columns=columns, **visit.acting)
        return await rule_form(visit, tried=_tried(visit, tried))
    await saved(visit, RULE, rule, document, partial(records.create_rule, source_id=source.source_id))
    return html.redirect(f"{PATH}/{source.source_id}?done=saved")


def _tried(visit: Visit, tried: Sequence[service.Tried]) -> dict[str, Any]:
    words, asked = visit.words, sum(one.asks for one in tried)
    if not tried:
        return {"text": words("There is no such event yet to try it on."), "rows": []}
    return {
        "text": words.plural(
            "{asked} of the last {n} event would ask.", "{asked} of the last {n} events would ask.", len(tried)
        ).replace("{asked}", words.count(asked)),
        "rows": [
            {
                "subject": one.event.subject or one.event.event_id,
                "state": _not_asked(words, one.reason or "")
                if not one.asks
                else words("asked on {moment}", moment=visit.moment(one.planned_time))
                if one.planned_time
                else words("asked"),
            }
            for one in tried[:TRIED_SHOWN]
        ],
    }


async def _rule(visit: Visit) -> SourceRule | None:
    """None on the page of a new one. Raises NotFound, also for a rule of another source."""
    rule = await visit.row(RULE) if "source_rule_id" in visit.ids else None
    if rule and rule.source_id != visit.id("source_id"):
        raise errors.NotFound(RULE.nothing)
    return rule


removal(
    routes,
    f"{ONE_RULE}/removal",
    scope="Source.Delete",
    title="Remove this rule?",
    sentences=["It asks nobody any more. Messages that are scheduled stay."],
    button="Remove the rule",
    get=_rule,
    remove=lambda visit, db: nouns.delete(RULE, db, key=visit.id("source_rule_id"), **visit.acting),
    to=ONE,
)
