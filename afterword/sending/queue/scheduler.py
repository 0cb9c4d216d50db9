"""Makes a schedule of a request: the normal address, its key, the due time and the latest time."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec

from afterword import errors
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX, InvalidAddress, address_key, normalise
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import Changes, Declared
from afterword.core.reading.findings import escape
from afterword.core.scheduling import decisions, windows
from afterword.core.scheduling.windows import DaysOff
from afterword.core.wire import times
from afterword.core.wire.times import InvalidDateTime, Moment
from afterword.errors import FieldError
from afterword.kit.transport.base import EMAIL, LINK, OUTBOX, SMS, WEBHOOK
from afterword.kit.web.fields import UNSET, MetadataGroups, UnsetType
from afterword.sending.queue.records import TEXTS, QueueItemRecord, QueueItemRequest, QueueItemUpdate
from afterword.sending.queue.store import Intake

# Seconds until a retry after an unknown outcome; None: never, the item becomes uncertain. Mail servers know the
# Message-ID after ten minutes, receivers that keep the item's id take a repetition at once, an SMS would be read twice.
RESEND_AFTER_SECONDS: Final[Mapping[int, int | None]] = {EMAIL: 600, SMS: None, WEBHOOK: 1, LINK: 1, OUTBOX: 1}

NO_OFFSET: Final = timedelta(0)
NO_DATE: Final = "The pipeline counts from this date. Give it, or a time to send."

Body = TypeVar("Body", QueueItemRequest, QueueItemUpdate)

_GIVEN: Final = ("responder_channel_identifier", *TEXTS)
_EDITABLE: Final = (*_GIVEN, "send_time", "send_offset_minutes", "metadata")


class Schedule(msgspec.Struct, frozen=True):
    """The times and the address of an item; `normal` is the normal form of the address."""

    normal: str
    address_key: bytes
    send_time: datetime
    send_offset_minutes: int
    due_time: datetime
    not_after: datetime

    @property
    def times(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("send_time", "send_offset_minutes", "due_time", "not_after")}


class Scheduler:
    """The rules of one pipeline, read once."""

    def __init__(self, intake: Intake, secret: bytes) -> None:
        self.intake = intake
        self.attempts_max = intake.max_retry_attempts + 1
        self.resend_after_seconds = RESEND_AFTER_SECONDS[intake.channel_id]
        self._secret = secret
        self._is_phone = intake.channel_id == SMS
        self._rules = rules_of(intake)
        self._zone_name = zone_name_of(intake, None)
        self._delay = timedelta(
            days=intake.delay_cap_days, hours=intake.delay_cap_hours, minutes=intake.delay_cap_minutes
        )
        self._moment = self._delayed(intake.now)
        self._days = intake.not_after_days, intake.valid_days

    def schedule(
        self, request: QueueItemRequest, *, item_id: str, created_time: datetime, test: bool = False
    ) -> Schedule:
        """The item's times and address; raises Invalid `invalid_address`, and for a date to count from that is wrong.

        Of a test item all times go by the organization's test clock, except the due time, which is real.
        """
        intake = self.intake
        offset = intake.test_offset if test else NO_OFFSET
        normal = self._normal(request.responder_channel_identifier, request.locale or intake.locale)
        zone_name = zone_name_of(intake, normal) if self._is_phone else self._zone_name
        moment = request.send_time
        if moment is None and intake.delay_from is not None:
            moment = self._counted(changes_of(request.metadata).as_stored, zone_name)
            created_time = moment.instant  # a date of long ago is too late from the start
        if moment is None:
            moment = Moment(self._moment.instant + offset, self._moment.offset_minutes)
        days, valid_days = self._days
        not_after = decisions.expiry(
            send_time=moment.instant, created_time=created_time, not_after_days=days, valid_days=valid_days
        )
        due_time = decisions.first_due(
            rules=self._rules,
            zone_name=zone_name,
            item_id=item_id,
            send_time=moment.instant,
            not_after=not_after,
            now=intake.now + offset,
        )
        key = address_key(self._secret, intake.channel_id, normal)
        return Schedule(normal, key, moment.instant, moment.offset_minutes, due_time - offset, not_after)

    def document(
        self, request: QueueItemRequest, *, item_id: str, event_id: str, caller: Caller, source: str, test: bool = False
    ) -> dict[str, object]:
        """The row of a new item, as `INSERTED_ITEMS` takes it; raises Invalid `invalid_address`."""
        intake = self.intake
        is_test = test or request.test or caller.test
        schedule = self.schedule(request, item_id=item_id, created_time=intake.now, test=is_test)
        return {
            **{name: getattr(request, name) for name in TEXTS},
            "organization_id": intake.organization_id,
            "item_id": item_id,
            "questionnaire_id": intake.questionnaire_id,
            "pipeline_id": intake.pipeline_id,
            "test": is_test,
            "responder_channel_identifier": request.responder_channel_identifier,
            "address_key": f"\\x{schedule.address_key.hex()}",
            "metadata": changes_of(request.metadata).as_stored,
            **schedule.times,
            "attempts_max": self.attempts_max,
            "resend_after_seconds": self.resend_after_seconds,
            "source": source,
            "external_reference": request.external_reference,
            "limited": bool(caller.application_ids),
            "created_by": caller.actor_id or None,
            "event_id": event_id,
            "actor_kind": caller.actor_kind,
        }

    def has_delayed(self, item: QueueItemRecord) -> bool:
        """Whether the send time of a stored item is the one that this delay gives."""
        try:
            return self._moment_of(item).instant == item.send_time
        except errors.Invalid:
            return False

    def delayed(self, item: QueueItemRecord) -> QueueItemRecord:
        """A stored item as this delay would have made it; raises Invalid as `schedule` does."""
        send_time, (days, valid_days) = self._moment_of(item).instant, self._days
        begin = send_time if self.intake.delay_from is not None else item.created_time
        not_after = decisions.expiry(
            send_time=send_time, created_time=begin, not_after_days=days, valid_days=valid_days
        )
        due_time = max(send_time, item.created_time)
        return msgspec.structs.replace(item, send_time=send_time, due_time=due_time, not_after=not_after)

    def _moment_of(self, item: QueueItemRecord) -> Moment:
        if self.intake.delay_from is None:
            return self._delayed(item.created_time)
        normal = self._normal(item.responder_channel_identifier, item.locale or self.intake.locale)
        return self._counted(item.metadata, zone_name_of(self.intake, normal if self._is_phone else None))

    def completed(self, refusal: errors.Invalid) -> errors.Invalid:
        """The refusal of a record, with the error of its address, which depends on the channel."""
        also = address_errors(self.intake.channel_id, refusal.record or {}, locale=self.intake.locale)
        return errors.Invalid.of(*refusal.errors, *also) if also else refusal

    def _delayed(self, begin: datetime) -> Moment:
        """The delay after this time, in whole seconds, as the organization's clocks show it."""
        return times.moment_at(begin + self._delay, times.zone_of(self.intake.organization_zone))

    def _counted(self, groups: Mapping[str, Mapping[str, str]], zone_name: str) -> Moment:
        """The delay after the item's date; raises Invalid without a date that can be read."""
        kind, _, name = (self.intake.delay_from or "").partition("_metadata:")
        pointer, text = f"/metadata/{kind}/{escape(name)}", groups.get(kind, {}).get(name)
        if text is None:
            raise errors.Invalid.at(pointer, "required", NO_DATE)
        zone = times.zone_of(zone_name)
        try:
            return decisions.counted_from(text, delay=self._delay, zone=zone, now=self.intake.now)
        except InvalidDateTime as error:
            raise errors.Invalid.at(pointer, error.code, error.message) from error

    def _normal(self, identifier: str, locale: str | None) -> str:
        try:
            return normalise(self.intake.channel_id, identifier, locale=locale)
        except InvalidAddress as error:
            raise errors.Invalid.at("/responder_channel_identifier", "invalid_address", error.message) from error


