"""Settings of lanes, cached by version; the blocks that close lanes; tokens taken from rate buckets."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, LiteralString

import msgspec

from afterword.asking.questionnaires import store as questionnaires_store
from afterword.asking.questionnaires.store import Version
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import Theme
from afterword.core.scheduling.decisions import Block
from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.core.text import locales
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.sending.messages.composing import MessageContext
from afterword.sending.pipelines.policies import POLICY_COLUMNS, ContactPolicy
from afterword.sending.pipelines.store import PIPELINE_COLUMNS_P, Pipeline


class Lane(msgspec.Struct, frozen=True):
    """An open lane with something due, the first at `due_time`.

    `tokens`: None is no limit. `open_until`: set when the breaker needs a probe. `settings_version`: of the account's
    own settings, which make its channel; None: it has none.
    """

    organization_id: str
    pipeline_id: str
    account_id: str
    priority: int
    slots_max: int
    tokens: int | None
    has_domain_rates: bool
    settings_version: int | None
    failures: int
    open_until: datetime | None
    due_time: datetime


class Fingerprint(msgspec.Struct, frozen=True):
    """The versions of all rows that a lane's settings are made of, and its credits: equal if the settings are equal."""

    pipeline_version: int
    questionnaire_version: int
    organization_version: int
    application_version: int
    contact_policy_version: int
    published_version_id: str | None
    has_credits: bool
    visual_version: str | None
    test_clock_seconds: int
    sender_domains: list[str] | None  # None where the pipeline has no `sender_address`


class LaneSettings(msgspec.Struct, frozen=True):
    fingerprint: Fingerprint
    pipeline: Pipeline
    policy: ContactPolicy
    theme: Theme
    is_active: bool
    application_active: bool
    is_closed: bool  # the questionnaire has as many responses as it takes
    questionnaire_name: str
    application_zone: str | None
    organization_zone: str
    organization_name: str
    postal_address: str | None

    @property
    def key(self) -> LaneKey:
        return self.pipeline.organization_id, self.pipeline.pipeline_id

    @property
    def is_counted(self) -> bool:
        return self.policy.enabled and not self.pipeline.policy_exempt

    @property
    def reserves_contacts(self) -> bool:
        """True when a cap or the contact policy counts this pipeline's messages, so that each reserves a contact."""
        pipeline = self.pipeline
        cap = pipeline.frequency_cap_days, pipeline.frequency_cap_hours, pipeline.frequency_cap_minutes
        return self.policy.enabled or any(cap)

    @property
    def test_offset(self) -> timedelta:
        """Lead of the clock of the organization's test items over the real time."""
        return timedelta(seconds=self.fingerprint.test_clock_seconds)

    @property
    def zone_name(self) -> str:
        return self.pipeline.time_zone or self.application_zone or self.organization_zone

    @property
    def account(self) -> AccountKey:
        return self.pipeline.organization_id, self.pipeline.account_id


class LaneBlock(msgspec.Struct, frozen=True):
    """A paused pipeline, a paused account, or an open breaker closes a lane; `is_guarded`: all sending is paused."""

    paused: bool
    paused_time: datetime | None
    paused_reason: str | None
    open_until: datetime | None
    channel_id: int
    has_settings: bool
    is_guarded: bool

    @property
    def has_channel(self) -> bool:
        """No installation has an SMS channel of its own."""
        return self.has_settings or self.channel_id != CHANNEL_SMS


class Depth(msgspec.Struct, frozen=True):
    """Counts of items by state; `due` is counted up to a limit per lane."""

    due: int
    oldest_due_seconds: float
    claimed: int
    sending: int
    accounts_paused: int
    breakers_open: int


# Of a row with the pipeline `p` and its account `a`.
BLOCK_COLUMNS: Final[LiteralString] = """p.paused, a.paused_time, a.paused_reason,
  case when a.open_until > now() then a.open_until end as open_until,
  p.channel_id, a.settings is not null as has_settings,
  exists (select from sending_guard where paused_time is not null) as is_guarded"""
