"""The SQL of answers and of the responder's progress; answers of a deleted instance count as absent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword import errors
from afterword.asking.instances.store import INSTANCE_COLUMNS, Instance
from afterword.core.answers.suspicion import Judgement
from afterword.core.questionnaires.metadata import SCORE
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of, qualified

JsonValue = Any  # an answer's value as its question type defines it: number, text, boolean, array or object


@dataclass(frozen=True, slots=True)
class Answer:
    organization_id: str
    instance_id: str
    question_id: str
    questionnaire_id: str
    version_id: str
    value: JsonValue
    other_text: str | None
    provisional: bool
    answered_time: datetime


_COLUMNS: Final = columns_of(Answer)
_COLUMNS_A: Final = qualified(_COLUMNS, "a")


async def list_answers(db: Database, *, organization_id: str, instance_id: str) -> list[Answer]:
    rows = await db.fetch(
        f"select {_COLUMNS} from answer where organization_id = $1 and instance_id = $2 order by question_id",
        *(organization_id, instance_id),
    )
    return [_answer(row) for row in rows]


async def list_answers_of_instances(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[Answer]:
    rows = await db.fetch(
        f"select {_COLUMNS} from answer where organization_id = $1 and instance_id = any($2::text[])",
        *(organization_id, list(instance_ids)),
    )
    return [_answer(row) for row in rows]


async def list_answers_of_question(
    db: Database, *, organization_id: str, questionnaire_id: str, question_id: str, test_only: bool, page: Page
) -> Rows[tuple[Answer, str]]:
    """A page of the answers to one question in any version, each with the locale of its instance."""
    rows = await db.fetch_list(
        f"""select {_COLUMNS_A}, i.locale from answer a
           join questionnaire_instance i on i.organization_id = a.organization_id and i.instance_id = a.instance_id
           where a.organization_id = $1 and a.questionnaire_id = $2 and a.question_id = $3
             and i.deleted_time is null and (i.test or not $4)""",
        *(organization_id, questionnaire_id, question_id, test_only),
        page=page,
    )
    return rows.map(lambda row: (_answer(row), row["locale"]))


async def count_responses(db: Database, *, organization_id: str, questionnaire_id: str, limit: int) -> int:
    """The number of responses of a questionnaire, with those of its pool, without tests, at most about `limit`."""
    return await db.fetch_value(
        """select count(*) + coalesce((select sum(p.responses) from anonymous_pool p
             where p.organization_id = $1 and p.questionnaire_id = $2), 0)::bigint
           from (
             select 1 from questionnaire_instance
             where organization_id = $1 and questionnaire_id = $2 and submitted_time is not null
               and deleted_time is null and not test
             limit $3) response""",
        *(organization_id, questionnaire_id, limit),
    )


async def claim_responses(db: Database, *, organization_id: str, questionnaire_id: str) -> None:
    """Let one transaction at a time add a response to this questionnaire, so that none exceeds `responses_max`."""
    await db.execute(
        "select 1 from questionnaire where organization_id = $1 and questionnaire_id = $2 for no key update",
        *(organization_id, questionnaire_id),
    )


async def update_answers(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    questionnaire_id: str,
    version_id: str,
    answers: Sequence[Mapping[str, object]],
    is_provisional: bool,
    now: datetime,
) -> None:
    """Write answers, documents of `question_id`, `value` and `other_text`, over those stored before."""
    await db.execute(
        """insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value,
             other_text, answered_time, provisional)
           select $1, $2, b.question_id, $3, $4, b.value, b.other_text, $6, $7
           from jsonb_to_recordset($5::jsonb) as b (question_id text, value jsonb, other_text text)
           on conflict (organization_id, instance_id, question_id) do update
           set value = excluded.value, other_text = excluded.other_text, answered_time = excluded.answered_time,
             provisional = excluded.provisional""",
        *(organization_id, instance_id, questionnaire_id, version_id, list(answers), now, is_provisional),
    )


async def delete_answers(db: Database, *, organization_id: str, instance_id: str, question_ids: Sequence[str]) -> None:
    await db.execute(
        "delete from answer where organization_id = $1 and instance_id = $2 and question_id = any($3::text[])",
        *(organization_id, instance_id, list(question_ids)),
    )


async def update_viewed(db: Database, *, organization_id: str, instance_id: str, now: datetime) -> Instance | None:
    row = await db.fetch_row(
        f"""update questionnaire_instance
           set viewed_time = $3, version = version + 1, updated_time = greatest(updated_time, $3)
           where organization_id = $1 and instance_id = $2 and deleted_time is null and viewed_time is null
             and coalesce(judgement, 'accepted') = 'accepted'
           returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, now),
    )
    return None if row is None else Instance.of(row)


async def update_progress(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    is_submitted: bool,
    is_complete: bool,
    score: int | None,
    quota_ids: Sequence[str],
    viewed_time: datetime,
    flags: Sequence[str],
    judgement: Judgement | None,
    now: datetime,
) -> Instance:
    """Record the responder's progress: viewed, and submitted and completed if given; each time is set once.

    `score`: kept as metadata of this name; None where nothing gives points. `quota_ids`: those that a complete response
    counts toward. `flags` are added. A response that is kept apart gets its times when a person accepts it.
    """
    is_apart = judgement in {"held", "rejected"}
    row = await db.fetch_row(
        f"""update questionnaire_instance
           set viewed_time = coalesce(viewed_time, case when not $11::boolean then $8::timestamptz end),
             submitted_time = coalesce(submitted_time, case when $3 and not $11 then $5::timestamptz end),
             completed_time = coalesce(completed_time, case when $4 and not $11 then $5::timestamptz end),
             held_submitted_time = coalesce(held_submitted_time, case when $3 and $11 then $5::timestamptz end),
             held_completed_time = coalesce(held_completed_time, case when $4 and $11 then $5::timestamptz end),
             quota_ids = case when finalized or $4 then nullif($7::text[], '{{}}') end,
             flags = case when cardinality($9::text[]) = 0 then flags else
               array(select distinct f from unnest(coalesce(flags, '{{}}') || $9::text[]) f order by f) end,
             judgement = $10, metadata = metadata || $6::jsonb,
             finalized = finalized or $4, version = version + 1, updated_time = greatest(updated_time, $5)
           where organization_id = $1 and instance_id = $2
           returning {INSTANCE_COLUMNS}""",
        organization_id,
        instance_id,
        is_submitted,
        is_complete,
        now,
        {} if score is None else {SCORE: str(score)},
        list(quota_ids),
        viewed_time,
        list(flags),
        judgement,
        is_apart,
    )
    return _there(row)


async def update_to_screened_out(
    db: Database, *, organization_id: str, instance_id: str, quota_id: str, now: datetime
) -> Instance:
    """Record the quota that was full; without `submitted_time` the instance is no response."""
    row = await db.fetch_row(
        f"""update questionnaire_instance
           set viewed_time = coalesce(viewed_time, $4), submitted_time = null, full_quota_id = $3,
             metadata = metadata - $5::text, version = version + 1, updated_time = greatest(updated_time, $4)
           where organization_id = $1 and instance_id = $2
           returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, quota_id, now, SCORE),
    )
    return _there(row)


def _there(row: Row | None) -> Instance:
    if row is None:
        raise errors.NotFound("There is no such questionnaire instance.")
    return Instance.of(row)


def _answer(row: Row) -> Answer:
    return Answer(**{name: row[name] for name in Answer.__dataclass_fields__})