def checked(body: Body, declared: Declared | None) -> Body:
    """The request; raises Invalid for metadata that strict handling does not take. `declared` is None if lax."""
    if declared is not None and isinstance(body.metadata, MetadataGroups):  # its reader checked names and values
        metadata.changes_of(body.metadata.named(), declared=declared, strict=True)
    return body


def checked_rows(
    rows: Sequence[QueueItemRequest | errors.Invalid], declared: Declared | None
) -> Sequence[QueueItemRequest | errors.Invalid]:
    return rows if declared is None else [_checked_row(row, declared) for row in rows]


def address_errors(channel_id: int, document: Mapping[str, object], *, locale: str | None) -> list[FieldError]:
    """The error of the address in a document with other errors; one without an address has that among them."""
    identifier, own_locale = document.get("responder_channel_identifier"), document.get("locale")
    if not isinstance(identifier, str) or not 0 < len(identifier) <= IDENTIFIER_CHARACTERS_MAX:
        return []
    try:
        normalise(channel_id, identifier, locale=own_locale if isinstance(own_locale, str) else locale)
    except InvalidAddress as error:
        return [FieldError("invalid_address", error.message, pointer="/responder_channel_identifier")]
    return []


def rules_of(intake: Intake) -> decisions.Rules:
    has_days_off = intake.on_holidays == "wait" and (intake.holiday_country or intake.holidays)
    return decisions.Rules(
        start_time=intake.start_time,
        window=decisions.hours_of(intake.dispatch_start_time, intake.dispatch_end_time),
        weekdays=frozenset(intake.weekdays),
        quiet=decisions.hours_of(intake.quiet_start_time, intake.quiet_end_time),
        holidays=DaysOff(intake.holiday_country, frozenset(intake.holidays)) if has_days_off else windows.NONE,
        if_outside=intake.if_outside,
    )


