"""Responses of all questionnaires: how they are searched."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString, Unpack

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.asking.instances.spam import DOUBTFUL
from afterword.cases import recoveries
from afterword.core.organizations.access import Caller, Part, Reach, values_of
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.question_types import ScaleName
from afterword.core.reading.findings import Findings
from afterword.core.text import words
from afterword.core.text.locales import Marked
from afterword.core.text.words import Query
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import within
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.web import fields
from afterword.listening.responses.rows import ANSWERED, PERSON, REFERENCE, VALUES

EVER, NEVER = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
FOUND_MAX: Final = 10_000  # counted; of more it says that there are more
SCANNED_MAX: Final = 5_000  # rows that a page or a count with a filter looks at
OPTIONS_MAX: Final = 200
LISTED_MAX: Final = 200_000  # rows that are looked through for those that many things are done with
SEARCHED_MAX: Final = 1_000  # counted of a word that few of the newest have
FREQUENT_SCANNED_MAX: Final = 20_000  # rows that a page with a word that many have looks at
NEWEST_MAX: Final = 5_000  # rows among which a word is looked for first: where many have it, few are read
TAGGED_MAX: Final = 1_500  # rows with a tag that are all read; where more have it, rows are read by their time
TAGGED_NEWEST_MAX: Final = 1_000  # rows that a count of a tag that many have looks at
FREQUENT_MIN: Final = 25  # of the newest: then the others are read by their time, for the index would lead to very many
CHANNELS: Final[Mapping[int | None, Marked]] = {None: "Link", 1: "E-mail", 2: "SMS", 3: "Webhook"}
IMPORTED, OWN = "imported", "own"
OF_LINK: Final = 0  # the channel of instances that nothing was sent for

Tab = Literal["all", "unread", "comment", "unhappy", "mine"]
TABS: Final[tuple[Tab, ...]] = ("all", "unread", "comment", "unhappy", "mine")
BOUNDED: Final[tuple[Tab, ...]] = ("all", "comment", "unhappy")  # whose counts are the same for all users

Band = Literal["detractor", "passive", "promoter"]


def about(text: str) -> Meta:
    return Meta(description=text)


class ResponseRow(msgspec.Struct, frozen=True):  # the columns of `_SHOWN`; a dataclass is slow to make
    """A response with what tells most of it, within seconds after it was given."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    questionnaire_name: Annotated[str, Hidden()]
    version_id: fields.Id
    submitted_time: datetime
    locale: str
    test: bool
    channel_id: int | None
    responder_id: fields.Id | None
    person: Annotated[str | None, Hidden()]  # an address
    external_reference: str | None
    response_import_id: Annotated[
        fields.Computed[fields.Id | None], about("The import that brought it from elsewhere; null: given here.")
    ]
    score_question_id: Annotated[fields.Id | None, about("The question with the score.")]
    score_kind: Annotated[ScaleName | None, about("The type of the question with the score.")]
    score: Annotated[
        int | None, about("Of the key question; else of the first answered of nps, csat, ces, smileys, rating.")
    ]
    score_max: Annotated[int | None, about("The highest of its scale.")]
    band: Annotated[Band | None, about("The segment of the score; of csat and ces the dissatisfied are detractors.")]
    comment: Annotated[
        fields.Computed[str | None], about("The first thousand characters of the first answer in words.")
    ]
    tags: Annotated[fields.Computed[list[str]], about("The first twenty, in order.")]
    alert_instance_id: Annotated[fields.Computed[fields.Id | None], about("The newest open case.")]
    is_unread: Annotated[bool, Hidden()]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """`only`: the limit of the caller, which no filter widens.

    `search`: a tsquery; `band`, `score_kind`: of the score; `user_id`: the reader, for the tabs `unread`, `mine`.

    `channel_id`: LINK for none; `seen_time`: for a user who has read none yet, responses before it are read.
    `is_frequent`: whether many have the word or tag, as `count_tabs` tells; None: not known.
    `is_of_theme`: one of many words is enough for the search, so no index leads to few rows.
    """

    only: Sequence[str] | None
    tab: Tab = "all"
    questionnaire_id: str | None = None
    from_time: datetime = EVER
    to_time: datetime = NEVER
    tag: str | None = None
    band: str | None = None
    score_kind: str | None = None
    channel_id: int | None = None
    search: str | None = None
    is_of_theme: bool = False
    link_id: str | None = None
    response_import_id: str | None = None
    imported: bool | None = None
    user_id: str | None = None
    seen_time: datetime = EVER
    test: bool = False
    is_frequent: bool | None = None

    @property
    def origin(self) -> str | None:
        """The source of the responses: the id of a link or an import, IMPORTED or OWN; None: not filtered."""
        kind = None if self.imported is None else IMPORTED if self.imported else OWN
        return self.response_import_id or self.link_id or kind

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the tab and the period decides."""
        chosen = (self.questionnaire_id, self.tag, self.band, self.score_kind, self.channel_id, self.search)
        return not any(one is not None for one in (*chosen, self.origin, self.only))

    @property
    def is_unfiltered(self) -> bool:
        """Whether each row that is looked at is listed."""
        return self.is_plain and self.tab in {"all", "comment", "unhappy"}


# The sources of rows. All but the newest lead to few rows: a tag, a search, somebody's cases.
_WHOLE: Final[LiteralString] = """r.organization_id = $1 and $2::text[] is not null and r.test = $3::boolean
    and r.submitted_time >= $5::timestamptz and r.submitted_time <= $6::timestamptz
    and (r.submitted_time < $6 or r.instance_id > $7::text)
    and num_nulls($4::text, $8::text, $9::text, $10::text, $11::smallint, $12::text, $13::text, $14::timestamptz,
      $15::text, $16::text[]) >= 0
    """  # counted in an index alone; each statement has all values, though not each looks at all of them
_REACHED: Final[LiteralString] = f"{_WHOLE} and (cardinality($2) = 0 or r.application_id = any($2))"
_ORDER: Final[LiteralString] = "order by r.submitted_time desc, r.instance_id"
_COLUMNS: Final[LiteralString] = """r.organization_id, r.instance_id, r.questionnaire_id, r.application_id,
  r.version_id, r.submitted_time, r.locale, r.test, r.channel_id, r.responder_id, r.external_reference,
  r.score_question_id, r.score_kind, r.score, r.score_max, r.band, r.comment, r.words"""
_NEWEST: Final[LiteralString] = f"select {_COLUMNS} from response r where {_REACHED}"
_OF_QUESTIONNAIRE: Final[LiteralString] = f"{_NEWEST} and r.questionnaire_id = $4::text"


def _of_origin(condition: LiteralString) -> LiteralString:
    """In the order of the origin's own index, so that a page reads no more than it shows."""
    columns = _COLUMNS.replace("r.submitted_time", "i.submitted_time")
    return f"""select {_COLUMNS} from (select {columns} from questionnaire_instance i
    cross join lateral (select {_COLUMNS} from response r
      where r.organization_id = i.organization_id and r.instance_id = i.instance_id offset 0) r
    where i.organization_id = $1 and {condition} and i.submitted_time is not null
      and i.deleted_time is null) r where {_REACHED}"""


