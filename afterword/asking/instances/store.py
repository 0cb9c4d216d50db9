"""The SQL of questionnaire instances. Deleted instances count as absent unless a docstring says otherwise."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Final, LiteralString, Unpack

import msgspec

from afterword import errors
from afterword.asking.questionnaires.store import QUESTIONNAIRE_COLUMNS, Questionnaire
from afterword.core.answers.suspicion import Judgement
from afterword.core.organizations.access import Caller, Reach, Sight
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.flow import Anonymity
from afterword.core.questionnaires.visuals import Theme
from afterword.core.wire.lists import Page, Rows
from afterword.core.wire.times import Instant
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of, has_own, maker_of, qualified


class ShownInstance(msgspec.Struct, frozen=True):
    """The members of an instance that clients may see; a struct, because lists make hundreds."""

    instance_id: str
    questionnaire_id: str
    responder_id: str
    short_code: str
    locale: str
    valid_days: int
    editable: bool
    finalized: bool
    question_ids: list[str]
    sent_time: Instant | None
    delivered_time: Instant | None
    viewed_time: Instant | None
    submitted_time: Instant | None
    completed_time: Instant | None
    processed_time: Instant | None
    flow_time: Instant | None
    created_time: Instant
    updated_time: Instant
    created_by: str | None
    updated_by: str | None
    full_quota_id: str | None  # of the quota that was full for its answers, which are gone
    anonymity: Anonymity | None


class Instance(ShownInstance, frozen=True):
    organization_id: str
    version_id: str
    item_id: str | None
    channel_id: int | None  # of the pipeline; kept when the item is deleted
    pipeline_id: str | None
    reference_id: str | None
    previous_questionnaire_instance_id: str | None
    test: bool
    metadata: dict[str, str]
    sent_time: datetime | None
    delivered_time: datetime | None
    viewed_time: datetime | None
    submitted_time: datetime | None
    completed_time: datetime | None
    processed_time: datetime | None
    flow_time: datetime | None
    deleted_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    link_id: str | None = None
    flags: list[str] | None = None
    judgement: Judgement | None = None
    held_submitted_time: datetime | None = None
    held_completed_time: datetime | None = None
    response_import_id: str | None = None

    @property
    def key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "instance_id": self.instance_id}

    @property
    def questionnaire_key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "questionnaire_id": self.questionnaire_id}

    @property
    def version_key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "version_id": self.version_id}

    @property
    def is_kept_apart(self) -> bool:
        """Whether the response is held back or rejected: its times and answers count nowhere."""
        return self.judgement in {"held", "rejected"}

    @property
    def is_provisional(self) -> bool:
        """Whether its answer is that of a page which somebody or a machine only looked at."""
        return self.is_kept_apart and "provisional" in (self.flags or ())

    @property
    def answered_time(self) -> datetime | None:
        return self.submitted_time or self.held_submitted_time

    @property
    def is_over(self) -> bool:
        """Whether it takes nothing more, unless it can be edited."""
        return self.finalized or self.full_quota_id is not None

    @classmethod
    def of(cls, row: Row) -> "Instance":
        return cls(*_values(row))

    def event(
        self, kind: str, *, now: datetime, caller: Caller | None = None, response: Mapping[str, object] | None = None
    ) -> NewEvent:
        """An event by the caller, else by the responder; `response` holds answers and metadata.

        The store writes the event of a creation together with the row.
        """
        data = {name: getattr(self, name) for name in self.__struct_fields__}  # asdict copies deeply, which is slow
        del data["metadata"]
        actor = Actor.of(caller) if caller else Actor("responder", self.responder_id)
        data |= response or {}
        return NewEvent.of(self, f"questionnaire_instance.{kind}", self.instance_id, data, now=now, actor=actor)


INSTANCE_COLUMNS: Final = columns_of(Instance)
SHOWN_COLUMNS: Final = columns_of(ShownInstance)

# True for instances `i` of these applications ($3; none: all).
OF_APPLICATIONS: Final[LiteralString] = """(cardinality($3::text[]) = 0 or exists (
  select 1 from questionnaire q where q.organization_id = i.organization_id
    and q.questionnaire_id = i.questionnaire_id and q.owner_application_id = any($3)))"""

INSTANCE_COLUMNS_I: Final = qualified(INSTANCE_COLUMNS, "i")


class Issuable(Questionnaire, frozen=True, kw_only=True):
    application_active: bool
    is_active: bool  # itself, and not archived


class PublicQuestionnaire(Issuable, frozen=True, kw_only=True):
    """A questionnaire with what its pages show of organization, application and active visual, if there is one."""

    brand: str
    time_zone: str
    click_answers: bool = True
    accepts_provisional: bool = True
    organization_brand: Mapping[str, Any]
    application_brand: Mapping[str, Any]
    configuration: dict[str, Any] | None

    @property
    def theme(self) -> Theme:
        return visuals.inherited(self.organization_brand, self.application_brand, self.configuration)


ISSUABLE_COLUMNS: Final[LiteralString] = f"""{qualified(QUESTIONNAIRE_COLUMNS, "q")}, a.active as application_active,
  q.active and q.archived_time is null as is_active"""
_PUBLIC_COLUMNS: Final[LiteralString] = f"""{ISSUABLE_COLUMNS}, o.display_name as brand, o.time_zone,
  o.click_answers, o.accepts_provisional,
  o.brand as organization_brand, a.brand as application_brand, v.configuration"""
_PUBLIC_TABLES: Final[LiteralString] = """questionnaire q
  join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id
  join organization o on o.organization_id = q.organization_id
  left join questionnaire_visual v
    on v.organization_id = q.organization_id and v.questionnaire_id = q.questionnaire_id and v.active"""


async def get_instance(
    db: Database, *, instance_id: str, is_locked: bool = False, **sight: Unpack[Sight]
) -> Instance | None:
    lock: LiteralString = "for update of i" if is_locked else ""
    return await db.records(Instance.of).fetch_row(
        f"""select {INSTANCE_COLUMNS_I} from questionnaire_instance i
           where i.organization_id = $1 and i.instance_id = $2 and i.deleted_time is null and (i.test or not $4)
             and {OF_APPLICATIONS} and {has_own("i.metadata", "$5")} {lock}""",
        *(sight["organization_id"], instance_id, list(sight["application_ids"]), sight["test_only"], sight["only"]),
    )


async def get_shown_instance(db: Database, *, instance_id: str, **sight: Unpack[Sight]) -> Row | None:
    """The members of `resources.QuestionnaireInstance` in their order, and the version: the most frequent read.

    Times are in microseconds, and the short code stands in place of its address.
    """
    return await db.fetch_by_id(
        f"""select i.instance_id, i.questionnaire_id, i.responder_id, i.locale, i.valid_days, i.editable, i.finalized,
                  i.created_time::timestamp, i.updated_time::timestamp, i.sent_time::timestamp,
                  i.delivered_time::timestamp, i.viewed_time::timestamp, i.submitted_time::timestamp,
                  i.completed_time::timestamp, null as collection_url,
                  array_to_string(i.question_ids, ',') as question_ids, i.processed_time::timestamp,
                  i.flow_time::timestamp, i.created_by, i.updated_by, i.full_quota_id, i.anonymity,
                  i.short_code as collection_url_short, null as collection_url_long, i.version
           from questionnaire_instance i
           where i.organization_id = $1 and i.instance_id = any($5::text[]) and i.deleted_time is null
             and (i.test or not $2) and {OF_APPLICATIONS} and {has_own("i.metadata", "$4")}""",
        *(
            sight["organization_id"],
            sight["test_only"],
            tuple(sight["application_ids"]),
            sight["only"] and tuple(sight["only"]),
        ),
        id=instance_id,
    )


async def get_public_instance(  # any tenant: its id opens the page
    db: Database, *, instance_id: str, is_locked: bool = False
) -> Instance | None:
    lock: LiteralString = "for update" if is_locked else ""
    return await db.records(Instance.of).fetch_row(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance where instance_id = $1 and deleted_time is null
           order by created_time limit 1 {lock}""",
        instance_id,
    )


