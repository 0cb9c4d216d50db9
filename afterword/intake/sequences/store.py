"""SQL of sequences, and of the responses that lead on: whom to write to, where, and how long their chain is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row
from afterword.db.columns import arrays, qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    organization_id: str
    sequence_id: str
    title: str
    kind: Any
    from_questionnaire_id: str
    pipeline_id: str
    trigger: Any
    conditions: dict[str, Any] | None
    active: bool
    since_time: datetime
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


_COLUMNS: Final[LiteralString] = """organization_id, sequence_id, title, kind, from_questionnaire_id, pipeline_id,
  trigger, conditions, active, since_time, version, created_time, updated_time, created_by, updated_by"""
_COLUMNS_S: Final = qualified(_COLUMNS, "s")
_COLUMNS_T: Final = qualified(_COLUMNS, "t")
_SHOWN: Final = f"""select {_COLUMNS_S} from sequence s
  where s.organization_id = $1 and (cardinality($2::text[]) = 0 or 2 = (
    select count(*) filter (where f.owner_application_id = any($2))
      + count(*) filter (where t.owner_application_id = any($2))
    from questionnaire f
    join pipeline p on p.organization_id = $1 and p.pipeline_id = s.pipeline_id
    join questionnaire t on t.organization_id = $1 and t.questionnaire_id = p.questionnaire_id
    where f.organization_id = $1 and f.questionnaire_id = s.from_questionnaire_id))"""


@dataclass(frozen=True, slots=True)
class Target:
    """A rule with where its items go; `questionnaire_id` is that of its pipeline, None where that was deleted."""

    rule: Rule
    questionnaire_id: str | None
    channel_id: int


@dataclass(frozen=True, slots=True)
class Source:
    organization_id: str
    instance_id: str
    pipeline_id: str
    locale: str
    metadata: dict[str, str]
    test: bool
    ancestors: int  # as far as was counted
    identifier: str | None


async def get_sequence(
    db: Database, *, organization_id: str, sequence_id: str, application_ids: Sequence[str]
) -> Rule | None:
    """The sequence, if both its questionnaires belong to these applications (none: any)."""
    row = await db.fetch_row(f"{_SHOWN} and s.sequence_id = $3", organization_id, list(application_ids), sequence_id)
    return _rule(row) if row else None


async def get_sequence_locked(
    db: Database, *, organization_id: str, sequence_id: str, application_ids: Sequence[str]
) -> Rule | None:
    query = f"{_SHOWN} and s.sequence_id = $3 for no key update of s"
    row = await db.fetch_row(query, organization_id, list(application_ids), sequence_id)
    return _rule(row) if row else None


async def list_sequences(
    db: Database, *, organization_id: str, application_ids: Sequence[str], page: Page
) -> Rows[Rule]:
    rows = await db.fetch_list(_SHOWN, organization_id, list(application_ids), page=page)
    return rows.map(_rule)


async def count_sequences_locked(db: Database, *, organization_id: str) -> int:
    await db.fetch_row("select from organization where organization_id = $1 for no key update", organization_id)
    return await db.fetch_value("select count(*) from sequence where organization_id = $1", organization_id)


async def list_active_sequences(  # any tenant: a batch of events serves many organizations
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[Target]:
    rows = await db.fetch(
        f"""select {_COLUMNS_S}, case when p.deleted_time is null then p.questionnaire_id end as target_id, p.channel_id
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join sequence s on s.organization_id = b.organization_id and s.from_questionnaire_id = b.questionnaire_id
           join pipeline p on p.organization_id = s.organization_id and p.pipeline_id = s.pipeline_id
           where s.active order by s.organization_id, s.sequence_id""",
        *arrays(questionnaires, 2),
    )
    return [Target(_rule(row), row["target_id"], row["channel_id"]) for row in rows]


async def list_made(  # any tenant: a batch of events serves many organizations
    db: Database, *, wanted: Sequence[tuple[str, str, str]]
) -> set[tuple[str, str, str]]:
    """Those of the (organization, sequence, instance) that have their item already."""
    rows = await db.fetch(
        """select w.organization_id, w.sequence_id, w.instance_id
           from unnest($1::text[], $2::text[], $3::text[]) as w (organization_id, sequence_id, instance_id)
           where exists (select from queue_item i where i.organization_id = w.organization_id
             and i.sequence_id = w.sequence_id and i.previous_questionnaire_instance_id = w.instance_id
             and i.sequence_id is not null)""",
        *arrays(wanted, 3),
    )
    return {(row["organization_id"], row["sequence_id"], row["instance_id"]) for row in rows}


async def list_sources(  # any tenant: a batch of events serves many organizations
    db: Database, *, wanted: Sequence[tuple[str, str, str, int]], ancestors_max: int
) -> list[Source]:
    """Read responses (organization, instance, pipeline, channel) for an item in that pipeline.

    The address is the one that the response itself was asked at, else the responder's latest on the channel.
    """
    rows = await db.fetch(
        """with recursive w as materialized (
             select * from unnest($1::text[], $2::text[], $3::text[], $4::smallint[])
               as w (organization_id, instance_id, pipeline_id, channel_id)),
           chain as (
             select distinct i.organization_id, i.instance_id, i.previous_questionnaire_instance_id as previous,
               0 as length
             from w join questionnaire_instance i
               on i.organization_id = w.organization_id and i.instance_id = w.instance_id
             union all
             select c.organization_id, c.instance_id, i.previous_questionnaire_instance_id, c.length + 1
             from chain c
             join questionnaire_instance i on i.organization_id = c.organization_id and i.instance_id = c.previous
             where c.length < $5)
           select w.organization_id, w.instance_id, w.pipeline_id, i.locale, i.metadata, i.test,
             (select max(c.length) from chain c
              where c.organization_id = w.organization_id and c.instance_id = w.instance_id) as ancestors,
             (select a.identifier from responder_address a
              left join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
              where a.organization_id = i.organization_id and a.responder_id = i.responder_id
                and a.channel_id = w.channel_id
              order by (a.address_key = q.address_key) desc nulls last, a.created_time desc, a.address_key limit 1)
             as identifier
           from w join questionnaire_instance i
             on i.organization_id = w.organization_id and i.instance_id = w.instance_id and i.deleted_time is null""",
        *arrays(wanted, 4),
        ancestors_max,
    )
    return [Source(**dict(row)) for row in rows]


async def insert_sequence(
    db: Database, *, organization_id: str, sequence_id: str, columns: Mapping[str, Any], now: datetime, by: str
) -> Rule:
    """Add one; responses from now on count."""
    row = await db.fetch_one(
        f"""insert into sequence (organization_id, sequence_id, title, kind, from_questionnaire_id, pipeline_id,
             trigger, conditions, active, created_time, updated_time, created_by, updated_by)
           select $1, $2, s.title, s.kind, s.from_questionnaire_id, s.pipeline_id, s.trigger, s.conditions, s.active,
             $4, $4, $5, $5
           from jsonb_populate_record(null::sequence, $3::jsonb) s returning {_COLUMNS}""",
        organization_id,
        sequence_id,
        dict(columns),
        now,
        by,
    )
    return _rule(row)


async def update_sequence(
    db: Database, *, organization_id: str, sequence_id: str, changes: Mapping[str, Any], now: datetime, by: str
) -> Rule | None:
    """Write the columns that are named, in one statement; None when that changes nothing."""
    row = await db.fetch_row(
        f"""update sequence t
           set title = s.title, pipeline_id = s.pipeline_id, trigger = s.trigger, conditions = s.conditions,
             active = s.active, version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
           from sequence o, jsonb_populate_record(o, $3::jsonb) s
           where t.organization_id = $1 and t.sequence_id = $2 and o.organization_id = $1 and o.sequence_id = $2
             and (t.title, t.pipeline_id, t.trigger, t.conditions, t.active)
               is distinct from (s.title, s.pipeline_id, s.trigger, s.conditions, s.active)
           returning {_COLUMNS_T}""",
        organization_id,
        sequence_id,
        dict(changes),
        now,
        by,
    )
    return _rule(row) if row else None


async def delete_sequence(db: Database, *, organization_id: str, sequence_id: str) -> None:
    await db.execute(
        "delete from sequence where organization_id = $1 and sequence_id = $2", organization_id, sequence_id
    )


def _rule(row: Row) -> Rule:
    return Rule(**{name: row[name] for name in Rule.__dataclass_fields__})
