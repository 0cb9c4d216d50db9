"""SQL of the overview: the questionnaires that it is about, and all that needs a person.

These are open cases, sending that fails or is paused, silent questionnaires and credits that run low.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, LiteralString

from afterword.asking.links.domains.store import LOST_HOST
from afterword.cases.alert_instances.store import OPEN_COUNTS
from afterword.kit.db import Database

LISTED_MAX: Final = 5  # of each kind
QUESTIONNAIRES_MAX: Final = 500
SILENT: Final = timedelta(days=7)
BEFORE: Final = timedelta(days=28)  # the days in which answers came regularly
ANSWERS_MIN: Final = 5
LOW_SHARE: Final = 0.1

# The pools of $1 with few free codes, which are counted up to that.
_LOW_POOLS: Final[LiteralString] = """select * from (
    select p.pool_id, p.title, p.low_count, (select count(*) from (
      select from coupon_code c where c.organization_id = p.organization_id and c.pool_id = p.pool_id
        and c.instance_id is null limit p.low_count + 1) f) as free_count
    from coupon_pool p where p.organization_id = $1) p
  where free_count <= low_count"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """The subjects of an overview: the newest questionnaires, by id with their application, and their versions' ids.

    `applications`: all that can be chosen, id and name; `application_id`: the chosen one.
    """

    applications: Sequence[tuple[str, str]]
    application_id: str | None
    owners: Mapping[str, str]
    version_ids: Sequence[str]
    time_zone: str
    minimum_base: int
    first_weekday: int
    has_pinned: bool


async def get_subjects(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    application_id: str | None,
    applications_max: int,
    questionnaires_max: int,
    versions_max: int,
) -> Subjects:
    """The subjects of an overview for these applications (none: all); one that is not among them is not chosen."""
    row = await db.fetch_one(
        """with known as materialized (
             select a.application_id, a.display_name from application a
             where a.organization_id = $1 and (cardinality($2::text[]) = 0 or a.application_id = any($2))
             order by a.created_time desc, a.application_id limit $4),
           chosen as materialized (
             select a.application_id from application a
             where a.organization_id = $1 and (cardinality($2) = 0 or a.application_id = any($2))
               and a.application_id = $3),
           own as materialized (
             select q.questionnaire_id, q.owner_application_id, q.created_time from questionnaire q
             where q.organization_id = $1 and case when exists (select from chosen)
               then q.owner_application_id = $3 else cardinality($2) = 0 or q.owner_application_id = any($2) end
             order by q.created_time desc, q.questionnaire_id limit $5),
           version as (
             select v.version_id, row_number() over (partition by v.questionnaire_id order by v.number desc) as place,
               o.created_time, o.questionnaire_id
             from own o join questionnaire_version v
               on v.organization_id = $1 and v.questionnaire_id = o.questionnaire_id
             order by place, o.created_time desc, o.questionnaire_id limit $6)
           select o.time_zone, o.minimum_base, o.first_weekday,
             (select c.application_id from chosen c) as application_id,
             array(select k.application_id from known k) as application_ids,
             array(select k.display_name from known k) as application_names,
             array(select w.questionnaire_id from own w) as questionnaire_ids,
             array(select w.owner_application_id from own w) as owners,
             array(select v.version_id from version v
                   order by v.place, v.created_time desc, v.questionnaire_id) as version_ids,
             exists (select from custom_report r where r.organization_id = $1 and r.pinned_time is not null)
               as has_pinned
           from organization o where o.organization_id = $1""",
        *(organization_id, list(application_ids), application_id),
        *(applications_max, questionnaires_max, versions_max),
    )
    return Subjects(
        applications=list(zip(row["application_ids"], row["application_names"], strict=True)),
        application_id=row["application_id"],
        owners=dict(zip(row["questionnaire_ids"], row["owners"], strict=True)),
        **{name: row[name] for name in ("version_ids", "time_zone", "minimum_base", "first_weekday", "has_pinned")},
    )


# Silence is found by one look at an index for each questionnaire, so that years of answers cost nothing.
_NEEDS: Final[LiteralString] = f"""with own as materialized (
    select q.questionnaire_id, q.display_name, q.published_version_id from questionnaire q
    where q.organization_id = $1 and q.archived_time is null
      and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
    order by q.created_time desc limit $6),
  account as (
    select a.account_id, a.channel_id, a.title, a.paused_reason, a.paused_time is not null as is_paused
    from channel_account a
    where a.organization_id = $1 and (a.paused_time is not null or a.open_until > $5)
      and exists (
        select from pipeline p where p.organization_id = $1 and p.account_id = a.account_id
          and p.deleted_time is null and p.questionnaire_id in (select questionnaire_id from own))
    order by a.account_id limit $7),
  stopped as (
    select p.questionnaire_id, p.pipeline_id, p.title from pipeline p
    where p.organization_id = $1 and p.paused and p.deleted_time is null
      and p.questionnaire_id in (select questionnaire_id from own)
    order by p.title limit $7),
  silent as (
    select o.questionnaire_id, o.display_name from own o
    where o.published_version_id is not null
      and not exists (
        select from questionnaire_instance i
        where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and not i.test
          and i.deleted_time is null and i.submitted_time is not null and i.submitted_time >= $8)
      and (select count(*) from (
        select from questionnaire_instance i
        where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and not i.test
          and i.deleted_time is null and i.submitted_time is not null and i.submitted_time >= $9
        limit $10) a) = $10
      and exists (
        select from questionnaire_instance i
        where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and i.created_time >= $8
          and i.sent_time is not null and not i.test)
    order by o.display_name limit $7),
  low as (
    select p.title, p.remaining_credits + p.extra_credits as credits_left, p.credits from plan p
    where p.organization_id = $1 and p.state = 'active' and p.kind <> 'unlimited' and p.start_time <= $5
      and (p.end_time is null or p.end_time > $5)
      and (p.application_id is null or cardinality($2) = 0 or p.application_id = any($2))
      and p.remaining_credits + p.extra_credits <= p.credits * $11::float8
    order by p.plan_id limit $7),
  pool as ({_LOW_POOLS} order by free_count, pool_id limit $7)
  select (select to_jsonb(c) from ({OPEN_COUNTS}) c) as cases,
    exists (select from sending_guard where paused_time is not null) as is_paused,
    (select coalesce(jsonb_agg(to_jsonb(account)), '[]') from account) as accounts,
    (select coalesce(jsonb_agg(to_jsonb(stopped)), '[]') from stopped) as pipelines,
    (select coalesce(jsonb_agg(to_jsonb(silent)), '[]') from silent) as silent,
    (select coalesce(jsonb_agg(to_jsonb(low)), '[]') from low) as plans,
    (select coalesce(jsonb_agg(to_jsonb(pool)), '[]') from pool) as pools,
    ({LOST_HOST}) as lost_host"""


async def get_needs(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    user_id: str | None,
    now: datetime,
) -> Mapping[str, Any]:
    """All that needs a person, each kind as a list of documents: `accounts`, `pipelines`, `silent`, `plans`, `pools`.

    `cases`: the counts of open cases, as `alerts/cases` counts them.
    `lost_host`: of the organization's public pages, while its record is gone.
    `is_paused`: all sending of the installation waits for its operator.
    """
    row = await db.fetch_one(
        _NEEDS,
        organization_id,
        list(application_ids),
        test_only,
        user_id,
        now,
        QUESTIONNAIRES_MAX,
        LISTED_MAX,
        now - SILENT,
        now - SILENT - BEFORE,
        ANSWERS_MIN,
        LOW_SHARE,
    )
    return dict(row)