async def get_instance_by_short_code(  # any tenant: the code opens the page
    db: Database, *, short_code: str
) -> Instance | None:
    """The instance of a short link, or None; the older one if two share a code."""
    return await db.records(Instance.of).fetch_row(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance where short_code = $1 and deleted_time is null
           order by created_time limit 1""",
        short_code,
    )


async def get_instance_by_reference(
    db: Database, *, organization_id: str, questionnaire_id: str, reference_id: str
) -> Instance | None:
    return await db.records(Instance.of).fetch_row(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and reference_id = $3 and deleted_time is null""",
        *(organization_id, questionnaire_id, reference_id),
    )


async def list_instances(db: Database, *, page: Page, **reach: Unpack[Reach]) -> Rows[ShownInstance]:
    return await db.records(_shown_instance).fetch_list(
        f"""select {INSTANCE_COLUMNS_I} from questionnaire_instance i
           where i.organization_id = $1 and i.deleted_time is null and (i.test or not $2)
             and {OF_APPLICATIONS}""",
        *(reach["organization_id"], reach["test_only"], list(reach["application_ids"])),
        page=page,
    )


async def list_instances_of_questionnaire(
    db: Database, *, organization_id: str, questionnaire_id: str, test_only: bool, page: Page
) -> Rows[ShownInstance]:
    return await db.records(_shown_instance).fetch_list(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and deleted_time is null and (test or not $3)""",
        *(organization_id, questionnaire_id, test_only),
        page=page,
    )


async def list_instances_by_ids(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[Instance]:
    """The existing instances among these, in no order."""
    return await db.records(Instance.of).fetch(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance
           where organization_id = $1 and instance_id = any($2::text[]) and deleted_time is null""",
        *(organization_id, list(instance_ids)),
    )


