"""Reads and changes responders within the rights of a caller."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Annotated, Any, Final, LiteralString, Unpack

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.asking.instances.store import OF_APPLICATIONS
from afterword.asking.questionnaires import metadata as metadata_service
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, normal_or_none
from afterword.core.organizations.access import Caller, Part, Reach, Sight, values_of
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import GLOBAL, Declared
from afterword.core.wire import times
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, has_own, maker_of, qualified
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.people.responders import service as responders
from afterword.people.responders.service import Actor, Change, ResponderInput

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
_COLUMNS: Final = columns_of(ShownResponder, without=("is_whole",))
_responder: Final = maker_of(ShownResponder)
_COLUMNS_R: Final = qualified(_COLUMNS, "r")
_IS_ALL: Final[LiteralString] = (
    "(cardinality(reach.application_ids) = 0 and not reach.test_only and reach.only is null)"
)
_OWN: Final[LiteralString] = has_own("i.metadata", "reach.only")
# Of a limit to some values of metadata, items without an instance count too: they may have changed the person.
IS_WHOLE: Final[LiteralString] = f"""({_IS_ALL} or (not exists (
  select 1 from questionnaire_instance o
  join questionnaire p on p.organization_id = o.organization_id and p.questionnaire_id = o.questionnaire_id
  where o.organization_id = r.organization_id and o.responder_id = r.responder_id
    and ((reach.test_only and not o.test)
      or (cardinality(reach.application_ids) > 0 and p.owner_application_id <> all(reach.application_ids))
      or ({has_own("o.metadata", "reach.only")}) is not true))
  and (reach.only is null or not exists (
    select 1 from responder_address d
    join queue_item m on m.organization_id = d.organization_id and m.address_key = d.address_key
      and (m.status = 1 or m.status >= 5)
    where d.organization_id = r.organization_id and d.responder_id = r.responder_id
      and ({has_own("m.metadata -> 'questionnaire'", "reach.only")}) is not true))))"""
_IS_SEEN: Final[LiteralString] = f"""{_IS_ALL} or exists (
  select 1 from questionnaire_instance i
  join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
  where i.organization_id = r.organization_id and i.responder_id = r.responder_id and i.deleted_time is null
    and (i.test or not reach.test_only)
    and (cardinality(reach.application_ids) = 0 or q.owner_application_id = any(reach.application_ids)) and {_OWN})
  and (not reach.test_only or {IS_WHOLE})"""


class Identifier(msgspec.Struct, frozen=True):
    channel_id: int
    identifier: str
    suppressed: bool
    is_own: bool  # it was written to within the caller's limit


class Details(msgspec.Struct, frozen=True):
    """Of a responder: addresses by channel, the oldest first, and figures; `values` where they were asked for."""

    responder_id: str
    instances_count: int
    last_contacted_time: datetime | None
    last_submitted_time: datetime | None
    only_tests: bool
    identifiers: list[Identifier]
    values: dict[str, str] | None


async def get_responder_record(
    db: Database, *, responder_id: str, is_anybody: bool = False, **sight: Unpack[Sight]
) -> ShownResponder | None:
    """`is_anybody`: also one whom the caller does not see."""
    return await db.records(_responder).fetch_row(
        f"""select {_COLUMNS_R}, {IS_WHOLE} as is_whole from responder r
           cross join (select $2::text[] as application_ids, $3::boolean as test_only, $4::text[] as only) reach
           where r.organization_id = $1 and r.responder_id = $5 and ($6 or {_IS_SEEN})""",
        *(*values_of(sight), sight["test_only"], sight["only"], responder_id, is_anybody),
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


async def list_responder_records(
    db: Database,
    *,
    prefixes: Sequence[str] = (),
    words: Sequence[str] = (),
    reference: str | None = None,
    order_key: str | None = None,
    page: Page,
    **reach: Unpack[Reach],
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
               cross join (
                 select $2::text[] as application_ids, $3::boolean as test_only, null::text[] as only) reach
               where ({_IS_SEEN}) and {IS_WHOLE}""",
            *(*values_of(reach), reach["test_only"], list(prefixes), FOUND_MAX),
            " & ".join([reach["organization_id"], *(f"{word}:*" for word in words)]) if words else None,
            *(reference, order_key),
            page=page,
        )
    elif reach["application_ids"] or reach["test_only"]:
        rows = await db.fetch_list(
            f"""select {_COLUMNS_R}, {IS_WHOLE} as is_whole from responder r
               cross join (
                 select $2::text[] as application_ids, $3::boolean as test_only, null::text[] as only) reach
               where r.organization_id = $1 and ({_IS_SEEN})""",
            *(*values_of(reach), reach["test_only"]),
            page=page,
        )
    else:
        rows = await db.fetch_list(
            f"select {_COLUMNS_R}, true as is_whole from responder r where r.organization_id = $1",
            reach["organization_id"],
            page=page,
        )
    return rows.map(_responder)