_OF_LINK: Final = _of_origin("i.link_id = $15::text")
_OF_IMPORT: Final = _of_origin("i.response_import_id = $15::text")
_IMPORTED: Final = _of_origin("i.response_import_id is not null")
_COMMENTED: Final[LiteralString] = f"{_NEWEST} and r.comment is not null"
_UNHAPPY: Final[LiteralString] = f"{_NEWEST} and r.band = 'detractor'"
# From the tag to its responses, never the other way: a rare tag would look through all of them.
_TAGGED: Final[LiteralString] = f"""select {_COLUMNS} from (
    select t.organization_id, t.instance_id from instance_tag t
    where t.organization_id = $1 and t.tag = $8::text offset 0) t
  cross join lateral (select {_COLUMNS} from response r
    where r.organization_id = t.organization_id and r.instance_id = t.instance_id offset 0) r where {_REACHED}"""
# `offset 0`: by the index of words alone. A plan for any word would read the index of all rows of the tenant as well.
_FOUND: Final[LiteralString] = f"""select {_COLUMNS} from (
    select {_COLUMNS} from response r where r.words @@ $12::text::tsquery offset 0) r where {_REACHED}"""
_AMONG: Final[LiteralString] = f"{_NEWEST} and r.instance_id = any($18::text[])"
_CASES_OF: Final[LiteralString] = """
    select distinct c.organization_id, c.instance_id from alert_instance c
    where c.organization_id = $1 and c.assigned_user_id = $13::text and c.resolved_time is null"""
_MINE: Final[LiteralString] = f"""select {_COLUMNS} from ({_CASES_OF}) c
  join response r on r.organization_id = c.organization_id and r.instance_id = c.instance_id where {_REACHED}"""
_UNREAD: Final[LiteralString] = """r.submitted_time > coalesce((
      select p.seen_time from response_reader p where p.organization_id = $1 and p.user_id = $13::text),
      $14::timestamptz)
    and r.instance_id not in (
      select s.instance_id from response_read s where s.organization_id = $1 and s.user_id = $13::text)"""