async def get_public_questionnaire(  # any tenant: a public link does not say whose it is
    db: Database, *, questionnaire_id: str
) -> PublicQuestionnaire | None:
    return await db.records(PublicQuestionnaire).fetch_row(
        f"select {_PUBLIC_COLUMNS} from {_PUBLIC_TABLES} where q.questionnaire_id = $1", questionnaire_id
    )


async def get_questionnaire_and_metadata(
    db: Database, *, organization_id: str, questionnaire_id: str, responder_id: str
) -> tuple[PublicQuestionnaire, dict[str, str]]:
    row = await db.fetch_row(
        f"""select {_PUBLIC_COLUMNS}, r.metadata as responder_metadata from {_PUBLIC_TABLES}
           join responder r on r.organization_id = q.organization_id and r.responder_id = $3
           where q.organization_id = $1 and q.questionnaire_id = $2""",
        *(organization_id, questionnaire_id, responder_id),
    )
    columns = dict(errors.found(row, "There is no such questionnaire instance."))
    metadata = columns.pop("responder_metadata")
    return PublicQuestionnaire(**columns), metadata


async def insert_expiry_cursor(  # any tenant: the job is the installation's
    db: Database, *, valid_days: int, since: datetime
) -> None:
    """Look from now on for instances that end after so many days, before the job finds out that there are any."""
    await db.execute(
        "insert into expiry_cursor (valid_days, expired_until) values ($1, $2) on conflict do nothing",
        *(valid_days, since),
    )


async def update_instance(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    responder_id: str | None,
    locale: str | None,
    valid_days: int | None,
    editable: bool | None,
    metadata_set: Mapping[str, str],
    metadata_removed: Sequence[str],
    now: datetime,
    updated_by: str,
) -> Instance | None:
    """Write the fields that are not None; returns None if nothing changed or the instance is absent."""
    return await db.records(Instance.of).fetch_row(
        f"""update questionnaire_instance
           set responder_id = coalesce($3, responder_id), locale = coalesce($4, locale),
             valid_days = coalesce($5, valid_days), editable = coalesce($6, editable),
             metadata = (metadata || $7::jsonb) - $8::text[],
             metadata_times = (metadata_times || coalesce((
               select jsonb_object_agg(n.key, $9::timestamptz) from jsonb_each($7::jsonb) n
               where metadata -> n.key is distinct from n.value), '{{}}')) - $8::text[],
             version = version + 1,
             updated_time = greatest(updated_time, $9), updated_by = $10
           where organization_id = $1 and instance_id = $2 and deleted_time is null
             and (responder_id, locale, valid_days, editable, metadata) is distinct from
               (coalesce($3, responder_id), coalesce($4, locale), coalesce($5, valid_days), coalesce($6, editable),
                (metadata || $7::jsonb) - $8::text[])
           returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, responder_id, locale, valid_days, editable),
        *(dict(metadata_set), list(metadata_removed), now, updated_by),
    )


async def delete_instance(
    db: Database, *, organization_id: str, instance_id: str, now: datetime, updated_by: str
) -> Instance | None:
    """Mark the instance as deleted; retention removes its rows. None if it is absent."""
    return await db.records(Instance.of).fetch_row(
        f"""update questionnaire_instance
           set deleted_time = $3, version = version + 1, updated_time = greatest(updated_time, $3), updated_by = $4
           where organization_id = $1 and instance_id = $2 and deleted_time is null
           returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, now, updated_by),
    )


_values: Final = itemgetter(*Instance.__struct_fields__)
_shown_instance: Final = maker_of(ShownInstance)


async def list_descendants(
    db: Database, *, instance_ids: Sequence[str], depth_max: int, children_max: int, limit: int, **reach: Unpack[Reach]
) -> list[Instance]:
    """The descendants of these instances, of any questionnaire that the caller sees.

    At most `children_max` of each, the oldest first, `depth_max` generations and `limit` in all, the nearest first.
    """
    return await db.records(Instance.of).fetch(
        f"""with recursive tree as (
             select c.*, 1 as depth from unnest($2::text[]) as p (instance_id) cross join lateral (
               select {INSTANCE_COLUMNS_I} from questionnaire_instance i
               where i.organization_id = $1 and i.previous_questionnaire_instance_id = p.instance_id
                 and i.deleted_time is null and (i.test or not $4::boolean) and {OF_APPLICATIONS}
               order by i.created_time, i.instance_id limit $6) c
             union all
             select c.*, t.depth + 1 from tree t cross join lateral (
               select {INSTANCE_COLUMNS_I} from questionnaire_instance i
               where i.organization_id = $1 and i.previous_questionnaire_instance_id = t.instance_id
                 and i.deleted_time is null and (i.test or not $4) and {OF_APPLICATIONS}
               order by i.created_time, i.instance_id limit $6) c
             where t.depth < $5)
           select * from tree limit $7""",  # generation by generation, up to the limit
        *(
            reach["organization_id"],
            list(instance_ids),
            list(reach["application_ids"]),
            reach["test_only"],
            depth_max,
            children_max,
            limit,
        ),
    )
