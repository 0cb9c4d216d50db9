"""Reads responders together with their instances; `people/responders/store.py` writes.

A caller limited to applications sees responders with instances there, a test token those with test instances only.
It learns no address or value of a responder whom others ask too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final, LiteralString

import msgspec

from afterword.asking.instances.store import OF_APPLICATIONS
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import qualified

FOUND_MAX: Final = 10_000  # of a search; a longer search text finds the rest
# The words of a person's values, without accents and with one sigma, and the organization as a word: the expression of
# the index `responder_words`. Signs within words divide them. Addresses have an index of their own.
_WORDS: Final[LiteralString] = """(to_tsvector('simple', organization_id) || jsonb_to_tsvector('simple',
    translate(regexp_replace(normalize((metadata - '{email,phone_number}'::text[])::text, nfd),
      '[\\u0300-\\u036f]', '', 'g'), '\u03c2-./@+_', '\u03c3      ')::jsonb, '["string"]'))"""


class ShownResponder(msgspec.Struct, frozen=True):
    organization_id: str
    responder_id: str
    locale: str | None
    time_zone: str | None
    anonymized_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    is_whole: bool
    """Whether the caller reaches all that the person was ever asked."""


_KEY: Final[LiteralString] = """coalesce(m.metadata -> 'questionnaire' ->> 'transaction_id',
  m.metadata -> 'questionnaire' ->> 'booking_no', m.metadata -> 'questionnaire' ->> 'case_id')"""
OF_ORDER_KEY: Final[LiteralString] = f"""m.organization_id = $1 and m.deleted_time is null and {_KEY} is not null
  and left({_KEY}, 100)"""  # of a queue item; as its index has it
_COLUMNS: Final[LiteralString] = """organization_id, responder_id, locale, time_zone, anonymized_time, version,
  created_time, updated_time, created_by, updated_by"""
_COLUMNS_R: Final = qualified(_COLUMNS, "r")
IS_WHOLE: Final[LiteralString] = """((cardinality(reach.application_ids) = 0 and not reach.test_only) or not exists (
  select 1 from questionnaire_instance o
  join questionnaire p on p.organization_id = o.organization_id and p.questionnaire_id = o.questionnaire_id
  where o.organization_id = r.organization_id and o.responder_id = r.responder_id
    and ((reach.test_only and not o.test)
      or (cardinality(reach.application_ids) > 0 and p.owner_application_id <> all(reach.application_ids)))))"""
_IS_SEEN: Final[LiteralString] = f"""(cardinality(reach.application_ids) = 0 and not reach.test_only) or exists (
  select 1 from questionnaire_instance i
  join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
  where i.organization_id = r.organization_id and i.responder_id = r.responder_id and i.deleted_time is null
    and (i.test or not reach.test_only)
    and (cardinality(reach.application_ids) = 0 or q.owner_application_id = any(reach.application_ids)))
  and (not reach.test_only or {IS_WHOLE})"""


@dataclass(frozen=True, slots=True)
class Identifier:
    responder_id: str
    channel_id: int
    identifier: str
    suppressed: bool


@dataclass(frozen=True, slots=True)
class Figures:
    responder_id: str
    instances_count: int
    last_contacted_time: datetime | None
    last_submitted_time: datetime | None
    only_tests: bool


async def get_responder(
    db: Database,
    *,
    organization_id: str,
    responder_id: str,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
) -> ShownResponder | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS_R}, {IS_WHOLE} as is_whole from responder r
           cross join (select $3::text[] as application_ids, $4::boolean as test_only) reach
           where r.organization_id = $1 and r.responder_id = $2 and ({_IS_SEEN})""",
        *(organization_id, responder_id, list(application_ids), test_only),
    )
    return None if row is None else _responder(row)


async def get_is_whole(
    db: Database, *, organization_id: str, responder_id: str, application_ids: Sequence[str], test_only: bool
) -> bool:
    return await db.fetch_value(
        f"""select {IS_WHOLE} from responder r
           cross join (select $3::text[] as application_ids, $4::boolean as test_only) reach
           where r.organization_id = $1 and r.responder_id = $2""",
        *(organization_id, responder_id, list(application_ids), test_only),
    )


async def list_shared(  # any tenant: a claimed batch serves many organizations
    db: Database, *, asked: Sequence[tuple[str, str, str]]
) -> set[tuple[str, str, str]]:
    """Those of (organization, responder, questionnaire) whom another application than the questionnaire's asked too."""
    rows = await db.fetch(
        """select b.organization_id, b.responder_id, b.questionnaire_id
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, responder_id, questionnaire_id)
           join questionnaire q on q.organization_id = b.organization_id and q.questionnaire_id = b.questionnaire_id
           where exists (
             select from questionnaire_instance i
             join questionnaire o on o.organization_id = i.organization_id and o.questionnaire_id = i.questionnaire_id
             where i.organization_id = b.organization_id and i.responder_id = b.responder_id
               and o.owner_application_id <> q.owner_application_id)""",
        *(list(column) for column in zip(*asked, strict=True)),
    )
    return {(row["organization_id"], row["responder_id"], row["questionnaire_id"]) for row in rows}