_OF_TABS: Final[Mapping[Tab, LiteralString]] = {
    "all": "true",
    "unread": f"({_UNREAD})",
    "comment": "r.comment is not null",
    "unhappy": "r.band = 'detractor'",  # as the condition of its index says
    "mine": """r.instance_id in (select c.instance_id from alert_instance c
      where c.organization_id = $1 and c.assigned_user_id = $13::text and c.resolved_time is null)""",
}
_FITS: Final[LiteralString] = f"""($4::text is null or r.questionnaire_id = $4)
    and ($9::text is null or r.band = $9) and ($10::text is null or r.score_kind = $10)
    and ($11::smallint is null or coalesce(r.channel_id, 0) = $11)
    and ($15::text is null or (select case $15 when 'imported' then i.response_import_id is not null
        when 'own' then i.response_import_id is null else coalesce(i.link_id, i.response_import_id) = $15 end
      from questionnaire_instance i where i.organization_id = r.organization_id and i.instance_id = r.instance_id))
    and {within("r.instance_id", "$16")}"""
# No `exists`: the planner would read all rows of the tag first, however many it has.
_HAS_TAG: Final[LiteralString] = """($8::text is null or (select true from instance_tag t
      where t.organization_id = r.organization_id and t.instance_id = r.instance_id and t.tag = $8))"""
_HAS_WORDS: Final[LiteralString] = "($12::text is null or r.words @@ $12::text::tsquery)"
_MET: Final[LiteralString] = f"{_FITS} and {_HAS_TAG} and {_HAS_WORDS}"
_SHOWN: Final[LiteralString] = f"""r.instance_id, r.questionnaire_id, q.display_name as questionnaire_name,
  r.version_id, r.submitted_time, r.locale, r.test, r.channel_id, r.responder_id,
  (select a.identifier from responder_address a
   where a.organization_id = r.organization_id and a.responder_id = r.responder_id
   order by a.channel_id limit 1) as person,
  r.external_reference, (select i.response_import_id from questionnaire_instance i
   where i.organization_id = r.organization_id and i.instance_id = r.instance_id) as response_import_id,
  r.score_question_id, r.score_kind, r.score, r.score_max, r.band, r.comment,
  array(select t.tag from instance_tag t
        where t.organization_id = r.organization_id and t.instance_id = r.instance_id order by t.tag limit 20) as tags,
  (select c.alert_instance_id from alert_instance c
   where c.organization_id = r.organization_id and c.instance_id = r.instance_id and c.resolved_time is null
   order by c.created_time desc limit 1) as alert_instance_id,
  ($13::text is not null and {_UNREAD}) as is_unread"""


# The counts of all tabs without a filter, until $19 and up to $20, which those have whose bound the period includes.
_COUNTED: Final[LiteralString] = """r.organization_id = $1 and r.test = $3::boolean
    and r.submitted_time >= $5::timestamptz and r.submitted_time <= $19::timestamptz"""
_BOUNDS: Final[Mapping[Tab, LiteralString]] = {
    "all": "$21::timestamptz", "comment": "$22::timestamptz", "unhappy": "$23::timestamptz",
}  # fmt: skip
_OF_APPLICATIONS: Final[LiteralString] = "(cardinality($2::text[]) = 0 or r.application_id = any($2))"


def _counts(counted: LiteralString) -> LiteralString:
    return ", ".join(_count(tab, counted) for tab in TABS)


def _count(tab: Tab, counted: LiteralString) -> LiteralString:
    rows: LiteralString = (
        f"({_CASES_OF}) c join response r on r.organization_id = c.organization_id and r.instance_id = c.instance_id"
        if tab == "mine"
        else "response r"
    )
    met: LiteralString = "true" if tab == "mine" else _OF_TABS[tab]
    count: LiteralString = f"(select count(*) from (select from {rows} where {counted} and {met} limit $20) r)"
    return f"case when $5 <= {_BOUNDS[tab]} then $20 else {count} end" if tab in _BOUNDS else count


def _source(chosen: Filter) -> LiteralString:
    """The source that leads to few rows; empty where none does."""
    if chosen.search and not chosen.is_of_theme:
        return _FOUND
    return _TAGGED if chosen.tag else _MINE if chosen.tab == "mine" else ""


def _newest(chosen: Filter) -> LiteralString:
    """The source that an index has in the order of time."""
    if chosen.questionnaire_id or (chosen.origin and chosen.origin != OWN):
        return _ordered(chosen)
    return _COMMENTED if chosen.tab == "comment" else _UNHAPPY if chosen.tab == "unhappy" else _NEWEST


