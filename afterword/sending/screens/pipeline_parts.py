"""The form of one part of a pipeline's rules: its fields, what is stored of them, what was typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, condition_rows
from afterword.asking.questionnaires.condition_rows import Subjects
from afterword.console import conditions
from afterword.console.inputs import Input, differences, document_of, read_as, shown
from afterword.console.screens import Form, Marked, Screens, Visit
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_WEBHOOK
from afterword.kit.ui.text import WEEKDAYS, ZONES
from afterword.sending.pipelines.resources import UNITS, PipelineUpdate
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.queue import backtests
from afterword.sending.screens import pipelines
from afterword.sending.screens.pipelines import ONE, change, pipeline_of, subjects_for, url_of
from afterword.sending.screens.queue_items import reason_text

REMINDERS_MAX: Final = 3
DAYS: Final = tuple((str(number), text) for number, text in WEEKDAYS.items())

routes = Screens()


@dataclass(frozen=True, slots=True)
class Part:
    title: Marked
    inputs: Sequence[Input]
    channels: Sequence[int] = ()  # those that have it; empty: all


def _durations(name: str, least: Marked) -> tuple[Input, ...]:
    return (
        Input(f"{name}_days", "number", "Days", least, required=True),
        Input(f"{name}_hours", "number", "Hours", required=True),
        Input(f"{name}_minutes", "number", "Minutes", required=True),
    )


PARTS: Final[Mapping[str, Part]] = {
    "name": Part(
        "Name",
        (
            Input("title", "text", "Title", required=True),
            Input("description", "area", "Description", "For your colleagues."),
        ),
    ),
    "delay": Part(
        "When a message is due",
        _durations("delay_cap", "How long a message waits that comes without a send time."),
    ),
    "conditions": Part("Who is asked", ()),
    "frequency": Part(
        "How often an address is asked",
        (
            *_durations("frequency_cap", "The least time between two messages to an address. 0: no limit."),
            Input("if_capped", "choice", "A message that comes earlier",
                  options=(("skip", "is not sent"), ("wait", "waits")), required=True),
            Input("policy_exempt", "switch", "The contact policy of the organization",
                  options=(("", "holds too"), ("1", "does not hold here"))),
        ),
    ),
    "hours": Part(
        "At which hours messages leave",
        (
            Input("weekdays", "checks", "Days", options=DAYS, required=True),
            Input("dispatch_start_time", "clock", "From", "Without both times: at any hour."),
            Input("dispatch_end_time", "clock", "To"),
            Input("zone_of", "choice", "In the time zone of",
                  options=(("recipient", "the customer"), ("organization", "the organization")), required=True),
            Input("time_zone", "choice", "Or always in this one",
                  options=(("", "–"), *((one, one) for one in ZONES)), is_translated=False),  # noqa: RUF001
            Input("if_outside", "choice", "A message that is due at another time",
                  options=(("wait", "waits"), ("skip", "is not sent")), required=True),
            Input("on_holidays", "choice", "On the holidays of the contact policy",
                  options=(("wait", "messages wait"), ("send", "messages leave")), required=True),
        ),
    ),
    "reminders": Part("Reminders", ()),
    "sender": Part(
        "From whom the mail comes",
        (
            Input("sender_name", "text", "Name of the sender"),
            Input("sender_address", "text", "Address of the sender",
                  "Its domain must belong to your organization. Empty: that of the installation."),
            Input("reply_to", "text", "Address for replies"),
        ),
        (CHANNEL_EMAIL,),
    ),
    "target": Part(
        "Where messages go",
        (Input("target_url", "text", "Address of the webhook", required=True),),
        (CHANNEL_WEBHOOK,),
    ),
    "period": Part(
        "From when to when",
        (
            Input("start_time", "moment", "Begin", "Empty: at once."),
            Input("end_time", "moment", "End", "Empty: never."),
        ),
    ),
    "effort": Part(
        "After a failure",
        (
            Input("max_retry_attempts", "number", "Further tries", "0 to 20.", required=True),
            Input("not_after_days", "number", "Days after the send time on which it is too late", "1 to 365.",
                  required=True),
            Input("priority", "number", "Priority", "0 goes first, 9 last.", required=True),
        ),
    ),
}  # fmt: skip
# Said of messages that wait already, one or many, when a part changes; other parts are read when a message is due.
FOLLOWING: Final[tuple[Marked, Marked]] = (
    "{n} message waits. It follows the change: these rules decide when it is due.",
    "{n} messages wait. They follow the change: these rules decide about each when it is due.",
)
STAYING: Final[Mapping[str, tuple[Marked, Marked]]] = {
    "delay": (
        "{n} message waits and keeps its time. Only those that come later follow the change.",
        "{n} messages wait and keep their time. Only those that come later follow the change.",
    ),
    "reminders": (
        "{n} message waits. Once it is sent, it is reminded by these times; a planned reminder keeps its own.",
        "{n} messages wait. Once they are sent, they are reminded by these times; planned reminders keep their own.",
    ),
    "effort": (
        "{n} message waits. It keeps its number of tries and its last day; the priority holds for it too.",
        "{n} messages wait. They keep their number of tries and their last day; the priority holds for them too.",
    ),
}


TRIED: Final = frozenset({"conditions", "frequency", "hours", "period"})  # parts by which past items are decided anew


@routes.post(f"{ONE}/{{part}}", scope="Pipeline.Update")
async def save_part(visit: Visit) -> Response:
    try:
        async with visit.read() as db:
            pipeline = await pipeline_of(visit, db)
            subjects = await subjects_for(visit, db, pipeline)
        _part(visit, pipeline)
        changes = _changes(visit, pipeline, subjects)
        if visit.form.text("then") == "try" and _may_try(visit):
            return await _show(visit, tried=await _try(visit, changes))
        return await change(visit, changes)
    except errors.Invalid as invalid:
        return await _show(visit, errors.Invalid(invalid.detail, errors=_placed(visit, invalid)))
    except errors.Stale as stale:
        return await _show(visit, stale)


def _may_try(visit: Visit) -> bool:
    return visit.id("part") in TRIED and "Queue.Read" in visit.caller.scopes


async def _try(visit: Visit, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The outcomes of the last items by the stored and by the changed rules. Raises Invalid, as saving does."""
    async with visit.read() as db:
        tried = await backtests.try_change(
            db,
            caller=visit.caller,
            questionnaire_id=visit.id("questionnaire_id"),
            pipeline_id=visit.id("pipeline_id"),
            changes=changes,
            now=visit.now,
            networks=visit.site.networks,
        )
    words, count = visit.words, len(tried.before)
    return {
        "count": words.plural(
            "{n} invitation of the last 30 days, decided anew", "{n} invitations of the last 30 days, decided anew",
            count,
        ),
        "moved": words.plural("{n} comes out differently.", "{n} come out differently.", tried.moved),
        "rows": [
            (words("not asked: {reason}", reason=reason_text(words, reason)) if reason else words("asked"), *counts)
            for reason, *counts in tried.outcomes
        ] if count else [],
    }  # fmt: skip