_IS_OWN_ADDRESS: Final[LiteralString] = f"""(exists (
  select from questionnaire_instance i
    join queue_item m on m.organization_id = i.organization_id and m.item_id = i.item_id
  where i.organization_id = a.organization_id and i.responder_id = a.responder_id
    and m.address_key = a.address_key and i.deleted_time is null and {_OWN})
  or exists (
  select from queue_item m
  where m.organization_id = a.organization_id and m.address_key = a.address_key and (m.status = 1 or m.status >= 5)
    and m.deleted_time is null and {has_own("m.metadata -> 'questionnaire'", "reach.only")}))"""


async def list_own(
    db: Database, *, instance_ids: Sequence[str], address_keys: Sequence[bytes], **sight: Unpack[Sight]
) -> list[ShownResponder]:
    """Those of these instances, the newest first, and those with one of these addresses.

    An address finds only whom it was written to within `only`, and whom nobody else asks.
    """
    return await db.records(_responder).fetch(
        f"""with found as materialized (
             select i.responder_id, true as is_own, i.created_time as time from questionnaire_instance i
               where i.organization_id = $1 and i.instance_id = any($5::text[]) and {has_own("i.metadata", "$4")}
             union all
             select a.responder_id, {_IS_OWN_ADDRESS}, null
               from responder_address a cross join (select $4::text[] as only) reach
               where a.organization_id = $1 and a.channel_id in (1, 2) and a.address_key = any($6::bytea[]))
           select {_COLUMNS_R}, {IS_WHOLE} as is_whole
           from (select responder_id, bool_or(is_own) as is_own, max(time) as time from found group by responder_id) f
             join responder r on r.organization_id = $1 and r.responder_id = f.responder_id
             cross join (select $2::text[] as application_ids, $3::boolean as test_only, $4::text[] as only) reach
           where ({_IS_SEEN}) and (f.is_own or {IS_WHOLE}) order by f.time desc nulls last, r.responder_id""",
        *(*values_of(sight), sight["test_only"], sight["only"], list(instance_ids), list(address_keys)),
    )


async def list_details(
    db: Database, *, responder_ids: Sequence[str], now: datetime, with_values: bool = False, **sight: Unpack[Sight]
) -> list[Details]:
    return await db.records(lambda row: msgspec.convert({**row}, Details)).fetch(
        f"""select r.responder_id, f.*, a.identifiers, case when $7 then r.metadata end as values
           from responder r
           cross join lateral (
             select count(*) as instances_count, max(i.sent_time) as last_contacted_time,
               max(i.submitted_time) as last_submitted_time, coalesce(bool_and(i.test), false) as only_tests
             from questionnaire_instance i
             where i.organization_id = $1 and i.responder_id = r.responder_id and i.deleted_time is null
               and (i.test or not $4) and {OF_APPLICATIONS} and {has_own("i.metadata", "$5")}) f
           cross join lateral (
             select coalesce(jsonb_agg(jsonb_build_object(
                 'channel_id', a.channel_id, 'identifier', a.identifier, 'suppressed', exists (
                   select 1 from suppression s
                   where s.organization_id = a.organization_id and s.channel_id = a.channel_id
                     and s.address_key = a.address_key and (s.expires_time is null or s.expires_time > $6)),
                 'is_own', reach.only is not null and {_IS_OWN_ADDRESS})
               order by a.channel_id, a.created_time, a.address_key), '[]') as identifiers
             from responder_address a cross join (select $5::text[] as only) reach
             where a.organization_id = $1 and a.responder_id = r.responder_id) a
           where r.organization_id = $1 and r.responder_id = any($2::text[])""",
        *(sight["organization_id"], list(responder_ids), list(sight["application_ids"]), sight["test_only"]),
        *(sight["only"], now, with_values),
    )


