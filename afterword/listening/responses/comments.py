"""The words of comments: counted in all and by group."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Unpack

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.core.organizations.access import VALUE_SCOPES, Caller, Part
from afterword.core.text import words as text_words
from afterword.core.text.words import STOP_WORDS
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.responses import service
from afterword.listening.responses.api import ResponseQuery, requested_of
from afterword.listening.responses.rows import ANSWERED
from afterword.listening.responses.service import Filter, RequestedResponses


class Count(msgspec.Struct, frozen=True):
    """Comments with a word (None: with any), of a group (`is_all`: of all)."""

    word: str | None
    value: str | None
    is_all: bool
    n: int


async def _list_counts(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], group_by: str
) -> list[Count]:
    """The words that most of these responses have in what the person said, in all and by the largest groups."""
    kind, _, name = group_by.partition(":")
    return await db.records(Count).fetch(
        """with found as materialized (
             select r.words, split_part(r.locale, '-', 1) as language,
               case $5::text
                 when 'band' then r.band
                 when 'channel' then coalesce(r.channel_id, 0)::text
                 when 'questionnaire' then r.questionnaire_id
                 when 'language' then split_part(r.locale, '-', 1)
                 when 'questionnaire_metadata' then (
                   select i.metadata ->> $6::text from questionnaire_instance i
                   where i.organization_id = r.organization_id and i.instance_id = r.instance_id)
               end as value
             from response r where r.organization_id = $1 and r.instance_id = any($2::text[])),
           large as materialized (
             select f.value from found f where $5 <> '' group by f.value order by count(*) desc, f.value limit $9),
           carried as materialized (
             select f.value, u.word
             from found f
             cross join lateral unnest(tsvector_to_array(ts_filter(f.words, array[$3::text]::"char"[]))) u (word)
             where length(u.word) > 1
               and (f.language, u.word) not in (select s.* from unnest($4::text[], $7::text[]) s)),
           frequent as materialized (
             select c.word from carried c group by c.word order by count(*) desc, c.word limit $8),
           said as materialized (
             select null::text as word, f.value, count(*) as n from found f group by f.value
             union all
             select c.word, c.value, count(*) from carried c where c.word in (select q.word from frequent q)
             group by c.word, c.value)
           select s.word, null::text as value, true as is_all, sum(s.n)::bigint as n from said s group by s.word
           union all
           select s.word, s.value, false, s.n from said s
           where exists (select from large l where l.value is not distinct from s.value)
           order by is_all desc, n desc, word nulls first, value""",
        *(organization_id, list(instance_ids), ANSWERED, [language for language, _ in _STOPPED], kind, name),
        *([word for _, word in _STOPPED], WORDS_COUNTED_MAX, GROUPS_MAX),
    )


async def _get_first_time(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> datetime | None:
    return await db.fetch_value(
        "select min(r.submitted_time) from response r where r.organization_id = $1 and r.instance_id = any($2::text[])",
        *(organization_id, list(instance_ids)),
    )


async def _list_comments(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[str]:
    return await db.fetch_column(
        """select r.comment from response r
           where r.organization_id = $1 and r.instance_id = any($2::text[]) and r.comment is not null""",
        *(organization_id, list(instance_ids)),
    )


COMMENTS_MAX: Final = 2_000  # the newest that match
WRITTEN_MAX: Final = 500  # of them, read for how their words are written
WORDS_MAX: Final = 100
WORDS_COUNTED_MAX: Final = 3 * WORDS_MAX  # some of them stand for others
GROUPS_MAX: Final = 100
METADATA: Final = "questionnaire_metadata"
KINDS: Final = ("band", "channel", "questionnaire", "language")
_STOPPED: Final = [(language, word) for language, found in STOP_WORDS.items() for word in sorted(found)]


class CommentWord(fields.Answer):
    """A word, and the comments that have it."""

    word: Annotated[str, Meta(description="As the filter `word` of responses takes it: without case and accents.")]
    text: Annotated[str, Meta(description="As it is written most often.")]
    n: Annotated[int, Meta(description="The comments that have it.")]


class CommentGroup(fields.Answer):
    """The comments of a group."""

    value: Annotated[str | None, Meta(description="Null: without a value.")]
    n: int
    words: Annotated[list[CommentWord], Meta(description="Those of the words in all that it has.")]


class CountedWords(msgspec.Struct, frozen=True):
    """`from_time`: of the oldest that was counted, where older comments match too, else None."""

    n: int
    from_time: datetime | None
    words: list[CommentWord]
    groups: list[CommentGroup]


async def count(
    db: Database, wanted: RequestedResponses, *, group_by: str = "", limit: int = WORDS_MAX
) -> CountedWords:
    """The words of the newest comments that match, by one of KINDS or a name of METADATA as in conditions.

    Raises Invalid for another group, InsufficientScope for values out of the caller's reach.
    """
    _check_group(wanted.caller, group_by)
    return await counted(db, **wanted.reach, chosen=wanted.chosen, group_by=group_by, limit=limit)


async def newest(db: Database, *, chosen: Filter, **part: Unpack[Part]) -> tuple[list[str], datetime | None]:
    """The newest COMMENTS_MAX comments that match, and the time of the oldest of them where others match too."""
    commented = replace(chosen, tab="comment")
    found = await service.list_ids(db, **part, chosen=commented, among=None, limit=COMMENTS_MAX + 1)
    ids = [instance_id for instance_id, _ in found[:COMMENTS_MAX]]
    is_part = len(found) > COMMENTS_MAX
    return ids, await _get_first_time(
        db, organization_id=part["organization_id"], instance_ids=ids
    ) if is_part else None


async def counted(db: Database, *, chosen: Filter, group_by: str, limit: int, **part: Unpack[Part]) -> CountedWords:
    ids, first = await newest(db, **part, chosen=chosen)
    counts = await _list_counts(db, organization_id=part["organization_id"], instance_ids=ids, group_by=group_by)
    total = next((one for one in counts if one.is_all and one.word is None), None)
    shown = _carried([one for one in counts if one.is_all])[:limit]
    texts = await _list_comments(db, organization_id=part["organization_id"], instance_ids=ids[:WRITTEN_MAX])
    written = text_words.written(texts, {one.word for one in shown if one.word})
    return CountedWords(
        n=0 if total is None else total.n,
        from_time=first,
        words=[_word(one, written) for one in shown],
        groups=_groups(counts, shown, written) if group_by else [],
    )


def _check_group(caller: Caller, group_by: str) -> None:
    if not group_by or group_by in KINDS:
        return
    kind, _, name = group_by.partition(":")
    if kind != METADATA or not name:
        message = f"{', '.join(KINDS)} or {METADATA}:{{name}} is expected."
        raise errors.Invalid.in_query("group_by", "unknown_value", message)
    caller.require(VALUE_SCOPES[METADATA])


def _carried(counts: Sequence[Count]) -> list[Count]:
    """The words; not those that stand here without the words written together with them, too."""
    found = {one.word: one for one in counts if one.word is not None}
    return [one for word, one in found.items() if text_words.stem_of(word or "") not in found]


def _groups(counts: Sequence[Count], shown: Sequence[Count], written: Mapping[str, str]) -> list[CommentGroup]:
    of_word: dict[str | None, dict[str | None, Count]] = {one.word: {} for one in shown} | {None: {}}
    for one in counts:
        if not one.is_all and one.word in of_word:
            of_word[one.word][one.value] = one
    return [
        CommentGroup(
            value=value,
            n=one.n,
            words=sorted(
                (_word(of_group[value], written) for word, of_group in of_word.items() if word and value in of_group),
                key=lambda each: -each.n,
            ),
        )
        for value, one in of_word[None].items()
    ]


def _word(one: Count, written: Mapping[str, str]) -> CommentWord:
    word = one.word or ""
    return CommentWord(word=word, text=written.get(word, word), n=one.n)


GROUP_CHARACTERS_MAX: Final = 300
routes = Routes(tag="Responses", scope="Questionnaire Instance")


class WordQuery(ResponseQuery):
    """The comments whose words are counted."""

    group_by: Annotated[
        Annotated[str, Meta(min_length=1, max_length=GROUP_CHARACTERS_MAX)] | None,
        Meta(
            description="band, channel, questionnaire, language or questionnaire_metadata:{name}; the last one also "
            "needs the scope Questionnaire Value.Read."
        ),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=WORDS_MAX, description="The most words.")] = 40


class CommentWords(fields.Resource):
    """The words of comments, those that most have first."""

    n: Annotated[int, Meta(description="The comments that were counted.")]
    from_time: Annotated[
        fields.DateTime | None,
        Meta(description="Of the oldest that was counted, where older ones match too; else null."),
    ]
    suppressed: Annotated[bool, Meta(description="Always false: who reads this may read each comment.")]
    words: Annotated[list[CommentWord], Meta(description="At most as many as `limit`.")]
    groups: Annotated[list[CommentGroup], Meta(description="The largest first, a hundred at most.")]
    suppressed_groups: Annotated[int, Meta(description="Always 0.")]


@routes.get(
    "/q/response/word",
    answer=CommentWords,
    query=WordQuery,
    for_limited="part",
    is_long=True,
    summary="Count words of comments",
    description="Of the newest 2,000 comments with the filter. Words that say little, such as “the”, are left out.",
)
async def count_words(call: Call[None], db: Database) -> Answer:
    query: WordQuery = call.query
    wanted = await requested_of(db, call.caller, query, is_query=True)
    found = await count(db, wanted, group_by=query.group_by or "", limit=query.limit)
    return Answer(CommentWords.of(found, call.zone, suppressed=False, suppressed_groups=0))