def _part(visit: Visit, pipeline: Pipeline) -> Part:
    """The part of the address. Raises NotFound for one that pipelines of this channel have not."""
    part = PARTS.get(visit.id("part"))
    if part is None or (part.channels and pipeline.channel_id not in part.channels):
        raise errors.NotFound("A pipeline of this channel has no such part.")
    return part


def _changes(visit: Visit, pipeline: Pipeline, subjects: Subjects) -> dict[str, Any]:
    """The columns of the form. Raises Invalid."""
    name, form = visit.id("part"), visit.form
    if name == "conditions":
        document = conditions.condition_of(visit, conditions.typed(visit), subjects)
        return read_as(PipelineUpdate, {"conditions": document}, visit).given
    if name == "reminders":
        return read_as(PipelineUpdate, {"reminders": _typed_reminders(form, pipeline)}, visit).given
    return read_as(PipelineUpdate, document_of(form, PARTS[name].inputs), visit).given


def _typed_reminders(form: Form, pipeline: Pipeline) -> list[dict[str, Any]]:
    """Those with a time, each with the texts that it has."""
    found: list[dict[str, Any]] = []
    for index in range(REMINDERS_MAX):
        times = {f"delay_{unit}": form.text(f"{unit}-{index}") or 0 for unit, _, _ in UNITS}
        if any(text not in {0, "0"} for text in times.values()):
            stored = pipeline.reminders[index] if index < len(pipeline.reminders) else {}
            found.append({**times, "messages": stored.get("messages", {})})
    return found


