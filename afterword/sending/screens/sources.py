"""Settings: shops and help desks, each with its address, its rules as sentences and its last events."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import condition_rows
from afterword.asking.questionnaires.condition_rows import Subject, Subjects
from afterword.console import conditions
from afterword.console.inputs import Input, differences, document_of, placed, read_as, same_version, shown
from afterword.console.nouns import inputs_of, screens_of
from afterword.console.removals import removal
from afterword.console.screens import Marked, Visit
from afterword.core.questionnaires.conditions import Kind
from afterword.core.sources import KINDS, rules
from afterword.core.sources.parts import SourceKind, Value, What
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns import structs
from afterword.kit.texts import Texts
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.ui.text import near_moment
from afterword.kit.web import html
from afterword.sending.intake.sources import api, records, store
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

routes = screens_of(SOURCE, without=("new", "edit"))


def kind_label(one: Source) -> str:
    return KINDS[one.kind].label if one.kind in KINDS else one.kind


def _source_inputs(kind: SourceKind, *, applications: bool, is_new: bool = False) -> list[Input]:
    title, application, active = inputs_of(SOURCE)
    settings = [Input(f"settings-{name}", "area" if name in LINES else "text", label)
                for name, label in kind.settings.items()]  # fmt: skip
    hint = "It is stored sealed and never shown. You can add it later." if is_new else "Empty: no change."
    secret = Input("secret", "text", kind.secret_label, hint)
    return [title, *([application] if applications else []), *settings, secret, active]


async def _show_source(
    visit: Visit, source: Source | None, kind: SourceKind, refusal: errors.Refusal | None = None
) -> Response:
    words = visit.words
    async with visit.read() as db:
        applications = await members.applications_of(visit, db)
    has_many = len(applications) > 1 or bool(visit.caller.application_ids)
    inputs = _source_inputs(kind, applications=has_many, is_new=source is None)
    settings = source.settings if source else {}
    stored = dict.fromkeys((one.name for one in inputs), "") | {"active": True}
    stored |= {f"settings-{name}": text for name, text in settings.items()}
    stored |= {name: getattr(source, name) for name in ("title", "application_id", "active")} if source else {}
    is_stale = isinstance(refusal, errors.Stale)
    every = [] if visit.caller.application_ids else [("", words("all applications"))]
    options = {"application_id": [*every, *((one.application_id, one.display_name) for one in applications)]}
    fields = shown(visit, inputs, _Stored(stored), options)
    return visit.page(
        "source_form.html",
        title=source.title if source else words(kind.label),
        source_id=source.source_id if source else "",
        kind=kind.name,
        fields=fields,
        version=source.version if source and (is_stale or not visit.form.values) else visit.form.text("version"),
        theirs=differences(visit, inputs, _Stored(stored), options) if is_stale else [],
        refusal=refusal if refusal is None or is_stale else _placed_settings(refusal),
    )


class _Stored:
    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)


def _placed_settings(refusal: errors.Refusal) -> errors.Refusal:
    wrong = [replace(one, pointer=(one.pointer or "").replace("/settings/", "/settings-", 1)) for one in refusal.errors]
    return placed(errors.Invalid(refusal.detail, errors=wrong))


def _source_document(visit: Visit, kind: SourceKind) -> dict[str, Any]:
    document = document_of(visit.form, _source_inputs(kind, applications=True))
    settings = {name: document.pop(f"settings-{name}") for name in kind.settings}
    return document | {"settings": {name: text for name, text in settings.items() if text}}


def _kind(name: str) -> SourceKind:
    if name not in KINDS:
        raise errors.NotFound("There is no such system.")
    return KINDS[name]


@routes.get(f"{PATH}/new", scope="Source.Create")
async def new_source_page(visit: Visit) -> Response:
    if name := visit.query.get("kind", ""):
        return await _show_source(visit, None, _kind(name))
    words = visit.words
    kinds = [(f"{PATH}/new?kind={one.name}", words(one.label)) for one in KINDS.values()]
    return visit.page("source_kinds.html", title=words("Connect a shop or help desk"), kinds=kinds)


@routes.post(f"{PATH}/new", scope="Source.Create")
async def make_source(visit: Visit) -> Response:
    kind = _kind(visit.form.text("kind"))
    try:
        document = _source_document(visit, kind) | {"kind": kind.name}
        columns = read_as(structs.creation_of(SOURCE), document, visit).named()
        async with visit.write() as db:
            made = await nouns.create(SOURCE, db, columns=columns, **visit.acting)
    except (errors.Invalid, errors.Forbidden) as refusal:
        return await _show_source(visit, None, kind, refusal)
    return html.redirect(f"{PATH}/{made.record.source_id}?done=saved")


@routes.get(f"{ONE}/edit", scope="Source.Update")
async def edit_source_page(visit: Visit) -> Response:
    source = await visit.row(SOURCE)
    return await _show_source(visit, source, _kind(source.kind))


@routes.post(f"{ONE}/edit", scope="Source.Update")
async def save_source(visit: Visit) -> Response:
    source = await visit.row(SOURCE)
    kind = _kind(source.kind)
    try:
        changes = read_as(structs.update_of(SOURCE), _source_document(visit, kind), visit).named()
        async with visit.write() as db:
            await nouns.update(
                SOURCE, db, key=source.source_id, changes=changes, expect=same_version(visit), **visit.acting
            )
    except (errors.Invalid, errors.Forbidden, errors.Stale) as refusal:
        return await _show_source(visit, await visit.row(SOURCE), kind, refusal)
    return html.redirect(f"{PATH}/{source.source_id}?done=saved")


@routes.get(ONE, scope="Source.Read")
async def source_page(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        source = await nouns.get(SOURCE, db, caller=visit.caller, key=visit.id("source_id"))
        place = {"organization_id": source.organization_id, "source_id": source.source_id}
        found = await store.list_events(db, **place, page=page_of(EVENTS, visit.query))
        of_source = await _rules_of(visit, db, source)
        subjects = await _subjects(visit, db, source)
        titles = {one.pipeline_id: one.title for one, _ in await choices_of(visit, db)}
    kind, here = KINDS.get(source.kind), f"{PATH}/{source.source_id}"
    may_change = "Source.Update" in visit.caller.scopes
    return visit.page(
        "source.html",
        title=source.title,
        source=source,
        kind=words(kind_label(source)),
        here=here,
        url=visit.site.source_url(source.source_id),
        steps=[words(one) for one in kind.steps] if kind else [],
        call_body=kind.template if kind else "",
        state=records.state_of(words, source),
        calls=_calls(visit, source),
        may_change=may_change,
        rules=[
            {
                "url": f"{here}/rules/{one.source_rule_id}" if may_change else "",
                "text": sentence_of(words, one, titles, subjects),
                "is_off": not one.active,
            }
            for one in of_source
        ],
        list=Listing(
            rows=[_row(visit, one, here) for one in found.items],
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
        moment = near_moment(words, source.last_time, now=visit.now, zone=visit.zone)
        told.append(words("Last call: {moment}.", moment=moment))
    if not source.sealed_secret:
        told.append(words("The secret is missing, so every call is refused. Enter it under “Edit”."))
    if source.refused_count:
        told.append(words.plural("{n} call was refused.", "{n} calls were refused.", source.refused_count))
    return told


def _row(visit: Visit, one: SourceEventRecord, here: str) -> dict[str, Any]:
    words = visit.words
    return {
        "url": f"{here}/events/{one.source_event_id}",
        "state": _state(words, one),
        "is_asked": one.state in {"asked", "waiting"},
        "what": _capital(words(WHATS[one.what])),
        "subject": one.subject,
        "name": one.name,
        "when": near_moment(words, one.received_time, now=visit.now, zone=visit.zone),
    }


def _state(words: Texts, one: SourceEventRecord) -> str:
    if one.state != "not_asked":
        return words(STATES[one.state])
    return words("not asked: {reason}", reason=reason_text(words, one.decisions[0]["reason"]))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def reason_text(words: Texts, reason: str) -> str:
    return words(REASONS[reason]) if reason in REASONS else queue_items.reason_text(words, reason)


@routes.get(f"{ONE}/events/{{source_event_id}}", scope="Source.Read")
async def event_page(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        source = await nouns.get(SOURCE, db, caller=visit.caller, key=visit.id("source_id"))
        event = errors.found(
            await store.get_event(db, organization_id=source.organization_id, **visit.ids), "There is no such event."
        )
        of_source = {one.source_rule_id: one for one in await _rules_of(visit, db, source)}
        subjects = await _subjects(visit, db, source)
        titles = {one.pipeline_id: one.title for one, _ in await choices_of(visit, db)}
    kind = KINDS.get(source.kind)
    labels = kind.values if kind else {}
    said: list[dict[str, str]] = []
    for one in event.decisions:
        rule = of_source.get(one["source_rule_id"])
        reason = one["reason"]
        state = (
            words("not asked: {reason}", reason=reason_text(words, reason)) if reason else words(STATES[one["state"]])
        )
        said.append(
            {
                "rule": sentence_of(words, rule, titles, subjects) if rule else words("A rule that was removed"),
                "state": state,
                "detail": "" if reason in REASONS or reason in queue_items.REASONS else one["detail"] or "",
                "url": f"/console/sending/{one['item_id']}" if one["item_id"] else "",
            }
        )
    return visit.page(
        "source_event.html",
        title=" · ".join(filter(None, (_capital(words(WHATS[event.what])), event.subject))),
        source=source,
        event=event,
        state=_capital(_state(words, event)),
        happened=words.moment(event.time, time_zone=visit.zone),
        received=words.moment(event.received_time, time_zone=visit.zone),
        decisions=said,
        values=[(words(labels.get(name, name)), rules.text_of(value)) for name, value in event.values.items()],
    )


async def _rules_of(visit: Visit, db: Database, source: Source) -> list[SourceRule]:
    """The oldest first."""
    page = Page.first(structs.listing_of(RULE), limit=records.RULES_OF_ONE_MAX)
    found = await nouns.rows(RULE, db, **visit.caller.reach, parent_id=source.source_id, page=page)
    return found.items[::-1]


async def _subjects(visit: Visit, db: Database, source: Source) -> Subjects:
    """The values that rules may compare: those that the kind names, and those of the last events."""
    words, seen = visit.words, dict[str, dict[Value, int]]()
    place = {"organization_id": source.organization_id, "source_id": source.source_id}
    for event in await store.list_kept(db, **place, limit=SEEN_MAX):
        for name, value in event.values.items():
            counts = seen.setdefault(name, {})
            counts[value] = counts.get(value, 0) + 1
    try:
        labels = records.kind_of(source.kind, source.settings).values
    except errors.Invalid:
        labels = {}
    found = [
        Subject(
            f"{rules.SUBJECT}{name}",
            words(labels.get(name, name)),
            _kind_of(name, seen.get(name, {})),
            seen=[(rules.text_of(value), count) for value, count in seen.get(name, {}).items()],
        )
        for name in dict.fromkeys([*labels, *seen])
    ]
    return {one.key: one for one in found}


def _kind_of(name: str, seen: Mapping[Value, int]) -> Kind:
    if not seen:
        return "number" if name in NUMBERS else "text"
    if all(isinstance(one, bool) for one in seen):
        return "boolean"
    return "number" if not any(isinstance(one, str | bool) for one in seen) else "text"


def sentence_of(words: Texts, rule: SourceRule, titles: Mapping[str, str], subjects: Subjects) -> str:
    """The rule in words; `titles`: of pipelines."""
    pipeline = titles.get(rule.pipeline_id) or words("a pipeline that was deleted")
    event = words(WHATS[rule.what])
    if rule.conditions is None:
        told = [words("When {event}, ask through “{pipeline}”.", event=event, pipeline=pipeline)]
    else:
        known = condition_rows.with_named(subjects, rule.conditions)
        condition = condition_rows.sentence_of(words, rule.conditions, known)
        told = [
            words(
                "When {event} and {condition}, ask through “{pipeline}”.",
                event=event,
                condition=condition,
                pipeline=pipeline,
            )
        ]
    delay = duration_of(words, {"days": rule.delay_days or 0, "hours": rule.delay_hours or 0, "minutes": 0})
    if delay:
        told.append(words("The message leaves {delay} later.", delay=delay))
    if rule.unless:
        stops = f" {words('or')} ".join(words(WHATS[one]) for one in WHATS if one in rule.unless)
        told.append(words("Nobody is asked if {events}.", events=stops))
    return " ".join(told)


async def _show_rule(
    visit: Visit,
    rule: SourceRule | None,
    refusal: errors.Refusal | None = None,
    *,
    tried: Mapping[str, Any] | None = None,
) -> Response:
    words = visit.words
    async with visit.read() as db:
        source = await nouns.get(SOURCE, db, caller=visit.caller, key=visit.id("source_id"))
        subjects = await _subjects(visit, db, source)
        pipelines = [(one.pipeline_id, text) for one, text in await choices_of(visit, db)]
    known = condition_rows.with_named(subjects, rule.conditions if rule else None)
    is_typed, is_stale = bool(visit.form.values), isinstance(refusal, errors.Stale)
    values = conditions.typed(visit.form) if is_typed else conditions.stored(rule.conditions if rule else None, known)
    inputs, kind = inputs_of(RULE), KINDS.get(source.kind)
    stored = rule or _Stored(
        {"what": "order.delivered", "unless": ["order.cancelled", "order.refunded"], "age_days_max": 14, "active": True}
    )
    whats = [(one, words(text)) for one, text in WHATS.items() if kind is None or one in kind.whats]
    options = {"pipeline_id": pipelines, "what": whats, "unless": whats}
    here = f"{PATH}/{source.source_id}"
    one = f"{here}/rules/{rule.source_rule_id}" if rule else f"{here}/rules/new"
    return visit.page(
        "source_rule.html",
        title=words("Rule") if rule else words("New rule"),
        source=source,
        here=here,
        path=one,
        rule_id=rule.source_rule_id if rule else "",
        fields=shown(visit, inputs, stored, options),
        conditions=conditions.values_of(words, values, known),
        version=rule.version if rule and (is_stale or not is_typed) else visit.form.text("version"),
        theirs=differences(visit, inputs, stored, options) if is_stale else [],
        has_pipelines=bool(pipelines),
        refusal=refusal if refusal is None or is_stale else _placed_rule(visit, refusal),
        tried=tried,
    )


def _placed_rule(visit: Visit, refusal: errors.Refusal) -> errors.Refusal:
    def place(pointer: str) -> str:
        head, *parts = pointer.removeprefix("/").split("/")
        if head != "conditions":
            return f"/{head}"
        typed = conditions.typed(visit.form)
        return "/document" if typed.document else f"/{condition_rows.place_of(parts, typed.rows)}"

    wrong = [replace(one, pointer=place(one.pointer or "")) for one in refusal.errors]
    return errors.Invalid(refusal.detail, errors=wrong)


async def _rule_document(visit: Visit) -> dict[str, Any]:
    """Raises Invalid, NotFound."""
    async with visit.read() as db:
        source = await nouns.get(SOURCE, db, caller=visit.caller, key=visit.id("source_id"))
        subjects = await _subjects(visit, db, source)
    values = conditions.typed(visit.form)
    condition = conditions.condition_of(visit, values, subjects)
    return document_of(visit.form, inputs_of(RULE)) | {"conditions": condition}


async def _answer_rule(visit: Visit, rule: SourceRule | None) -> Response:
    """Save the form, or only try it on the last events."""
    source_id, here = visit.id("source_id"), f"{PATH}/{visit.id('source_id')}"
    try:
        document = await _rule_document(visit)
        if visit.form.text("then") == "try":
            columns = structs.written(RULE, read_as(structs.creation_of(RULE), document, visit).named())
            async with visit.read() as db:
                tried = await api.try_columns(db, source_id=source_id, columns=columns, **visit.acting)
            return await _show_rule(visit, rule, tried=_tried(visit, tried))
        async with visit.write() as db:
            if rule is None:
                columns = read_as(structs.creation_of(RULE), document, visit).named()
                await records.create_rule(db, source_id=source_id, columns=columns, **visit.acting)
            else:
                changes = read_as(structs.update_of(RULE), document, visit).named()
                key, expect = rule.source_rule_id, same_version(visit)
                await nouns.update(RULE, db, key=key, changes=changes, expect=expect, **visit.acting)
    except (errors.Invalid, errors.Stale, errors.Conflict) as refusal:
        return await _show_rule(visit, rule, refusal)
    return html.redirect(f"{here}?done=saved")


def _tried(visit: Visit, tried: Sequence[api.Tried]) -> dict[str, Any]:
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
                "state": words("not asked: {reason}", reason=reason_text(words, one.reason or ""))
                if not one.asks
                else words("asked on {moment}", moment=words.moment(one.planned_time, time_zone=visit.zone))
                if one.planned_time
                else words("asked"),
            }
            for one in tried[:TRIED_SHOWN]
        ],
    }


async def _rule(visit: Visit) -> SourceRule:
    """Raises NotFound, also for a rule of another source."""
    rule = await visit.row(RULE)
    if rule.source_id != visit.id("source_id"):
        raise errors.NotFound(RULE.nothing)
    return rule


@routes.get(f"{ONE}/rules/new", scope="Source.Create")
async def new_rule_page(visit: Visit) -> Response:
    return await _show_rule(visit, None)


@routes.post(f"{ONE}/rules/new", scope="Source.Create")
async def make_rule(visit: Visit) -> Response:
    return await _answer_rule(visit, None)


@routes.get(ONE_RULE, scope="Source.Update")
async def rule_page(visit: Visit) -> Response:
    return await _show_rule(visit, await _rule(visit))


@routes.post(ONE_RULE, scope="Source.Update")
async def save_rule(visit: Visit) -> Response:
    return await _answer_rule(visit, await _rule(visit))


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