def _ordered(chosen: Filter) -> LiteralString:
    """As `_newest`, of all tabs."""
    if chosen.response_import_id:
        return _OF_IMPORT
    if chosen.link_id:
        return _OF_LINK
    return _IMPORTED if chosen.imported else _OF_QUESTIONNAIRE if chosen.questionnaire_id else _NEWEST


def _by_time(chosen: Filter) -> LiteralString:
    """The rows that are shown, of the newest $18."""
    return f"""select {_SHOWN} from (
        select r.* from ({_newest(chosen)} {_ORDER} limit $18) r
        where {"true" if chosen.is_plain else _MET} and {_tab(chosen)} {_ORDER} limit $17) r
      join questionnaire q on q.organization_id = $1 and q.questionnaire_id = r.questionnaire_id"""


def _from_source(chosen: Filter) -> LiteralString:
    """The rows that are shown, of the source that leads to few."""
    return f"""select {_SHOWN} from (
        with found as materialized ({_source(chosen)})
        select r.* from found r where {_rest(chosen)} and {_tab(chosen)} and $18::integer > 0 {_ORDER} limit $17) r
      join questionnaire q on q.organization_id = $1 and q.questionnaire_id = r.questionnaire_id"""


def _rest(chosen: Filter) -> LiteralString:
    """The conditions that the source leaves open."""
    source = _source(chosen)
    has_rest: LiteralString = _HAS_TAG if source == _FOUND else _HAS_WORDS if source == _TAGGED else ""
    return f"{_FITS} and {has_rest}" if bool(has_rest) else _MET


def _tab(chosen: Filter) -> LiteralString:
    return _OF_TABS[chosen.tab]


def _filtered() -> LiteralString:
    return ", ".join(f"count(*) filter (where r.fits and {_OF_TABS[tab]})" for tab in TABS)


async def list_responses(
    db: Database, *, chosen: Filter, after: str, limit: int, **part: Unpack[Part]
) -> list[ResponseRow]:
    """The responses before `chosen.to_time`, and of that moment those with ids behind `after`.

    Without a search or a tag that few have, only the newest SCANNED_MAX are looked at; `get_last_scanned` tells where
    to go on.
    """
    values = (*values_of(part), *_values(chosen, after), limit, _scanned(chosen))
    source, rows = _source(chosen), list[Row]()
    if not source or ((chosen.search or chosen.tag) and chosen.is_frequent is not False):  # by their time first
        rows = await db.fetch(f"{_by_time(chosen)} {_ORDER}", *values)
    if source and not chosen.is_frequent and len(rows) < limit:
        rows = await db.fetch(f"{_from_source(chosen)} {_ORDER}", *values)
    return [ResponseRow(*row) for row in rows]


async def _list_counted(
    db: Database,
    *,
    chosen: Filter,
    until: datetime,
    after: str,
    limit: int,
    bounds: Sequence[datetime | None] = (None, None, None),
    **part: Unpack[Part],
) -> tuple["TabCounts", list[ResponseRow]]:
    """The counts of all tabs of a plain filter, and its responses before `until` as `list_responses` has them.

    `bounds`: of the tabs BOUNDED, moments that are known to have more than FOUND_MAX responses since.
    """
    counted: LiteralString = f"{_COUNTED} and {_OF_APPLICATIONS}" if part["application_ids"] else _COUNTED
    rows = await db.fetch(
        f"""select c.*, r.* from (select {_counts(counted)}) c left join (
              {_from_source(chosen) if chosen.tab == "mine" else _by_time(chosen)}) r on true {_ORDER}""",
        *(*values_of(part), *_values(replace(chosen, to_time=until), after)),
        *(limit, _scanned(chosen), chosen.to_time, FOUND_MAX + 1, *bounds),
    )
    tabs = len(TABS)
    counted_tabs = TabCounts(dict(zip(TABS, rows[0][:tabs], strict=True)), is_part=False)
    return counted_tabs, [ResponseRow(*row[tabs:]) for row in rows if row["instance_id"] is not None]


async def _list_bounds(db: Database, *, test: bool, to_time: datetime, **part: Unpack[Part]) -> list[datetime | None]:
    """Of each of the tabs BOUNDED the moment since which it has more than FOUND_MAX responses."""
    values = (*values_of(part), test, to_time, FOUND_MAX)
    return list(await db.fetch_one(f"select {_bounds_record()}", *values))


def _bounds_record() -> LiteralString:
    return ", ".join(map(_bound, BOUNDED))


