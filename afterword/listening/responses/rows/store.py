"""SQL of the rows of responses: what they are made of, and the rows themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.kit.db import Database
from afterword.kit.db.columns import qualified

Key = tuple[str, str]  # organization and instance


@dataclass(frozen=True, slots=True)
class Source:
    """An answered instance with all that its row is made of. `answers` have the members of the table."""

    organization_id: str
    instance_id: str
    questionnaire_id: str
    application_id: str
    version_id: str
    responder_id: str
    channel_id: int | None
    test: bool
    locale: str
    submitted_time: datetime
    external_reference: str | None
    key_question_id: str | None
    metadata: Mapping[str, str]
    person: Sequence[str]
    answers: Sequence[Mapping[str, Any]]


_COLUMNS: Final[LiteralString] = """organization_id, instance_id, questionnaire_id, application_id, version_id,
  responder_id, channel_id, test, locale, submitted_time, external_reference, score_question_id, score_kind, score,
  score_max, band, comment, words"""
_CHANGED: Final = qualified(_COLUMNS, "response")
_EXCLUDED: Final = qualified(_COLUMNS, "excluded")


_GIVEN: Final[LiteralString] = """jsonb_to_recordset($1) as r (organization_id text, instance_id text,
  questionnaire_id text, application_id text, version_id text, responder_id text, channel_id smallint, test boolean,
  locale text, submitted_time timestamptz, external_reference text, score_question_id text, score_kind text,
  score integer, score_max integer, band text, comment text, words text)"""


async def list_sources(db: Database, *, keys: Sequence[Key]) -> list[Source]:  # any tenant: the log's reader serves all
    """Those of these instances that have a response: answered, and not deleted."""
    rows = await db.fetch(
        """select i.organization_id, i.instance_id, i.questionnaire_id, q.owner_application_id as application_id,
             i.version_id, i.responder_id, i.channel_id, i.test, i.locale, i.submitted_time, m.external_reference,
             q.key_question_id, i.metadata,
             array(select a.identifier from responder_address a
                   where a.organization_id = i.organization_id and a.responder_id = i.responder_id
                   union all select d.value from jsonb_each_text(p.metadata) d) as person,
             (select coalesce(jsonb_agg(jsonb_build_object('question_id', a.question_id, 'version_id', a.version_id,
                'value', a.value, 'other_text', a.other_text)), '[]') from answer a
              where a.organization_id = i.organization_id and a.instance_id = i.instance_id and not a.provisional)
               as answers
           from unnest($1::text[], $2::text[]) k (organization_id, instance_id)
           join questionnaire_instance i
             on i.organization_id = k.organization_id and i.instance_id = k.instance_id
           join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
           left join responder p on p.organization_id = i.organization_id and p.responder_id = i.responder_id
           left join queue_item m on m.organization_id = i.organization_id and m.item_id = i.item_id
           where i.submitted_time is not null and i.deleted_time is null""",
        *_arrays(keys),
    )
    return [Source(**dict(row)) for row in rows]


async def insert_responses(db: Database, *, rows: Sequence[Mapping[str, Any]]) -> int:  # any tenant: as above
    """Insert or change these rows; the number of those that were not so already."""
    return await db.execute(
        f"""insert into response ({_COLUMNS})
            select r.organization_id, r.instance_id, r.questionnaire_id, r.application_id, r.version_id, r.responder_id,
              r.channel_id, r.test, r.locale, r.submitted_time, r.external_reference, r.score_question_id,
              r.score_kind, r.score, r.score_max, r.band, r.comment, r.words::tsvector
            from {_GIVEN}
            order by r.organization_id, r.instance_id
            on conflict (organization_id, instance_id) do update set ({_COLUMNS}) = row ({_EXCLUDED})
            where ({_CHANGED}) is distinct from ({_EXCLUDED})""",
        rows,
    )


async def list_wrong_keys(db: Database, *, rows: Sequence[Mapping[str, Any]]) -> list[Key]:  # any tenant: as above
    """Those of these rows that are missing, or stored otherwise."""
    found = await db.fetch(
        f"""select r.organization_id, r.instance_id from {_GIVEN}
            left join response on response.organization_id = r.organization_id
              and response.instance_id = r.instance_id
            where ({_CHANGED}) is distinct from (r.organization_id, r.instance_id, r.questionnaire_id,
              r.application_id, r.version_id, r.responder_id, r.channel_id, r.test, r.locale, r.submitted_time,
              r.external_reference, r.score_question_id, r.score_kind, r.score, r.score_max, r.band, r.comment,
              r.words::tsvector)""",
        rows,
    )
    return [(row["organization_id"], row["instance_id"]) for row in found]


async def list_settled_keys(  # any tenant: as above
    db: Database, *, after: str, before: datetime, limit: int
) -> list[Key]:
    """Those of the next `limit` instances with a response that did not change since `before`."""
    rows = await db.fetch(
        """select organization_id, instance_id from (
             select organization_id, instance_id, submitted_time, deleted_time, updated_time
             from questionnaire_instance where instance_id > $1 order by instance_id limit $3) i
           where submitted_time is not null and deleted_time is null and updated_time < $2""",
        *(after, before, limit),
    )
    return [(row["organization_id"], row["instance_id"]) for row in rows]


async def get_is_filled(db: Database) -> bool:  # any tenant: as above
    return bool(await db.fetch_value("select exists (select from response_fill where done_time is not null)"))


async def update_to_fill_again(db: Database) -> None:  # any tenant: as above
    await db.execute("update response_fill set after = '', done_time = null")


async def delete_responses(db: Database, *, keys: Sequence[Key]) -> int:  # any tenant: as above
    return await db.execute(
        """delete from response r using unnest($1::text[], $2::text[]) k (organization_id, instance_id)
           where r.organization_id = k.organization_id and r.instance_id = k.instance_id""",
        *_arrays(keys),
    )


async def list_keys_of_people(  # any tenant: as above
    db: Database, *, people: Sequence[tuple[str, str]]
) -> list[Key]:
    """The instances of these pairs of organization and responder."""
    rows = await db.fetch(
        """select i.organization_id, i.instance_id from unnest($1::text[], $2::text[]) p (organization_id, responder_id)
           join questionnaire_instance i using (organization_id, responder_id)""",
        *_arrays(people),
    )
    return [(row["organization_id"], row["instance_id"]) for row in rows]


async def claim_fill(db: Database) -> str | None:
    """The id behind which instances wait for their rows; None where all have them, or another process is at it."""
    await db.execute("insert into response_fill default values on conflict do nothing")
    return await db.fetch_value("select after from response_fill where done_time is null for update skip locked")


async def list_instances_after(  # any tenant: as above
    db: Database, *, after: str, limit: int
) -> list[tuple[str, Key | None]]:
    """The ids of the next instances; of those with answers the key."""
    rows = await db.fetch(
        """select organization_id, instance_id, submitted_time is not null as is_answered from questionnaire_instance
           where instance_id > $1 order by instance_id limit $2""",
        *(after, limit),
    )
    return [
        (row["instance_id"], (row["organization_id"], row["instance_id"]) if row["is_answered"] else None)
        for row in rows
    ]


async def settle_fill(db: Database, *, after: str, done_time: datetime | None) -> None:
    await db.execute("update response_fill set after = $1, done_time = $2", after, done_time)


def _arrays(keys: Sequence[Key]) -> tuple[list[str], list[str]]:
    return [organization_id for organization_id, _ in keys], [instance_id for _, instance_id in keys]