_FOUND: Final[LiteralString] = f"""with found as materialized (
  select distinct f.responder_id from (
    select a.responder_id from unnest($4::text[]) as b (beginning)
    join responder_address a on a.organization_id = $1
      and lower(a.identifier collate "C") >= b.beginning
      and lower(a.identifier collate "C") < b.beginning || chr(1114111)
    limit $5) f
  union
  (select responder_id from responder
   where organization_id = $1 and metadata - '{{email,phone_number}}'::text[] <> '{{}}'
     and {_WORDS} @@ to_tsquery('simple', $6)
   limit $5)
  union
  select a.responder_id from pipeline p
    join queue_item m on m.organization_id = p.organization_id and m.pipeline_id = p.pipeline_id
      and m.external_reference = $7 and m.status <> 7 and m.deleted_time is null
    join responder_address a on a.organization_id = p.organization_id
      and a.channel_id = p.channel_id and a.address_key = m.address_key
    where p.organization_id = $1
  union
  select a.responder_id from (
      select m.pipeline_id, m.address_key from queue_item m
      where {OF_ORDER_KEY} = left($8::text, 100) limit $5) m
    join pipeline p on p.organization_id = $1 and p.pipeline_id = m.pipeline_id
    join responder_address a on a.organization_id = $1
      and a.channel_id = p.channel_id and a.address_key = m.address_key)"""  # its values are those of `list_responders`


async def list_responders(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    prefixes: Sequence[str] = (),
    words: Sequence[str] = (),
    reference: str | None = None,
    order_key: str | None = None,
    page: Page,
) -> Rows[ShownResponder]:
    """A page of the responders that the caller sees; with prefixes, those with a matching address, or the others.

    Prefixes are in lower case (ASCII only). `words` begin words of the person's values, without accents. `reference`
    is the `external_reference` of an item to the person, `order_key` stands in its metadata. Each finds at most
    `FOUND_MAX`.
    """
    if prefixes:
        # The limits force this plan: addresses by their index, then responders by key. Without them the planner
        # may read all responders and look up the addresses of each.
        rows = await db.fetch_list(
            f"""{_FOUND}
               select r.*, true as is_whole from found cross join lateral (
                 select {_COLUMNS} from responder
                 where organization_id = $1 and responder_id = found.responder_id limit 1) r
               cross join (select $2::text[] as application_ids, $3::boolean as test_only) reach
               where ({_IS_SEEN}) and {IS_WHOLE}""",
            *(organization_id, list(application_ids), test_only, list(prefixes), FOUND_MAX),
            " & ".join([organization_id, *(f"{word}:*" for word in words)]) if words else None,
            *(reference, order_key),
            page=page,
        )
    elif application_ids or test_only:
        rows = await db.fetch_list(
            f"""select {_COLUMNS_R}, {IS_WHOLE} as is_whole from responder r
               cross join (select $2::text[] as application_ids, $3::boolean as test_only) reach
               where r.organization_id = $1 and ({_IS_SEEN})""",
            *(organization_id, list(application_ids), test_only),
            page=page,
        )
    else:
        rows = await db.fetch_list(
            f"select {_COLUMNS_R}, true as is_whole from responder r where r.organization_id = $1",
            organization_id,
            page=page,
        )
    return rows.map(_responder)


async def list_identifiers(
    db: Database, *, organization_id: str, responder_ids: Sequence[str], now: datetime
) -> list[Identifier]:
    """The addresses of these responders, by channel, the oldest first, with their suppression state."""
    rows = await db.fetch(
        """select a.responder_id, a.channel_id, a.identifier, exists (
             select 1 from suppression s
             where s.organization_id = a.organization_id and s.channel_id = a.channel_id
               and s.address_key = a.address_key and (s.expires_time is null or s.expires_time > $3)) as suppressed
           from responder_address a
           where a.organization_id = $1 and a.responder_id = any($2::text[])
           order by a.channel_id, a.created_time, a.address_key""",
        *(organization_id, list(responder_ids), now),
    )
    return [Identifier(**row) for row in rows]


async def list_figures(
    db: Database,
    *,
    organization_id: str,
    responder_ids: Sequence[str],
    application_ids: Sequence[str] = (),
    test_only: bool = False,
) -> list[Figures]:
    rows = await db.fetch(
        f"""select i.responder_id, count(*) as instances_count, max(i.sent_time) as last_contacted_time,
             max(i.submitted_time) as last_submitted_time,
             bool_and(i.test) as only_tests
           from questionnaire_instance i
           where i.organization_id = $1 and i.responder_id = any($2::text[]) and i.deleted_time is null
             and (i.test or not $4)
             and {OF_APPLICATIONS}
           group by i.responder_id""",
        *(organization_id, list(responder_ids), list(application_ids), test_only),
    )
    return [Figures(**row) for row in rows]


async def get_last_questionnaire_id(
    db: Database, *, organization_id: str, responder_id: str, application_ids: Sequence[str] = ()
) -> str | None:
    return await db.fetch_value(
        f"""select i.questionnaire_id from questionnaire_instance i
           where i.organization_id = $1 and i.responder_id = $2 and i.deleted_time is null
             and {OF_APPLICATIONS}
           order by i.created_time desc limit 1""",
        *(organization_id, responder_id, list(application_ids)),
    )


_values: Final = itemgetter(*ShownResponder.__struct_fields__)


def _responder(row: Row) -> ShownResponder:
    return ShownResponder(*_values(row))
