"""The words of comments: counted in all and by group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from afterword import errors
from afterword.core.organizations.access import VALUE_SCOPES, Caller
from afterword.core.text import words
from afterword.core.text.stop_words import STOP_WORDS
from afterword.kit.db import Database
from afterword.listening.responses import service as responses
from afterword.listening.responses import store as responses_store
from afterword.listening.responses.comments import store
from afterword.listening.responses.comments.store import Count
from afterword.listening.responses.rows.service import ANSWERED
from afterword.listening.responses.store import Filter

COMMENTS_MAX: Final = 2_000  # the newest that match
WRITTEN_MAX: Final = 500  # of them, read for how their words are written
WORDS_MAX: Final = 100
WORDS_COUNTED_MAX: Final = 3 * WORDS_MAX  # some of them stand for others
GROUPS_MAX: Final = 100
METADATA: Final = "questionnaire_metadata"
KINDS: Final = ("band", "channel", "questionnaire")
_STOPPED: Final = [(language, word) for language, found in STOP_WORDS.items() for word in sorted(found)]


@dataclass(frozen=True, slots=True)
class WordCount:
    """`text`: as it is written most often; `n`: comments that have it."""

    word: str
    text: str
    n: int


@dataclass(frozen=True, slots=True)
class GroupCount:
    """`value`: None for comments without one."""

    value: str | None
    n: int
    words: Sequence[WordCount]


@dataclass(frozen=True, slots=True)
class CommentWords:
    """`from_time`: of the oldest that was counted, where older comments match too, else None."""

    n: int
    from_time: datetime | None
    words: Sequence[WordCount]
    groups: Sequence[GroupCount]


async def count(
    db: Database,
    *,
    caller: Caller,
    application_id: str | None,
    chosen: Filter,
    group_by: str = "",
    limit: int = WORDS_MAX,
) -> CommentWords:
    """The words of the newest comments that match, by one of KINDS or a name of METADATA as in conditions.

    Raises Invalid for another group, InsufficientScope for values out of the caller's reach.
    """
    _check_group(caller, group_by)
    reach = responses.reach_of(caller, application_id)
    return await counted(db, **reach, chosen=chosen, group_by=group_by, limit=limit)


async def counted(
    db: Database, *, organization_id: str, application_ids: Sequence[str], chosen: Filter, group_by: str, limit: int
) -> CommentWords:
    kind, _, name = group_by.partition(":")
    found = await responses_store.list_ids(
        db,
        organization_id=organization_id,
        application_ids=application_ids,
        chosen=replace(chosen, tab="comment"),
        among=None,
        limit=COMMENTS_MAX + 1,
    )
    ids = [instance_id for instance_id, _ in found[:COMMENTS_MAX]]
    counts = await store.list_counts(
        db,
        organization_id=organization_id,
        instance_ids=ids,
        weight=ANSWERED,
        stop_words=_STOPPED,
        kind=kind,
        name=name,
        words_max=WORDS_COUNTED_MAX,
        groups_max=GROUPS_MAX,
    )
    total = next((one for one in counts if one.is_all and one.word is None), None)
    shown = _carried([one for one in counts if one.is_all])[:limit]
    texts = await store.list_comments(db, organization_id=organization_id, instance_ids=ids[:WRITTEN_MAX])
    written = words.written(texts, {one.word for one in shown if one.word})
    return CommentWords(
        n=0 if total is None else total.n,
        from_time=await store.get_first_time(db, organization_id=organization_id, instance_ids=ids)
        if len(found) > COMMENTS_MAX
        else None,
        words=[_word(one, written) for one in shown],
        groups=_groups(counts, shown, written) if kind else [],
    )


def _check_group(caller: Caller, group_by: str) -> None:
    if not group_by or group_by in KINDS:
        return
    kind, _, name = group_by.partition(":")
    if kind != METADATA or not name:
        message = f"{', '.join(KINDS)} or {METADATA}:{{name}} is expected."
        raise errors.Invalid.of(errors.FieldError("unknown_value", message, parameter="group_by"))
    caller.require(VALUE_SCOPES[METADATA])


def _carried(counts: Sequence[Count]) -> list[Count]:
    """The words; not those that stand here without the words written together with them, too."""
    found = {one.word: one for one in counts if one.word is not None}
    return [one for word, one in found.items() if words.stem_of(word or "") not in found]


def _groups(counts: Sequence[Count], shown: Sequence[Count], written: Mapping[str, str]) -> list[GroupCount]:
    of_word: dict[str | None, dict[str | None, Count]] = {one.word: {} for one in shown} | {None: {}}
    for one in counts:
        if not one.is_all and one.word in of_word:
            of_word[one.word][one.value] = one
    return [
        GroupCount(
            value,
            one.n,
            sorted(
                (_word(of_group[value], written) for word, of_group in of_word.items() if word and value in of_group),
                key=lambda each: -each.n,
            ),
        )
        for value, one in of_word[None].items()
    ]


def _word(one: Count, written: Mapping[str, str]) -> WordCount:
    word = one.word or ""
    return WordCount(word, written.get(word, word), one.n)