_FINGERPRINT: Final[LiteralString] = """p.version as pipeline_version, q.version as questionnaire_version,
  o.version as organization_version, a.version as application_version,
  coalesce(cp.version, 0) as contact_policy_version,
  q.published_version_id, not q.credits_accountable or c.has_credits as has_credits, o.test_clock_seconds,
  v.visual_id || ' ' || v.version as visual_version,
  case when p.sender_address is not null then array(
    select s.domain from organization_sender_domain s where s.organization_id = p.organization_id order by s.domain
  ) end as sender_domains"""
_SETTINGS: Final[LiteralString] = """from unnest($1::text[], $2::text[]) as b (organization_id, pipeline_id)
           join pipeline p on p.organization_id = b.organization_id and p.pipeline_id = b.pipeline_id
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id
           join application_credit c on c.organization_id = a.organization_id and c.application_id = a.application_id
           join organization o on o.organization_id = p.organization_id
           left join contact_policy cp on cp.organization_id = p.organization_id
           left join questionnaire_visual v
             on v.organization_id = q.organization_id and v.questionnaire_id = q.questionnaire_id and v.active"""
_fingerprint_values: Final = itemgetter(*Fingerprint.__struct_fields__)
_pipeline_values: Final = itemgetter(*Pipeline.__struct_fields__)
_other_values: Final = itemgetter(*list(LaneSettings.__struct_fields__)[4:])


async def list_lanes(  # any tenant: the worker serves everyone
    db: Database,
    *,
    after: LaneKey,
    until: LaneKey,
    channel_ids: Sequence[int],
    busy: Sequence[AccountKey],
    limit: int,
    empty_until: Mapping[LaneKey, datetime] = MappingProxyType({}),
) -> list[Lane]:
    """Open lanes with something due, in key order behind `after` up to `until`, none of `busy` accounts.

    `channel_ids`: the channels that the worker itself has; on others the account must have settings. A lane without
    credits, or of an inactive application, is closed: due items wait, and no row is rewritten for that. `empty_until`:
    the due time at which the search in a lane begins.
    """
    return await db.records(Lane).fetch(
        """select p.organization_id, p.pipeline_id, p.account_id, p.priority, a.slots_max, a.has_domain_rates,
             due.due_time, a.failures, a.open_until,
             case when a.settings is not null then a.version end as settings_version,
             case when a.rate is not null then floor(least(greatest(1, a.rate * 10),
               a.tokens + a.rate * extract(epoch from now() - a.refilled_time)::float8))::int end as tokens
           from (
             select distinct organization_id, pipeline_id from lane_due
             where due_time <= now() and (organization_id, pipeline_id) > ($1, $2)
               and (organization_id, pipeline_id) <= ($3, $4)
             order by organization_id, pipeline_id) n
           join pipeline p on p.organization_id = n.organization_id and p.pipeline_id = n.pipeline_id
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           cross join lateral (
             select due_time from queue_item
             where organization_id = p.organization_id and pipeline_id = p.pipeline_id and status = 1
               and due_time <= now()
               and due_time >= coalesce(
                 ($8::jsonb ->> (p.organization_id || '/' || p.pipeline_id))::timestamptz, '-infinity')
             order by due_time, item_id limit 1) due
           cross join lateral ( -- names `due` so that this is looked at only where something is
             select from questionnaire q
             join application o on o.organization_id = q.organization_id and o.application_id = q.owner_application_id
             join application_credit c
               on c.organization_id = q.organization_id and c.application_id = q.owner_application_id
             where q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
               and due.due_time is not null and o.active and (not q.credits_accountable or c.has_credits)
             limit 1) going
           where not exists (select from sending_guard where paused_time is not null)
             and not p.paused and a.paused_time is null and (a.open_until is null or a.open_until <= now())
             and (a.rate is null or a.tokens + a.rate * extract(epoch from now() - a.refilled_time)::float8 >= 1)
             and (p.channel_id = any ($5::smallint[]) or a.settings is not null)
             and p.organization_id || '/' || p.account_id <> all ($6::text[])
           order by n.organization_id, n.pipeline_id
           limit $7""",
        *after,
        *until,
        list(channel_ids),
        ["/".join(key) for key in busy],
        limit,
        {"/".join(key): due_time for key, due_time in empty_until.items()},
    )


