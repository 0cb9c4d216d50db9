"""What is done with pipelines: making one, with the account that it sends through."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time
from typing import Any, Final, Required, TypedDict, Unpack

from afterword import errors, ids
from afterword.core import addresses, conditions, locales, messages, scheduling, times, windows
from afterword.core.reading import LOCALES_MAX, Findings, escape
from afterword.db import Database
from afterword.errors import FieldError
from afterword.queue.pipelines import store
from afterword.queue.pipelines.store import Pipeline

SMS_CHARACTERS_MAX: Final = 1_600  # ten parts of a long message


class PipelineFields(TypedDict, total=False):
    """What an author may say of a new pipeline; what is left out has the default of its column."""

    questionnaire_id: Required[str]
    channel_id: Required[int]
    title: Required[str]
    slug: str | None
    description: str | None
    template_pipeline_id: str | None
    locale: str | None
    delay_cap_minutes: int
    delay_cap_hours: int
    delay_cap_days: int
    frequency_cap_minutes: int
    frequency_cap_hours: int
    frequency_cap_days: int
    message_subject: str | None
    message_body: str | None
    messages: Mapping[str, Mapping[str, str]]
    start_time: datetime | None
    end_time: datetime | None
    dispatch_start_time: time | None
    dispatch_end_time: time | None
    time_zone: str | None
    zone_of: str
    weekdays: Sequence[int]
    conditions: Mapping[str, Any] | None
    sender_name: str | None
    sender_address: str | None
    reply_to: str | None
    max_retry_attempts: int
    not_after_days: int
    priority: int
    paused: bool
    if_outside: str
    if_capped: str
    policy_exempt: bool
    reminders: Sequence[Mapping[str, Any]]
    target_url: str | None


_WEEK: Final = (1, 2, 3, 4, 5, 6, 7)
_DEFAULTS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("delay_cap_minutes", "delay_cap_hours", "delay_cap_days"), 0),
    **dict.fromkeys(("frequency_cap_minutes", "frequency_cap_hours", "frequency_cap_days"), 0),
    "messages": {}, "reminders": [], "weekdays": _WEEK, "zone_of": "recipient", "if_outside": "wait",
    "if_capped": "skip", "max_retry_attempts": 8, "not_after_days": 3, "priority": 5, "paused": False,
    "policy_exempt": False,
}  # fmt: skip


async def create_pipeline(
    db: Database,
    *,
    organization_id: str,
    now: datetime,
    created_by: str | None = None,
    **fields: Unpack[PipelineFields],
) -> Pipeline:
    """Make a pipeline and, with the first on its channel, the organization's account there. Raises Invalid, Taken."""
    _check(fields)
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
            "created_by": created_by,
            "created_time": now,
        },
    )
    pipeline = await store.get_pipeline(
        db, organization_id=organization_id, questionnaire_id=fields["questionnaire_id"], pipeline_id=pipeline_id
    )
    if pipeline is None:
        raise AssertionError("the pipeline that was just inserted")
    return pipeline


def _check(fields: PipelineFields) -> None:
    wrong = [*_text_errors(fields), *_address_errors(fields)]
    zone = fields.get("time_zone")
    if zone is not None:
        try:
            times.zone_of(zone)
        except ValueError as error:
            wrong.append(FieldError("unknown_value", str(error), pointer="/time_zone"))
    window = scheduling.hours_of(fields.get("dispatch_start_time"), fields.get("dispatch_end_time"))
    if not windows.leaves_time(window=window, weekdays=frozenset(fields.get("weekdays", _WEEK)), quiet=None):
        wrong.append(FieldError("out_of_range", "These settings leave no time of a week.", pointer="/weekdays"))
    findings = Findings(strict=True)
    conditions.read(fields.get("conditions"), "/conditions", findings)
    wrong.extend(FieldError(each.code, each.message, pointer=each.path) for each in findings.errors)
    if wrong:
        raise errors.Invalid.of(*wrong)


def _text_errors(fields: PipelineFields) -> Iterator[FieldError]:
    """What is wrong with the authored texts: their lengths and variables, in every language."""
    body_max = SMS_CHARACTERS_MAX if fields["channel_id"] == addresses.CHANNEL_SMS else messages.TEXT_CHARACTERS_MAX
    yield from _text_errors_at("/message_subject", fields.get("message_subject"), messages.SUBJECT_CHARACTERS_MAX)
    yield from _text_errors_at("/message_body", fields.get("message_body"), body_max)
    yield from _translation_errors("/messages", fields.get("messages", {}), body_max)
    for place, reminder in enumerate(fields.get("reminders", ())):
        yield from _translation_errors(f"/reminders/{place}/messages", reminder.get("messages", {}), body_max)


def _translation_errors(
    pointer: str, by_locale: Mapping[str, Mapping[str, str]], body_characters_max: int
) -> Iterator[FieldError]:
    if len(by_locale) > LOCALES_MAX:
        yield FieldError("too_many", f"At most {LOCALES_MAX} languages.", pointer=pointer)
        return
    for tag, texts in by_locale.items():
        place = f"{pointer}/{escape(tag)}"
        try:
            locales.normalise(tag)
        except locales.InvalidLocale as error:
            yield FieldError("invalid_locale", str(error), pointer=place)
        if texts.get("body") is None:
            yield FieldError("required", "A body is required.", pointer=f"{place}/body")
        yield from _text_errors_at(f"{place}/subject", texts.get("subject"), messages.SUBJECT_CHARACTERS_MAX)
        yield from _text_errors_at(f"{place}/body", texts.get("body"), body_characters_max)


def _text_errors_at(pointer: str, text: str | None, characters_max: int) -> Iterator[FieldError]:
    if text is None:
        return
    if not text:
        yield FieldError("too_short", "At least 1 character.", pointer=pointer)
    for problem in messages.check(text, characters_max=characters_max):
        yield FieldError(problem.code, problem.message, pointer=pointer)


def _address_errors(fields: PipelineFields) -> Iterator[FieldError]:
    """Refused here, because a sender that is none would refuse each of the items."""
    for name, address in (("sender_address", fields.get("sender_address")), ("reply_to", fields.get("reply_to"))):
        if address is None:
            continue
        try:
            addresses.normalise(addresses.CHANNEL_EMAIL, address)
        except addresses.InvalidAddress as error:
            yield FieldError("invalid_address", str(error), pointer=f"/{name}")