async def _get_last_questionnaire_id(db: Database, *, responder_id: str, **part: Unpack[Part]) -> str | None:
    return await db.fetch_value(
        f"""select i.questionnaire_id from questionnaire_instance i
           where i.organization_id = $1 and i.responder_id = $2 and i.deleted_time is null
             and {OF_APPLICATIONS}
           order by i.created_time desc limit 1""",
        *(part["organization_id"], responder_id, list(part["application_ids"])),
    )


_UPPER_TO_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}  # as the index folds: ASCII alone
_PHONE: Final = re.compile(r"\+[\d\s().\-/]+\Z", re.ASCII)
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_WORD: Final = re.compile(r"[^\W_]+")
WORDS_MAX: Final = 5  # of a search text that count
_NO_DIGITS: Final = re.compile(r"[^\d+]", re.ASCII)


class ResponderView(msgspec.Struct, frozen=True):
    responder: ShownResponder
    details: Details

    @property
    def identifiers(self) -> list[Identifier]:
        """Those that the caller may see."""
        return [one for one in self.details.identifiers if self.responder.is_whole or one.is_own]

    @property
    def values(self) -> Mapping[str, str] | None:
        """None: they are closed to the caller."""
        return self.details.values if self.responder.is_whole else None


async def get(db: Database, *, caller: Caller, responder_id: str) -> ShownResponder:
    found = await get_responder_record(db, **caller.sight, responder_id=responder_id)
    return errors.found(found, "There is no such responder.")


async def find(db: Database, *, caller: Caller, search: str | None, page: Page) -> Rows[ShownResponder]:
    if search is None:
        return await list_responder_records(db, **caller.reach, page=page)
    return await list_responder_records(
        db,
        **caller.reach,
        prefixes=prefixes(search, locale=caller.default_locale),
        words=words(search) if "Responder Value.Read" in caller.scopes else (),
        reference=search.strip() if "Queue.Read" in caller.scopes else None,
        order_key=search.strip() if {"Queue.Read", "Questionnaire Value.Read"} <= caller.scopes else None,
        page=page,
    )


async def views_of(
    db: Database, *, caller: Caller, responders: Sequence[ShownResponder], now: datetime
) -> dict[str, ResponderView]:
    """Adds addresses, figures and the values that the caller may read to these responders, by id; one statement."""
    by_id = {one.responder_id: one for one in responders}
    if not by_id:
        return {}
    may_read = "Responder Value.Read" in caller.scopes and caller.limit is None  # within a limit orders fill them
    found = await list_details(db, **caller.sight, responder_ids=[*by_id], with_values=may_read, now=now)
    return {one.responder_id: ResponderView(by_id[one.responder_id], one) for one in found}


