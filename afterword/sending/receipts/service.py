"""Applies receipts: each is recorded as an event, counted once, and may suppress the address.

A report never moves an item back: a sent item stays Sent. A report that proves an attempt of unknown outcome is a late
acceptance. An account's report counts for its organization's items on its channel, a mail's for items that it proves.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword import ids
from afterword.asking.instances import service as instances
from afterword.core.messaging import addresses
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, address_key
from afterword.core.wire import times
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, as_document
from afterword.kit.transport.mime import CODE_CHARACTERS_MAX, REPORTS_MAX, Report, worded
from afterword.people.responders import service as responders, store as responders_store
from afterword.people.responders.service import NewSuppression
from afterword.sending.providers.api import is_reference, keys_of
from afterword.sending.queue import late_outcomes
from afterword.sending.queue.late_outcomes import LateAcceptance
from afterword.sending.queue.records import EVENT_COLUMNS, ItemKey

_TOLD: Final = as_document(EVENT_COLUMNS, "q")


class Item(msgspec.Struct, frozen=True):
    """An item that was sent, or may have been, with the columns that reports need."""

    organization_id: str
    item_id: str
    account_id: str
    channel_id: int
    responder_channel_identifier: str
    address_key: bytes
    locale: str | None
    responder_id: str | None
    questionnaire_instance_id: str | None
    dispatched_time: datetime | None
    test: bool
    is_unknown: bool  # the outcome of an attempt is unknown or open, and no other attempt was accepted

    @property
    def key(self) -> ItemKey:
        return self.organization_id, self.item_id


class Receipt(msgspec.Struct, frozen=True):
    """An item as events show it, in `data`."""

    organization_id: str
    item_id: str
    questionnaire_id: str
    version: int
    test: bool
    data: Mapping[str, Any]


ReportKey = tuple[str, str, str, bool, bool]  # organization_id, item_id, kind, is_hard, is_proven


class _About(msgspec.Struct, frozen=True):
    """A report of an item; `said` is its text, with addresses masked."""

    report: Report
    item: Item

    @property
    def key(self) -> ReportKey:
        """Identity of a receipt, which is counted once."""
        return *self.item.key, self.report.kind, self.report.is_hard, self.report.is_proven

    @property
    def code(self) -> str:
        return worded(self.report.code)[:CODE_CHARACTERS_MAX]

    @property
    def said(self) -> str:
        return worded(self.report.text, self.report.recipient or "", self.item.responder_channel_identifier)


async def list_items(
    db: Database, *, organization_id: str, item_ids: Sequence[str], since: datetime, account_id: str | None = None
) -> list[Item]:
    """Items sent since then, also by unfinished attempts, on the account's channel or on any."""
    return await db.records(Item).fetch(
        """select q.organization_id, q.item_id, p.account_id, p.channel_id, q.responder_channel_identifier,
             q.address_key, coalesce(q.locale, p.locale) as locale, q.responder_id, q.questionnaire_instance_id,
             q.dispatched_time, q.test, a.is_unknown
           from queue_item q
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           cross join lateral (
             select max(begin_time) as begin_time,
               bool_or(outcome is null or outcome = 'unknown')
                 and not coalesce(bool_or(outcome in ('accepted', 'accepted_late')), false) as is_unknown
             from attempt
             where organization_id = q.organization_id and item_id = q.item_id
               and (outcome is null or outcome in ('accepted', 'accepted_late', 'unknown'))) a
           where q.organization_id = $1 and q.item_id = any($2::text[]) and a.begin_time >= $3
             and ($4::text is null or p.channel_id = (
               -- Pipelines move to other accounts while receipts are under way, so that the channel decides.
               select channel_id from channel_account where organization_id = $1 and account_id = $4))""",
        organization_id,
        list(item_ids),
        since,
        account_id,
    )


async def get_item_key(  # any tenant, unless it is given: a returned mail names none
    db: Database, *, item_id: str, organization_id: str | None = None
) -> ItemKey | None:
    row = await db.fetch_row(
        """select q.organization_id, q.item_id
           from organization o
           join queue_item q on q.organization_id = o.organization_id and q.item_id = $1
           where $2::text is null or o.organization_id = $2""",
        *(item_id, organization_id),
    )
    return None if row is None else (row["organization_id"], row["item_id"])


async def list_item_ids_by_reference(
    db: Database, *, organization_id: str, account_id: str, references: Sequence[str]
) -> dict[str, str]:
    return await db.fetch_pairs(
        """select provider_reference, item_id from provider_reference
           where organization_id = $1 and account_id = $2 and provider_reference = any($3::text[])""",
        organization_id,
        account_id,
        list(references),
    )


