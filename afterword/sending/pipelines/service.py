"""Operations on pipelines: create with a provider account, change, delete."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from msgspec import structs
from msgspec.structs import replace

from afterword import errors, ids
from afterword.asking.questionnaires import metadata as metadata_service
from afterword.core.messaging import addresses
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import METADATA_ONLY, Scope
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.documents import LOCALES_MAX
from afterword.core.reading.findings import Findings, escape
from afterword.core.scheduling import decisions, windows
from afterword.core.scheduling.windows import Hours
from afterword.core.text import locales, placeholders as messages
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.errors import FieldError, Sentence
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.declaration import NO_SITE
from afterword.kit.transport.http import check_url
from afterword.sending.pipelines import store
from afterword.sending.pipelines.policies import POLICY
from afterword.sending.pipelines.resources import WHOLE_WEEK, PipelineUpdate
from afterword.sending.pipelines.store import Pipeline, Sender
from afterword.tenants.organizations import senders

PIPELINES_MAX: Final = 100  # of a questionnaire
SMS_CHARACTERS_MAX: Final = 1_600  # ten parts of a long message
NO_PIPELINE: Final = "The questionnaire has no pipeline with this pipeline_id, or there is no such questionnaire."


class PipelinePath(TypedDict):
    """The parameters of a path: a pipeline below its questionnaire."""

    questionnaire_id: str
    pipeline_id: str


_DEFAULTS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("delay_cap_minutes", "delay_cap_hours", "delay_cap_days"), 0),
    **dict.fromkeys(("frequency_cap_minutes", "frequency_cap_hours", "frequency_cap_days"), 0),
    "messages": {}, "reminders": [], "weekdays": WHOLE_WEEK, "zone_of": "recipient", "if_outside": "wait",
    "if_capped": "skip", "max_retry_attempts": 8, "not_after_days": 3, "priority": 5, "paused": False,
    "policy_exempt": False, "on_holidays": "wait",
}  # fmt: skip


async def create_pipeline(
    db: Database,
    *,
    organization_id: str,
    now: datetime,
    caller: Caller | None = None,
    site: Site = NO_SITE,
    **fields: Any,
) -> Pipeline:
    """Make a pipeline and, with the first on its channel, the organization's account there; raises Invalid.

    `fields` have the names of columns; absent ones have their defaults. `caller` is None for the operator.
    """
    declared = await _declared(db, organization_id, fields["questionnaire_id"])
    scope = conditions.scope_of(declared) if fields.get("conditions") else METADATA_ONLY
    sender = await senders.sender_errors(db, organization_id=organization_id, address=fields.get("sender_address"))
    wrong = [*sender, *_date_errors(fields.get("delay_from"), declared)]
    _check(fields, scope, declared, await _quiet(db, organization_id, fields), site=site, also=wrong)
    account_id = await store.insert_account(
        db, organization_id=organization_id, account_id=ids.ordered(now), channel_id=fields["channel_id"]
    )
    pipeline_id = ids.ordered(now)
    await store.insert_pipeline(
        db,
        organization_id=organization_id,
        document={
            **_DEFAULTS,
            **fields,
            "pipeline_id": pipeline_id,
            "account_id": account_id,
            "created_by": caller and caller.actor_id,
            "created_time": now,
        },
    )
    key = {"questionnaire_id": fields["questionnaire_id"], "pipeline_id": pipeline_id}
    pipeline = errors.found(await store.get_pipeline(db, organization_id=organization_id, **key), NO_PIPELINE)
    await _tell(db, pipeline, "created", now=now, caller=caller)
    return pipeline


async def add_pipeline(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    fields: Mapping[str, Any],
    now: datetime,
    site: Site = NO_SITE,
) -> Pipeline:
    """With all members that its channel needs and those of a template. Raises NotFound, Invalid."""
    key = {"organization_id": caller.organization_id, "questionnaire_id": questionnaire_id}
    if not await store.claim_questionnaire(db, **key, application_ids=caller.application_ids):
        raise errors.NotFound("There is no questionnaire with this questionnaire_id.")
    if await store.count_pipelines(db, **key) >= PIPELINES_MAX:
        raise errors.Invalid.at("", "too_many", Sentence("A questionnaire has at most {n}.", n=PIPELINES_MAX))
    wanted, template_id = {**fields}, fields.get("template_pipeline_id")
    if template_id is not None:
        template = await store.get_pipeline(db, **caller.part, pipeline_id=template_id)
        if template is None:
            raise errors.Invalid.at("/template_pipeline_id", "unknown_id", "There is no such pipeline.")
        wanted = {**_editable(template), **fields}
    _require(wanted, _NEEDED.get(wanted["channel_id"], ()))
    return await create_pipeline(
        db,
        organization_id=caller.organization_id,
        now=now,
        caller=caller,
        site=site,
        **{**wanted, "questionnaire_id": questionnaire_id},
    )


async def change_pipeline(
    db: Database,
    *,
    caller: Caller,
    changes: Mapping[str, Any],
    expect: errors.Expect = errors.ANY,
    now: datetime,
    site: Site = NO_SITE,
    **path: Unpack[PipelinePath],
) -> Pipeline:
    """Write the changes, if they are new; workers read them with their next claim."""
    before = await get(db, caller=caller, **path, is_locked=True)
    expect(before.version)
    current = _editable(before)
    wanted = await _wanted(db, caller, before, changes, site)
    if wanted == current:
        return before
    key = {"organization_id": caller.organization_id, "pipeline_id": before.pipeline_id}
    await store.update_pipeline(db, **key, updated_by=caller.actor_id, document=wanted)
    after = await get(db, caller=caller, **path)
    if before.paused != after.paused:
        await _tell(db, after, "paused" if after.paused else "resumed", now=now, caller=caller)
    if {**wanted, "paused": before.paused} != current:
        await _tell(db, after, "updated", now=now, caller=caller)
    return after


async def as_changed(
    db: Database,
    *,
    caller: Caller,
    changes: Mapping[str, Any],
    expect: errors.Expect = errors.ANY,
    site: Site = NO_SITE,
    **path: Unpack[PipelinePath],
) -> Pipeline:
    """The pipeline as `change_pipeline` would store it; nothing is written. Raises NotFound, Stale, Invalid."""
    before = await get(db, caller=caller, **path)
    expect(before.version)
    return structs.replace(before, **await _wanted(db, caller, before, changes, site))


async def _wanted(
    db: Database, caller: Caller, before: Pipeline, changes: Mapping[str, Any], site: Site
) -> dict[str, Any]:
    current = _editable(before)
    wanted = {**current, **changes}
    if wanted == current:
        return wanted
    _require(wanted, [name for name in _NEEDED.get(before.channel_id, ()) if name in changes])
    whole = {**wanted, "channel_id": before.channel_id, "questionnaire_id": before.questionnaire_id}
    # Conditions that stay are not checked against the names declared now, which may have changed since.
    is_new = changes.get("conditions") not in (None, current["conditions"])
    declared = await _declared(db, caller.organization_id, before.questionnaire_id)
    scope = conditions.scope_of(declared) if is_new else METADATA_ONLY
    quiet = await _quiet(db, caller.organization_id, whole)
    # A sender that stays is not refused here but when it sends: the pipeline can still be paused.
    address = wanted["sender_address"] if wanted["sender_address"] != before.sender_address else None
    wrong = [*await senders.sender_errors(db, organization_id=caller.organization_id, address=address)]
    if wanted["delay_from"] != before.delay_from:  # a date that stays may be undeclared by now
        wrong += _date_errors(wanted["delay_from"], declared)
    _check(whole, scope, declared, quiet, site=site, also=wrong, kept=_texts_of(current))
    return wanted


async def delete_pipeline(
    db: Database, *, caller: Caller, expect: errors.Expect = errors.ANY, now: datetime, **path: Unpack[PipelinePath]
) -> None:
    """Hide a pipeline whose items have all ended; they stay. Raises NotFound, Stale, Conflict."""
    before = await get(db, caller=caller, **path, is_locked=True)
    expect(before.version)
    key = {"organization_id": caller.organization_id, "pipeline_id": before.pipeline_id}
    if await store.count_open_items(db, **key, limit=1):
        message = "Items of this pipeline are Pending or Processing; cancel them or let them go out first."
        raise errors.Conflict(message, "in_use")
    await store.delete_pipeline(db, **key, deleted_by=caller.actor_id)
    deleted = structs.replace(before, slug=None, version=before.version + 1, updated_by=caller.actor_id)
    await _tell(db, deleted, "deleted", now=now, caller=caller)


async def get(db: Database, *, caller: Caller, is_locked: bool = False, **path: Unpack[PipelinePath]) -> Pipeline:
    return errors.found(await store.get_pipeline(db, **caller.part, **path, is_locked=is_locked), NO_PIPELINE)


async def list_refused_senders(db: Database) -> list[Sender]:
    return [
        one for one in await store.list_senders(db) if not addresses.is_among(one.sender_address, one.sender_domains)
    ]


_EDITABLE: Final = PipelineUpdate.__struct_fields__
_NEEDED: Final[Mapping[int, Sequence[str]]] = {
    addresses.CHANNEL_EMAIL: ("message_subject", "message_body"),
    addresses.CHANNEL_SMS: ("message_body",),
    addresses.CHANNEL_WEBHOOK: ("target_url",),
}


def _require(wanted: Mapping[str, Any], names: Sequence[str]) -> None:
    missing = [name for name in names if not wanted.get(name)]
    errors.check([FieldError("required", "This channel needs it.", pointer=f"/{name}") for name in missing])


def _editable(pipeline: Pipeline) -> dict[str, Any]:
    return {name: getattr(pipeline, name) for name in _EDITABLE}


async def _tell(db: Database, pipeline: Pipeline, kind: str, *, now: datetime, caller: Caller | None) -> None:
    actor = Actor.of(caller)
    event = NewEvent.of(pipeline, f"pipeline.{kind}", pipeline.pipeline_id, pipeline.as_event, now=now, actor=actor)
    await events.record(db, events=[event])


async def _declared(db: Database, organization_id: str, questionnaire_id: str) -> Declared:
    return await metadata_service.declared_of(db, organization_id=organization_id, questionnaire_id=questionnaire_id)


async def _quiet(db: Database, organization_id: str, fields: Mapping[str, Any]) -> Hours | None:
    """The organization's quiet hours, if the pipeline has a window that they may cover."""
    if _window_of(fields) is None:
        return None
    policy = await nouns.find(POLICY, db, organization_id=organization_id, key=organization_id)
    return policy.quiet if policy else None


