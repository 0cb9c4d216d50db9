"""Pipelines as the wire shows them and takes them, and in sentences: one for each part of their rules."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time, tzinfo
from typing import Any, Final, Literal, cast

import msgspec

from afterword.asking.questionnaires.condition_rows import Subjects, sentence_of, with_named
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_LINK, CHANNEL_OUTBOX, CHANNEL_SMS, CHANNEL_WEBHOOK
from afterword.core.wire import times
from afterword.kit.nouns.structs import changes_as, shown_as
from afterword.kit.texts import ISOLATE_END, ISOLATE_FIRST, SOURCE_LANGUAGE, Marked, Texts, texts
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.sending.pipelines import store

State = Literal["upcoming", "running", "paused", "ended"]


class _Fields(fields.Request):
    @property
    def given(self) -> dict[str, Any]:
        """The columns of the members that were sent."""
        return {name: _column(name, value) for name, value in self.named().items()}


PipelineUpdate: Final = changes_as(
    "PipelineUpdate",
    store.Pipeline,
    base=_Fields,
    about="The members that may change; `paused` true holds its items at once, false releases them.",
    more={"title": (fields.Text200 | UnsetType, UNSET)},
)
PipelineRequest: Final = changes_as(
    "PipelineRequest",
    store.Pipeline,
    base=_Fields,
    about="A new pipeline. What is left out is copied from `template_pipeline_id`, else has its default.",
    more={
        "channel_id": (fields.ChannelId,),
        "title": (fields.Text200,),
        "template_pipeline_id": (fields.Id | None, None),
    },
)
Pipeline: Final = shown_as(
    "Pipeline",
    store.Pipeline,
    before={"created_time": {"state": fields.Computed[State], "summary": fields.Computed[str]}},
)


def pipeline_of(pipeline: store.Pipeline, zone: tzinfo, now: datetime) -> fields.Resource:
    summary = summary_of(texts("console", SOURCE_LANGUAGE), pipeline, time_zone=str(zone))
    return Pipeline.of(pipeline, zone, state=state_of(pipeline, now), summary=summary)


def state_of(pipeline: store.Pipeline, now: datetime) -> State:
    if pipeline.end_time is not None and now >= pipeline.end_time:
        return "ended"
    if pipeline.paused:
        return "paused"
    if pipeline.start_time is not None and now < pipeline.start_time:
        return "upcoming"
    return "running"


def _column(name: str, value: Any) -> Any:
    if isinstance(value, times.Moment):
        return value.instant
    if name in {"dispatch_start_time", "dispatch_end_time"} and value is not None:
        return time.fromisoformat(value)
    if name == "weekdays":
        return sorted(set(cast("list[int]", value)))
    if name in {"messages", "reminders"}:
        return msgspec.to_builtins(value)
    return value


CHANNELS: Final[Mapping[int, Marked]] = {
    CHANNEL_EMAIL: "Asks by e-mail.",
    CHANNEL_SMS: "Asks by SMS.",
    CHANNEL_WEBHOOK: "Passes each message to another system by webhook.",
    CHANNEL_LINK: "Creates links and sends nothing.",
    CHANNEL_OUTBOX: "Keeps every message in the outbox.",
}
UNITS: Final[tuple[tuple[str, Marked, Marked], ...]] = (
    ("days", "{n} day", "{n} days"),
    ("hours", "{n} hour", "{n} hours"),
    ("minutes", "{n} minute", "{n} minutes"),
)
WHOLE_WEEK: Final = (1, 2, 3, 4, 5, 6, 7)


def sentences_of(
    words: Texts, pipeline: store.Pipeline, *, time_zone: str, subjects: Subjects | None = None
) -> dict[str, str]:
    """The sentences by their part, in the order in which the rules act; times of the period in `time_zone`.

    `subjects`: titles for the names in conditions; without them the names stand for themselves.
    """
    told = {
        "message": _message(words, pipeline),
        "target" if pipeline.channel_id == CHANNEL_WEBHOOK else "sender": _sender(words, pipeline),
        "delay": delay_of(words, pipeline, subjects or {}),
        "conditions": _conditions(words, pipeline, subjects or {}),
        "frequency": _frequency(words, pipeline),
        "hours": _hours(words, pipeline),
        "reminders": _reminders(words, pipeline),
        "period": _period(words, pipeline, time_zone),
        "effort": _effort(words, pipeline),
    }
    return {part: text for part, text in told.items() if text}


def summary_of(words: Texts, pipeline: store.Pipeline, *, time_zone: str) -> str:
    return plain(" ".join(sentences_of(words, pipeline, time_zone=time_zone).values()))


def plain(text: str) -> str:
    """The text without the signs that isolate names of another direction."""
    return text.replace(ISOLATE_FIRST, "").replace(ISOLATE_END, "")


def duration_of(words: Texts, values: Mapping[str, int]) -> str:
    """`values` by unit, such as `{"days": 2, "hours": 3, "minutes": 0}`: "2 days 3 hours"; empty for none."""
    return " ".join(words.plural(one, many, values[unit]) for unit, one, many in UNITS if values[unit])


def _message(words: Texts, pipeline: store.Pipeline) -> str:
    asks = words(CHANNELS[pipeline.channel_id])
    if not pipeline.messages:
        return asks
    languages = sorted(words.language_name(tag) for tag in pipeline.messages)
    others = words("Texts exist in {locales} too.", locales=_listed(words, languages))
    return f"{asks} {others}"


def _sender(words: Texts, pipeline: store.Pipeline) -> str:
    if pipeline.channel_id == CHANNEL_WEBHOOK:
        return words("It goes to {address}.", address=pipeline.target_url or "")
    if pipeline.channel_id != CHANNEL_EMAIL:
        return ""
    name, address = pipeline.sender_name or "", pipeline.sender_address or ""
    if name and address:
        text = words("The sender is {name}, {address}.", name=name, address=address)
    elif name or address:
        text = words("The sender is {name}.", name=name or address)
    else:
        text = words("The sender is the address of the installation.")
    if pipeline.reply_to:
        text += " " + words("Replies go to {address}.", address=pipeline.reply_to)
    return text


def delay_of(words: Texts, pipeline: store.Pipeline, subjects: Subjects) -> str:
    wait = duration_of(words, _of(pipeline, "delay_cap"))
    if pipeline.delay_from is not None:
        date = date_title(pipeline.delay_from, subjects)
        if not wait:
            return words("A message without a send time is due on its “{date}”.", date=date)
        return words("A message without a send time is due {wait} after its “{date}”.", wait=wait, date=date)
    if not wait:
        return words("A message without a send time is due immediately.")
    return words("A message without a send time is due after {wait}.", wait=wait)


def delay_words(words: Texts, pipeline: store.Pipeline, date: str) -> str:
    """The delay of a pipeline that counts from a date with this title."""
    wait = duration_of(words, _of(pipeline, "delay_cap"))
    return plain(words("{wait} after “{date}”", wait=wait, date=date) if wait else words("on “{date}”", date=date))


def date_title(delay_from: str, subjects: Subjects) -> str:
    found = subjects.get(delay_from)
    return found.text if found else delay_from.partition(":")[2]


def _conditions(words: Texts, pipeline: store.Pipeline, subjects: Subjects) -> str:
    if pipeline.conditions is None:
        return words("Everyone is asked.")
    known = with_named(subjects, pipeline.conditions)
    return words(
        "Only people are asked for whom {condition}.", condition=sentence_of(words, pipeline.conditions, known)
    )


def _frequency(words: Texts, pipeline: store.Pipeline) -> str:
    distance = duration_of(words, _of(pipeline, "frequency_cap"))
    if not distance:
        text = words("An address gets every message.")
    elif pipeline.if_capped == "wait":
        text = words("An address gets one message in {time}; the next one waits until then.", time=distance)
    else:
        text = words("An address gets one message in {time}; further ones are not sent.", time=distance)
    return f"{text} {words('The contact policy does not apply here.')}" if pipeline.policy_exempt else text


def _hours(words: Texts, pipeline: store.Pipeline) -> str:
    days = days_of(words, pipeline.weekdays)
    start, end = pipeline.dispatch_start_time, pipeline.dispatch_end_time
    if start is not None and end is not None:
        hours = words("{start} to {end}", start=_clock(start), end=_clock(end))
        if pipeline.time_zone:
            text = words("Messages are sent {days}, {hours}, {zone}.", days=days, hours=hours, zone=pipeline.time_zone)
        elif pipeline.zone_of == "recipient":
            text = words("Messages are sent {days}, {hours} in the customer's time zone.", days=days, hours=hours)
        else:
            text = words("Messages are sent {days}, {hours} in the organization's time zone.", days=days, hours=hours)
    else:
        text = words("Messages are sent {days}, at any hour.", days=days)
    if pipeline.on_holidays == "send":
        text += " " + words("They are sent on holidays too.")
    if pipeline.if_outside == "skip":
        text += " " + words("A message due outside these hours is not sent.")
    return text


def _reminders(words: Texts, pipeline: store.Pipeline) -> str:
    waits = [
        duration_of(words, {unit: one.get(f"delay_{unit}", 0) for unit, _, _ in UNITS}) or words("no time")
        for one in pipeline.reminders
    ]
    if not waits:
        return words("No reminders.") if pipeline.channel_id != CHANNEL_WEBHOOK else ""
    text = words.plural(
        "{n} reminder follows, after {waits}, until the first answer.",
        "{n} reminders follow, after {waits}, until the first answer.",
        len(waits),
    )
    return text.replace("{waits}", _listed(words, waits))


def _period(words: Texts, pipeline: store.Pipeline, time_zone: str) -> str:
    start, end = pipeline.start_time, pipeline.end_time
    if start and end:
        return words(
            "The pipeline runs from {start} to {end}.",
            start=words.moment(start, time_zone=time_zone),
            end=words.moment(end, time_zone=time_zone),
        )
    if start:
        return words("The pipeline runs from {start} on.", start=words.moment(start, time_zone=time_zone))
    if end:
        return words("The pipeline runs until {end}.", end=words.moment(end, time_zone=time_zone))
    return words("The pipeline has no end.")


def _effort(words: Texts, pipeline: store.Pipeline) -> str:
    tries = words.plural(
        "After a failure it is tried {n} time more.",
        "After a failure it is tried {n} times more.",
        pipeline.max_retry_attempts,
    )
    late = words.plural(
        "A message is not sent later than {n} day after its send time.",
        "A message is not sent later than {n} days after its send time.",
        pipeline.not_after_days,
    )
    return f"{tries} {late}"


def days_of(words: Texts, weekdays: Sequence[int]) -> str:
    """Days of the week from 1, Monday, as a range where they follow each other."""
    if tuple(weekdays) == WHOLE_WEEK:
        return words("every day")
    names = [words.weekday(each - 1) for each in weekdays]
    if len(names) > 2 and weekdays[-1] - weekdays[0] == len(names) - 1:  # noqa: PLR2004
        return words("{first} to {last}", first=names[0], last=names[-1])
    return _listed(words, names)


def _of(pipeline: store.Pipeline, name: str) -> dict[str, int]:
    return {unit: getattr(pipeline, f"{name}_{unit}") for unit, _, _ in UNITS}


def _listed(words: Texts, parts: Sequence[Any]) -> str:
    *others, last = parts
    return words("{others} and {last}", others=", ".join(others), last=last) if others else last


def _clock(moment: time) -> str:
    return f"{moment:%H:%M}"