def _bound(tab: Tab) -> LiteralString:
    return f"""(select r.submitted_time from response r
      where r.organization_id = $1 and {_OF_APPLICATIONS} and r.test = $3::boolean
        and r.submitted_time <= $4::timestamptz and {_OF_TABS[tab]}
      {_ORDER} offset $5 limit 1)"""


async def list_ids(
    db: Database, *, chosen: Filter, among: Sequence[str] | None, limit: int, **part: Unpack[Part]
) -> list[tuple[str, str]]:
    """The ids of the newest responses with this filter, each with that of its questionnaire; `among` these ids.

    Without them, a search or a tag, of the newest LISTED_MAX alone.
    """
    source: LiteralString = _AMONG if among is not None else _source(chosen)
    kept: LiteralString = f"{_newest(chosen)} {_ORDER} limit $19"
    return await db.fetch_tuples(
        f"""select r.instance_id, r.questionnaire_id
            from ({source if bool(source) else kept}) r
            where {_MET} and {_tab(chosen)} and cardinality($18::text[]) >= 0 and $19::integer > 0
            {_ORDER} limit $17""",
        *(*values_of(part), *_values(chosen), limit, list(among or ()), LISTED_MAX),
    )


async def list_response_page(db: Database, *, chosen: Filter, page: Page, **part: Unpack[Part]) -> Rows[ResponseRow]:
    source = _source(chosen)
    return await db.records(ResponseRow).fetch_list(
        f"""select {_SHOWN} from ({source if bool(source) else _newest(chosen)}) r
            join questionnaire q on q.organization_id = $1 and q.questionnaire_id = r.questionnaire_id
            where {_MET} and {_tab(chosen)}""",
        *(*values_of(part), *_values(chosen)),
        page=page,
    )


async def _get_last_scanned(
    db: Database, *, chosen: Filter, after: str, scanned: int | None = None, **part: Unpack[Part]
) -> tuple[datetime, str] | None:
    """The last of the newest responses, as many as a page looks at; None where it looked at all."""
    if _source(chosen) and not chosen.is_frequent:
        return None
    row = await db.fetch_row(
        f"""select r.submitted_time, r.instance_id from ({_newest(chosen)}) r
            {_ORDER} offset $17 limit 1""",
        *(*values_of(part), *_values(chosen, after)),
        (scanned or _scanned(chosen)) - 1,
    )
    return (row["submitted_time"], row["instance_id"]) if row else None


def _scanned(chosen: Filter) -> int:
    """The rows that a page looks at in their order."""
    if not chosen.search:
        return SCANNED_MAX
    return FREQUENT_SCANNED_MAX if chosen.is_frequent else NEWEST_MAX


class TabCounts(msgspec.Struct, frozen=True):
    """Up to FOUND_MAX + 1 each. `is_part`: of those that were looked at alone, and there are others.

    `is_frequent`: whether the word or tag was counted among the newest.
    """

    counts: Mapping[Tab, int]
    is_part: bool
    is_frequent: bool | None = None


async def count_tabs(db: Database, *, chosen: Filter, **part: Unpack[Part]) -> TabCounts:
    if chosen.is_plain:
        return (await _list_counted(db, **part, chosen=chosen, until=chosen.to_time, after="", limit=0))[0]
    values = (*values_of(part), *_values(chosen))
    is_found = bool(chosen.search or chosen.tag)
    met: LiteralString = _MET if is_found else _FITS
    source = _source(chosen)
    is_of_tag = source == _TAGGED
    most = TAGGED_NEWEST_MAX if is_of_tag else NEWEST_MAX
    if not is_of_tag or await _count_tagged(db, organization_id=part["organization_id"], chosen=chosen) > TAGGED_MAX:
        *counts, scanned = await db.fetch_one(
            # No column but those that are compared is carried; offset 0: each row is looked at once.
            f"""select {_filtered()}, count(*)
                from (select r.*, {met} as fits from ({_ordered(chosen)} {_ORDER} limit $17) r offset 0) r""",
            *values,
            most + 1,
        )
        if source != _FOUND or counts[0] >= FREQUENT_MIN or scanned <= most:
            is_frequent = True if is_found else None
            return TabCounts(dict(zip(TABS, counts, strict=True)), is_part=scanned > most, is_frequent=is_frequent)
    most = TAGGED_MAX if is_of_tag else SEARCHED_MAX
    *counts, scanned = await db.fetch_one(
        f"""with found as materialized ({source})
            select {_filtered()}, count(*) from (select r.*, {_rest(chosen)} as fits from found r limit $17) r""",
        *values,
        most + 1,
    )
    is_part = scanned > most
    return TabCounts(dict(zip(TABS, counts, strict=True)), is_part=is_part, is_frequent=is_part)