def _window_of(fields: Mapping[str, Any]) -> Hours | None:
    return decisions.hours_of(fields.get("dispatch_start_time"), fields.get("dispatch_end_time"))


def _check(
    fields: Mapping[str, Any],
    scope: Scope,
    declared: Declared,
    quiet: Hours | None,
    *,
    site: Site,
    also: Sequence[FieldError],
    kept: Collection[str | None] = frozenset(),
) -> None:
    """Raise Invalid with all errors. Texts that are `kept` are not checked against the names declared now."""
    wrong = [*_text_errors(fields, declared, kept), *_address_errors(fields), *also, *_time_errors(fields)]
    target_url = fields.get("target_url")
    if target_url is not None and target_url not in kept and (sentence := check_url(target_url, site.networks)):
        wrong.append(FieldError("invalid_address", sentence, pointer="/target_url"))
    zone = fields.get("time_zone")
    if zone is not None:
        try:
            times.zone_of(zone)
        except ValueError as error:
            wrong.append(FieldError("unknown_value", str(error), pointer="/time_zone"))
    weekdays, window = frozenset(fields.get("weekdays", WHOLE_WEEK)), _window_of(fields)
    if not windows.leaves_time(window=window, weekdays=weekdays, quiet=None):
        wrong.append(FieldError("out_of_range", "These settings leave no time of a week.", pointer="/weekdays"))
    elif not windows.leaves_time(window=window, weekdays=weekdays, quiet=quiet):
        text = "The quiet hours of the contact policy leave nothing of this window."
        wrong.append(FieldError("out_of_range", text, pointer="/dispatch_start_time"))
    findings = Findings(strict=True)
    conditions.read(fields.get("conditions"), "/conditions", findings, scope)
    wrong += findings.errors
    errors.check(wrong)


