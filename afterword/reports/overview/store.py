"""The SQL of all that needs a person: sending that fails or is paused, silent questionnaires, credits that run low."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from afterword.db import Database

LISTED_MAX: Final = 5  # of each kind
QUESTIONNAIRES_MAX: Final = 500
SILENT: Final = timedelta(days=7)
BEFORE: Final = timedelta(days=28)  # the days in which answers came regularly
ANSWERS_MIN: Final = 5
LOW_SHARE: Final = 0.1


async def get_needs(
    db: Database, *, organization_id: str, application_ids: Sequence[str], now: datetime
) -> Mapping[str, Any]:
    """All that needs a person, each kind as a list of documents: `accounts`, `pipelines`, `silent`, `plans`.

    `is_paused`: all sending of the installation waits for its operator. Read by one look at an index for each
    questionnaire, so that years of answers cost nothing.
    """
    row = await db.fetch_one(
        """with own as materialized (
             select q.questionnaire_id, q.display_name, q.published_version_id from questionnaire q
             where q.organization_id = $1 and q.archived_time is null
               and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             order by q.created_time desc limit $4),
           account as (
             select a.account_id, a.channel_id, a.title, a.paused_reason, a.paused_time is not null as is_paused
             from channel_account a
             where a.organization_id = $1 and (a.paused_time is not null or a.open_until > $3)
               and exists (
                 select from pipeline p where p.organization_id = $1 and p.account_id = a.account_id
                   and p.deleted_time is null and p.questionnaire_id in (select questionnaire_id from own))
             order by a.account_id limit $5),
           stopped as (
             select p.pipeline_id, p.title from pipeline p
             where p.organization_id = $1 and p.paused and p.deleted_time is null
               and p.questionnaire_id in (select questionnaire_id from own)
             order by p.title limit $5),
           silent as (
             select o.questionnaire_id, o.display_name from own o
             where o.published_version_id is not null
               and not exists (
                 select from questionnaire_instance i
                 where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and not i.test
                   and i.deleted_time is null and i.submitted_time is not null and i.submitted_time >= $6)
               and (select count(*) from (
                 select from questionnaire_instance i
                 where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and not i.test
                   and i.deleted_time is null and i.submitted_time is not null and i.submitted_time >= $7
                 limit $8) a) = $8
               and exists (
                 select from questionnaire_instance i
                 where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and i.created_time >= $6
                   and i.sent_time is not null and not i.test)
             order by o.display_name limit $5),
           low as (
             select p.title, p.remaining_credits + p.extra_credits as credits_left, p.credits from plan p
             where p.organization_id = $1 and p.state = 'active' and p.kind <> 'unlimited' and p.start_time <= $3
               and (p.end_time is null or p.end_time > $3)
               and (p.application_id is null or cardinality($2) = 0 or p.application_id = any($2))
               and p.remaining_credits + p.extra_credits <= p.credits * $9::float8
             order by p.plan_id limit $5)
           select exists (select from sending_guard where paused_time is not null) as is_paused,
             (select coalesce(jsonb_agg(to_jsonb(account)), '[]') from account) as accounts,
             (select coalesce(jsonb_agg(to_jsonb(stopped)), '[]') from stopped) as pipelines,
             (select coalesce(jsonb_agg(to_jsonb(silent)), '[]') from silent) as silent,
             (select coalesce(jsonb_agg(to_jsonb(low)), '[]') from low) as plans""",
        organization_id,
        list(application_ids),
        now,
        QUESTIONNAIRES_MAX,
        LISTED_MAX,
        now - SILENT,
        now - SILENT - BEFORE,
        ANSWERS_MIN,
        LOW_SHARE,
    )
    return dict(row)