async def get_last_item(  # any tenant, unless it is given: a returned mail names none
    db: Database,
    *,
    channel_id: int,
    address_key: bytes,
    since: datetime,
    organization_id: str | None = None,
    account_id: str | None = None,
) -> ItemKey | None:
    """The item that was sent to the address last, on the account's channel or on any."""
    row = await db.fetch_row(
        """select q.organization_id, q.item_id
           from organization o
           join responder_address r on r.organization_id = o.organization_id and r.channel_id = $1
             and r.address_key = $2
           join questionnaire_instance i on i.organization_id = r.organization_id and i.responder_id = r.responder_id
           join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
           where q.address_key = $2 and q.dispatched_time >= $3 and ($4::text is null or o.organization_id = $4)
             and ($5::text is null or exists (
               select from pipeline p join channel_account a on a.organization_id = p.organization_id
                 and a.channel_id = p.channel_id
               where p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id and a.account_id = $5))
           order by q.dispatched_time desc limit 1""",
        channel_id,
        address_key,
        since,
        organization_id,
        account_id,
    )
    return None if row is None else (row["organization_id"], row["item_id"])


async def list_told(db: Database, *, organization_id: str, item_ids: Sequence[str]) -> dict[str, Receipt]:
    rows = await db.records(Receipt).fetch(
        f"""select q.organization_id, q.item_id, q.questionnaire_id, q.version, q.test, {_TOLD} as data
           from queue_item q where q.organization_id = $1 and q.item_id = any($2::text[])""",
        organization_id,
        list(item_ids),
    )
    return {row.item_id: row for row in rows}


async def _insert_reports(  # any tenant: each report has its own
    db: Database, *, abouts: Sequence[_About]
) -> set[ReportKey]:
    """Insert reports, at the database's time as attempts have it; the keys of the new ones."""
    ordered = sorted(abouts, key=lambda about: about.key)
    rows = await db.fetch_tuples(
        """insert into delivery_report (organization_id, item_id, kind, is_hard, is_proven, code, said, reported_time,
             created_time)
           select organization_id, item_id, kind, is_hard, is_proven, code, said, reported_time, now()
           from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::text[], $7::text[],
             $8::timestamptz[])
             with ordinality as n (organization_id, item_id, kind, is_hard, is_proven, code, said, reported_time, place)
           order by place
           on conflict do nothing
           returning organization_id, item_id, kind, is_hard, is_proven""",
        *arrays(((*about.key, about.code, about.said, about.report.time) for about in ordered), 8),
    )
    return set(rows)


