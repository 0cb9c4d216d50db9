"""The call-back form of an ending: when it is offered, and its posted values."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword.asking.instances.answer_page import CALL_RIGHT, TEXTS, AnswerPage, CallBack, Fields, first
from afterword.asking.instances.rendering import chosen_ending
from afterword.core.answers import instances
from afterword.core.answers.suspicion import token_of
from afterword.core.messaging.addresses import CHANNEL_SMS, normal_or_none
from afterword.core.scheduling import windows as call_windows
from afterword.core.wire.times import zone_of
from afterword.kit.db import Database
from afterword.tenants.organizations import checks


class RequestedCall(msgspec.Struct, frozen=True):
    """A call that a responder asked for. `is_taken`: somebody works on it, and it cannot be changed any more."""

    number: str | None
    from_time: datetime | None
    until_time: datetime | None
    note: str | None
    is_taken: bool
    resolved_time: datetime | None

    @property
    def is_open(self) -> bool:
        return self.resolved_time is None and self.number is not None and self.from_time is not None


async def get_call(db: Database, *, organization_id: str, instance_id: str) -> RequestedCall | None:
    return await db.records(RequestedCall).fetch_row(
        """select call_back_number as number, call_back_time as from_time, call_back_until_time as until_time,
             call_back_note as note, updated_by is not null as is_taken, resolved_time
           from alert_instance
           where organization_id = $1 and instance_id = $2 and call_back_requested_time is not null
           order by created_time desc limit 1""",
        *(organization_id, instance_id),
    )


PURPOSE: Final = "call"  # of the form's token
NUMBER_CHARACTERS_MAX: Final = 50
NOTE_CHARACTERS_MAX: Final = 500


class Read(msgspec.Struct, frozen=True):
    """A posted form. `number` is normalised, and empty where something is wrong."""

    number: str
    window: tuple[datetime, datetime]
    note: str | None
    wrong: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


async def offered(
    db: Database, *, answer_page: AnswerPage, secret: bytes, now: datetime, changes: bool = False
) -> CallBack | None:
    """The form of the response's ending, or the call that was asked for; None where there is neither.

    Not in a kiosk, where the next person would read the number, and not while a response is held back, because it
    must open no case. `changes`: the form once more, with the values of the call that was asked for.
    """
    instance, ending = answer_page.issued, chosen_ending(answer_page)
    if ending is None or not ending.call_back or answer_page.head.kiosk or instance.is_kept_apart:
        return None
    call = await get_call(db, **instance.key)
    here = answer_page.address(instance.instance_id)
    if call is not None and not call.is_open:
        return None
    if call is not None and (call.is_taken or not changes):
        change_url = "" if call.is_taken else answer_page.address(instance.instance_id, call="change")
        text = _said(answer_page, call.number, call.from_time, call.until_time)
        return CallBack(said=text, change_url=change_url)
    if instances.is_expired(instance, now):
        return None
    calendar = (await checks.list_calendars(db, organization_ids=[instance.organization_id]))[instance.organization_id]
    windows = call_windows.offered(calendar, now=now)
    if not windows:
        return None
    return CallBack(
        action=f"{here}/call",
        token=token_of(secret, PURPOSE, instance.instance_id),
        windows=[(_value(end), _window(answer_page, start, end)) for start, end in windows],
        number=(call.number if call else "") or "",
        window=_value(call.until_time) if call and call.until_time else "",
        note=(call.note if call else "") or "",
        spans=windows,
    )


def preview(answer_page: AnswerPage, *, now: datetime) -> CallBack:
    """The form without effect, with the hours of an organization that has set none."""
    zone = zone_of(answer_page.head.questionnaire.time_zone)
    windows = call_windows.offered(call_windows.Calendar(zone), now=now)
    return CallBack(
        windows=[(_value(end), _window(answer_page, start, end)) for start, end in windows], is_disabled=True
    )


def read(answer_page: AnswerPage, form: CallBack, fields: Fields) -> Read:
    t = answer_page.texts
    number, note = first(fields, "number").strip(), first(fields, "note").strip()
    window = next((one for one in form.spans if _value(one[1]) == first(fields, "window")), None)
    normal = (
        normal_or_none(CHANNEL_SMS, number, locale=answer_page.head.locale)
        if len(number) <= NUMBER_CHARACTERS_MAX
        else None
    )
    wrong: dict[str, str] = {}
    if normal is None:
        wrong["number"] = t(TEXTS["wrong_of"]["contact.phone"]["invalid_address"])
    if window is None:
        wrong["window"] = t(TEXTS["wrong"]["unknown_value"])
    if len(note) > NOTE_CHARACTERS_MAX:
        wrong["note"] = t(TEXTS["wrong"]["too_long"], count=NOTE_CHARACTERS_MAX)
    return Read(normal or "", window or form.spans[0], note or None, wrong)


def again(form: CallBack, fields: Fields, call: Read) -> CallBack:
    number, window, note = (first(fields, name)[:NOTE_CHARACTERS_MAX] for name in ("number", "window", "note"))
    return replace(form, number=number, window=window, note=note, wrong={**CALL_RIGHT, **call.wrong})


def said(answer_page: AnswerPage, call: Read) -> CallBack:
    return CallBack(said=_said(answer_page, call.number, *call.window))


def _said(answer_page: AnswerPage, number: str | None, start: datetime | None, end: datetime | None) -> str:
    time = _window(answer_page, start, end) if start else ""
    return answer_page.texts("We will call you at {number}: {time}.", number=number, time=time)


def _window(answer_page: AnswerPage, start: datetime, end: datetime | None) -> str:
    t, zone = answer_page.texts, answer_page.head.questionnaire.time_zone
    clock = t.clock(start, time_zone=zone) + (f"\u2013{t.clock(end, time_zone=zone)}" if end else "")
    return f"{t.near_date(start, time_zone=zone)}, {clock}"


def _value(end: datetime) -> str:
    return str(int(end.timestamp()))