async def get_lane_block(db: Database, *, organization_id: str, pipeline_id: str) -> LaneBlock | None:
    """The block of a lane, apart from its items and credits; None: there is no such lane."""
    return await db.records(LaneBlock).fetch_row(
        f"""select {BLOCK_COLUMNS}
           from pipeline p
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           where p.organization_id = $1 and p.pipeline_id = $2""",
        *(organization_id, pipeline_id),
    )


async def list_closed_lanes(  # any tenant: the worker serves everyone
    db: Database, *, after: LaneKey, limit: int
) -> list[LaneKey]:
    """Closed lanes that may have something due, of the next notes in key order behind `after`."""
    return await db.fetch_tuples(
        f"""select n.organization_id, n.pipeline_id
           from (
             select distinct organization_id, pipeline_id from (
               select organization_id, pipeline_id, due_time, closed from lane_due
               where (organization_id, pipeline_id) > ($1, $2)
               order by organization_id, pipeline_id limit $3) next
             where closed or due_time <= now()) n
           {_OF_LANE}
           where {_IS_CLOSED}
           order by n.organization_id, n.pipeline_id""",
        *after,
        limit,
    )


# Joined to the key `n` of a lane.
_OF_LANE: Final[LiteralString] = """
  join pipeline p on p.organization_id = n.organization_id and p.pipeline_id = n.pipeline_id
  join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
  join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
  join application o on o.organization_id = q.organization_id and o.application_id = q.owner_application_id"""
# No worker may send. Whatever ends this wakes the lane, by a trigger.
_IS_CLOSED: Final[LiteralString] = """(
  p.paused or not o.active or a.paused_time is not null or a.open_until > now()
  or (p.channel_id = 2 and a.settings is null) -- SMS: no installation has a channel of its own
  or (q.credits_accountable and not (
    select c.has_credits from application_credit c
    where c.organization_id = q.organization_id and c.application_id = q.owner_application_id)))"""
_FIRST_DUE: Final[LiteralString] = """(
  select i.due_time from queue_item i
  where i.organization_id = n.organization_id and i.pipeline_id = n.pipeline_id and i.status = 1
  order by i.due_time, i.item_id limit 1)"""
TIDY_SECONDS: Final = 5.0  # a lane that has been empty for so long is not looked at any more
CLOSED_SECONDS: Final = 600  # a closed one is looked at again, should nothing have woken it


async def settle_notes(db: Database, *, limit: int) -> int:  # any tenant: the worker serves everyone
    """Leave one note, at its next due time, of each lane where nothing can be sent now; the number of lanes.

    Who inserts an item relies on a note that it sees, and has locked the pipeline: such a lane is left for later. Who
    moves one writes a note of its own. So both statements matter: the second sees what was committed before the lock.
    """
    await db.execute(
        """delete from lane_due n where n.due_time <= now() and not exists (
             select from pipeline p where p.organization_id = n.organization_id and p.pipeline_id = n.pipeline_id)"""
    )
    found = await db.fetch_tuples(
        f"""select p.organization_id, p.pipeline_id
           from (
             select distinct organization_id, pipeline_id from lane_due
             where due_time <= now() - make_interval(secs => $2::float8)) n
           {_OF_LANE}
           where {_IS_CLOSED} or coalesce({_FIRST_DUE}, 'infinity') > now()
           limit $1 for update of p skip locked""",
        *(limit, TIDY_SECONDS),
    )
    if found:
        await db.execute(
            f"""with lane as materialized (
                 select n.*, {_FIRST_DUE} as due_time, {_IS_CLOSED} as is_closed, least(
                   now() + make_interval(secs => $3::float8), case when a.open_until > now() then a.open_until end,
                   (select min(l.start_time) from plan l where l.organization_id = n.organization_id
                    and l.start_time > now())) as again_time
                 from unnest($1::text[], $2::text[]) as n (organization_id, pipeline_id)
                 {_OF_LANE}),
               idle as materialized (
                 select organization_id, pipeline_id, due_time <= now() as closed,
                   case when due_time <= now() then again_time else due_time end as due_time
                 from lane where is_closed or coalesce(due_time, 'infinity') > now()),
               gone as (
                 delete from lane_due d using idle n
                 where d.organization_id = n.organization_id and d.pipeline_id = n.pipeline_id)
               insert into lane_due (organization_id, pipeline_id, due_time, closed)
               select organization_id, pipeline_id, due_time, closed from idle where due_time is not null""",
            *arrays(found, 2),
            CLOSED_SECONDS,
        )
    return len(found)