async def change(
    db: Database,
    *,
    caller: Caller,
    responder_id: str,
    change: Change,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> ShownResponder:
    """Change what a PATCH names; raises NotFound, Forbidden, Invalid `too_many`, and what `expect` raises."""
    found = await get(db, caller=caller, responder_id=responder_id)
    if not found.is_whole:
        raise _others_too()
    key = {"organization_id": caller.organization_id, "responder_id": responder_id}
    await responders.update(db, **key, change=change, now=now, actor=Actor.of(caller), expect=expect)
    return await get(db, caller=caller, responder_id=responder_id)


async def create(
    db: Database, *, caller: Caller, change: Change, now: datetime, secret: bytes
) -> tuple[ShownResponder, bool]:
    """The person with an address of the metadata, changed accordingly, else a new one; and whether it is new.

    Raises Invalid, and Forbidden for limited callers: nobody of theirs asked the person yet.
    """
    caller.require_all()
    request = ResponderInput(organization_id=caller.organization_id, metadata=change.metadata, locale=change.locale)
    [found] = await responders.find_or_create(db, inputs=[request], now=now, secret=secret, actor=Actor.of(caller))
    if change.time_zone:
        zone = Change(has_time_zone=True, time_zone=change.time_zone)
        key = {"organization_id": caller.organization_id, "responder_id": found.responder_id}
        await responders.update(db, **key, change=zone, now=now, actor=Actor.of(caller))
    return await get(db, caller=caller, responder_id=found.responder_id), found.created


async def declared_names(db: Database, *, caller: Caller, responder_id: str) -> Declared:
    """The metadata names of the application that asked this responder last, else the product's."""
    last_id = await _get_last_questionnaire_id(db, **caller.part, responder_id=responder_id)
    if last_id is None:
        return GLOBAL
    return await metadata_service.declared_of(db, organization_id=caller.organization_id, questionnaire_id=last_id)


async def find_or_create(db: Database, *, caller: Caller, wanted: ResponderInput, now: datetime, secret: bytes) -> str:
    """The responder given, else a new one; metadata are merged into an existing one.

    A caller limited to some applications or to tests changes no responder whom others ask too. Raises Invalid.
    """
    if wanted.responder_id is not None:
        await require_seen(db, caller=caller, responder_id=wanted.responder_id)
    wanted = replace(wanted, is_limited=caller.is_limited)
    [found] = await responders.find_or_create(db, inputs=[wanted], now=now, secret=secret, actor=Actor.of(caller))
    if caller.is_limited and not found.created and await _is_whole(db, caller=caller, responder_id=found.responder_id):
        key = {"organization_id": caller.organization_id, "responder_id": found.responder_id}
        change = Change(metadata=wanted.metadata)
        await responders.update(db, **key, change=change, now=now, actor=Actor.of(caller))
    return found.responder_id


async def require_seen(db: Database, *, caller: Caller, responder_id: str) -> None:
    """Raise Invalid `unknown_id` for a responder that the caller does not see."""
    try:
        await get(db, caller=caller, responder_id=responder_id)
    except errors.NotFound:
        raise errors.Invalid.at("/responder_id", "unknown_id", "There is no such responder.") from None


async def require_whole(db: Database, *, caller: Caller, responder_id: str) -> None:
    """Raise Forbidden if a limited caller would change a responder whom others ask too."""
    if caller.is_limited and not await _is_whole(db, caller=caller, responder_id=responder_id):
        raise _others_too()


def prefixes(search: str, *, locale: str | None = None) -> list[str]:
    """The prefixes of normalized addresses that a search text matches.

    As written; a telephone number without its spaces; and the whole of an address in its normal form.
    """
    text = unicodedata.normalize("NFC", search).strip()
    found = {text}
    if _PHONE.match(text):
        found.add(_NO_DIGITS.sub("", text))
    found |= {normal_or_none(channel_id, text, locale=locale) or text for channel_id in (CHANNEL_EMAIL, CHANNEL_SMS)}
    return sorted(one.translate(_UPPER_TO_LOWER) for one in found)


def words(search: str) -> list[str]:
    """The words of a search text as `responder_words` has them: in lower case, without accents, with one sigma."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", search)).lower().replace("\u03c2", "\u03c3")
    return _WORD.findall(plain)[:WORDS_MAX]


async def _is_whole(db: Database, *, caller: Caller, responder_id: str) -> bool:
    found = await get_responder_record(db, **caller.sight, responder_id=responder_id, is_anybody=True)
    return found is not None and found.is_whole


def _others_too() -> errors.Forbidden:
    return errors.Forbidden("This person is asked by others too, whom you do not see.")


SEARCH: Final = (
    "With `search`: those with an address that is this or begins like this; those with values in which its words "
    "begin words, in any case and without accents (Responder Value.Read); and those of items whose "
    "`external_reference` it is (Queue.Read). Of very many the first 10,000."
)

routes = Routes(tag="Responders", scope="Responder")


class ResponderQuery(fields.Request):
    """The filter of responders."""

    search: Annotated[str, Meta(min_length=3, max_length=320, examples=["ann@exam"])] | None = None


class ResponderRequest(fields.Request):
    """A person to create."""

    metadata: Annotated[fields.MetadataMap, Meta(examples=[{"email": "ann@example.com", "first_name": "Ann"}])]
    locale: fields.Locale | None = None
    time_zone: fields.Zone | None = None


class ResponderUpdate(fields.Request):
    """The members of a responder that may change."""

    locale: fields.Locale | UnsetType | None = UNSET
    time_zone: fields.Zone | UnsetType | None = UNSET
    metadata: fields.MetadataMap | UnsetType = UNSET


class ResponderIdentifier(fields.Answer):
    """An address in its normal form."""

    channel_id: int
    identifier: str


class Responder(fields.Resource):
    """A person who is asked; `suppressed` if one of the addresses is on the do-not-contact list."""

    responder_id: fields.Id
    organization_id: fields.Id
    identifiers: list[ResponderIdentifier]
    locale: str | None
    time_zone: str | None
    suppressed: fields.Computed[bool]
    instances_count: fields.Computed[int]
    last_contacted_time: fields.Computed[fields.DateTime | None]
    last_submitted_time: fields.Computed[fields.DateTime | None]
    anonymized_time: fields.DateTime | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


RESPONDERS: Final = fields.listing_of(Responder)


def responder_of(view: ResponderView, zone: tzinfo) -> Responder:
    return Responder.of(
        view.responder,
        zone,
        identifiers=[
            ResponderIdentifier(channel_id=one.channel_id, identifier=one.identifier) for one in view.identifiers
        ],
        suppressed=any(one.suppressed for one in view.identifiers),
        instances_count=view.details.instances_count,
        last_contacted_time=times.format_optional(view.details.last_contacted_time, zone=zone),
        last_submitted_time=times.format_optional(view.details.last_submitted_time, zone=zone),
    )


class ResponderCount(fields.Answer):
    """The number of responders."""

    count: int


@routes.list("/q/responder", answer=Responder, query=ResponderQuery, summary="Get all responders", description=SEARCH)
async def list_responders(call: Call[Any], db: Database) -> Answer:
    rows = await find(db, caller=call.caller, search=call.query.search, page=call.page)
    views = await views_of(db, caller=call.caller, responders=rows.items, now=call.now)
    return Answer(rows.map(lambda responder: responder_of(views[responder.responder_id], call.zone)))


@routes.get(
    "/q/responder/count",
    answer=ResponderCount,
    listing=RESPONDERS,
    query=ResponderQuery,
    summary="Get responder count",
    description=f"The same filters as the list. {SEARCH}",
)
async def count_responders(call: Call[Any], db: Database) -> Answer:
    page = replace(call.page, with_total=True, with_results=False)
    found = await find(db, caller=call.caller, search=call.query.search, page=page)
    return Answer(ResponderCount(count=found.total or 0))


@routes.post(
    "/q/responder",
    answer=Responder,
    summary="Create a responder",
    description=(
        "`email` and `phone_number` of the metadata are the addresses. 200 with the person who has one of them: the "
        "metadata are merged, a locale that is there stays. Whoever is sent something is created without this."
    ),
    other_statuses=(200,),
)
async def create_responder(call: Call[ResponderRequest], db: Database) -> Answer:
    change = _change(call, GLOBAL)
    responder, is_new = await create(db, caller=call.caller, change=change, now=call.now, secret=call.site.secret)
    answer = await _answer(call, db, responder)
    answer.status, answer.location = 201 if is_new else 200, f"/q/responder/{responder.responder_id}"
    return answer


@routes.get("/q/responder/{responder_id}", answer=Responder, summary="Get Responder")
async def get_responder(call: Call[None], db: Database) -> Answer:
    responder = await get(db, caller=call.caller, **call.ids)
    return await _answer(call, db, responder)


@routes.patch(
    "/q/responder/{responder_id}",
    answer=Responder,
    summary="Update Responder",
    description="Only what the body names. Metadata is merged by name, null or empty text removes; read it at /value.",
)
async def update_responder(call: Call[ResponderUpdate], db: Database) -> Answer:
    await get(db, caller=call.caller, **call.ids)
    declared = await declared_names(db, caller=call.caller, **call.ids)
    responder = await change(
        db, caller=call.caller, **call.ids, change=_change(call, declared), now=call.now, expect=call.expect
    )
    return await _answer(call, db, responder)


def _change(call: Call[ResponderUpdate] | Call[ResponderRequest], declared: Declared) -> Change:
    given = call.body.named()
    names = Declared(questionnaire={}, responder=declared.responder)
    changes = metadata.changes_of(given.get("metadata", {}), declared=names, strict=call.strict)
    return Change(
        has_locale="locale" in given,
        locale=given.get("locale"),
        has_time_zone="time_zone" in given,
        time_zone=given.get("time_zone"),
        metadata={**changes.questionnaire, **changes.responder},  # the undeclared ones and the others
    )


async def _answer(call: Call[Any], db: Database, responder: ShownResponder) -> Answer:
    views = await views_of(db, caller=call.caller, responders=[responder], now=call.now)
    return Answer(responder_of(views[responder.responder_id], call.zone), version=responder.version)