def _placed(visit: Visit, refusal: errors.Invalid) -> list[errors.FieldError]:
    """The errors at the fields of the form; those of another part are told as they are."""

    def place(pointer: str) -> str:
        head, *parts = pointer.removeprefix("/").split("/")
        if head == "reminders" and len(parts) > 1:
            return f"/{parts[1].removeprefix('delay_')}-{parts[0]}"
        if head == "conditions":
            values = conditions.typed(visit)
            return "/document" if values.document else f"/{condition_rows.place_of(parts, values.rows)}"
        return f"/{head}"

    return [replace(one, pointer=place(one.pointer or "")) for one in refusal.errors]


@routes.get(f"{ONE}/{{part}}", scope="Pipeline.Update")
async def _show(
    visit: Visit, refusal: errors.Refusal | None = None, *, tried: Mapping[str, Any] | None = None
) -> Response:
    words, name, form = visit.words, visit.id("part"), visit.form
    async with visit.read() as db:
        pipeline = await pipeline_of(visit, db)
        part = _part(visit, pipeline)
        await access.get(db, caller=visit.caller, questionnaire_id=pipeline.questionnaire_id)
        subjects: Subjects = {}
        if name == "conditions":
            subjects = await conditions.with_seen(visit, db, await subjects_for(visit, db, pipeline))
        waiting = await pipelines.count_waiting(visit, db, pipeline) if "Queue.Read" in visit.caller.scopes else 0
    is_typed, is_stale = bool(form.values), isinstance(refusal, errors.Stale)
    return visit.page(
        "pipeline_part.html",
        title=words(part.title),
        status=refusal.status if refusal else 200,
        pipeline=pipeline,
        here=url_of(pipeline),
        name=name,
        version=form.text("version") if is_typed and not is_stale else pipeline.version,
        fields=shown(visit, part.inputs, pipeline),
        theirs=_theirs(visit, pipeline, part, subjects) if is_stale else [],
        waiting=words.plural(*STAYING.get(name, FOLLOWING), waiting) if waiting and name != "name" else "",
        conditions=_conditions(visit, pipeline, subjects) if name == "conditions" else None,
        reminders=_reminders(pipeline, form) if name == "reminders" else [],
        refusal=refusal,
        may_try=_may_try(visit),
        tried=tried,
    )


def _conditions(visit: Visit, pipeline: Pipeline, subjects: Subjects) -> dict[str, Any]:
    known = condition_rows.with_named(subjects, pipeline.conditions)
    values = conditions.typed(visit) if visit.form.values else conditions.stored(pipeline.conditions, known)
    return conditions.values_of(visit.words, values, known)


def _reminders(pipeline: Pipeline, form: Form) -> list[dict[str, str]]:
    stored = [*pipeline.reminders, *[{}] * (REMINDERS_MAX - len(pipeline.reminders))]
    return [
        {
            unit: form.text(f"{unit}-{index}") if form.values else str(one.get(f"delay_{unit}", "") or "")
            for unit, _, _ in UNITS
        }
        for index, one in enumerate(stored)
    ]


def _theirs(visit: Visit, pipeline: Pipeline, part: Part, subjects: Subjects) -> list[tuple[str, str]]:
    """The label and the stored value of each field that the form has otherwise."""
    words, name = visit.words, visit.id("part")
    if name == "conditions":
        known = condition_rows.with_named(subjects, pipeline.conditions)
        return [(words(part.title), condition_rows.sentence_of(words, pipeline.conditions, known))]
    if name == "reminders":
        told = next(one.text for one in pipelines.sentences_of(words, pipeline, time_zone=visit.zone)
                    if one.part == name)  # fmt: skip
        return [(words(part.title), told)]
    return differences(visit, part.inputs, pipeline)