def zone_name_of(intake: Intake, phone: str | None) -> str:
    """The time zone of the first due time; the recipient's own zone is read when the item is decided about."""
    return windows.zone_name_for(
        pipeline=intake.time_zone,
        zone_of_kind=intake.zone_of,
        responder=None,
        phone=phone,
        application=intake.application_zone,
        organization=intake.organization_zone,
    )


def editable(item: QueueItemRecord) -> dict[str, Any]:
    return {name: getattr(item, name) for name in _EDITABLE}


def replaced(item: QueueItemRecord, request: QueueItemRequest) -> dict[str, Any]:
    """The editable members after a request that replaces them; without a time of its own the old one stays."""
    named = {name: getattr(request, name) for name in _GIVEN}
    return {**editable(item), **named, **_moment(request.send_time), "metadata": changes_of(request.metadata).as_stored}


def edited(item: QueueItemRecord, change: QueueItemUpdate) -> dict[str, Any]:
    named = {name: value for name in _GIVEN if (value := getattr(change, name)) is not UNSET}
    return {**editable(item), **named, **_moment(change.send_time), "metadata": _merged(item, change.metadata or None)}


def changes_of(groups: MetadataGroups | None) -> Changes:
    return Changes() if groups is None else Changes(groups.questionnaire or {}, groups.responder or {})


def changed(item: QueueItemRecord, wanted: Mapping[str, Any], scheduler: Scheduler) -> tuple[dict[str, object], bytes]:
    """The changed columns and the address's key. Between attempts the wait before the next one stays.

    Where the send time counted from a date, it moves with the date, unless another time is wanted.
    """
    counts = scheduler.intake.delay_from is not None
    follows = counts and wanted["send_time"] == item.send_time and scheduler.has_delayed(item)
    schedule = scheduler.schedule(
        QueueItemRequest(
            responder_channel_identifier=wanted["responder_channel_identifier"],
            locale=wanted["locale"],
            send_time=None if follows else Moment(wanted["send_time"], wanted["send_offset_minutes"]),
            metadata=MetadataGroups(**wanted["metadata"]) if follows else None,
        ),
        item_id=item.item_id,
        created_time=item.created_time,
        test=item.test,
    )
    was_tried = item.attempts > 0 or item.throttled > 0
    return {
        **wanted,
        **schedule.times,
        "item_id": item.item_id,
        "address_key": f"\\x{schedule.address_key.hex()}",
        "due_time": max(schedule.due_time, item.due_time) if was_tried else schedule.due_time,
        "reason": item.reason if was_tried else None,
        "result": item.result if was_tried else None,
    }, schedule.address_key


def _checked_row(row: QueueItemRequest | errors.Invalid, declared: Declared) -> QueueItemRequest | errors.Invalid:
    try:
        return row if isinstance(row, errors.Invalid) else checked(row, declared)
    except errors.Invalid as refusal:
        return refusal


def _merged(item: QueueItemRecord, groups: MetadataGroups | None) -> dict[str, dict[str, str]]:
    if groups is None:
        return item.metadata
    changes = changes_of(groups)
    return {kind: metadata.merge(item.metadata.get(kind, {}), getattr(changes, kind)) for kind in metadata.KINDS}


def _moment(moment: Moment | UnsetType | None) -> dict[str, Any]:
    return {"send_time": moment.instant, "send_offset_minutes": moment.offset_minutes} if moment else {}