def _date_errors(delay_from: str | None, declared: Declared) -> Iterator[FieldError]:
    dates = [subject for subject, kind in declared.types.items() if kind == "date"]
    if delay_from is not None and delay_from not in dates:
        message = Sentence("A delay counts from a declared date, one of {values}.", values=", ".join(dates))
        yield FieldError("unknown_metadata", message, pointer="/delay_from")


def _time_errors(fields: Mapping[str, Any]) -> Iterator[FieldError]:
    start, end = fields.get("start_time"), fields.get("end_time")
    if start is not None and end is not None and start >= end:
        yield FieldError("out_of_range", "A pipeline ends after it has started.", pointer="/end_time")
    opening, closing = fields.get("dispatch_start_time"), fields.get("dispatch_end_time")
    if (opening is None) != (closing is None):
        missing = "dispatch_start_time" if opening is None else "dispatch_end_time"
        yield FieldError("required", "A daily window has a start and an end.", pointer=f"/{missing}")


def _text_errors(fields: Mapping[str, Any], declared: Declared, kept: Collection[str | None]) -> Iterator[FieldError]:
    """Errors of authored texts, of reminders too: lengths and variables, in every language."""
    names = {f"{kind}.{name}" for kind in metadata.KINDS for name in getattr(declared, kind)}
    is_sms = fields["channel_id"] == addresses.CHANNEL_SMS
    limits = {**messages.MESSAGE_TEXTS, **({"body": SMS_CHARACTERS_MAX} if is_sms else {})}

    def wrong_at(pointer: str, text: str | None, member: str) -> Iterator[FieldError]:
        if text is None:
            return
        if not text:
            yield FieldError("too_short", "At least 1 character.", pointer=pointer)
        known = None if text in kept else names
        for problem in messages.check(text, characters_max=limits[member], declared=known):
            yield replace(problem, pointer=pointer)

    for member in messages.MESSAGE_TEXTS:
        yield from wrong_at(f"/message_{member}", fields.get(f"message_{member}"), member)
    yield from _translation_errors("/messages", fields.get("messages", {}), wrong_at)
    for place, reminder in enumerate(fields.get("reminders", ())):
        if not any(reminder.get(f"delay_{unit}") for unit in ("days", "hours", "minutes")):
            message = "Enter after how many days, hours or minutes it is sent."
            yield FieldError("required", message, pointer=f"/reminders/{place}/delay_days")
        yield from _translation_errors(f"/reminders/{place}/messages", reminder.get("messages", {}), wrong_at)