async def list_fingerprints(  # any tenant: a claimed batch serves many organizations
    db: Database, *, lanes: Sequence[LaneKey]
) -> dict[LaneKey, Fingerprint]:
    rows = await db.fetch(
        f"""select p.organization_id, p.pipeline_id, {_FINGERPRINT}
           {_SETTINGS}""",
        *arrays(lanes, 2),
    )
    return {(row["organization_id"], row["pipeline_id"]): Fingerprint(*_fingerprint_values(row)) for row in rows}


async def list_settings(  # any tenant: a claimed batch serves many organizations
    db: Database, *, lanes: Sequence[LaneKey]
) -> list[LaneSettings]:
    rows = await db.fetch(
        f"""select {PIPELINE_COLUMNS_P}, {_FINGERPRINT}, q.owner_application_id as application_id,
             q.responses_max is not null and q.responses_max <= (select count(*) from (
               select from questionnaire_instance i
               where i.organization_id = q.organization_id and i.questionnaire_id = q.questionnaire_id
                 and i.submitted_time is not null and i.deleted_time is null and not i.test
               limit q.responses_max) i) as is_closed,
             q.active and q.archived_time is null and q.published_version_id is not null and p.deleted_time is null
               as is_active,
             coalesce(q.title, q.display_name) as questionnaire_name, a.time_zone as application_zone,
             a.active as application_active, o.time_zone as organization_zone, o.display_name as organization_name,
             o.postal_address, o.brand as organization_brand, a.brand as application_brand, v.configuration,
             {POLICY_COLUMNS}
           {_SETTINGS}""",
        *arrays(lanes, 2),
    )
    return [
        LaneSettings(
            Fingerprint(*_fingerprint_values(row)),
            Pipeline(*_pipeline_values(row)),
            ContactPolicy.of(row),
            visuals.inherited(row["organization_brand"], row["application_brand"], row["configuration"]),
            *_other_values(row),
        )
        for row in rows
    ]


async def update_tokens(  # any tenant: a claimed batch serves many organizations
    db: Database, *, claimed: Mapping[AccountKey, int]
) -> None:
    """Take what was claimed out of the accounts' buckets, which may go below zero.

    A throttled rate recovers by 5 % of its ceiling a minute.
    """
    if not claimed:
        return
    await db.execute(
        """with b as (
             select * from unnest($1::text[], $2::text[], $3::int[]) as b (organization_id, account_id, claimed)),
           locked as (
             select a.organization_id, a.account_id, b.claimed,
               extract(epoch from now() - a.refilled_time)::float8 as seconds
             from b join channel_account a on a.organization_id = b.organization_id and a.account_id = b.account_id
             order by a.organization_id, a.account_id for no key update of a)
           update channel_account a
           set tokens = least(greatest(1, a.rate * 10), a.tokens + a.rate * l.seconds) - l.claimed,
             rate = least(coalesce(a.rate_ceiling, a.rate),
                          a.rate + coalesce(a.rate_ceiling, 0) * l.seconds * 0.05 / 60),
             refilled_time = now()
           from locked l
           where a.organization_id = l.organization_id and a.account_id = l.account_id and a.rate is not null""",
        *arrays(sorted(claimed), 2),
        [count for _, count in sorted(claimed.items())],
    )


async def list_stuck_lanes(db: Database, *, seconds: float, limit: int) -> list[tuple[str, str]]:  # any tenant: doctor
    """Domain and pipeline_id of open lanes with an item that has been due for longer than `seconds`."""
    return await db.fetch_tuples(
        """select o.domain, p.pipeline_id
           from pipeline p
           join organization o on o.organization_id = p.organization_id
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           where not p.paused and a.paused_time is null and (a.open_until is null or a.open_until <= now())
             and exists (
               select from queue_item i
               where i.organization_id = p.organization_id and i.pipeline_id = p.pipeline_id and i.status = 1
                 and i.due_time <= now() - make_interval(secs => $1))
           order by o.domain, p.pipeline_id limit $2""",
        *(seconds, limit),
    )