async def _count_tagged(db: Database, *, organization_id: str, chosen: Filter) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from instance_tag t where t.organization_id = $1 and t.tag = $2 limit $3) t""",
        *(organization_id, chosen.tag, TAGGED_MAX + 1),
    )


class SavedView(msgspec.Struct, frozen=True):
    view_id: str
    title: str
    query: str
    user_id: str
    shared: bool


class ListOptions(msgspec.Struct, frozen=True):
    """A list of responses offers names of questionnaires by id, and views; `held`: responses that are held back."""

    questionnaires: Mapping[str, str]
    views: Sequence[SavedView]
    held: int


async def list_options(
    db: Database, *, user_id: str | None, with_shared: bool, views_max: int, held_max: int, **reach: Unpack[Reach]
) -> ListOptions:
    """The newest OPTIONS_MAX questionnaires, the user's views and, `with_shared`, those that others share."""
    rows = await db.fetch(
        f"""(select 'questionnaire' as kind, questionnaire_id as id, display_name as title, null as query,
               null as user_id, null::boolean as shared from questionnaire
             where organization_id = $1 and (cardinality($2::text[]) = 0 or owner_application_id = any($2))
             order by created_time desc, questionnaire_id limit $5)
            union all
            (select 'view', view_id, title, query, user_id, shared from response_view
             where organization_id = $1 and (user_id = $4 or shared and $8)
             order by created_time desc, view_id limit $6)
            union all
            select 'held', count(*)::text, null, null, null, null
            from (select {DOUBTFUL} and i.judgement = 'held' limit $7) i""",
        *(*values_of(reach), reach["test_only"], user_id, OPTIONS_MAX, views_max, held_max, with_shared),
    )
    held = next(int(row["id"]) for row in rows if row["kind"] == "held")
    views = [SavedView(*row[1:]) for row in rows if row["kind"] == "view"]
    return ListOptions({row["id"]: row["title"] for row in rows if row["kind"] == "questionnaire"}, views, held)


async def count_newer(db: Database, *, chosen: Filter, limit: int, **part: Unpack[Part]) -> int:
    """The responses with this filter since `chosen.from_time`, of which there are few."""
    return await db.fetch_value(
        f"""select count(*) from (select from ({_newest(chosen)} {_ORDER} limit $18) r
              where {_MET} and {_tab(chosen)} limit $17) r""",
        *(*values_of(part), *_values(chosen), limit, NEWEST_MAX),
    )


class Facets(msgspec.Struct, frozen=True):
    """Counts by facet and value: `band`, `channel`, `questionnaire`, `score`, `commented`; None: it has no such value.

    `is_part`: of the newest FOUND_MAX that were looked at, and there are older ones.
    """

    count: int
    by: Mapping[str, Mapping[str | None, int]]
    is_part: bool


async def count_facets(db: Database, *, chosen: Filter, **part: Unpack[Part]) -> Facets:
    source = _source(chosen)
    kept: LiteralString = f"{_newest(chosen)} {_ORDER}"
    rows = await db.fetch(
        f"""select case grouping(r.fits, r.band, r.channel, r.questionnaire_id, r.score_kind, r.commented)
                when 15 then 'band' when 23 then 'channel' when 27 then 'questionnaire' when 29 then 'score'
                when 30 then 'commented' when 31 then 'fits' else '' end as name,
              coalesce(r.band, r.channel, r.questionnaire_id, r.score_kind, r.commented) as value, count(*)
            from (select r.band, coalesce(r.channel_id, 0)::text as channel, r.questionnaire_id, r.score_kind,
                    (r.comment is not null)::text as commented, {_rest(chosen)} and {_tab(chosen)} as fits
                  from ({source if bool(source) else kept} limit $17) r offset 0) r
            group by grouping sets (
              (), (r.fits), (r.fits, r.band), (r.fits, r.channel), (r.fits, r.questionnaire_id), (r.fits, r.score_kind),
              (r.fits, r.commented))
            having r.fits or grouping(r.fits) = 1
            order by name, count(*) desc, value""",
        *(*values_of(part), *_values(chosen), FOUND_MAX + 1),
    )
    by: dict[str, dict[str | None, int]] = {}
    for row in rows:
        by.setdefault(row["name"], {})[row["value"]] = row["count"]
    looked_at = by.pop("")[None]
    return Facets(by.pop("fits", {None: 0})[None], by, is_part=looked_at > FOUND_MAX)