def of_event(data: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """The report in what an event of an item kept, its time in the organization's zone."""
    report: dict[str, Any] = dict(data["report"])
    time = report["time"]
    return {**report, "time": time and times.format_time(datetime.fromisoformat(time), zone=zone)}


REPORTED_DAYS_MAX: Final = 30  # after the last attempt; later reports are ignored
GUESSED_DAYS_MAX: Final = 5  # for an item found by its address alone: mail hosts try for so long
ACTOR: Final = "gateway"

_EVENTS: Final = {
    "delivered": "queue_item.delivered",
    "bounced": "queue_item.bounced",
    "failed": "queue_item.bounced",
    "complained": "queue_item.complained",
}


async def take(
    db: Database, *, organization_id: str, account_id: str, reports: Sequence[Report], now: datetime, secret: bytes
) -> int:
    """Apply a provider's authenticated reports about messages on its channel; the number of new ones.

    An item is found by its id, by the provider's own reference, or as the last one that was sent to the recipient.
    Reports about no item of this organization and channel, or about one of more than 30 days ago, do nothing; an
    opt-out needs no item.
    """
    known = reports[:REPORTS_MAX]
    counted = await _unsubscribe(db, organization_id, [one for one in known if one.kind == "unsubscribed"], now, secret)
    read = [_bounded(report, now) for report in known if report.kind != "unsubscribed"]
    found = await _items_of(db, organization_id, account_id, read, now=now, secret=secret)
    abouts = [_About(report, item) for report, item in zip(read, found, strict=True) if item is not None]
    return counted + await _act(db, abouts=[_softened(about, secret) for about in abouts], now=now)


async def take_mail(
    db: Database, *, reports: Sequence[Report], now: datetime, secret: bytes, organization_id: str | None = None
) -> int:
    """Apply the reports of a returned mail, about messages of this organization or of any; the number of new ones.

    A proven report counts in full. Anybody may have written another: it is recorded if it is a bounce that names the
    address of its item, and suppresses nothing.
    """
    abouts: list[_About] = []
    for report in [_bounded(report, now) for report in reports[:REPORTS_MAX]]:
        item = await _mailed_item(db, report, now=now, secret=secret, organization_id=organization_id)
        if item is None:
            continue
        if report.is_proven:
            abouts.append(_softened(_About(report, item), secret))
        elif report.kind == "bounced" and _is_recipient(report, item, secret):
            abouts.append(_About(replace(report, is_hard=False), item))
    return await _act(db, abouts=abouts, now=now)


async def _items_of(
    db: Database, organization_id: str, account_id: str, reports: Sequence[Report], *, now: datetime, secret: bytes
) -> list[Item | None]:
    since = now - timedelta(days=REPORTED_DAYS_MAX)
    account = {"organization_id": organization_id, "account_id": account_id}
    references = [
        key for one in reports if one.provider_reference and not one.item_id for key in keys_of(one.provider_reference)
    ]
    known = await list_item_ids_by_reference(db, **account, references=references) if references else {}
    item_ids: list[str | None] = []
    for report in reports:
        by_reference = (known[key] for key in keys_of(report.provider_reference or "") if key in known)
        item_id = report.item_id or next(by_reference, None)
        if item_id is None and report.recipient:
            channel_id = CHANNEL_EMAIL if "@" in report.recipient else CHANNEL_SMS
            last = await _last_item(db, report.recipient, channel_id=channel_id, since=since, secret=secret, **account)
            item_id = last and last[1]
        item_ids.append(item_id if item_id and ids.is_id(item_id) else None)
    rows = await list_items(db, **account, item_ids=sorted({each for each in item_ids if each}), since=since)
    by_id = {item.item_id: item for item in rows}
    return [by_id.get(item_id or "") for item_id in item_ids]


async def _last_item(
    db: Database, recipient: str, *, channel_id: int, since: datetime, secret: bytes, **where: str | None
) -> ItemKey | None:
    normal = _normal(channel_id, recipient)
    if normal is None:
        return None
    key = address_key(secret, channel_id, normal)
    return await get_last_item(db, channel_id=channel_id, address_key=key, since=since, **where)


async def _mailed_item(
    db: Database, report: Report, *, now: datetime, secret: bytes, organization_id: str | None
) -> Item | None:
    since = now - timedelta(days=REPORTED_DAYS_MAX)
    found: ItemKey | None = None
    whose = {"organization_id": organization_id}
    if report.item_id is not None:
        found = await get_item_key(db, item_id=report.item_id, **whose)
    elif report.recipient is not None:
        guessed = now - timedelta(days=GUESSED_DAYS_MAX)
        found = await _last_item(db, report.recipient, channel_id=CHANNEL_EMAIL, since=guessed, secret=secret, **whose)
    if found is None:
        return None
    items = await list_items(db, organization_id=found[0], item_ids=[found[1]], since=since)
    return items[0] if items and items[0].channel_id == CHANNEL_EMAIL else None


def _softened(about: _About, secret: bytes) -> _About:
    """The report, hard only if the address that does not exist is the item's and not one that it forwards to."""
    report, item = about.report, about.item
    if not report.is_hard or report.recipient is None:
        return about
    is_other = _normal(item.channel_id, report.recipient, item.locale) and not _is_recipient(report, item, secret)
    return _About(replace(report, is_hard=False), item) if is_other else about


def _is_recipient(report: Report, item: Item, secret: bytes) -> bool:
    normal = _normal(item.channel_id, report.recipient or "", item.locale)
    return normal is not None and address_key(secret, item.channel_id, normal) == item.address_key


def _normal(channel_id: int, text: str, locale: str | None = None) -> str | None:
    normal = addresses.normal_or_none(channel_id, text, locale=locale)
    if normal is None and channel_id == CHANNEL_SMS and text.isdecimal():  # gateways leave the plus out
        return addresses.normal_or_none(channel_id, f"+{text}", locale=locale)
    return normal


async def _act(db: Database, *, abouts: Sequence[_About], now: datetime) -> int:
    if not abouts:
        return 0
    inserted = await _insert_reports(db, abouts=abouts)
    fresh = list({about.key: about for about in abouts if about.key in inserted}.values())
    await _correct(db, fresh, now)
    by_organization: dict[str, list[_About]] = {}
    for about in fresh:
        by_organization.setdefault(about.item.organization_id, []).append(about)
    for organization_id, mine in sorted(by_organization.items()):
        await _deliver(db, organization_id, mine, now)
        await _record_events(db, organization_id, mine, now)
    await _suppress(db, fresh, now)
    return len(fresh)


async def _correct(db: Database, abouts: Sequence[_About], now: datetime) -> None:
    unknown = {about.item.key: about for about in abouts if about.item.is_unknown and about.report.is_proven}
    acceptances = [
        LateAcceptance(
            *key,
            ids.ordered(now),
            reply=f"reported {about.report.kind}",
            provider_reference=about.report.provider_reference,
        )
        for key, about in sorted(unknown.items())
    ]
    if acceptances:
        await late_outcomes.record_acceptances(db, acceptances=acceptances, now=now)


async def _deliver(db: Database, organization_id: str, abouts: Sequence[_About], now: datetime) -> None:
    delivered: dict[tuple[str, str], datetime] = {}
    bounced: dict[tuple[str, str], datetime] = {}
    for about in abouts:
        instance_id, report = about.item.questionnaire_instance_id, about.report
        if instance_id is None:
            continue
        # By the provider's clock, but not after now, and not before the item was sent, however late our clock is.
        time = max(min(report.time or now, now), about.item.dispatched_time or now)
        if report.kind == "delivered" and report.is_proven:
            delivered[organization_id, instance_id] = time
        elif report.kind in {"bounced", "failed"}:
            bounced[organization_id, instance_id] = time
    if delivered:
        await instances.settle_times(db, "delivered", times=delivered, now=now)
    if bounced:
        await instances.settle_times(db, "bounced", times=bounced, now=now)


async def _record_events(db: Database, organization_id: str, abouts: Sequence[_About], now: datetime) -> None:
    shown = [about for about in abouts if about.report.kind in _EVENTS]
    rows = await list_told(
        db, organization_id=organization_id, item_ids=sorted({about.item.item_id for about in shown})
    )
    await events.record(db, events=[_event(about, rows[about.item.item_id], now) for about in shown])


def _event(about: _About, row: Receipt, now: datetime) -> NewEvent:
    told = about.report
    report = {
        "kind": told.kind,
        "is_hard": told.is_hard,
        "is_proven": told.is_proven,
        "code": about.code,
        "text": about.said,
        "time": told.time.isoformat() if told.time else None,
    }
    data = {**row.data, "report": report}
    return NewEvent.of(row, _EVENTS[told.kind], row.item_id, data, now=now, actor=Actor(ACTOR))


async def _suppress(db: Database, abouts: Sequence[_About], now: datetime) -> None:
    new: list[NewSuppression] = []
    for about in abouts:
        report, item = about.report, about.item
        is_gone = report.is_hard and report.kind in {"bounced", "failed"}
        if item.test or not report.is_proven or not (is_gone or report.kind == "complained"):
            continue
        new.append(
            NewSuppression(
                item.organization_id,
                item.channel_id,
                item.address_key,
                item.responder_channel_identifier,
                "hard_bounce" if is_gone else "complaint",
                responder_id=item.responder_id,
                note=f"Reported: {about.code}" if about.code else None,
            )
        )
    # The stronger reason last: of two for one address that one stays.
    new.sort(key=lambda one: one.reason == "complaint")
    if new:
        await responders.suppress_addresses(db, suppressions=new, now=now)


async def _unsubscribe(
    db: Database, organization_id: str, reports: Sequence[Report], now: datetime, secret: bytes
) -> int:
    keys = {
        (organization_id, CHANNEL_SMS, address_key(secret, CHANNEL_SMS, normal)): normal
        for report in reports
        if (normal := _normal(CHANNEL_SMS, report.recipient or "")) is not None
    }
    if not keys:
        return 0
    known = {one.id: one for one in await responders_store.list_addresses_of(db, addresses=sorted(keys))}
    new = [
        NewSuppression(*key, normal, "unsubscribed", responder_id=known[key].responder_id if key in known else None)
        for key, normal in keys.items()
    ]
    return len(await responders.suppress_addresses(db, suppressions=new, now=now, actor=Actor(ACTOR)))


def _bounded(report: Report, now: datetime) -> Report:
    """Replace times and references that cannot be stored."""
    time, reference = report.time, report.provider_reference
    is_likely = time is not None and now - timedelta(days=2 * REPORTED_DAYS_MAX) <= time <= now
    return replace(
        report,
        time=time if is_likely else None,
        provider_reference=reference if reference and is_reference(reference) else None,
    )
