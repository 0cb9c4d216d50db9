"""The SQL of pipelines and of the accounts that they send through."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta

from afterword.core.text import placeholders
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import assigned, columns_of, qualified
from afterword.kit.nouns.declaration import Editable, Hidden, members_of, moment
from afterword.kit.texts import Marked
from afterword.kit.ui.text import NOTHING, WEEKDAY_OPTIONS, ZONE_OPTIONS
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType

Minutes = Annotated[int, Meta(ge=0, le=59), Editable("Minutes", kind="number")]
Hours = Annotated[int, Meta(ge=0, le=23), Editable("Hours", kind="number")]
Days = Annotated[int, Meta(ge=0, le=365)]
DateName = Annotated[str, Meta(max_length=300, examples=["questionnaire_metadata:delivery_date"])]
Clock = Annotated[str, Meta(extra=fields.CLOCK, examples=["09:00"])]
Line100 = Annotated[str, Meta(min_length=1, max_length=100, extra=fields.LINE)]
Subject = Annotated[str, Meta(min_length=1, max_length=placeholders.SUBJECT_CHARACTERS_MAX, extra=fields.LINE)]
Body = Annotated[str, Meta(min_length=1, max_length=placeholders.TEXT_CHARACTERS_MAX)]
Button = Annotated[str, Meta(min_length=1, max_length=placeholders.BUTTON_CHARACTERS_MAX, extra=fields.LINE)]
Reason = Annotated[str, Meta(min_length=1, max_length=placeholders.REASON_CHARACTERS_MAX, extra=fields.LINE)]
Footer = Annotated[str, Meta(min_length=1, max_length=placeholders.FOOTER_CHARACTERS_MAX)]
Weekdays = Annotated[list[Annotated[int, Meta(ge=1, le=7)]], Meta(min_length=1, max_length=7)]


class MessageTexts(fields.Request):
    """The texts of a message in one language. A mail alone has a button, a reason and a footer."""

    body: Body
    subject: Subject | None = None
    button: Button | UnsetType | None = UNSET
    reason: Reason | UnsetType | None = UNSET
    footer: Footer | UnsetType | None = UNSET


class Reminder(fields.Request):
    """A message that follows an unanswered one, so long after it."""

    delay_days: Days = 0
    delay_hours: Hours = 0
    delay_minutes: Minutes = 0
    messages: dict[str, MessageTexts] = msgspec.field(default_factory=dict[str, MessageTexts])


Reminders = Annotated[list[Reminder], Meta(max_length=3)]


def _clock(label: Marked, hint: Marked, column: str) -> Editable:
    """Of a time of day, which lists read from a column of their own."""
    shown = Annotated[fields.ClockTime, fields.column(column)] | None
    return Editable(label, hint, "clock", wire=Clock | None, shown=shown)


def _choice(label: Marked, wire: object, options: Sequence[tuple[str, Marked]]) -> Editable:
    return Editable(label, "", "choice", options, wire=wire, shown=str)


class Pipeline(msgspec.Struct, frozen=True):
    """A pipeline: how and when the items of a questionnaire are sent."""

    organization_id: Annotated[str, Hidden()]
    pipeline_id: fields.Id
    questionnaire_id: fields.Id
    application_id: fields.Id
    channel_id: fields.ChannelId
    account_id: Annotated[str, Hidden()]
    slug: Annotated[str | None, Hidden()]
    title: Annotated[fields.Text200, Editable("Title")]
    description: Annotated[fields.Text2000 | None, Editable("Description", "For your colleagues.", "area")]
    template_pipeline_id: fields.Id | None
    locale: Annotated[fields.Locale | None, Editable()]
    delay_cap_minutes: Minutes
    delay_cap_hours: Hours
    delay_cap_days: Annotated[Days, Editable("Days", "How long a message without a send time waits.", "number")]
    delay_from: Annotated[
        DateName | None,
        Editable(
            "Counted from",
            "A message with neither this date nor a send time is refused. A date without a time of day starts at "
            "midnight.",
            "choice",
        ),
    ]
    frequency_cap_minutes: Minutes
    frequency_cap_hours: Hours
    frequency_cap_days: Annotated[
        Days, Editable("Days", "The minimum time between two messages to an address. 0: no limit.", "number")
    ]
    message_subject: Annotated[Subject | None, Editable()]
    message_body: Annotated[Body | None, Editable()]
    message_button: Annotated[Button | None, Editable()]
    message_reason: Annotated[Reason | None, Editable()]
    message_footer: Annotated[Footer | None, Editable()]
    messages: Annotated[
        dict[str, dict[str, str]], Editable(wire=dict[str, MessageTexts], shown=dict[str, dict[str, str | None]])
    ]
    start_time: Annotated[datetime | None, moment("Start", "Empty: immediately.")]
    end_time: Annotated[datetime | None, moment("End", "Empty: never.")]
    dispatch_start_time: Annotated[
        time | None, _clock("From", "If both are empty: at any hour.", "dispatch_start_clock")
    ]
    dispatch_end_time: Annotated[time | None, _clock("To", "", "dispatch_end_clock")]
    time_zone: Annotated[
        fields.Zone | None, Editable("Or always in this time zone", "", "choice", (("", NOTHING), *ZONE_OPTIONS))
    ]
    zone_of: Annotated[
        str,
        _choice(
            "In the time zone of",
            Literal["recipient", "organization"],
            (("recipient", "the customer"), ("organization", "the organization")),
        ),
    ]
    weekdays: Annotated[list[int], Editable("Days", "", "checks", WEEKDAY_OPTIONS, wire=Weekdays)]
    conditions: Annotated[Any, Editable(wire=dict[str, Any] | None)]
    sender_name: Annotated[Line100 | None, Editable("Name of the sender")]
    sender_address: Annotated[
        fields.Text320 | None,
        Editable(
            "Address of the sender",
            "Its domain must belong to your organization. Empty: the address of the installation.",
        ),
    ]
    reply_to: Annotated[fields.Text320 | None, Editable("Reply-to address")]
    max_retry_attempts: Annotated[int, Meta(ge=0, le=20), Editable("Retries", "0 to 20.", "number")]
    not_after_days: Annotated[
        int, Meta(ge=1, le=365), Editable("Days after the send time until it is too late", "1 to 365.", "number")
    ]
    priority: Annotated[int, Meta(ge=0, le=9), Editable("Priority", "0 is sent first, 9 last.", "number")]
    paused: Annotated[bool, Editable()]
    if_outside: Annotated[
        str,
        _choice(
            "A message due outside these hours",
            Literal["wait", "skip"],
            (("wait", "waits"), ("skip", "is not sent")),
        ),
    ]
    if_capped: Annotated[
        str,
        _choice("A message requested too early", Literal["wait", "skip"], (("skip", "is not sent"), ("wait", "waits"))),
    ]
    policy_exempt: Annotated[
        bool,
        Editable(
            "The contact policy of the organization", "", "switch", (("", "applies too"), ("1", "does not apply here"))
        ),
    ]
    on_holidays: Annotated[
        str,
        _choice(
            "On the holidays of the contact policy",
            Literal["wait", "send"],
            (("wait", "messages wait"), ("send", "messages are sent")),
        ),
    ]
    reminders: Annotated[list[dict[str, Any]], Editable(wire=Reminders, shown=list[dict[str, Any]])]
    target_url: Annotated[fields.Url | None, Editable("Address of the webhook")]
    capped_time: Annotated[datetime | None, Hidden()]
    version: Annotated[int, Hidden()]
    created_time: datetime
    updated_time: datetime
    created_by: fields.Id | None
    updated_by: fields.Id | None
    deleted_time: Annotated[datetime | None, Hidden()]

    @property
    def as_event(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__ if name != "deleted_time"}


_FIXED: Final = frozenset(one.name for one in members_of(Pipeline) if not isinstance(one.role, Editable))
_EDITABLE: Final = columns_of(Pipeline, without=_FIXED)
_INSERTED: Final[LiteralString] = f"""pipeline_id, questionnaire_id, account_id, slug, channel_id, template_pipeline_id,
  {_EDITABLE}, created_by, created_time"""
PIPELINE_COLUMNS: Final[LiteralString] = f"""organization_id, {_INSERTED}, capped_time, version, updated_by,
  updated_time, deleted_time"""
PIPELINE_COLUMNS_P: Final = qualified(PIPELINE_COLUMNS, "p")
_FROM: Final[LiteralString] = """from pipeline p
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id"""
_SELECTED: Final[LiteralString] = f"select {PIPELINE_COLUMNS_P}, q.owner_application_id as application_id {_FROM}"


async def get_pipeline(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str | None = None,
    pipeline_id: str,
    application_ids: Sequence[str] = (),
    is_locked: bool = False,
) -> Pipeline | None:
    """Of any questionnaire, or of this one. `is_locked`: until the transaction ends, against changes and new items."""
    lock: LiteralString = "for update of p" if is_locked else ""
    return await db.records(Pipeline).fetch_row(
        f"""{_SELECTED}
           where p.organization_id = $1 and ($2::text is null or p.questionnaire_id = $2) and p.pipeline_id = $3
             and p.deleted_time is null and (cardinality($4::text[]) = 0 or q.owner_application_id = any($4)) {lock}""",
        *(organization_id, questionnaire_id, pipeline_id, list(application_ids)),
    )


async def get_pipeline_id_by_slug(
    db: Database, *, organization_id: str, questionnaire_id: str, slug: str
) -> str | None:
    return await db.fetch_value(
        "select pipeline_id from pipeline where organization_id = $1 and questionnaire_id = $2 and slug = $3",
        *(organization_id, questionnaire_id, slug),
    )


async def list_pipelines(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str | None = None,
    application_ids: Sequence[str] = (),
    page: Page,
) -> Rows[Pipeline]:
    rows = await db.fetch_list(
        f"""select {PIPELINE_COLUMNS_P}, q.owner_application_id as application_id,
             to_char(p.dispatch_start_time, 'HH24:MI') as dispatch_start_clock,
             to_char(p.dispatch_end_time, 'HH24:MI') as dispatch_end_clock
           {_FROM}
           where p.organization_id = $1 and ($2::text is null or p.questionnaire_id = $2) and p.deleted_time is null
             and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))""",
        *(organization_id, questionnaire_id, list(application_ids)),
        page=page,
    )
    return rows.map(lambda row: Pipeline(**{name: row[name] for name in Pipeline.__struct_fields__}))


class Sender(msgspec.Struct, frozen=True):
    """The `sender_address` of a pipeline, and the domains that its organization (named by `domain`) may send from."""

    domain: str
    pipeline_id: str
    sender_address: str
    sender_domains: list[str]


async def list_senders(db: Database) -> list[Sender]:  # any tenant: the doctor looks at a whole installation
    return await db.records(Sender).fetch(
        """select o.domain, p.pipeline_id, p.sender_address, array(
             select s.domain from organization_sender_domain s
             where s.organization_id = p.organization_id) as sender_domains
           from pipeline p
           join organization o on o.organization_id = p.organization_id
           where p.sender_address is not null and p.deleted_time is null and p.channel_id = 1
           order by p.organization_id, p.pipeline_id"""
    )


async def claim_questionnaire(
    db: Database, *, organization_id: str, questionnaire_id: str, application_ids: Sequence[str] = ()
) -> bool:
    """Hold the questionnaire until the transaction ends, so that its pipelines are counted by one at a time."""
    return await db.touches(
        """select from questionnaire
           where organization_id = $1 and questionnaire_id = $2
             and (cardinality($3::text[]) = 0 or owner_application_id = any($3))
           for no key update""",
        *(organization_id, questionnaire_id, list(application_ids)),
    )


async def count_pipelines(db: Database, *, organization_id: str, questionnaire_id: str) -> int:
    return await db.fetch_value(
        """select count(*) from pipeline
           where organization_id = $1 and questionnaire_id = $2 and deleted_time is null""",
        *(organization_id, questionnaire_id),
    )


async def count_among(db: Database, *, organization_id: str, questionnaire_ids: Sequence[str], pipeline_id: str) -> int:
    """1 if one of these questionnaires has or had this pipeline, else 0."""
    return await db.fetch_value(
        """select count(*) from pipeline
           where organization_id = $1 and questionnaire_id = any($2::text[]) and pipeline_id = $3""",
        *(organization_id, list(questionnaire_ids), pipeline_id),
    )


async def count_open_items(db: Database, *, organization_id: str, pipeline_id: str, limit: int) -> int:
    return await db.fetch_value(
        """select count(*) from (
             -- Each half has an index of its own; one condition for both would look through all that has ended.
             (select from queue_item where organization_id = $1 and pipeline_id = $2 and status = 1 limit $3)
             union all
             (select from queue_item where organization_id = $1 and pipeline_id = $2 and status in (2, 3) limit $3)
             limit $3) open""",
        *(organization_id, pipeline_id, limit),
    )


async def update_pipeline(
    db: Database, *, organization_id: str, pipeline_id: str, updated_by: str, document: Mapping[str, object]
) -> None:
    await db.execute(
        f"""update pipeline p
           set {assigned(_EDITABLE, "d")}, version = p.version + 1,
             -- With a cap each send is recorded in `contact`, without one none is.
             capped_time = case when p.frequency_cap_minutes + p.frequency_cap_hours + p.frequency_cap_days > 0
               then p.capped_time else now() end,
             updated_time = greatest(p.updated_time, now()), updated_by = $3
           from jsonb_populate_record(null::pipeline, $4::jsonb) d
           where p.organization_id = $1 and p.pipeline_id = $2 and p.deleted_time is null""",
        *(organization_id, pipeline_id, updated_by, document),
    )


async def delete_pipeline(db: Database, *, organization_id: str, pipeline_id: str, deleted_by: str) -> int:
    """Hide a pipeline; its row stays, since its items refer to it. The number of pipelines hidden."""
    return await db.execute(
        """update pipeline
           set deleted_time = now(), slug = null, version = version + 1, updated_time = greatest(updated_time, now()),
             updated_by = $3
           where organization_id = $1 and pipeline_id = $2 and deleted_time is null""",
        *(organization_id, pipeline_id, deleted_by),
    )


async def insert_pipeline(db: Database, *, organization_id: str, document: Mapping[str, object]) -> None:
    await db.execute(
        f"""insert into pipeline (organization_id, {_INSERTED}, updated_by, updated_time)
           select $1, {_INSERTED}, created_by, created_time from jsonb_populate_record(null::pipeline, $2::jsonb) d""",
        *(organization_id, document),
    )


async def insert_account(db: Database, *, organization_id: str, account_id: str, channel_id: int) -> str:
    """The organization's default account on a channel: the existing one, else this new one."""
    return await db.fetch_value(
        """insert into channel_account (organization_id, account_id, channel_id, is_default) values ($1, $2, $3, true)
           on conflict (organization_id, channel_id) where is_default do update set channel_id = excluded.channel_id
           returning account_id""",
        *(organization_id, account_id, channel_id),
    )