def _values(chosen: Filter, after: str = "") -> tuple[Any, ...]:
    return (
        *(chosen.test, chosen.questionnaire_id, chosen.from_time, chosen.to_time, after, chosen.tag),
        *(chosen.band, chosen.score_kind, chosen.channel_id, chosen.search, chosen.user_id, chosen.seen_time),
        *(chosen.origin, chosen.only),
    )


CONDITION_SCANNED_MAX: Final = 1_000  # responses that a condition is evaluated for at once, and those of a page
CONDITION_BATCH: Final = 250  # the first ones of a page
CONDITION_GROWTH: Final = 4  # of the next batch, where few match
CONDITION_LISTED_MAX: Final = 10_000  # responses that it is evaluated for, for those that many things are done with
BOUNDS_AGE_MAX: Final = timedelta(hours=1)
BOUNDS_KEPT_MAX: Final = 1_000
LOOKED_IN: Final = (  # by the scope that opens it
    (ANSWERED, "Questionnaire Instance.Read"),
    (REFERENCE, "Questionnaire Instance.Read"),
    (VALUES, "Questionnaire Value.Read"),
    (PERSON, "Responder Value.Read"),
)


class RequestedResponses(msgspec.Struct, frozen=True, kw_only=True):
    """The responses that a caller asks for: those of an application, of a filter and of a condition."""

    caller: Caller
    chosen: Filter
    application_id: str | None = None
    condition: Node | None = None

    @property
    def reach(self) -> Part:
        """The part of the application, or all that the caller has; of an application out of reach none."""
        part = self.caller.part
        if self.application_id:
            among = part["application_ids"]
            part["application_ids"] = [self.application_id if not among or self.application_id in among else ""]
        return part


def search_of(caller: Caller, query: Query, word: str = "", theme: Query | None = None) -> str | None:
    """The tsquery for the parts of responses that are open to the caller; None where nothing is searched for.

    `word`: a whole one of the person's own words; `theme`: beginnings of them, one of which is enough.
    """
    whole = words.whole_word(word)
    if not query and not whole and theme is None:
        return None
    weights = "".join(weight for weight, scope in LOOKED_IN if scope in caller.scopes)
    own: dict[str, Any] = {"whole": whole, "whole_weights": ANSWERED, "either": theme}
    return words.tsquery(query, tenant=caller.organization_id, weights=weights, **own)


def read_condition(caller: Caller, document: object, *, path: str) -> Node | None:
    """The condition over answers, metadata and tags. Raises Invalid, or InsufficientScope for values out of reach."""
    findings = Findings()
    node = conditions.read(document, path, findings, conditions.ANY_QUESTION)
    findings.check()
    caller.require_values(leaf.subject for leaf in conditions.leaves_of(node))
    return node


class Found(msgspec.Struct, frozen=True):
    """A page of responses. `last`: the time and id to go on behind, None at the end; `is_full`: as many as asked."""

    rows: Sequence[ResponseRow]
    last: tuple[datetime, str] | None
    is_full: bool


async def find(db: Database, wanted: RequestedResponses, *, after: str = "", limit: int) -> Found:
    """The newest responses before `to_time` of the filter that meet it and the condition.

    Only so many are looked at; a page that is not full may still have others behind `last`.
    """
    chosen, condition = wanted.chosen, wanted.condition
    if condition is None:
        rows = await list_responses(db, **wanted.reach, chosen=chosen, after=after, limit=limit + 1)
        return await _page_of(db, wanted.reach, rows, chosen=chosen, after=after, limit=limit)
    met: list[ResponseRow] = []
    looked_at, size = 0, CONDITION_BATCH
    while looked_at < CONDITION_SCANNED_MAX:
        size = min(size, CONDITION_SCANNED_MAX - looked_at)
        batch = await find(db, replace(wanted, chosen=chosen, condition=None), after=after, limit=size)
        meeting = await _meeting(db, wanted.caller, condition, [row.instance_id for row in batch.rows])
        for row in batch.rows:
            if row.instance_id in meeting:
                met.append(row)
                if len(met) == limit:
                    return Found(met, _place(row), is_full=True)
        if batch.last is None:
            return Found(met, None, is_full=False)
        moment, after = batch.last
        chosen = replace(chosen, to_time=moment)
        looked_at, size = looked_at + size, CONDITION_GROWTH * size
    return Found(met, (chosen.to_time, after), is_full=False)


async def _page_of(
    db: Database, reach: Part, rows: Sequence[ResponseRow], *, chosen: Filter, after: str, limit: int
) -> Found:
    """The page of these rows, one more than it has where others follow."""
    if len(rows) > limit:
        return Found(rows[:limit], _place(rows[limit - 1]), is_full=True)
    last = None if chosen.is_unfiltered else await _get_last_scanned(db, **reach, chosen=chosen, after=after)
    return Found(rows, last, is_full=False)