def _translation_errors(
    pointer: str,
    by_locale: Mapping[str, Mapping[str, str]],
    wrong_at: Callable[[str, str | None, str], Iterator[FieldError]],
) -> Iterator[FieldError]:
    if len(by_locale) > LOCALES_MAX:
        yield FieldError("too_many", Sentence("At most {n} languages.", n=LOCALES_MAX), pointer=pointer)
        return
    for tag, texts in by_locale.items():
        place = f"{pointer}/{escape(tag)}"
        try:
            locales.normalise(tag)
        except locales.InvalidLocale as error:
            yield FieldError("invalid_locale", str(error), pointer=place)
        if texts.get("body") is None:
            yield FieldError("required", "A body is required.", pointer=f"{place}/body")
        for member in messages.MESSAGE_TEXTS:
            yield from wrong_at(f"{place}/{member}", texts.get(member), member)


def _texts_of(fields: Mapping[str, Any]) -> frozenset[str | None]:
    groups = [fields["messages"], *(reminder.get("messages", {}) for reminder in fields["reminders"])]
    translated = [text for by_locale in groups for texts in by_locale.values() for text in texts.values()]
    own = [fields[f"message_{member}"] for member in messages.MESSAGE_TEXTS]
    return frozenset({*own, fields["target_url"], *translated})


def _address_errors(fields: Mapping[str, Any]) -> Iterator[FieldError]:
    for name, address in (("sender_address", fields.get("sender_address")), ("reply_to", fields.get("reply_to"))):
        if address is None:
            continue
        try:
            addresses.normalise(addresses.CHANNEL_EMAIL, address)
        except addresses.InvalidAddress as error:
            yield FieldError("invalid_address", error.message, pointer=f"/{name}")
