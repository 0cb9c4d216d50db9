"""Compares what the outside world received with what the database says of it: after every fault test, item by item."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

# accepted: the sink's file. acknowledged: what a client got a 201 for, or what was committed for it.
# aborted: cancels answered 200 without the note about an earlier attempt, and deletes answered 204.
_FIGURES: Final = """
with a as (select item_id, count(*) as n from accepted group by item_id),
u as (
  select organization_id, item_id, count(*) filter (where outcome in ('unknown', 'accepted_late')) as unknown,
    count(*) filter (where outcome is null) as open
  from attempt group by organization_id, item_id),
e as (
  select organization_id, subject_id as item_id, count(*) as n from event where is_terminal
  group by organization_id, subject_id),
i as (
  select q.*, coalesce(a.n, 0) as accepted, coalesce(u.unknown, 0) as unknown, coalesce(u.open, 0) as open,
    coalesce(e.n, 0) as told
  from queue_item q left join a using (item_id) left join u using (organization_id, item_id)
  left join e using (organization_id, item_id))
select
  count(*) filter (where status < 4 or (status = 4 and accepted = 0)) as lost, -- INV3 and unfinished
  count(*) filter (where accepted > 1) as duplicated,
  count(*) filter (where accepted > 1 + unknown) as duplicated_unexplained, -- INV1
  count(*) filter (where resend_after_seconds is null and accepted > 1) as repeated_though_held, -- INV2
  count(*) filter (where accepted > 0 and item_id in (select item_id from aborted)) as aborted_yet_sent, -- INV4
  count(*) filter (where status = 5 and accepted > 0 and unknown = 0) as failed_yet_sent, -- INV5
  count(*) filter (where status >= 4 and told = 0) as events_missing,
  count(*) filter (where told > 1 or (status < 4 and told > 0)) as events_doubled, -- INV6
  count(*) filter (where attempts > attempts_max) as attempts_over,
  coalesce(sum(open), 0)::int as attempts_open, -- INV7
  (select count(*) from attempt x join attempt y using (organization_id, item_id)
    where x.epoch < y.epoch and x.finish_time > y.begin_time and x.outcome not in ('unknown', 'accepted_late'))
    as stale_writes, -- INV8
  (select count(*) from acknowledged k where not exists (select from queue_item q where q.item_id = k.item_id))
    as acknowledged_missing,
  (select count(*) from accepted x where not exists (select from queue_item q where q.item_id = x.item_id))
    as sent_of_nobody,
  count(*) filter (where status = 4 and not exists (
    select from questionnaire_instance n
    where n.organization_id = i.organization_id and n.item_id = i.item_id and n.sent_time is not null))
    as instances_unsent,
  coalesce(sum(unknown), 0)::int as unknown, count(*)::int as items, coalesce(sum(accepted), 0)::int as mails
from i
"""
_UNKNOWN: Final = (
    "select finish_time, coalesce(reply, '') as reply from attempt where outcome in ('unknown', 'accepted_late')"
)
_COUNTS: Final = ("duplicated", "unknown", "items", "mails")  # what may be more than nothing


@dataclass(frozen=True)
class Figures:
    """The reconciler's counts. `wrong` holds everything that must be 0 and is not."""

    duplicated: int
    unknown: int
    items: int
    mails: int
    wrong: dict[str, int]
    unknown_times: tuple[datetime, ...]
    unknown_replies: Mapping[str, int]  # `lease lost` where a reaper took it

    @property
    def line(self) -> str:
        wrong = ", ".join(f"{name} {count}" for name, count in self.wrong.items()) or "nothing lost or unexplained"
        return f"{wrong}; {self.items} items, {self.mails} mails, {self.duplicated} twice of {self.unknown} unknown"


async def reconcile(
    connection: Any, *, accepted: Sequence[str], acknowledged: Collection[str], aborted: Collection[str]
) -> Figures:
    """Count on a connection to the test's database; nothing may be under way there any more."""
    for table, item_ids in (("accepted", accepted), ("acknowledged", acknowledged), ("aborted", aborted)):
        await connection.execute(f"drop table if exists pg_temp.{table}")
        await connection.execute(f'create temp table {table} (item_id text collate pg_catalog."C")')
        await connection.execute(f"insert into {table} select unnest($1::text[])", list(item_ids))
        await connection.execute(f"create index on {table} (item_id)")
    row = dict(await connection.fetchrow(_FIGURES))
    counts = {name: row.pop(name) for name in _COUNTS}
    unknown = await connection.fetch(_UNKNOWN)
    return Figures(
        **counts,
        wrong={name: count for name, count in row.items() if count},
        unknown_times=tuple(each["finish_time"] for each in unknown),
        unknown_replies=Counter(each["reply"] for each in unknown),
    )