async def find_counted(
    db: Database, wanted: RequestedResponses, *, until: datetime, after: str = "", limit: int
) -> tuple[TabCounts | None, Found]:
    """The counts of all tabs, none with a condition, and those before `until` as `find` has them."""
    reach, chosen, condition = wanted.reach, wanted.chosen, wanted.condition
    here = replace(chosen, to_time=min(until, chosen.to_time))
    if condition is None and chosen.is_plain:
        counted, rows = await _counted(db, reach, chosen, until=here.to_time, after=after, limit=limit + 1)
        return counted, await _page_of(db, reach, rows, chosen=here, after=after, limit=limit)
    counted = None if condition else await count_tabs(db, **reach, chosen=chosen)
    here = replace(here, is_frequent=counted.is_frequent) if counted else here
    return counted, await find(db, replace(wanted, chosen=here), after=after, limit=limit)


class _Bounds(msgspec.Struct, frozen=True):
    """Of each of the tabs BOUNDED the moment since which it had more than FOUND_MAX responses, as of `at`."""

    at: datetime
    since: Sequence[datetime | None]


# A tab that has more than are counted is not counted again for BOUNDS_AGE_MAX, though some may be deleted meanwhile.
_bounds: OrderedDict[tuple[object, ...], _Bounds] = OrderedDict()  # by tenant, applications and test data


async def _counted(
    db: Database, reach: Part, chosen: Filter, *, until: datetime, after: str, limit: int
) -> tuple[TabCounts, Sequence[ResponseRow]]:
    key = (reach["organization_id"], tuple(reach["application_ids"]), chosen.test)
    bounds = _bounds.get(key)
    if bounds is None or not timedelta() <= chosen.to_time - bounds.at < BOUNDS_AGE_MAX:
        bounds = _Bounds(EVER, [None] * len(BOUNDED))
    found = await _list_counted(db, **reach, chosen=chosen, until=until, after=after, limit=limit, bounds=bounds.since)
    if any(
        found[0].counts[tab] > FOUND_MAX and (since is None or since < chosen.from_time)
        for tab, since in zip(BOUNDED, bounds.since, strict=True)
    ):
        since = await _list_bounds(db, **reach, test=chosen.test, to_time=chosen.to_time)
        _bounds[key] = _Bounds(chosen.to_time, since)
        if len(_bounds) > BOUNDS_KEPT_MAX:
            _bounds.popitem(last=False)
    return found


async def select(
    db: Database, wanted: RequestedResponses, *, among: Sequence[str] | None = None, limit: int
) -> list[tuple[str, str]]:
    """The ids of all responses that match, each with its questionnaire's, the newest first.

    Raises Invalid where more than `limit` match, or more would have to be looked at: nothing is left out.
    """
    reach, chosen, condition = wanted.reach, wanted.chosen, wanted.condition
    most = limit if condition is None else CONDITION_LISTED_MAX
    found = await list_ids(db, **reach, chosen=chosen, among=among, limit=most + 1)
    if len(found) > most or (
        len(found) < most
        and among is None
        and not chosen.is_unfiltered
        and await _get_last_scanned(db, **reach, chosen=chosen, after="", scanned=LISTED_MAX)
    ):
        message = (
            f"More than {most:,} responses would have to be gone through: choose a shorter period or more filters."
        )
        raise errors.Invalid.at("/filter", "too_many", message)
    if condition is None:
        return found
    met: list[tuple[str, str]] = []
    for begin in range(0, len(found), CONDITION_SCANNED_MAX):
        batch = found[begin : begin + CONDITION_SCANNED_MAX]
        meeting = await _meeting(db, wanted.caller, condition, [instance_id for instance_id, _ in batch])
        met += [one for one in batch if one[0] in meeting]
    if len(met) > limit:
        raise errors.Invalid.at("/filter", "too_many", f"More than {limit:,} responses match: choose a shorter period.")
    return met


async def _meeting(db: Database, caller: Caller, condition: Node, instance_ids: Sequence[str]) -> set[str]:
    """Those of these ids that meet the condition."""
    known = await recoveries.list_facts(
        db, organization_id=caller.organization_id, instance_ids=instance_ids, condition=condition
    )
    return {instance_id for instance_id, facts in known.items() if conditions.matches(condition, facts)}


def _place(row: ResponseRow) -> tuple[datetime, str]:
    return row.submitted_time, row.instance_id
