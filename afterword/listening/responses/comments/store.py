"""SQL of the words of comments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class Count:
    """Comments with a word (None: with any), of a group (`is_all`: of all)."""

    word: str | None
    value: str | None
    is_all: bool
    n: int


async def list_counts(
    db: Database,
    *,
    organization_id: str,
    instance_ids: Sequence[str],
    weight: str,
    stop_words: Sequence[tuple[str, str]],
    kind: str,
    name: str,
    words_max: int,
    groups_max: int,
) -> list[Count]:
    """The words that most of these responses have in their part of this weight, in all and by group.

    `stop_words`: pairs of language and word; `kind` and `name`: of the groups, of which the largest are counted.
    """
    rows = await db.fetch(
        """with found as materialized (
             select r.words, split_part(r.locale, '-', 1) as language,
               case $5::text
                 when 'band' then r.band
                 when 'channel' then coalesce(r.channel_id, 0)::text
                 when 'questionnaire' then r.questionnaire_id
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
        *(organization_id, list(instance_ids), weight, [language for language, _ in stop_words], kind, name),
        *([word for _, word in stop_words], words_max, groups_max),
    )
    return [Count(**row) for row in rows]


async def get_first_time(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> datetime | None:
    return await db.fetch_value(
        "select min(r.submitted_time) from response r where r.organization_id = $1 and r.instance_id = any($2::text[])",
        *(organization_id, list(instance_ids)),
    )


async def list_comments(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[str]:
    rows = await db.fetch(
        """select r.comment from response r
           where r.organization_id = $1 and r.instance_id = any($2::text[]) and r.comment is not null""",
        *(organization_id, list(instance_ids)),
    )
    return [row["comment"] for row in rows]