async def count_items(db: Database, *, limit: int) -> Depth:  # any tenant: the metrics of a whole installation
    """Count items by the indexes of due and of leased items, at most `limit` per lane."""
    return await db.records(Depth).fetch_one(
        """select coalesce(sum(due.count), 0)::bigint as due,
             coalesce(greatest(extract(epoch from now() - min(due.oldest)), 0), 0)::float8 as oldest_due_seconds,
             (select count(*) from queue_item where status in (2, 3) and status = 2) as claimed,
             (select count(*) from queue_item where status in (2, 3) and status = 3) as sending,
             (select count(*) from channel_account where paused_time is not null) as accounts_paused,
             (select count(*) from channel_account where open_until > now()) as breakers_open
           from pipeline p
           cross join lateral (
             select count(*) as count, min(due_time) as oldest from (
               select due_time from queue_item
               where organization_id = p.organization_id and pipeline_id = p.pipeline_id and status = 1
                 and due_time <= now()
               order by due_time, item_id limit $1) head) due""",
        limit,
    )


LANES_KEPT_MAX: Final = 2_000


class SettingsCache:
    """The settings of lanes that a process used lately, valid while the database has the same fingerprint."""

    def __init__(self) -> None:
        self.kept: dict[LaneKey, LaneSettings] = {}

    def keep(self, found: Sequence[LaneSettings]) -> None:
        if len(self.kept) + len(found) > LANES_KEPT_MAX:
            self.kept.clear()
        self.kept.update({settings.key: settings for settings in found})


async def settings_of(
    db: Database, *, lanes: Sequence[LaneKey], cache: SettingsCache
) -> Mapping[LaneKey, LaneSettings]:
    """The settings of these lanes as they are now; only those that changed are read whole."""
    found = await list_fingerprints(db, lanes=lanes)
    changed = [key for key, now in found.items() if key not in cache.kept or cache.kept[key].fingerprint != now]
    if changed:
        cache.keep(await list_settings(db, lanes=changed))
    return {key: cache.kept[key] for key in found}


async def get_published(db: Database, *, lane: LaneKey) -> tuple[LaneSettings, Version]:
    """The settings of a lane as they are now, and the published version. Raises NotFound where there is none."""
    [settings] = await list_settings(db, lanes=[lane])
    version_id = settings.fingerprint.published_version_id or ""
    return settings, await questionnaires_store.get_version(db, organization_id=lane[0], version_id=version_id)


def locale_of(settings: LaneSettings, version: Version, item_locale: str | None, person_locale: str | None) -> str:
    """The language of a message: the item's, the pipeline's or the person's, if the questionnaire has it."""
    definition = version.definition
    wanted = item_locale or settings.pipeline.locale or person_locale
    return locales.match(wanted, definition.locales, definition.default_locale)


def context_of(settings: LaneSettings, **members: Any) -> MessageContext:
    """The context of a message of the lane; `members` are those of the item."""
    return MessageContext(
        pipeline=settings.pipeline,
        organization_name=settings.organization_name,
        postal_address=settings.postal_address,
        theme=settings.theme,
        questionnaire_name=settings.questionnaire_name,
        sender_domains=settings.fingerprint.sender_domains or (),
        time_zone=settings.zone_name,
        **members,
    )


async def block_of(db: Database, *, lane: LaneKey) -> Block | None:
    """The reason that closes a lane now, credits aside; None: its items go when they are due."""
    found = await get_lane_block(db, organization_id=lane[0], pipeline_id=lane[1])
    return None if found is None else reason_of(found)


def reason_of(found: LaneBlock) -> Block | None:
    if found.paused:
        return Block("paused", "the pipeline is paused")
    if found.paused_time is not None:
        why = f": {found.paused_reason}" if found.paused_reason else ""
        return Block("account_paused", f"the account that it is sent through waits for a person{why}")
    if found.is_guarded:
        return Block("all_paused", "all sending is paused until the operator has looked")
    if not found.has_channel:
        return Block("no_account", "the organization has no account to send it by")
    if found.open_until is not None:
        return Block("account_resting", "the provider does not respond", found.open_until)
    return None
