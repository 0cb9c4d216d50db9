"""Requests and answers of the API; generated from its OpenAPI document by generate.py."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType


class AccountTestRequest(Struct, kw_only=True):
    """
    The address to write to: an e-mail address, a phone number, or the web address of a webhook's receiver.
    """

    responder_channel_identifier: str


class AddedCodes(Struct, kw_only=True):
    """
    The outcome; codes that were in the pool already are not added.
    """

    added: int
    known: int


class AlertAssignee(Struct, kw_only=True):
    """
    A user who may take cases.
    """

    user_id: str
    email: str
    display_name: str | None
    open_cases: int
    created_time: datetime


class AlertComment(Struct, kw_only=True):
    """
    A comment on a case; `user_id` is null for a token of the organization.
    """

    comment_id: str
    alert_instance_id: str
    user_id: str | None
    body: str
    created_time: datetime
    updated_time: datetime


class AlertCommentRequest(Struct, kw_only=True):
    """
    A comment on a case.
    """

    body: str


class AlertCommentUpdate(Struct, kw_only=True):
    """
    The new text of the caller's own comment.
    """

    body: str | UnsetType = UNSET


class AlertEscalation(Struct, kw_only=True):
    """
    The open cases that this age would escalate at once.
    """

    alert_id: str
    escalation_hours: int
    open_cases: int


class AlertHistoryEntry(Struct, kw_only=True):
    """
    One thing that happened in a case. `changes`: what changed, each with `from` and `to`; `body`: of a comment.
    """

    history_id: str
    alert_instance_id: str
    kind: str
    user_id: str | None
    body: str | None
    changes: dict[str, Any]
    created_time: datetime


class AlertMailbox(Struct, kw_only=True):
    """
    The mailbox in which answers of customers arrive, and how its reading goes. Without `host` nobody reads it.
    """

    organization_id: str
    address: str | None
    host: str | None
    security: str
    port: int
    username: str | None
    folder: str
    has_password: bool
    read_time: datetime | None
    mail_count: int | None
    problem: str | None
    problem_time: datetime | None
    server_reply: str | None
    answer_count: int
    answer_time: datetime | None
    skipped_count: int
    updated_time: datetime
    updated_by: str | None


class AlertMailboxUpdate(Struct, kw_only=True):
    """
    Changes of the mailbox. `password` is stored sealed, and shown to nobody.
    """

    address: str | None | UnsetType = UNSET
    host: str | None | UnsetType = UNSET
    security: Literal["starttls", "tls"] | UnsetType = UNSET
    port: int | UnsetType = UNSET
    username: str | None | UnsetType = UNSET
    password: str | None | UnsetType = UNSET
    folder: str | UnsetType = UNSET


class AlertMessage(Struct, kw_only=True):
    """
    A mail between an agent and the customer of a case.
    """

    message_id: str
    alert_instance_id: str
    incoming: bool
    user_id: str | None
    address: str
    subject: str
    body: str
    state: str
    error: str | None
    created_time: datetime
    finished_time: datetime | None
    whole: str | None
    other_sender: bool


class AlertMessageRequest(Struct, kw_only=True):
    """
    A reply to the customer by mail, and changes of the case that go with it.
    """

    subject: str
    body: str
    waiting: bool | UnsetType = UNSET
    status_id: int | UnsetType = UNSET
    cause: str | None | UnsetType = UNSET
    remedy: str | None | UnsetType = UNSET


class AlertPreviewOwner(Struct, kw_only=True):
    """
    The cases that a user would own; null: nobody.
    """

    user_id: str | None
    cases: int


class AlertRecovery(Struct, kw_only=True):
    """
    The message by which the customer of a case is asked again; `item_id` is null before it is asked for.
    """

    alert_instance_id: str
    questionnaire_id: str
    pipeline_id: str
    item_id: str | None
    planned_time: datetime | None
    reason: str | None


class AlertStatus(Struct, kw_only=True):
    """
    The status of a case. `closing`: a case in it is done. `system`: the product's own, which cannot be changed.
    """

    status_id: int
    title: str
    description: str | None
    color: str
    closing: bool
    application_id: str | None
    position: int
    system: bool
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class AlertStatusRequest(Struct, kw_only=True):
    """
    A new status of the organization, or of one application.
    """

    title: str
    color: str
    description: str | None | UnsetType = UNSET
    closing: bool | UnsetType = False
    application_id: str | None | UnsetType = UNSET
    position: int | UnsetType = 0


class AlertStatusUpdate(Struct, kw_only=True):
    """
    Changes of an own status; `closing` only while no alert or case has it.
    """

    title: str | UnsetType = UNSET
    color: str | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    closing: bool | UnsetType = UNSET
    position: int | UnsetType = UNSET


class Anonymity(Struct, kw_only=True):
    """
    The anonymity of a questionnaire, and the answers to it that nobody can see yet.
    """

    anonymous: bool
    waiting_count: int
    together_min: int


class Application(Struct, kw_only=True):
    """
    A shop, brand or product of the organization; it owns questionnaires.
    """

    application_id: str
    organization_id: str
    application_type_id: str
    display_name: str
    description: str | None
    time_zone: str | None
    default_locale: str | None
    website_urls: list[str]
    brand: dict[str, Any]
    active: bool
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class ApplicationRequest(Struct, kw_only=True):
    """
    A new application. Without a type it is `custom`.
    """

    display_name: str
    application_type_id: str | UnsetType = "0000000000000000custom"
    description: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET
    default_locale: str | None | UnsetType = UNSET
    website_urls: list[str] | UnsetType = UNSET
    brand: dict[str, Any] | UnsetType = UNSET
    active: bool | UnsetType = True


class ApplicationType(Struct, kw_only=True):
    """
    A kind of business; all but `custom` bring metadata definitions of their own.
    """

    application_type_id: str
    name: str
    title: str
    description: str


class ApplicationUpdate(Struct, kw_only=True):
    """
    Changes of an application.
    """

    display_name: str | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET
    default_locale: str | None | UnsetType = UNSET
    website_urls: list[str] | UnsetType = UNSET
    brand: dict[str, Any] | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class Asset(Struct, kw_only=True):
    """
    A picture as it was encoded again. `path` is the value of `logo` in visuals.
    """

    asset_id: str
    title: str | None
    media_type: str
    width: int
    height: int
    bytes: int
    path: str
    url: str
    created_time: datetime
    created_by: str | None


class AssignmentChoice(Struct, kw_only=True):
    """
    The users for cases whose field has this value.
    """

    value: str
    user_ids: list[str]


class Attempt(Struct, kw_only=True):
    """
    One attempt to send an item; `outcome` is null while it is under way.
    """

    attempt: int
    begin_time: datetime
    finish_time: datetime | None
    channel_id: int
    outcome: str | None
    reply_code: int | None
    reply: str | None
    provider_reference: str | None


class AuditEntry(Struct, kw_only=True):
    """
    An act. Names are those of today; `before` and `after` have what changed, long and secret values as a dash.
    """

    entry_id: str
    created_time: datetime
    actor_kind: str
    actor_id: str | None
    actor_name: str | None
    actor_role: str | None
    action: str
    thing_kind: str
    thing_id: str | None
    thing_name: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    device: str | None
    network: str | None


class BatchRow(Struct, kw_only=True):
    """
    The outcome of one row: 201 created, 200 changed or left as it was, 409 or 422 refused.
    """

    row: int
    status: int
    item_id: str | None
    external_reference: str | None
    problem: dict[str, Any] | None


class BillingUpdate(Struct, kw_only=True):
    """
    Changes of the billing: countries by ISO 3166-1, currencies by ISO 4217.
    """

    name: str | UnsetType = UNSET
    address_lines: list[str] | UnsetType = UNSET
    city: str | None | UnsetType = UNSET
    postal_code: str | None | UnsetType = UNSET
    country: str | None | UnsetType = UNSET
    tax_number: str | None | UnsetType = UNSET
    email: str | None | UnsetType = UNSET
    purchase_reference: str | None | UnsetType = UNSET
    currency: str | UnsetType = UNSET


class Box(Struct, kw_only=True):
    """
    When a website shows the link in a box. The first trigger opens it.
    """

    delay_seconds: int | None | UnsetType = UNSET
    scroll_percent: int | None | UnsetType = UNSET
    on_exit: bool | UnsetType = False
    click_selector: str | None | UnsetType = UNSET
    addresses: list[str] | UnsetType = UNSET
    share_percent: int | UnsetType = 100
    again_days: int | UnsetType = 30
    position: Literal["center", "corner"] | UnsetType = "corner"


class CaseShare(Struct, kw_only=True):
    """
    `hits` of `n` cases in percent, with the interval of 95 %; null of no case.
    """

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None


class Change(Struct, kw_only=True):
    """
    The difference from the period before; `real` where p is below 0.05.
    """

    previous: float
    difference: float
    z: float | None
    p: float | None
    method: str
    real: bool


class Chat(Struct, kw_only=True):
    """
    A chat that is told of cases and gets reports. Its address is a secret: stored sealed, and shown to nobody.
    """

    chat_id: str
    title: str
    kind: str
    host: str
    comments: bool
    locale: str
    active: bool
    sent_time: datetime | None
    problem: str | None
    disabled_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class ChatRequest(Struct, kw_only=True):
    """
    A new chat. `address` is the incoming webhook that it gives, at a host of its `kind`.
    """

    title: str
    kind: Literal["google_chat", "mattermost", "slack", "teams", "webhook"]
    address: str | None | UnsetType = UNSET
    comments: bool | UnsetType = True
    locale: Literal["de", "el", "en", "es", "fr", "it"] | UnsetType = "en"
    active: bool | UnsetType = True


class ChatUpdate(Struct, kw_only=True):
    """
    Changes of a chat; `active` true switches one on again that failures switched off.
    """

    title: str | UnsetType = UNSET
    address: str | None | UnsetType = UNSET
    comments: bool | UnsetType = UNSET
    locale: Literal["de", "el", "en", "es", "fr", "it"] | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class Choice(Struct, kw_only=True):
    """
    One choice of a question; `other` adds a text field, `exclusive` excludes all other choices.
    """

    value: int
    label: str
    other: bool
    exclusive: bool
    points: int | UnsetType = UNSET
    picture: str | UnsetType = UNSET


class CommentWord(Struct, kw_only=True):
    """
    A word, and the comments that have it.
    """

    word: str
    text: str
    n: int


class ConditionTest(Struct, kw_only=True):
    """
    Conditions to test on a response; without conditions every response matches.
    """

    instance_id: str
    conditions: dict[str, Any] | None | UnsetType = UNSET


class ContactPolicy(Struct, kw_only=True):
    """
    The contact policy over all pipelines: how often people are asked, and days without sending.
    """

    organization_id: str
    enabled: bool
    invitations_max: int
    window_days: int
    response_window_days: int | None
    per_channel: bool
    count_reminders: bool
    if_exceeded: str
    quiet_start_time: str | None
    quiet_end_time: str | None
    holiday_country: str | None
    holidays: list[str]
    updated_time: datetime
    updated_by: str | None


class ContactPolicyRequest(Struct, kw_only=True):
    """
    The whole policy; what is left out has its default.
    """

    enabled: bool | UnsetType = False
    invitations_max: int | UnsetType = 1
    window_days: int | UnsetType = 30
    response_window_days: int | None | UnsetType = UNSET
    per_channel: bool | UnsetType = True
    count_reminders: bool | UnsetType = False
    if_exceeded: Literal["skip", "wait"] | UnsetType = "skip"
    quiet_start_time: str | None | UnsetType = UNSET
    quiet_end_time: str | None | UnsetType = UNSET
    holiday_country: str | None | UnsetType = UNSET
    holidays: list[date] | UnsetType = UNSET


class Contrast(Struct, kw_only=True):
    """
    The contrast of a colour with its background, and of the colour that pages show in its place.
    """

    subject: str
    scheme: str
    color: str
    background: str
    ratio: float
    shown: str
    shown_ratio: float
    is_enough: bool


class CountedTag(Struct, kw_only=True):
    """
    A tag of the organization, and the number of its responses.
    """

    tag: str
    count: int
    is_part: bool


class CouponCode(Struct, kw_only=True):
    """
    A code, and the response that has it.
    """

    code: str
    instance_id: str | None
    responder_id: str | None
    given_time: datetime | None
    created_time: datetime


class CouponCodes(Struct, kw_only=True):
    """
    Codes to add to a pool.
    """

    codes: list[str]


class CouponPool(Struct, kw_only=True):
    """
    A pool of codes, of which a complete response gets at most one.
    """

    pool_id: str
    key: str
    title: str
    low_count: int
    free_count: int
    given_count: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class CouponPoolRequest(Struct, kw_only=True):
    """
    A new pool. Endings name it by its `key`.
    """

    key: str
    title: str
    low_count: int | UnsetType = 50


class CouponPoolUpdate(Struct, kw_only=True):
    """
    Changes of a pool.
    """

    key: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    low_count: int | UnsetType = UNSET


class CustomDomain(Struct, kw_only=True):
    """
    The host of an organization's public pages; links lead there while it is `active`.
    """

    organization_id: str
    host: str
    url: str
    state: str
    record_name: str
    record_value: str
    target: str
    problem: str | None
    proven_time: datetime | None
    reached_time: datetime | None
    lost_time: datetime | None
    checked_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class CustomDomainRequest(Struct, kw_only=True):
    """
    The host of an organization's public pages.
    """

    host: str


class Definition(Struct, kw_only=True):
    """
    The content of a questionnaire: groups with their questions, and texts by language. A group, question, row or ending without its id is given one; `translations` has the questionnaire's own `title` and `description` in other languages. `docs/questionnaires.md` describes all of it.
    """

    default_locale: str
    groups: list[dict[str, Any]]
    locales: list[str] | UnsetType = UNSET
    pages: dict[str, dict[str, Any]] | UnsetType = UNSET
    translations: dict[str, dict[str, Any]] | UnsetType = UNSET
    endings: list[dict[str, Any]] | UnsetType = UNSET
    anonymous: bool | UnsetType = False


class Delivery(Struct, kw_only=True):
    """
    One event for one endpoint, and its outcome. `response_excerpt` is plain text, whatever type the target names.
    """

    delivery_id: str
    webhook_id: str
    event_id: str
    event_type: str
    state: str
    attempts: int
    response_status: int | None
    duration_ms: int | None
    response_excerpt: str | None
    error: str | None
    next_attempt_time: datetime | None
    finished_time: datetime | None
    created_time: datetime


class Difference(Struct, kw_only=True):
    """
    One change; `path` points into the later definition, and into the earlier one where something is gone.
    """

    kind: str
    sentence: str
    path: str
    group_id: str | None
    question_id: str | None
    locale: str | None
    member: str | None
    before: Any
    after: Any


class DomainFinding(Struct, kw_only=True):
    """
    A record of a domain. `found`: the texts that stand at `name`; `record`: the text to set, if it can be known.
    """

    kind: str
    state: str
    code: str
    message: str
    name: str
    found: list[str]
    record: str | None


class DoubtfulResponse(Struct, kw_only=True):
    """
    A response with signs of a machine or of haste.
    """

    instance_id: str
    questionnaire_id: str
    link_id: str | None
    submitted_time: datetime
    flags: list[str]
    state: str


class DraftPreview(Struct, kw_only=True):
    """
    The addresses of the answer page of a draft, and of its invitation mail.
    """

    url: str
    mail_url: str
    expires_time: datetime


class DraftPreviewRequest(Struct, kw_only=True):
    """
    The view of the draft.
    """

    locale: str | None | UnsetType = UNSET
    question_id: str | None | UnsetType = UNSET
    ending_id: str | None | UnsetType = UNSET
    responder_id: str | None | UnsetType = UNSET
    brand: dict[str, Any] | None | UnsetType = UNSET
    brand_level: Literal["application", "organization"] | UnsetType = "application"


class Erasure(Struct, kw_only=True):
    """
    An erasure: its request, its progress and, once done, its proof: counts, times and a checksum.
    """

    erasure_id: str
    responder_id: str
    mode: str
    suppress: bool
    reason: str | None
    state: str
    counts: dict[str, int]
    requested_time: datetime
    finished_time: datetime | None
    requested_by: str | None
    checksum: str | None


class ErasureRequest(Struct, kw_only=True):
    """
    The mode of an erasure.
    """

    mode: Literal["anonymize", "erase"] | UnsetType = "anonymize"
    suppress: bool | UnsetType = True
    reason: str | None | UnsetType = UNSET


class EventActor(Struct, kw_only=True):
    """
    The author of a change: its kind and id.
    """

    kind: str
    id: str | None


class Export(Struct, kw_only=True):
    """
    An export, and how far it has come.
    """

    export_id: str
    questionnaire_id: str | None
    format: str
    from_time: datetime | None
    to_time: datetime | None
    date_basis: str
    filter: dict[str, Any] | None
    locale: str | None
    values: str
    include_metadata: bool
    include_incomplete: bool
    include_recipient: bool
    byte_order_mark: bool
    since_cursor: str | None
    state: str
    progress: int
    row_count: int | None
    bytes: int | None
    checksum: str | None
    file_name: str | None
    error: str | None
    next_cursor: str | None
    created_time: datetime
    finished_time: datetime | None
    expires_time: datetime | None
    created_by: str | None
    selected_count: int | None


class ExportCheck(Struct, kw_only=True):
    """
    The outcome: `problem` is null where a small file was written and removed.
    """

    problem: str | None
    reply: str | None
    host_key: str | None
    fingerprint: str | None


class ExportRun(Struct, kw_only=True):
    """
    A run: the days that changed, and how many of them are written.
    """

    run_id: str
    schedule_id: str
    state: str
    day_count: int | None
    days_written: int
    file_count: int
    row_count: int
    bytes: int
    error: str | None
    reply: str | None
    started_time: datetime | None
    created_time: datetime
    finished_time: datetime | None
    created_by: str | None


class ExportSchedule(Struct, kw_only=True):
    """
    The responses of a questionnaire, which a worker writes to a store by a timetable, and how that goes.
    """

    schedule_id: str
    title: str
    questionnaire_id: str
    active: bool
    every: str
    day: int
    hour: int
    format: str
    locale: str | None
    filter: dict[str, Any] | None
    include_incomplete: bool
    include_metadata: bool
    include_recipient: bool
    destination: str
    path: str
    endpoint: str | None
    bucket: str | None
    region: str | None
    access_key: str | None
    host: str | None
    port: int | None
    username: str | None
    host_key: str | None
    has_secret: bool
    next_time: datetime | None
    last_time: datetime | None
    problem: str | None
    problem_time: datetime | None
    reply: str | None
    failures: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class ExportScheduleRequest(Struct, kw_only=True):
    """
    What is exported, where to and when. `secret` is stored sealed, and shown to nobody.
    """

    title: str
    questionnaire_id: str
    destination: Literal["folder", "s3", "sftp"]
    path: str
    active: bool | UnsetType = True
    every: Literal["daily", "hourly", "weekly"] | UnsetType = "daily"
    day: int | UnsetType = 1
    hour: int | UnsetType = 3
    format: Literal["csv", "parquet", "sav"] | UnsetType = "csv"
    locale: str | None | UnsetType = UNSET
    filter: dict[str, Any] | None | UnsetType = UNSET
    include_incomplete: bool | UnsetType = True
    include_metadata: bool | UnsetType = True
    include_recipient: bool | UnsetType = False
    endpoint: str | None | UnsetType = UNSET
    bucket: str | None | UnsetType = UNSET
    region: str | None | UnsetType = UNSET
    access_key: str | None | UnsetType = UNSET
    host: str | None | UnsetType = UNSET
    port: int | None | UnsetType = UNSET
    username: str | None | UnsetType = UNSET
    host_key: str | None | UnsetType = UNSET
    secret: str | None | UnsetType = UNSET


class ExportScheduleUpdate(Struct, kw_only=True):
    """
    Changes of a schedule. Another destination, filter or format lets the next run write all of it.
    """

    title: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    every: Literal["daily", "hourly", "weekly"] | UnsetType = UNSET
    day: int | UnsetType = UNSET
    hour: int | UnsetType = UNSET
    format: Literal["csv", "parquet", "sav"] | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    filter: dict[str, Any] | None | UnsetType = UNSET
    include_incomplete: bool | UnsetType = UNSET
    include_metadata: bool | UnsetType = UNSET
    include_recipient: bool | UnsetType = UNSET
    endpoint: str | None | UnsetType = UNSET
    bucket: str | None | UnsetType = UNSET
    region: str | None | UnsetType = UNSET
    access_key: str | None | UnsetType = UNSET
    host: str | None | UnsetType = UNSET
    port: int | None | UnsetType = UNSET
    username: str | None | UnsetType = UNSET
    host_key: str | None | UnsetType = UNSET
    secret: str | None | UnsetType = UNSET


class FileLine(Struct, kw_only=True):
    """
    The fate of one thing of a file.
    """

    kind: str
    outcome: str
    whole: bool
    place: str
    title: str
    sentences: list[str]


class GroupRole(Struct, kw_only=True):
    """
    The role of the people in a group.
    """

    group: str
    role: Literal["admin", "agent", "reporting"]


class GroupTranslation(Struct, kw_only=True):
    """
    A group's texts in another language; an absent text falls back to the default locale.
    """

    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET


class IdentityProvider(Struct, kw_only=True):
    """
    The provider of an organization, by OpenID Connect. `client_secret` is never shown.
    """

    organization_id: str
    issuer: str
    client_id: str
    has_client_secret: bool
    scopes: list[str]
    groups_claim: str
    group_roles: list[GroupRole]
    default_role: str | None
    trusts_addresses: bool
    checked_time: datetime | None
    problem: str | None
    return_url: str
    login_url: str
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class IdentityProviderRequest(Struct, kw_only=True):
    """
    The provider of an organization, by OpenID Connect.
    """

    issuer: str
    client_id: str
    client_secret: str | None | UnsetType = UNSET
    scopes: list[str] | UnsetType = UNSET
    groups_claim: str | UnsetType = "groups"
    group_roles: list[GroupRole] | UnsetType = UNSET
    default_role: Literal["admin", "agent", "reporting"] | None | UnsetType = UNSET
    trusts_addresses: bool | UnsetType = False


class Import(Struct, kw_only=True):
    """
    A file of items, and how far it has come.
    """

    import_id: str
    questionnaire_id: str
    pipeline_id: str
    file_name: str | None
    dry_run: bool
    state: str
    rows_total: int
    rows_created: int
    rows_updated: int
    rows_skipped: int
    rows_failed: int
    rows_repeated: int
    rows_left_out: int
    reasons: dict[str, int]
    first_time: datetime | None
    error: str | None
    created_time: datetime
    finished_time: datetime | None
    created_by: str | None


class ImportRow(Struct, kw_only=True):
    """
    The outcome of a row, counted from 1 after the header, and the line of the file on which it begins.
    """

    row: int
    line: int | None
    state: str
    reason: str | None
    item_id: str | None
    external_reference: str | None
    problem: dict[str, Any] | None


class Inbound(Struct, kw_only=True):
    """
    An address where the provider of an account reports. `secret` signs reports in our own form, shown this once. `confirm_url` confirms the subscription of a topic: open it yourself, it is never called.
    """

    inbound_id: str
    account_id: str
    channel_id: int
    adapter: str
    url: str
    secret: str | None
    confirm_url: str | None
    last_time: datetime | None
    created_time: datetime


class InboundRequest(Struct, kw_only=True):
    """
    An address to open. `topic` (its ARN) and `certificate` (PEM) are pinned, and `sns` alone has them.
    """

    account_id: str
    adapter: Literal["provider", "sns", "standard"]
    topic: str | None | UnsetType = UNSET
    certificate: str | None | UnsetType = UNSET


class InstanceContent(Struct, kw_only=True):
    """
    The questionnaire as the responder sees it, in the instance's language.
    """

    instance_id: str
    questionnaire_id: str
    version_id: str
    locale: str
    direction: str
    title: str | None
    description: str | None
    groups: list[dict[str, Any]]
    pages: dict[str, str | None]
    visual: dict[str, Any] | None
    expires_time: datetime | None
    open: bool


class InstanceUpdate(Struct, kw_only=True):
    """
    The members of an instance that may change, in every state.
    """

    responder_id: str | UnsetType = UNSET
    locale: str | UnsetType = UNSET
    valid_days: int | UnsetType = UNSET
    editable: bool | UnsetType = UNSET
    metadata: dict[str, str | dict[str, str | None] | None] | UnsetType = UNSET


class InstanceUrl(Struct, kw_only=True):
    """
    The addresses of the answer page, and the time when it expires.
    """

    instance_id: str
    collection_url: str
    collection_url_short: str
    collection_url_long: str
    expires_time: datetime | None


class InstanceWithChildren(Struct, kw_only=True):
    """
    An instance with its children: those issued because of it, of any questionnaire, and so on.
    """

    instance_id: str
    questionnaire_id: str
    responder_id: str
    locale: str
    valid_days: int
    editable: bool
    finalized: bool
    created_time: datetime
    updated_time: datetime
    sent_time: datetime | None
    delivered_time: datetime | None
    viewed_time: datetime | None
    submitted_time: datetime | None
    completed_time: datetime | None
    collection_url: str
    question_ids: str
    processed_time: datetime | None
    flow_time: datetime | None
    created_by: str | None
    updated_by: str | None
    full_quota_id: str | None
    anonymity: str | None
    collection_url_short: str
    collection_url_long: str
    children: list[InstanceWithChildren]


class Interval(Struct, kw_only=True):
    """
    The range that holds the value of all customers, with the confidence `level`.
    """

    low: float
    high: float
    level: float


class Invitation(Struct, kw_only=True):
    """
    A mail that is on its way. Its link works once, until `expires_time`.
    """

    user_id: str
    email: str
    expires_time: datetime


class JudgementRequest(Struct, kw_only=True):
    """
    A judgement of responses that were held back.
    """

    instance_ids: list[str]
    judgement: Literal["accepted", "rejected"]


class JudgementResult(Struct, kw_only=True):
    """
    The outcome of a judgement.
    """

    count: int


class Jump(Struct, kw_only=True):
    """
    A jump to a question if the conditions hold (null: always); without a target, to the end.
    """

    target_question_id: str | None
    conditions: dict[str, Any] | None


class Kiosk(Struct, kw_only=True):
    """
    When a device that stands in a shop begins again for the next person.
    """

    idle_seconds: int | UnsetType = 60
    thanks_seconds: int | UnsetType = 10
    layout: Literal["by_question", "one_page"] | UnsetType = "by_question"


class LeafResult(Struct, kw_only=True):
    """
    The operands and the result of one comparison.
    """

    subject: str
    operator: str
    value: Any
    actual: Any
    matches: bool


class LegalHold(Struct, kw_only=True):
    """
    Data that is kept whatever its age, of a person or of the whole organization.
    """

    hold_id: str
    responder_id: str | None
    reason: str
    created_time: datetime
    created_by: str | None


class LegalHoldRequest(Struct, kw_only=True):
    """
    A new legal hold. Without a responder it covers the whole organization.
    """

    reason: str
    responder_id: str | None | UnsetType = UNSET


class LibraryEntry(Struct, kw_only=True):
    """
    A questionnaire that comes with the product.
    """

    library_name: str
    display_name: str
    title: str
    description: str
    note: dict[str, str]
    default_locale: str
    locales: list[str]
    questions_count: int
    length_seconds: int
    screens: int


class LibraryQuestionnaire(Struct, kw_only=True):
    """
    A questionnaire of the library with all its questions.
    """

    library_name: str
    display_name: str
    title: str
    description: str
    note: dict[str, str]
    default_locale: str
    locales: list[str]
    questions_count: int
    length_seconds: int
    screens: int
    definition: dict[str, Any]


class LoginPolicy(Struct, kw_only=True):
    """
    Conditions on how people and tokens come in.
    """

    organization_id: str
    requires_second_factor: bool
    requires_provider: bool
    console_networks: list[str]
    token_networks: list[str]
    updated_time: datetime | None
    updated_by: str | None


class LoginPolicyRequest(Struct, kw_only=True):
    """
    Conditions on how people and tokens come in. Conditions that are left out are lifted.
    """

    requires_second_factor: bool | UnsetType = False
    requires_provider: bool | UnsetType = False
    console_networks: list[str] | UnsetType = UNSET
    token_networks: list[str] | UnsetType = UNSET


class MatrixRow(Struct, kw_only=True):
    """
    One row of a matrix; its answer is one of the choices.
    """

    row_id: str
    label: str


class MessageTexts(Struct, kw_only=True):
    """
    The texts of a message in one language. A mail alone has a button, a reason and a footer.
    """

    body: str
    subject: str | None | UnsetType = UNSET
    button: str | None | UnsetType = UNSET
    reason: str | None | UnsetType = UNSET
    footer: str | None | UnsetType = UNSET


class MetadataDefinition(Struct, kw_only=True):
    """
    A declared name; those of level `global` belong to the product and are read-only.
    """

    metadata_id: str
    kind: str
    name: str
    title: str
    type: str
    anonymize: bool
    level: str
    application_id: str | None
    application_type_id: str | None
    read_only: bool
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class MetadataDefinitionRequest(Struct, kw_only=True):
    """
    A name to declare.
    """

    name: str
    title: str
    type: Literal["boolean", "date", "number", "text"]
    anonymize: bool | UnsetType = False
    level: Literal["application", "application_type", "organization"] | UnsetType = "application"
    application_id: str | None | UnsetType = UNSET
    application_type_id: str | None | UnsetType = UNSET


class MetadataDefinitionUpdate(Struct, kw_only=True):
    """
    The members of a definition that may change; its type may not, because values are compared by it.
    """

    title: str | UnsetType = UNSET
    anonymize: bool | UnsetType = UNSET


class MetadataGroups(Struct, kw_only=True):
    """
    Metadata of the questionnaire and of the responder.
    """

    questionnaire: dict[str, str | None] | UnsetType = UNSET
    responder: dict[str, str | None] | UnsetType = UNSET


class MetricShown(Struct, kw_only=True):
    """
    A metric of a spec.
    """

    metric: str
    question_id: str | None


class MetricWanted(Struct, kw_only=True):
    """
    A metric. Without a question, nps, csat and ces are of all questions of their type.
    """

    metric: Literal["ces", "completion", "csat", "mean", "nps", "response"]
    question_id: str | None | UnsetType = UNSET


class Notification(Struct, kw_only=True):
    """
    A notification of an event to a user. `link` is the API path of its subject.
    """

    notification_id: str
    user_id: str
    event_id: str
    type: str
    title: str
    body: str
    link: str | None
    read: bool
    read_time: datetime | None
    created_time: datetime


class NotificationUpdate(Struct, kw_only=True):
    """
    Marks a notification as read, or as unread.
    """

    read: bool | UnsetType = UNSET


class NotificationWatch(Struct, kw_only=True):
    """
    A watched thing.
    """

    entity: Literal["alert", "application", "organization", "questionnaire", "user"]
    entity_id: str


class NotificationWays(Struct, kw_only=True):
    """
    The channels of one type of event.
    """

    web: bool
    email: bool


class Organization(Struct, kw_only=True):
    """
    A customer of the installation: the tenant.
    """

    organization_id: str
    domain: str
    display_name: str
    legal_name: str | None
    postal_address: str | None
    default_locale: str
    locales: list[str]
    brand: dict[str, Any]
    time_zone: str
    minimum_base: int
    first_weekday: int
    click_answers: bool
    accepts_provisional: bool
    anonymize_after_days: int | None
    delete_after_days: int | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class OrganizationBilling(Struct, kw_only=True):
    """
    The recipient of an organization's bills.
    """

    organization_id: str
    name: str
    address_lines: list[str]
    city: str | None
    postal_code: str | None
    country: str | None
    tax_number: str | None
    email: str | None
    purchase_reference: str | None
    currency: str
    updated_time: datetime
    updated_by: str | None


class OrganizationUpdate(Struct, kw_only=True):
    """
    Changes of an organization.
    """

    display_name: str | UnsetType = UNSET
    legal_name: str | None | UnsetType = UNSET
    postal_address: str | None | UnsetType = UNSET
    default_locale: str | UnsetType = UNSET
    locales: list[str] | UnsetType = UNSET
    brand: dict[str, Any] | UnsetType = UNSET
    time_zone: str | UnsetType = UNSET
    minimum_base: int | UnsetType = UNSET
    first_weekday: int | UnsetType = UNSET
    click_answers: bool | UnsetType = UNSET
    accepts_provisional: bool | UnsetType = UNSET
    anonymize_after_days: int | None | UnsetType = UNSET
    delete_after_days: int | None | UnsetType = UNSET


class OutboxContent(Struct, kw_only=True):
    """
    A kept message with its content.
    """

    message_id: str
    item_id: str | None
    channel_id: int
    pipeline_id: str | None
    responder_channel_identifier: str
    subject: str | None
    text: str
    html: str | None
    collection_url: str | None
    test: bool
    created_time: datetime


class OutboxMessage(Struct, kw_only=True):
    """
    A message that was kept in place of being sent.
    """

    message_id: str
    channel_id: int
    pipeline_id: str | None
    responder_channel_identifier: str
    subject: str | None
    test: bool
    created_time: datetime


class PastResponseRow(Struct, kw_only=True):
    """
    The outcome of one row: 201 created, 200 there already, 409 or 422 refused.
    """

    row: int
    status: int
    instance_id: str | None
    external_id: str | None
    problem: dict[str, Any] | None


class PastResponsesResult(Struct, kw_only=True):
    """
    The outcomes of all rows, in their order.
    """

    response_import_id: str | None
    results: list[PastResponseRow]
    created: int
    unchanged: int
    failed: int


class PauseRequest(Struct, kw_only=True):
    """
    The reason is shown to people who ask why a message waits.
    """

    reason: str


class PeriodShown(Struct, kw_only=True):
    """
    The time that a report covers.
    """

    from_time: datetime
    to_time: datetime
    time_zone: str
    date_basis: str


class Person(Struct, kw_only=True):
    """
    Whoever gave the response: found by the first of these that is known, else made with all of them.
    """

    email: str | None | UnsetType = UNSET
    phone_number: str | None | UnsetType = UNSET
    external_id: str | None | UnsetType = UNSET


class Pipeline(Struct, kw_only=True):
    """
    A pipeline: how and when the items of a questionnaire are sent.
    """

    pipeline_id: str
    questionnaire_id: str
    application_id: str
    channel_id: int
    title: str
    description: str | None
    template_pipeline_id: str | None
    locale: str | None
    delay_cap_minutes: int
    delay_cap_hours: int
    delay_cap_days: int
    delay_from: str | None
    frequency_cap_minutes: int
    frequency_cap_hours: int
    frequency_cap_days: int
    message_subject: str | None
    message_body: str | None
    message_button: str | None
    message_reason: str | None
    message_footer: str | None
    messages: dict[str, dict[str, str | None]]
    start_time: datetime | None
    end_time: datetime | None
    dispatch_start_time: str | None
    dispatch_end_time: str | None
    time_zone: str | None
    zone_of: str
    weekdays: list[int]
    conditions: dict[str, Any] | None
    sender_name: str | None
    sender_address: str | None
    reply_to: str | None
    max_retry_attempts: int
    not_after_days: int
    priority: int
    paused: bool
    if_outside: str
    if_capped: str
    policy_exempt: bool
    on_holidays: str
    reminders: list[dict[str, Any]]
    target_url: str | None
    state: str
    summary: str
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class PipelineChange(Struct, kw_only=True):
    """
    A clause of the pipeline's sentences that a version changed. `before`: what it said, where that is known.
    """

    part: str
    after: str
    before: str | None


class PipelineVersion(Struct, kw_only=True):
    """
    A change of a pipeline, by whom, and in sentences; the oldest is its making.
    """

    version_id: str
    created_time: datetime
    actor_kind: str
    actor_id: str | None
    action: str
    changes: list[PipelineChange]


class Plan(Struct, kw_only=True):
    """
    Credits of the organization, or of one of its applications: one is used by each instance's first answer.
    """

    plan_id: str
    organization_id: str
    application_id: str | None
    title: str
    kind: str
    credits: int | None
    remaining_credits: int | None
    extra_credits: int
    features: list[str]
    state: str
    start_time: datetime
    renew_time: datetime | None
    end_time: datetime | None


class Preview(Struct, kw_only=True):
    """
    The message as it would be sent. `html` is null for other channels than e-mail, `segments` but for an SMS.
    """

    channel_id: int
    locale: str
    subject: str | None
    text: str
    html: str | None
    segments: int | None
    encoding: str | None


class PreviewRequest(Struct, kw_only=True):
    """
    A language (null: the item's, else the pipeline's), a reminder of the pipeline, and an item with its values.
    """

    locale: str | None | UnsetType = UNSET
    reminder_number: int | None | UnsetType = UNSET
    item_id: str | None | UnsetType = UNSET


class Problem(Struct, kw_only=True):
    """
    A problem of a definition at a JSON pointer; an `error` prevents publication.
    """

    path: str
    severity: str
    code: str
    message: str


class Provider(Struct, kw_only=True):
    """
    An account at a provider. `settings` shows those without a secret, `secrets` the names of the others. `is_own`: the organization made it, and may change it. `rate` is today's, `rate_ceiling` its limit, both a second. `inbound_url` is where its provider reports, null where it reports over the connection or not at all.
    """

    account_id: str
    organization_id: str
    channel_id: int
    kind: str
    title: str | None
    is_default: bool
    is_own: bool
    state: str
    settings: dict[str, Any]
    secrets: list[str]
    rate: float | None
    rate_ceiling: float | None
    slots: int
    pipelines: int
    failures: int
    resting_until: datetime | None
    paused_time: datetime | None
    paused_reason: str | None
    inbound_url: str | None
    created_time: datetime


class ProviderRequest(Struct, kw_only=True):
    """
    A new account. `settings` as its kind has them; `rate_ceiling`: at most so many messages a second.
    """

    kind: Literal["smpp", "sms_http", "sms_twilio", "smtp", "webhook"]
    title: str
    settings: dict[str, Any]
    is_default: bool | UnsetType = False
    rate_ceiling: float | None | UnsetType = UNSET


class ProviderUpdate(Struct, kw_only=True):
    """
    Changes of an account. `settings` that are not named stay, null removes one.
    """

    title: str | UnsetType = UNSET
    settings: dict[str, Any] | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET
    rate_ceiling: float | None | UnsetType = UNSET


class PublicLink(Struct, kw_only=True):
    """
    An address at which anybody may answer a questionnaire, and what is stored with each response.
    """

    link_id: str
    questionnaire_id: str
    title: str
    url: str
    metadata: dict[str, str]
    parameters: list[str]
    takes_reference: bool
    one_response_per: str | None
    opens_time: datetime | None
    closes_time: datetime | None
    responses_max: int | None
    locale: str | None
    active: bool
    box: Box | None
    kiosk: Kiosk | None
    has_kiosk_pin: bool
    state: str
    responses_count: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class PublicLinkRequest(Struct, kw_only=True):
    """
    A new public link.
    """

    title: str
    metadata: dict[str, str | None] | UnsetType = UNSET
    parameters: list[str] | UnsetType = UNSET
    takes_reference: bool | UnsetType = False
    one_response_per: Literal["address", "browser"] | None | UnsetType = UNSET
    opens_time: datetime | None | UnsetType = UNSET
    closes_time: datetime | None | UnsetType = UNSET
    responses_max: int | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    active: bool | UnsetType = True
    box: Box | None | UnsetType = UNSET
    kiosk: Kiosk | None | UnsetType = UNSET
    kiosk_pin: str | None | UnsetType = UNSET


class PublicLinkUpdate(Struct, kw_only=True):
    """
    Changes of a public link. Its address and its questionnaire stay.
    """

    title: str | UnsetType = UNSET
    metadata: dict[str, str | None] | UnsetType = UNSET
    parameters: list[str] | UnsetType = UNSET
    takes_reference: bool | UnsetType = UNSET
    one_response_per: Literal["address", "browser"] | None | UnsetType = UNSET
    opens_time: datetime | None | UnsetType = UNSET
    closes_time: datetime | None | UnsetType = UNSET
    responses_max: int | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    box: Box | None | UnsetType = UNSET
    kiosk: Kiosk | None | UnsetType = UNSET
    kiosk_pin: str | None | UnsetType = UNSET


class PublicationRequest(Struct, kw_only=True):
    """
    The author's note on the new version.
    """

    note: str | None | UnsetType = UNSET


class QuestionTranslation(Struct, kw_only=True):
    """
    A question's texts in another language; an absent text falls back to the default locale.
    """

    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    low_label: str | UnsetType = UNSET
    high_label: str | UnsetType = UNSET
    choices: dict[str, str] | UnsetType = UNSET
    rows: dict[str, str] | UnsetType = UNSET


class QuestionUse(Struct, kw_only=True):
    """
    A place where a question is used.
    """

    kind: str
    id: str
    title: str


class Questionnaire(Struct, kw_only=True):
    """
    A questionnaire; its content is in its groups and questions.
    """

    questionnaire_id: str
    owner_application_id: str
    display_name: str
    title: str | None
    description: str | None
    valid_days: int
    editable: bool
    template_questionnaire_id: str | None
    desktop_collapsed: bool
    non_collapsed_questions_count: int
    key_question_id: str | None
    credits_accountable: bool
    questionnaire_icon_url: str | None
    default_locale: str
    locales: list[str]
    active: bool
    public_link: bool
    responses_max: int | None
    published_version_id: str | None
    public_link_url: str
    archived_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class QuestionnaireFileReport(Struct, kw_only=True):
    """
    The report of a file for another system, by the things that it cannot hold.
    """

    format: str
    lines: list[FileLine]


class QuestionnaireImport(Struct, kw_only=True):
    """
    A questionnaire of another system as a draft.
    """

    questionnaire_id: str | None
    format: str
    questions_count: int
    whole_questions_count: int
    conditions_count: int
    whole_conditions_count: int
    left_out_count: int
    lines: list[FileLine]


class QuestionnaireInstance(Struct, kw_only=True):
    """
    One issue of a questionnaire to a responder.
    """

    instance_id: str
    questionnaire_id: str
    responder_id: str
    locale: str
    valid_days: int
    editable: bool
    finalized: bool
    created_time: datetime
    updated_time: datetime
    sent_time: datetime | None
    delivered_time: datetime | None
    viewed_time: datetime | None
    submitted_time: datetime | None
    completed_time: datetime | None
    collection_url: str
    question_ids: str
    processed_time: datetime | None
    flow_time: datetime | None
    created_by: str | None
    updated_by: str | None
    full_quota_id: str | None
    anonymity: str | None
    collection_url_short: str
    collection_url_long: str


class QuestionnaireRequest(Struct, kw_only=True):
    """
    A questionnaire to create; its draft holds the questions.
    """

    owner_application_id: str
    display_name: str
    title: str | None | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    valid_days: int | UnsetType = 30
    editable: bool | UnsetType = False
    template_questionnaire_id: str | None | UnsetType = UNSET
    library_name: str | None | UnsetType = UNSET
    file: str | None | UnsetType = UNSET
    desktop_collapsed: bool | UnsetType = False
    non_collapsed_questions_count: int | UnsetType = 1
    key_question_id: str | None | UnsetType = UNSET
    credits_accountable: bool | UnsetType = True
    questionnaire_icon_url: str | None | UnsetType = UNSET
    default_locale: str | None | UnsetType = UNSET
    active: bool | UnsetType = True
    public_link: bool | UnsetType = False
    responses_max: int | None | UnsetType = UNSET


class QuestionnaireUpdate(Struct, kw_only=True):
    """
    The members of a questionnaire that may change without a new version.
    """

    display_name: str | UnsetType = UNSET
    title: str | None | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    valid_days: int | UnsetType = UNSET
    editable: bool | UnsetType = UNSET
    desktop_collapsed: bool | UnsetType = UNSET
    non_collapsed_questions_count: int | UnsetType = UNSET
    key_question_id: str | None | UnsetType = UNSET
    credits_accountable: bool | UnsetType = UNSET
    questionnaire_icon_url: str | None | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    public_link: bool | UnsetType = UNSET
    responses_max: int | None | UnsetType = UNSET


class QuestionnaireValue(Struct, kw_only=True):
    """
    A metadata value of an instance; without a declaration `metadata_id` is null and `type` is text.
    """

    questionnaire_id: str
    instance_id: str
    metadata_id: str | None
    name: str
    type: str
    value: str
    created_time: datetime
    updated_time: datetime


class QuestionnaireVersion(Struct, kw_only=True):
    """
    A published version; it never changes.
    """

    version_id: str
    questionnaire_id: str
    number: int
    note: str | None
    definition: dict[str, Any]
    checksum: str
    published_time: datetime
    published_by: str | None


class QueueBatch(Struct, kw_only=True):
    """
    An act on many items, and how far it has come.
    """

    batch_id: str
    action: str
    dry_run: bool
    state: str
    send_time: datetime | None
    reason: str | None
    application_id: str | None
    questionnaire_id: str | None
    pipeline_id: str | None
    import_id: str | None
    from_time: datetime | None
    to_time: datetime | None
    items_changed: int
    items_held: int
    items_skipped: int
    items_refused: int
    error: str | None
    created_time: datetime
    finished_time: datetime | None
    created_by: str | None


class QueueCount(Struct, kw_only=True):
    """
    Items of one status and reason.
    """

    status_id: int
    reason: str | None
    count: int
    is_capped: bool


class QueueHour(Struct, kw_only=True):
    """
    Waiting items that become due within an hour.
    """

    hour: datetime
    count: int
    is_capped: bool


class QueueItemRequest(Struct, kw_only=True):
    """
    A questionnaire to send: the address, the time, the metadata.
    """

    responder_channel_identifier: str
    locale: str | None | UnsetType = UNSET
    send_time: datetime | None | UnsetType = UNSET
    metadata: MetadataGroups | None | UnsetType = UNSET
    external_reference: str | None | UnsetType = UNSET
    test: bool | UnsetType = False


class QueueItemUpdate(Struct, kw_only=True):
    """
    The members that may change while an item is Pending; `status_id` 5 cancels it, other values do not act.
    """

    responder_channel_identifier: str | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    send_time: (
        Annotated[
            datetime,
            Meta(
                description="ISO 8601 with or without offset (then local in the organization's zone), not before 1970, at most five years ahead."
            ),
        ]
        | UnsetType
    ) = UNSET
    metadata: MetadataGroups | UnsetType = UNSET
    status_id: Literal[1, 2, 3, 4, 5, 6] | UnsetType = UNSET
    result: str | None | UnsetType = UNSET


class QueueOverlap(Struct, kw_only=True):
    """
    Another pipeline that wrote to the same people lately.
    """

    pipeline_id: str
    title: str
    people: int
    sampled_people: int


class Quota(Struct, kw_only=True):
    """
    An ending with `responses_max`, and the complete responses that count toward it.
    """

    ending_id: str
    title: str
    responses_max: int
    responses_count: int


class Redelivery(Struct, kw_only=True):
    """
    `count` deliveries were created or restarted. `next_cursor`: `after` of the next request; null: no more.
    """

    count: int
    next_cursor: str | None


class RedeliveryRequest(Struct, kw_only=True):
    """
    A span of the event log: from a time on, or behind a cursor.
    """

    from_time: datetime | None | UnsetType = UNSET
    to_time: datetime | None | UnsetType = UNSET
    after: str | None | UnsetType = UNSET


class Reminder(Struct, kw_only=True):
    """
    A message that follows an unanswered one, so long after it.
    """

    delay_days: int | UnsetType = 0
    delay_hours: int | UnsetType = 0
    delay_minutes: int | UnsetType = 0
    messages: dict[str, MessageTexts] | UnsetType = UNSET


class ReportDigest(Struct, kw_only=True):
    """
    A report that is mailed to the token's user, or sent to a chat, with the figures that the user may see then.
    """

    digest_id: str
    report_id: str | None
    frequency: str
    day: int
    hour: int
    locale: str
    recipient: str | None
    chat_id: str | None
    comments: bool
    confirmed_time: datetime | None
    due_time: datetime
    sent_time: datetime | None
    created_time: datetime


class ReportDigestRequest(Struct, kw_only=True):
    """
    A report to be mailed regularly.
    """

    frequency: Literal["monthly", "weekly"]
    day: int
    report_id: str | None | UnsetType = UNSET
    hour: int | UnsetType = 8
    locale: Literal["de", "el", "en", "es", "fr", "it"] | UnsetType = "en"
    recipient: str | None | UnsetType = UNSET
    chat_id: str | None | UnsetType = UNSET
    comments: bool | UnsetType = False


class ReportShare(Struct, kw_only=True):
    """
    A link to a report. Its reader sees whole months, and no small groups.
    """

    share_id: str
    report_id: str
    expires_time: datetime
    created_time: datetime
    created_by: str | None
    share_url: str | None | UnsetType = UNSET


class ReportShareRequest(Struct, kw_only=True):
    """
    A link to a report for somebody without a login.
    """

    days: int | UnsetType = 30


class ReportSpec(Struct, kw_only=True):
    """
    The definition of a custom report: metrics or a template, questionnaires, groups, period.
    """

    questionnaire_ids: list[str]
    metrics: list[MetricWanted] | UnsetType = UNSET
    template_id: (
        Literal[
            "by_metadata",
            "ces",
            "comments",
            "csat",
            "distribution",
            "drivers",
            "funnel",
            "nps",
            "sending",
            "trend",
        ]
        | None
        | UnsetType
    ) = UNSET
    group_by: list[str] | UnsetType = UNSET
    filter: dict[str, Any] | None | UnsetType = UNSET
    last_days: int | None | UnsetType = UNSET
    chart: Literal["bar", "gauge", "line", "table"] | UnsetType = "table"
    from_time: datetime | None | UnsetType = UNSET
    to_time: datetime | None | UnsetType = UNSET
    calendar_period: (
        Literal[
            "last_month",
            "last_quarter",
            "last_week",
            "last_year",
            "this_month",
            "this_quarter",
            "this_week",
            "this_year",
        ]
        | None
        | UnsetType
    ) = UNSET
    time_zone: str | None | UnsetType = UNSET
    date_basis: Literal["completed", "sent", "submitted"] | None | UnsetType = UNSET
    level: float | UnsetType = 0.95
    compare: Literal["none", "previous_period", "previous_year", "rest"] | UnsetType = "none"
    question_id: str | None | UnsetType = UNSET
    metric: Literal["ces", "completion", "csat", "mean", "nps", "response"] | None | UnsetType = UNSET
    bucket: Literal["day", "month", "quarter", "week"] | None | UnsetType = UNSET
    metadata: str | None | UnsetType = UNSET
    channel_id: int | None | UnsetType = UNSET
    pipeline_id: str | None | UnsetType = UNSET
    outcome_question_id: str | None | UnsetType = UNSET
    question_ids: list[str] | None | UnsetType = UNSET
    by: Literal["bucket", "channel", "pipeline"] | None | UnsetType = UNSET
    band: Literal["detractor", "passive", "promoter"] | None | UnsetType = UNSET


class ReportedShare(Struct, kw_only=True):
    """
    Messages of which something was reported, as a share with its interval of 95 %. `is_high`: all of it is above.
    """

    count: int
    share: float | None
    low: float | None
    high: float | None
    share_max: float
    is_high: bool


class ResponderCount(Struct, kw_only=True):
    """
    The number of responders.
    """

    count: int


class ResponderIdentifier(Struct, kw_only=True):
    """
    An address in its normal form.
    """

    channel_id: int
    identifier: str


class ResponderRequest(Struct, kw_only=True):
    """
    A person to create.
    """

    metadata: dict[str, str | None]
    locale: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET


class ResponderUpdate(Struct, kw_only=True):
    """
    The members of a responder that may change.
    """

    locale: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET
    metadata: dict[str, str | None] | UnsetType = UNSET


class ResponderValue(Struct, kw_only=True):
    """
    A metadata value of a responder; without a declaration `metadata_id` is null and `type` is text.
    """

    responder_id: str
    metadata_id: str | None
    name: str
    type: str
    value: str
    created_time: datetime
    updated_time: datetime


class Response(Struct, kw_only=True):
    """
    A response with what tells most of it, within seconds after it was given.
    """

    instance_id: str
    questionnaire_id: str
    version_id: str
    submitted_time: datetime
    locale: str
    test: bool
    channel_id: int | None
    responder_id: str | None
    external_reference: str | None
    response_import_id: str | None
    score_question_id: str | None
    score_kind: str | None
    score: int | None
    score_max: int | None
    band: str | None
    comment: str | None
    tags: list[str]
    alert_instance_id: str | None


class ResponseCounts(Struct, kw_only=True):
    """
    The number of responses, by what they have in common; those without a score or band are in no part of it.
    """

    count: int
    is_part: bool
    comment: int
    bands: dict[str, int]
    score_kinds: dict[str, int]
    channels: dict[str, int]
    questionnaires: dict[str, int]


class ResponseFile(Struct, kw_only=True):
    """
    A file that answers a question.
    """

    file_id: str
    name: str
    type: str
    bytes: int


class ResponseFilter(Struct, kw_only=True):
    """
    The filter of a list, with a condition over answers, metadata and tags; an unknown member is refused.
    """

    questionnaire_id: str | None | UnsetType = UNSET
    application_id: str | None | UnsetType = UNSET
    from_time: datetime | None | UnsetType = UNSET
    to_time: datetime | None | UnsetType = UNSET
    only: Literal["comment", "unhappy"] | None | UnsetType = UNSET
    band: Literal["detractor", "passive", "promoter"] | None | UnsetType = UNSET
    score_kind: Literal["ces", "csat", "nps", "rating", "smileys"] | None | UnsetType = UNSET
    tag: str | None | UnsetType = UNSET
    channel_id: int | None | UnsetType = UNSET
    link_id: str | None | UnsetType = UNSET
    imported: bool | None | UnsetType = UNSET
    response_import_id: str | None | UnsetType = UNSET
    search: str | None | UnsetType = UNSET
    word: str | None | UnsetType = UNSET
    test: bool | UnsetType = False
    condition: dict[str, Any] | None | UnsetType = UNSET


class ResponseImport(Struct, kw_only=True):
    """
    Responses that were brought in together, and how far that has come.
    """

    response_import_id: str
    questionnaire_id: str
    title: str | None
    format: str
    file_name: str | None
    state: str
    rows_read: int
    rows_created: int
    rows_unchanged: int
    rows_failed: int
    rows_removed: int
    created_time: datetime
    updated_time: datetime
    finished_time: datetime | None
    created_by: str | None


class ResponseImportRequest(Struct, kw_only=True):
    """
    An import to open.
    """

    questionnaire_id: str
    title: str | None | UnsetType = UNSET


class ResponseImportUpdate(Struct, kw_only=True):
    """
    The name of an import, and its end.
    """

    title: str | UnsetType = UNSET
    state: Literal["done"] | UnsetType = UNSET


class ResponseMetadata(Struct, kw_only=True):
    """
    Values by name; empty where the token may not read them.
    """

    questionnaire: dict[str, str]
    responder: dict[str, str]


class ResponseSearch(Struct, kw_only=True):
    """
    The responses that are searched for.
    """

    questionnaire_id: str | None | UnsetType = UNSET
    application_id: str | None | UnsetType = UNSET
    from_time: datetime | None | UnsetType = UNSET
    to_time: datetime | None | UnsetType = UNSET
    only: Literal["comment", "unhappy"] | None | UnsetType = UNSET
    band: Literal["detractor", "passive", "promoter"] | None | UnsetType = UNSET
    score_kind: Literal["ces", "csat", "nps", "rating", "smileys"] | None | UnsetType = UNSET
    tag: str | None | UnsetType = UNSET
    channel_id: int | None | UnsetType = UNSET
    link_id: str | None | UnsetType = UNSET
    imported: bool | None | UnsetType = UNSET
    response_import_id: str | None | UnsetType = UNSET
    search: str | None | UnsetType = UNSET
    word: str | None | UnsetType = UNSET
    test: bool | UnsetType = False
    condition: dict[str, Any] | None | UnsetType = UNSET
    limit: int | UnsetType = 50
    cursor: str | None | UnsetType = UNSET


class ResponseTheme(Struct, kw_only=True):
    """
    A theme of comments, with the words by which a comment is counted for it.
    """

    theme_id: str
    title: str
    words: list[str]
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class ResponseThemeRequest(Struct, kw_only=True):
    """
    A theme of comments, with its words.
    """

    title: str
    words: list[str]


class ResponseThemeUpdate(Struct, kw_only=True):
    """
    Changes of a theme; they hold for all comments, also for old ones.
    """

    title: str | UnsetType = UNSET
    words: list[str] | UnsetType = UNSET


class ResponseView(Struct, kw_only=True):
    """
    A saved filter of the list of responses.
    """

    view_id: str
    user_id: str
    title: str
    query: str
    shared: bool
    created_time: datetime


class ResponseViewRequest(Struct, kw_only=True):
    """
    A filter of the list of responses, with a name.
    """

    title: str
    query: str
    shared: bool | UnsetType = False


class Retention(Struct, kw_only=True):
    """
    The time for which an organization keeps personal data, in days.
    """

    organization_id: str
    anonymize_after_days: int | None
    delete_after_days: int | None
    texts_days: int | None
    people_days: int | None
    items_days: int | None
    uploads_days: int | None
    answers_days: int | None
    events_days: int | None
    audit_days: int | None
    exports_days: int | None
    updated_time: datetime
    updated_by: str | None


class RetentionPreviewPart(Struct, kw_only=True):
    """
    The rows that one kind of run would touch now.
    """

    kind: str
    days: int
    count: int
    is_more: bool


class RetentionRun(Struct, kw_only=True):
    """
    A run over one kind of data. `counts`: rows that it changed or removed, by resource.
    """

    run_id: str
    kind: str
    days: int
    before_time: datetime
    state: str
    counts: dict[str, int]
    started_time: datetime
    finished_time: datetime | None


class RetentionUpdate(Struct, kw_only=True):
    """
    Changes of retention periods, in days.
    """

    anonymize_after_days: int | None | UnsetType = UNSET
    delete_after_days: int | None | UnsetType = UNSET
    texts_days: int | None | UnsetType = UNSET
    people_days: int | None | UnsetType = UNSET
    items_days: int | None | UnsetType = UNSET
    uploads_days: int | None | UnsetType = UNSET
    answers_days: int | None | UnsetType = UNSET
    events_days: int | None | UnsetType = UNSET
    audit_days: int | None | UnsetType = UNSET
    exports_days: int | None | UnsetType = UNSET


class RotationRequest(Struct, kw_only=True):
    """
    The hours for which the old token stays valid beside the new one.
    """

    overlap_hours: int | UnsetType = 24


class SampleEvent(Struct, kw_only=True):
    """
    The event of a delivery.
    """

    event_id: str
    type: str
    created_time: datetime
    organization_id: str


class SavedText(Struct, kw_only=True):
    """
    A text for replies and comments; its variables stand in two braces.
    """

    title: str
    body: str


class SearchHit(Struct, kw_only=True):
    """
    A thing that was found.
    """

    kind: str
    id: str
    title: str
    detail: str | None
    time: datetime | None


class SearchResult(Struct, kw_only=True):
    """
    The things that were found, by kind.
    """

    results: list[SearchHit]


class SeenMetadataValue(Struct, kw_only=True):
    """
    SeenMetadataValue
    """

    value: str
    count: int


class SelectionShown(Struct, kw_only=True):
    """
    The responses behind a row: of these questionnaires, with the time of `date_basis` in the period. They meet `condition`, which is one as in `filter`, and the other members. Where one is null, any do. Of comments, `only`, `band` and `word` are as the list of responses takes them. `channel_id` 0 is a link that was not sent.
    """

    questionnaire_ids: list[str]
    from_time: datetime
    to_time: datetime
    date_basis: str
    condition: dict[str, Any] | None
    version_id: str | None
    channel_id: int | None
    pipeline_id: str | None
    locale: str | None
    only: str | None
    band: str | None
    word: str | None


class SenderDomain(Struct, kw_only=True):
    """
    A domain that mails are sent from, with what DNS says of it.
    """

    domain: str
    findings: list[DomainFinding]


class Sequence(Struct, kw_only=True):
    """
    A rule by which a response to one questionnaire puts an item into the queue of another.
    """

    sequence_id: str
    organization_id: str
    title: str
    kind: str
    from_questionnaire_id: str
    pipeline_id: str
    trigger: str
    conditions: dict[str, Any] | None
    active: bool
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class SequenceRequest(Struct, kw_only=True):
    """
    Which responses put an item into which pipeline; no `conditions`: every response.
    """

    title: str
    from_questionnaire_id: str
    pipeline_id: str
    kind: Literal["manual", "recovery", "review"] | UnsetType = "manual"
    trigger: Literal["completed", "submitted"] | UnsetType = "submitted"
    conditions: dict[str, Any] | None | UnsetType = UNSET
    active: bool | UnsetType = True


class SequenceUpdate(Struct, kw_only=True):
    """
    The members that may change; existing items stay as they are.
    """

    title: str | UnsetType = UNSET
    pipeline_id: str | UnsetType = UNSET
    trigger: Literal["completed", "submitted"] | UnsetType = UNSET
    conditions: dict[str, Any] | None | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class SlowDomain(Struct, kw_only=True):
    """
    A recipient domain that throttles, and how many messages a second go there.
    """

    domain: str
    rate: float


class Source(Struct, kw_only=True):
    """
    A system that calls `url` when something happened to an order or a ticket.
    """

    source_id: str
    title: str
    kind: str
    application_id: str | None
    active: bool
    settings: dict[str, str]
    has_secret: bool
    note_active: bool
    note_address: str | None
    note_user: str | None
    has_note_token: bool
    note_sent_time: datetime | None
    note_problem: str | None
    note_disabled_time: datetime | None
    url: str
    last_time: datetime | None
    refused_count: int
    refused_time: datetime | None
    problem: str | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class SourceDecision(Struct, kw_only=True):
    """
    The decision of a rule: an item was made, the one that waited was cancelled, or why nothing was done.
    """

    source_rule_id: str
    state: str
    reason: str | None
    detail: str | None
    item_id: str | None


class SourceEvent(Struct, kw_only=True):
    """
    An event that a source told of: kept for 30 days. `time`: when it happened there.
    """

    source_event_id: str
    source_id: str
    event_id: str
    what: str
    name: str
    time: datetime
    subject: str
    values: dict[str, str | int | float | bool]
    is_test: bool
    state: str
    decisions: list[SourceDecision]
    received_time: datetime


class SourceRequest(Struct, kw_only=True):
    """
    A new source. `secret` is what that system signs its calls with: stored sealed, and shown to nobody. Without one every call is refused.
    """

    title: str
    kind: str
    application_id: str | None | UnsetType = UNSET
    active: bool | UnsetType = True
    settings: dict[str, str] | UnsetType = UNSET
    secret: str | None | UnsetType = UNSET
    note_active: bool | UnsetType = False
    note_address: str | None | UnsetType = UNSET
    note_user: str | None | UnsetType = UNSET
    note_token: str | None | UnsetType = UNSET


class SourceRule(Struct, kw_only=True):
    """
    A rule by which an event of a source puts an item into the queue of a pipeline. Without `delay_days` and `delay_hours` the pipeline's own delay counts. `unless`: events of the same subject after which nobody is asked, and by which an item that waits is cancelled. Older events than `age_days_max` ask nobody.
    """

    source_rule_id: str
    source_id: str
    what: str
    conditions: dict[str, Any] | None
    pipeline_id: str
    delay_days: int | None
    delay_hours: int | None
    unless: list[str]
    age_days_max: int
    active: bool
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class SourceRuleRequest(Struct, kw_only=True):
    """
    When an event of a source asks, through which pipeline, and when it does not.
    """

    what: Literal[
        "customer.created",
        "order.cancelled",
        "order.created",
        "order.delivered",
        "order.paid",
        "order.refunded",
        "order.shipped",
        "other",
        "subscription.ended",
        "ticket.created",
        "ticket.reopened",
        "ticket.solved",
    ]
    pipeline_id: str
    conditions: dict[str, Any] | None | UnsetType = UNSET
    delay_days: int | None | UnsetType = UNSET
    delay_hours: int | None | UnsetType = UNSET
    unless: (
        list[
            Literal[
                "customer.created",
                "order.cancelled",
                "order.created",
                "order.delivered",
                "order.paid",
                "order.refunded",
                "order.shipped",
                "other",
                "subscription.ended",
                "ticket.created",
                "ticket.reopened",
                "ticket.solved",
            ]
        ]
        | UnsetType
    ) = UNSET
    age_days_max: int | UnsetType = 14
    active: bool | UnsetType = True


class SourceRuleUpdate(Struct, kw_only=True):
    """
    Changes of a rule; items that it made stay as they are.
    """

    what: (
        Literal[
            "customer.created",
            "order.cancelled",
            "order.created",
            "order.delivered",
            "order.paid",
            "order.refunded",
            "order.shipped",
            "other",
            "subscription.ended",
            "ticket.created",
            "ticket.reopened",
            "ticket.solved",
        ]
        | UnsetType
    ) = UNSET
    pipeline_id: str | UnsetType = UNSET
    conditions: dict[str, Any] | None | UnsetType = UNSET
    delay_days: int | None | UnsetType = UNSET
    delay_hours: int | None | UnsetType = UNSET
    unless: (
        list[
            Literal[
                "customer.created",
                "order.cancelled",
                "order.created",
                "order.delivered",
                "order.paid",
                "order.refunded",
                "order.shipped",
                "other",
                "subscription.ended",
                "ticket.created",
                "ticket.reopened",
                "ticket.solved",
            ]
        ]
        | UnsetType
    ) = UNSET
    age_days_max: int | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class SourceUpdate(Struct, kw_only=True):
    """
    Changes of a source. `secret` null, or left out, keeps the stored one.
    """

    title: str | UnsetType = UNSET
    application_id: str | None | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    settings: dict[str, str] | UnsetType = UNSET
    secret: str | None | UnsetType = UNSET
    note_active: bool | UnsetType = UNSET
    note_address: str | None | UnsetType = UNSET
    note_user: str | None | UnsetType = UNSET
    note_token: str | None | UnsetType = UNSET


class SpecShown(Struct, kw_only=True):
    """
    A spec with every member.
    """

    questionnaire_ids: list[str]
    metrics: list[MetricShown]
    group_by: list[str]
    bucket: str | None
    filter: dict[str, Any] | None
    from_time: datetime | None
    to_time: datetime | None
    last_days: int | None
    date_basis: str | None
    time_zone: str | None
    compare: str
    level: float
    chart: str
    calendar_period: str | None | UnsetType = UNSET
    template_id: str | None | UnsetType = UNSET
    question_id: str | None | UnsetType = UNSET
    metric: str | None | UnsetType = UNSET
    metadata: str | None | UnsetType = UNSET
    channel_id: int | None | UnsetType = UNSET
    pipeline_id: str | None | UnsetType = UNSET
    outcome_question_id: str | None | UnsetType = UNSET
    question_ids: list[str] | None | UnsetType = UNSET
    by: str | None | UnsetType = UNSET
    band: str | None | UnsetType = UNSET


class Suppression(Struct, kw_only=True):
    """
    A suppressed address; `identifier` is its normal form, after erasure a keyed hash.
    """

    suppression_id: str
    organization_id: str
    channel_id: int
    identifier: str
    reason: str
    expires_time: datetime | None
    note: str | None
    created_time: datetime
    created_by: str | None


class SuppressionRequest(Struct, kw_only=True):
    """
    An address to suppress.
    """

    channel_id: Literal[1, 2, 3, 4, 5]
    identifier: str
    reason: Literal["blocked", "complaint", "erased", "hard_bounce", "unsubscribed"] | UnsetType = "blocked"
    expires_time: datetime | None | UnsetType = UNSET
    note: str | None | UnsetType = UNSET


class Tag(Struct, kw_only=True):
    """
    A tag of an instance, in lower case.
    """

    instance_id: str
    tag: str
    created_time: datetime
    created_by: str | None


class TagRequest(Struct, kw_only=True):
    """
    A tag to add.
    """

    tag: str


class TagUpdate(Struct, kw_only=True):
    """
    Another name for a tag.
    """

    tag: str | UnsetType = UNSET


class Tagging(Struct, kw_only=True):
    """
    A tag for many responses, and how far it has come; a worker goes on with what the request left.
    """

    tagging_id: str
    tag: str
    action: str
    state: str
    found: int
    passed: int
    changed: int
    undone: int
    created_time: datetime


class TaggingRequest(Struct, kw_only=True):
    """
    A tag, and the responses that get or lose it: all that match the filter, or those of these ids.
    """

    tag: str
    action: Literal["add", "remove"] | UnsetType = "add"
    filter: ResponseFilter | UnsetType = UNSET
    instance_ids: list[str] | None | UnsetType = UNSET


class TemplateParameter(Struct, kw_only=True):
    """
    A query parameter of a template.
    """

    name: str
    type: str
    required: bool
    default: Any


class TestClock(Struct, kw_only=True):
    """
    The clock of the organization's test items.
    """

    time: datetime
    ahead_seconds: int


class TestClockRequest(Struct, kw_only=True):
    """
    Hours to move the clock forward by.
    """

    hours: int


class TestSend(Struct, kw_only=True):
    """
    A test message and its result. `body` is the plain text; empty if nothing was written. `segments` and `encoding` are those of an SMS.
    """

    responder_channel_identifier: str
    locale: str
    subject: str | None
    body: str
    outcome: str
    reply: str | None
    sent_time: datetime | None
    segments: int | None
    encoding: str | None


class Theme(Struct, kw_only=True):
    """
    The look of a questionnaire's pages and mails, with all that it inherits.
    """

    questionnaire_id: str
    visual_id: str | None
    color_primary: str | None
    color_background: str | None
    color_text: str | None
    logo: str | None
    font: str
    corner_radius: int | None
    density: str
    layout: str
    show_progress: bool
    sources: dict[str, str]
    unused: list[str]
    contrasts: list[Contrast]


class TimelineEntry(Struct, kw_only=True):
    """
    One thing that happened to a person, or that is planned.
    """

    entry_id: str
    kind: str
    time: datetime
    title: str | None
    questionnaire_id: str | None
    item_id: str | None
    instance_id: str | None
    alert_instance_id: str | None
    channel_id: int | None
    source: str | None
    order_key: str | None
    reason: str | None
    result: str | None
    test: bool
    score_question_id: str | None
    score: int | None
    band: str | None
    comment: str | None


class Token(Struct, kw_only=True):
    """
    An API token. `token` is its text, in the answer that creates it and never again.
    """

    token_id: str
    organization_id: str
    user_id: str | None
    title: str
    kind: str
    scopes: list[str]
    application_ids: list[str]
    only_where: str | None
    only_values: list[str]
    networks: list[str]
    test: bool
    hint: str
    token: str | None
    expires_time: datetime | None
    revoked_time: datetime | None
    last_used_time: datetime | None
    created_time: datetime
    created_by: str | None


class TokenRequest(Struct, kw_only=True):
    """
    A token to create. Without `kind`: of the same kind as the caller's.
    """

    title: str
    scopes: list[str]
    kind: Literal["organization", "user"] | None | UnsetType = UNSET
    user_id: str | None | UnsetType = UNSET
    application_ids: list[str] | UnsetType = UNSET
    only_where: str | None | UnsetType = UNSET
    only_values: list[str] | UnsetType = UNSET
    networks: list[str] | UnsetType = UNSET
    expires_time: datetime | None | UnsetType = UNSET
    test: bool | UnsetType = False


class TokenUpdate(Struct, kw_only=True):
    """
    Changes of a token.
    """

    title: str | UnsetType = UNSET
    networks: list[str] | UnsetType = UNSET


class Translation(Struct, kw_only=True):
    """
    One text and its translation.
    """

    key: str
    path: str
    question_id: str | None
    member: str
    source: str
    target: str | None
    state: str
    source_before: str | None


class TranslationRequest(Struct, kw_only=True):
    """
    One translation.
    """

    key: str
    source: str | None | UnsetType = UNSET
    target: str | None | UnsetType = UNSET


class Translations(Struct, kw_only=True):
    """
    All texts of a draft beside those of another language.
    """

    questionnaire_id: str
    default_locale: str
    locale: str
    texts_count: int
    missing_count: int
    changed_count: int
    texts: list[Translation]
    unknown_keys: list[str]


class TranslationsRequest(Struct, kw_only=True):
    """
    Translations to save; the others stay as they are.
    """

    locale: str
    texts: list[TranslationRequest]


class TriedEvent(Struct, kw_only=True):
    """
    The decision about an event. `planned_time`: when the message would leave.
    """

    source_event_id: str
    subject: str
    asks: bool
    reason: str | None
    detail: str | None
    planned_time: datetime | None


class TriedOutcome(Struct, kw_only=True):
    """
    Invitations with one outcome: `reason` says why they are not asked, null that they are.
    """

    reason: str | None
    before: int
    after: int


class TriedRule(Struct, kw_only=True):
    """
    The decisions about the last events of the rule's sort, the newest first.
    """

    results: list[TriedEvent]
    asked: int


class User(Struct, kw_only=True):
    """
    A user of the organization. Without `application_ids`: of all its applications.
    """

    user_id: str
    organization_id: str
    email: str | None
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    display_name: str | None
    locale: str | None
    time_zone: str | None
    role: str
    application_ids: list[str]
    only_where: str | None
    only_values: list[str]
    active: bool
    service: bool
    invited_time: datetime
    last_login_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class UserApplication(Struct, kw_only=True):
    """
    An application that a user reaches.
    """

    application_id: str
    display_name: str


class UserRequest(Struct, kw_only=True):
    """
    A user to invite, or a service account.
    """

    role: Literal["admin", "agent", "owner", "reporting"]
    email: str | None | UnsetType = UNSET
    first_name: str | None | UnsetType = UNSET
    middle_name: str | None | UnsetType = UNSET
    last_name: str | None | UnsetType = UNSET
    display_name: str | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET
    application_ids: list[str] | UnsetType = UNSET
    only_where: str | None | UnsetType = UNSET
    only_values: list[str] | UnsetType = UNSET
    active: bool | UnsetType = True
    service: bool | UnsetType = False


class UserUpdate(Struct, kw_only=True):
    """
    Changes of a user.
    """

    first_name: str | None | UnsetType = UNSET
    middle_name: str | None | UnsetType = UNSET
    last_name: str | None | UnsetType = UNSET
    display_name: str | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET
    role: Literal["admin", "agent", "owner", "reporting"] | UnsetType = UNSET
    application_ids: list[str] | UnsetType = UNSET
    only_where: str | None | UnsetType = UNSET
    only_values: list[str] | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class Validation(Struct, kw_only=True):
    """
    All problems of a definition.
    """

    problems: list[Problem]


class VersionDifference(Struct, kw_only=True):
    """
    All changes from a version to another one, or to the draft.
    """

    questionnaire_id: str
    version_id: str
    compared_id: str
    differences: list[Difference]


class VisualProblem(Struct, kw_only=True):
    """
    A key of a configuration that pages and mails do not show, and why.
    """

    key: str
    code: str
    message: str


class VisualRequest(Struct, kw_only=True):
    """
    A visual to create.
    """

    title: str
    configuration: dict[str, Any]
    active: bool | UnsetType = False


class VisualUpdate(Struct, kw_only=True):
    """
    The members of a visual that may change; a configuration is replaced as a whole.
    """

    title: str | UnsetType = UNSET
    configuration: dict[str, Any] | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class Webhook(Struct, kw_only=True):
    """
    An endpoint of yours that receives events. `secret` signs them: shown when it is created, and never again.
    """

    webhook_id: str
    organization_id: str
    title: str
    active: bool
    target_url: str
    questionnaire_id: str | None
    application_id: str | None
    event_types: list[str]
    secret: str | None
    consecutive_failures: int
    disabled_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class WebhookRequest(Struct, kw_only=True):
    """
    A new endpoint. No `questionnaire_id`, no `application_id`: of all of them.
    """

    title: str
    target_url: str
    active: bool | UnsetType = True
    questionnaire_id: str | None | UnsetType = UNSET
    application_id: str | None | UnsetType = UNSET
    event_types: list[str] | UnsetType = UNSET


class WebhookSample(Struct, kw_only=True):
    """
    The body of a delivery: the members of the changed resource beside `event`.
    """

    event: SampleEvent


class WebhookUpdate(Struct, kw_only=True):
    """
    Changes of an endpoint; `active` true switches one on again that failures switched off.
    """

    title: str | UnsetType = UNSET
    target_url: str | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    questionnaire_id: str | None | UnsetType = UNSET
    application_id: str | None | UnsetType = UNSET
    event_types: list[str] | UnsetType = UNSET


class Error(Struct, kw_only=True):
    code: str
    message: str
    pointer: str | UnsetType = UNSET
    parameter: str | UnsetType = UNSET
    header: str | UnsetType = UNSET


class ProblemDetails(Struct, kw_only=True):
    """
    The body of every refusal.
    """

    type: str
    title: str
    status: int
    code: str
    detail: str
    message: str
    error: str
    instance: str
    request_id: str
    errors: list[Error]
    required_scopes: list[str] | UnsetType = UNSET


class AlertInstance(Struct, kw_only=True):
    """
    A case that an alert opened. Its response is null if a daily figure opened it. `call_back_number` and `call_back_note`, the customer's words, are null without the scope `Responder.Read`.
    """

    alert_instance_id: str
    alert_id: str
    questionnaire_id: str | None
    instance_id: str | None
    responder_id: str | None
    status_id: int
    assigned_user_id: str | None
    severity: str
    due_time: datetime | None
    occurrences: int
    matched: list[LeafResult]
    comments_count: int
    resolved_time: datetime | None
    resolved_by: str | None
    recovery_item_id: str | None
    waiting: bool
    waiting_since: datetime | None
    due_left_seconds: int | None
    call_back_time: datetime | None
    call_back_number: str | None
    call_back_until_time: datetime | None
    call_back_note: str | None
    call_back_requested_time: datetime | None
    cause: str | None
    remedy: str | None
    in_time: bool | None
    work_seconds: int | None
    recovery_instance_id: str | None
    recovery_time: datetime | None
    recovered: bool | None
    escalated_time: datetime | None
    created_time: datetime
    updated_time: datetime
    updated_by: str | None


class AlertInstanceUpdate(Struct, kw_only=True):
    """
    Changes of a case.
    """

    status_id: int | UnsetType = UNSET
    assigned_user_id: str | None | UnsetType = UNSET
    severity: Literal["critical", "high", "low", "normal"] | UnsetType = UNSET
    due_time: datetime | None | UnsetType = UNSET
    waiting: bool | UnsetType = UNSET
    call_back_time: datetime | None | UnsetType = UNSET
    call_back_number: str | None | UnsetType = UNSET
    cause: str | None | UnsetType = UNSET
    remedy: str | None | UnsetType = UNSET


class AlertPreview(Struct, kw_only=True):
    """
    Of the newest `responses`, since `from_time`, `matched` would have been matched.
    """

    responses: int
    matched: int
    from_time: datetime | None
    owners: list[AlertPreviewOwner]


class AlertSettings(Struct, kw_only=True):
    """
    Business hours in the organization's time zone, by ISO weekdays, 1 is Monday; and what cases offer to choose.
    """

    organization_id: str
    weekdays: list[int]
    start_time: str | None
    end_time: str | None
    closed_on_holidays: bool
    causes: list[str]
    remedies: list[str]
    saved_texts: list[SavedText]
    recovery_questionnaire_id: str | None
    updated_time: datetime
    updated_by: str | None


class AlertSettingsUpdate(Struct, kw_only=True):
    """
    Changes of the settings; a list is replaced as a whole.
    """

    weekdays: list[int] | UnsetType = UNSET
    start_time: str | None | UnsetType = UNSET
    end_time: str | None | UnsetType = UNSET
    closed_on_holidays: bool | UnsetType = UNSET
    causes: list[str] | UnsetType = UNSET
    remedies: list[str] | UnsetType = UNSET
    saved_texts: list[SavedText] | UnsetType = UNSET
    recovery_questionnaire_id: str | None | UnsetType = UNSET


class Assignment(Struct, kw_only=True):
    """
    Owners of new cases by the value of a field, as conditions name it; `user_ids`: for all other cases. Of several users the one with the fewest open cases gets it.
    """

    subject: str | None | UnsetType = UNSET
    choices: list[AssignmentChoice] | UnsetType = UNSET
    user_ids: list[str] | UnsetType = UNSET


class BatchFilter(Struct, kw_only=True):
    """
    A filter of items by their `send_time` and more. A missing member filters nothing, an unknown one is refused.
    """

    reason: str | None | UnsetType = UNSET
    pipeline_id: str | None | UnsetType = UNSET
    questionnaire_id: str | None | UnsetType = UNSET
    application_id: str | None | UnsetType = UNSET
    from_time: datetime | None | UnsetType = UNSET
    to_time: datetime | None | UnsetType = UNSET
    import_id: str | None | UnsetType = UNSET


class BatchResult(Struct, kw_only=True):
    """
    The outcomes of all rows, in their order.
    """

    results: list[BatchRow]
    created: int
    updated: int
    failed: int


class CaseCounts(Struct, kw_only=True):
    """
    The work on the cases of one group.
    """

    key: str | None
    title: str | None
    opened: int
    closed: int
    in_time: CaseShare
    median_hours: float | None
    measured: int
    answered: int
    won_back: CaseShare


class CaseFigures(Struct, kw_only=True):
    """
    The work on cases in a period: each counts as opened, closed and asked again by the time when it was.
    """

    from_time: datetime
    to_time: datetime
    group_by: str | None
    total: CaseCounts
    rows: list[CaseCounts]
    truncated: bool


class Check(Struct, kw_only=True):
    """
    The result of one rule.
    """

    rule: str
    passed: bool
    detail: str | None
    until_time: datetime | None
    leaves: list[LeafResult]


class CommentGroup(Struct, kw_only=True):
    """
    The comments of a group.
    """

    value: str | None
    n: int
    words: list[CommentWord]


class CommentWords(Struct, kw_only=True):
    """
    The words of comments, those that most have first.
    """

    n: int
    from_time: datetime | None
    suppressed: bool
    words: list[CommentWord]
    groups: list[CommentGroup]
    suppressed_groups: int


class ConditionTestResult(Struct, kw_only=True):
    """
    The result of the conditions, and of each comparison in them.
    """

    matches: bool
    leaves: list[LeafResult]


class CustomReport(Struct, kw_only=True):
    """
    A saved report.
    """

    report_id: str
    organization_id: str
    application_id: str | None
    title: str
    description: str | None
    spec: SpecShown
    pinned: bool
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class CustomReportRequest(Struct, kw_only=True):
    """
    A report to be saved.
    """

    title: str
    spec: ReportSpec
    description: str | None | UnsetType = UNSET
    application_id: str | None | UnsetType = UNSET


class CustomReportUpdate(Struct, kw_only=True):
    """
    The members of a report that may change; the spec as a whole.
    """

    title: str | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    spec: ReportSpec | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET


class Draft(Struct, kw_only=True):
    """
    A definition that is edited until it is published.
    """

    questionnaire_id: str
    base_version_id: str | None
    revision: int
    definition: dict[str, Any]
    problems: list[Problem]
    length_seconds: int
    screens: int
    updated_time: datetime
    updated_by: str | None


class Event(Struct, kw_only=True):
    """
    A change. `data` is the changed resource after it; `cursor` its position in the log, for `after`.
    """

    event_id: str
    cursor: str
    type: str
    created_time: datetime
    organization_id: str
    application_id: str | None
    questionnaire_id: str | None
    subject_id: str | None
    subject_version: int | None
    actor: EventActor
    test: bool
    data: dict[str, Any]


class ExportRequest(Struct, kw_only=True):
    """
    The content of a file. It holds responses whose time of `date_basis` lies in the period.
    """

    format: Literal["csv", "jsonl", "parquet", "sav", "xlsx"]
    locale: str | None | UnsetType = UNSET
    values: Literal["both", "codes", "labels"] | UnsetType = "both"
    include_metadata: bool | UnsetType = True
    include_recipient: bool | UnsetType = False
    byte_order_mark: bool | UnsetType = False
    from_time: datetime | None | UnsetType = UNSET
    to_time: datetime | None | UnsetType = UNSET
    date_basis: Literal["completed", "sent", "submitted"] | UnsetType = "submitted"
    filter: dict[str, Any] | None | UnsetType = UNSET
    include_incomplete: bool | UnsetType = True
    since_cursor: str | None | UnsetType = UNSET


class Figure(Struct, kw_only=True):
    """
    One number with its unit, base, interval and method.
    """

    metric: str
    value: float | None
    unit: str
    n: int | None
    base: str
    population: int | None
    interval: Interval | None
    method: str
    scale: str | None
    parts: dict[str, int] | None
    suppressed: bool
    suppressed_reason: str | None
    change: Change | None


class FoundResponses(Struct, kw_only=True):
    """
    A page of a search. One that is not full may have others behind its `next_cursor`, which is null at the end.
    """

    results: list[Response]
    next_cursor: str | None


class Group(Struct, kw_only=True):
    """
    A group of questions: one page.
    """

    group_id: str
    questionnaire_id: str
    version_id: str | None
    position: int
    questions_count: int
    title: str | None
    description: str | None
    display_name: str | None
    enabled: bool
    translations: dict[str, GroupTranslation]


class InstanceRequest(Struct, kw_only=True):
    """
    An instance to issue; every member is optional.
    """

    responder_id: str | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    valid_days: int | None | UnsetType = UNSET
    editable: bool | None | UnsetType = UNSET
    sent_time: datetime | None | UnsetType = UNSET
    delivered_time: datetime | None | UnsetType = UNSET
    metadata: MetadataGroups | None | UnsetType = UNSET
    reference_id: str | None | UnsetType = UNSET


class ListExportRequest(Struct, kw_only=True):
    """
    The form of a file, and the responses in it: those of a search.
    """

    format: Literal["csv", "jsonl", "parquet", "sav", "xlsx"]
    locale: str | None | UnsetType = UNSET
    values: Literal["both", "codes", "labels"] | UnsetType = "both"
    include_metadata: bool | UnsetType = True
    include_recipient: bool | UnsetType = False
    byte_order_mark: bool | UnsetType = False
    filter: ResponseFilter | UnsetType = UNSET


class NotificationSubscription(Struct, kw_only=True):
    """
    The subscription of a user: types of events and watched things. A type that is not named has its default.
    """

    user_id: str
    types: dict[str, NotificationWays]
    watches: list[NotificationWatch]
    digest: str
    updated_time: datetime


class NotificationSubscriptionRequest(Struct, kw_only=True):
    """
    The whole subscription of a user; members that are left out get their defaults.
    """

    types: dict[str, NotificationWays] | UnsetType = UNSET
    watches: list[NotificationWatch] | UnsetType = UNSET
    digest: Literal["daily", "none", "weekly"] | UnsetType = "none"


class OverviewBin(Struct, kw_only=True):
    """
    A step of a trend, from its first day on.
    """

    bucket: str
    figure: Figure


class OverviewScore(Struct, kw_only=True):
    """
    A score of all questionnaires together; its `change` is against as many days before.
    """

    figure: Figure
    bins: list[OverviewBin]
    of_all: Figure | None | UnsetType = UNSET


class PastResponse(Struct, kw_only=True):
    """
    A response that was given elsewhere. One of the times is needed.
    """

    external_id: str
    answers: dict[str, Any] | list[dict[str, Any]]
    started_time: datetime | None | UnsetType = UNSET
    completed_time: datetime | None | UnsetType = UNSET
    channel_id: Literal[1, 2, 3] | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    metadata: MetadataGroups | None | UnsetType = UNSET
    person: Person | None | UnsetType = UNSET


class PipelineRequest(Struct, kw_only=True):
    """
    A new pipeline. What is left out is copied from `template_pipeline_id`, else has its default.
    """

    channel_id: Literal[1, 2, 3, 4, 5]
    title: str
    description: str | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    delay_cap_minutes: int | UnsetType = UNSET
    delay_cap_hours: int | UnsetType = UNSET
    delay_cap_days: int | UnsetType = UNSET
    delay_from: str | None | UnsetType = UNSET
    frequency_cap_minutes: int | UnsetType = UNSET
    frequency_cap_hours: int | UnsetType = UNSET
    frequency_cap_days: int | UnsetType = UNSET
    message_subject: str | None | UnsetType = UNSET
    message_body: str | None | UnsetType = UNSET
    message_button: str | None | UnsetType = UNSET
    message_reason: str | None | UnsetType = UNSET
    message_footer: str | None | UnsetType = UNSET
    messages: dict[str, MessageTexts] | UnsetType = UNSET
    start_time: datetime | None | UnsetType = UNSET
    end_time: datetime | None | UnsetType = UNSET
    dispatch_start_time: str | None | UnsetType = UNSET
    dispatch_end_time: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET
    zone_of: Literal["organization", "recipient"] | UnsetType = UNSET
    weekdays: list[int] | UnsetType = UNSET
    conditions: dict[str, Any] | None | UnsetType = UNSET
    sender_name: str | None | UnsetType = UNSET
    sender_address: str | None | UnsetType = UNSET
    reply_to: str | None | UnsetType = UNSET
    max_retry_attempts: int | UnsetType = UNSET
    not_after_days: int | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    if_outside: Literal["skip", "wait"] | UnsetType = UNSET
    if_capped: Literal["skip", "wait"] | UnsetType = UNSET
    policy_exempt: bool | UnsetType = UNSET
    on_holidays: Literal["send", "wait"] | UnsetType = UNSET
    reminders: list[Reminder] | UnsetType = UNSET
    target_url: str | None | UnsetType = UNSET
    template_pipeline_id: str | None | UnsetType = UNSET


class PipelineTrial(Struct, kw_only=True):
    """
    Outcomes of the same invitations by the stored rules (`before`) and by the changed ones (`after`).
    """

    items: int
    moved: int
    outcomes: list[TriedOutcome]


class PipelineUpdate(Struct, kw_only=True):
    """
    The members that may change; `paused` true holds its items at once, false releases them.
    """

    description: str | None | UnsetType = UNSET
    locale: str | None | UnsetType = UNSET
    delay_cap_minutes: int | UnsetType = UNSET
    delay_cap_hours: int | UnsetType = UNSET
    delay_cap_days: int | UnsetType = UNSET
    delay_from: str | None | UnsetType = UNSET
    frequency_cap_minutes: int | UnsetType = UNSET
    frequency_cap_hours: int | UnsetType = UNSET
    frequency_cap_days: int | UnsetType = UNSET
    message_subject: str | None | UnsetType = UNSET
    message_body: str | None | UnsetType = UNSET
    message_button: str | None | UnsetType = UNSET
    message_reason: str | None | UnsetType = UNSET
    message_footer: str | None | UnsetType = UNSET
    messages: dict[str, MessageTexts] | UnsetType = UNSET
    start_time: datetime | None | UnsetType = UNSET
    end_time: datetime | None | UnsetType = UNSET
    dispatch_start_time: str | None | UnsetType = UNSET
    dispatch_end_time: str | None | UnsetType = UNSET
    time_zone: str | None | UnsetType = UNSET
    zone_of: Literal["organization", "recipient"] | UnsetType = UNSET
    weekdays: list[int] | UnsetType = UNSET
    conditions: dict[str, Any] | None | UnsetType = UNSET
    sender_name: str | None | UnsetType = UNSET
    sender_address: str | None | UnsetType = UNSET
    reply_to: str | None | UnsetType = UNSET
    max_retry_attempts: int | UnsetType = UNSET
    not_after_days: int | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    if_outside: Literal["skip", "wait"] | UnsetType = UNSET
    if_capped: Literal["skip", "wait"] | UnsetType = UNSET
    policy_exempt: bool | UnsetType = UNSET
    on_holidays: Literal["send", "wait"] | UnsetType = UNSET
    reminders: list[Reminder] | UnsetType = UNSET
    target_url: str | None | UnsetType = UNSET
    title: str | UnsetType = UNSET


class ProviderDns(Struct, kw_only=True):
    """
    The records of the domains that an account sends from, at most five.
    """

    account_id: str
    domains: list[SenderDomain]


class ProviderHealth(Struct, kw_only=True):
    """
    The newest 2,000 messages of 30 days that the account's pipelines sent, and reports of them.
    """

    account_id: str
    sent: int
    last_sent_time: datetime | None
    bounces: ReportedShare
    complaints: ReportedShare
    slow_domains: list[SlowDomain]


class Question(Struct, kw_only=True):
    """
    A question. Its type decides which members follow `jumps` and `translations`.
    """

    question_id: str
    group_id: str
    questionnaire_id: str
    version_id: str | None
    position: int
    type: str
    title: str
    description: str | None
    display_name: str | None
    required: bool
    enabled: bool
    display_probability: int
    randomize: bool
    low_label: str | None
    high_label: str | None
    jumps: list[Jump]
    translations: dict[str, QuestionTranslation]
    show_if: dict[str, Any] | UnsetType = UNSET
    scored: bool | UnsetType = UNSET
    scale_min: int | UnsetType = UNSET
    scale_max: int | UnsetType = UNSET
    style: str | UnsetType = UNSET
    rows: list[MatrixRow] | UnsetType = UNSET
    choices: list[Choice] | UnsetType = UNSET
    choices_min: int | UnsetType = UNSET
    choices_max: int | None | UnsetType = UNSET
    rank_max: int | None | UnsetType = UNSET
    length_max: int | UnsetType = UNSET
    multiline: bool | UnsetType = UNSET
    number_min: int | float | None | UnsetType = UNSET
    number_max: int | float | None | UnsetType = UNSET
    decimals: int | UnsetType = UNSET
    date_min: date | None | UnsetType = UNSET
    date_max: date | None | UnsetType = UNSET
    contact_fields: list[str] | UnsetType = UNSET
    file_types: list[str] | UnsetType = UNSET
    files_max: int | UnsetType = UNSET
    bytes_max: int | UnsetType = UNSET


class QueueBatchRequest(Struct, kw_only=True):
    """
    The items that are meant, and the act: cancel, move or send now those that wait, or repeat those that failed.
    """

    action: Literal["cancel", "move", "repeat", "send_now"]
    filter: BatchFilter | UnsetType = UNSET
    send_time: datetime | None | UnsetType = UNSET
    dry_run: bool | UnsetType = False


class QueueItem(Struct, kw_only=True):
    """
    A questionnaire that is to be sent, is being sent or was sent to one address.
    """

    item_id: str
    previous_item_id: str | None
    questionnaire_id: str
    responder_id: str | None
    responder_channel_identifier: str
    questionnaire_instance_id: str | None
    previous_questionnaire_instance_id: str | None
    status_id: int
    pipeline_id: str
    locale: str | None
    send_time: datetime
    dispatched_time: datetime | None
    result: str | None
    retry_attempts: int | None
    created_time: datetime
    updated_time: datetime
    anonymized_time: datetime | None
    created_by: str | None
    updated_by: str | None
    external_reference: str | None
    source: str
    reason: str | None
    test: bool
    metadata: ResponseMetadata


class ReportOverview(Struct, kw_only=True):
    """
    The scores of the period with their trends, and the funnel. Without a questionnaire all of it is empty.
    """

    period: PeriodShown | None
    bucket: str
    questionnaires: int
    scores: list[OverviewScore]
    funnel: list[Figure]


class ReportRun(Struct, kw_only=True):
    """
    A report that is run without being saved.
    """

    spec: ReportSpec


class ReportTemplate(Struct, kw_only=True):
    """
    A ready report and its parameters.
    """

    template_id: str
    title: str
    description: str
    parameters: list[TemplateParameter]


class Responder(Struct, kw_only=True):
    """
    A person who is asked; `suppressed` if one of the addresses is on the do-not-contact list.
    """

    responder_id: str
    organization_id: str
    identifiers: list[ResponderIdentifier]
    locale: str | None
    time_zone: str | None
    suppressed: bool
    instances_count: int
    last_contacted_time: datetime | None
    last_submitted_time: datetime | None
    anonymized_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class ResponseAnswer(Struct, kw_only=True):
    """
    The answer to one question; the type of `value` depends on the question.
    """

    instance_id: str
    question_id: str
    group_id: str
    version_id: str
    type: str
    title: str
    display_name: str | None
    value: bool | int | float | str | list[int | ResponseFile] | dict[str, int | str]
    label: str | None
    other_text: str | None
    segment: str | None
    answered_time: datetime
    provisional: bool


class ResponseContent(Struct, kw_only=True):
    """
    All answers of an instance, in question order.
    """

    instance_id: str
    questionnaire_id: str
    version_id: str
    responder_id: str
    locale: str
    finalized: bool
    submitted_time: datetime | None
    completed_time: datetime | None
    answers: list[ResponseAnswer]
    skipped_question_ids: list[str]
    metadata: ResponseMetadata


class ResultRow(Struct, kw_only=True):
    """
    One row: the values of its groups, its figures, and the responses behind them.
    """

    key: dict[str, str | int | None]
    figures: list[Figure]
    selection: SelectionShown


class RetentionPreview(Struct, kw_only=True):
    """
    The rows that retention would touch now. Kinds without a period are left out.
    """

    parts: list[RetentionPreviewPart]


class SeenMetadata(Struct, kw_only=True):
    """
    A name of metadata that arrived lately.
    """

    name: str
    declared: bool
    count: int
    values_count: int
    values: list[SeenMetadataValue]


class SimulationRow(Struct, kw_only=True):
    """
    The forecast for one row. `segments` and `encoding` are of an SMS, which is paid by the segment.
    """

    row: int
    valid: bool
    verdict: str | None
    reason: str | None
    result: str | None
    planned_time: datetime | None
    time_zone: str | None
    locale: str | None
    responder_id: str | None
    checks: list[Check]
    subject: str | None
    body: str | None
    problem: dict[str, Any] | None
    segments: int | None
    encoding: str | None


class Trace(Struct, kw_only=True):
    """
    The decision about an item, rule by rule.
    """

    item_id: str
    status_id: int
    decided_time: datetime
    verdict: str
    reason: str | None
    result: str | None
    planned_time: datetime | None
    planned_local_time: str | None
    delay_summary: str | None
    time_zone: str
    locale: str
    checks: list[Check]
    undeclared_metadata: list[str]
    pipeline_summary: str
    source_id: str | None
    source_event_id: str | None


class UserAccess(Struct, kw_only=True):
    """
    A user, with all that they reach: of oneself the scopes of the token, of others those of the role.
    """

    user_id: str
    organization_id: str
    email: str | None
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    display_name: str | None
    locale: str | None
    time_zone: str | None
    role: str
    application_ids: list[str]
    only_where: str | None
    only_values: list[str]
    active: bool
    service: bool
    invited_time: datetime
    last_login_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    scopes: list[str]
    applications: list[UserApplication]


class Visual(Struct, kw_only=True):
    """
    A theme of a questionnaire's pages, used while it is active.
    """

    visual_id: str
    questionnaire_id: str
    title: str
    active: bool
    configuration: dict[str, Any]
    problems: list[VisualProblem]
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class Alert(Struct, kw_only=True):
    """
    A rule over responses, or over figures, with the initial values of the cases that it opens.
    """

    alert_id: str
    organization_id: str
    application_id: str
    title: str
    description: str | None
    questionnaire_ids: list[str]
    trigger: str
    conditions: dict[str, Any] | None
    severity: str
    active: bool
    status_id: int
    assigned_user_id: str | None
    due_hours: int | None
    fold_hours: int
    subscriber_user_ids: list[str]
    chat_ids: list[str]
    escalation_hours: int | None
    escalation_severity: str | None
    escalation_user_id: str | None
    assignment: Assignment | None
    chat_urls: list[str]
    open_count: int
    last_triggered_time: datetime | None
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


class AlertPreviewRequest(Struct, kw_only=True):
    """
    The part of a rule that decides which responses it matches.
    """

    application_id: str
    questionnaire_ids: list[str] | UnsetType = UNSET
    trigger: Literal["completed", "submitted"] | UnsetType = "completed"
    conditions: dict[str, Any] | None | UnsetType = UNSET
    assigned_user_id: str | None | UnsetType = UNSET
    assignment: Assignment | None | UnsetType = UNSET


class AlertRequest(Struct, kw_only=True):
    """
    A new rule. No `questionnaire_ids`: all of the application; no `conditions`: every response.
    """

    application_id: str
    title: str
    description: str | None | UnsetType = UNSET
    questionnaire_ids: list[str] | UnsetType = UNSET
    trigger: Literal["call_back", "completed", "schedule", "submitted"] | UnsetType = "completed"
    conditions: dict[str, Any] | None | UnsetType = UNSET
    severity: Literal["critical", "high", "low", "normal"] | UnsetType = "normal"
    active: bool | UnsetType = True
    status_id: int | UnsetType = 1
    assigned_user_id: str | None | UnsetType = UNSET
    due_hours: int | None | UnsetType = UNSET
    fold_hours: int | UnsetType = 0
    subscriber_user_ids: list[str] | UnsetType = UNSET
    chat_ids: list[str] | UnsetType = UNSET
    escalation_hours: int | None | UnsetType = UNSET
    escalation_severity: Literal["critical", "high", "low", "normal"] | None | UnsetType = UNSET
    escalation_user_id: str | None | UnsetType = UNSET
    assignment: Assignment | None | UnsetType = UNSET
    chat_urls: list[str] | UnsetType = UNSET


class AlertUpdate(Struct, kw_only=True):
    """
    Changes of a rule; existing cases stay as they are.
    """

    title: str | UnsetType = UNSET
    description: str | None | UnsetType = UNSET
    questionnaire_ids: list[str] | UnsetType = UNSET
    trigger: Literal["call_back", "completed", "schedule", "submitted"] | UnsetType = UNSET
    conditions: dict[str, Any] | None | UnsetType = UNSET
    severity: Literal["critical", "high", "low", "normal"] | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    status_id: int | UnsetType = UNSET
    assigned_user_id: str | None | UnsetType = UNSET
    due_hours: int | None | UnsetType = UNSET
    fold_hours: int | UnsetType = UNSET
    subscriber_user_ids: list[str] | UnsetType = UNSET
    chat_ids: list[str] | UnsetType = UNSET
    escalation_hours: int | None | UnsetType = UNSET
    escalation_severity: Literal["critical", "high", "low", "normal"] | None | UnsetType = UNSET
    escalation_user_id: str | None | UnsetType = UNSET
    assignment: Assignment | None | UnsetType = UNSET
    chat_urls: list[str] | UnsetType = UNSET


class ReportResult(Struct, kw_only=True):
    """
    The result of a report.
    """

    template_id: str | None
    report_id: str | None
    title: str
    generated_time: datetime
    period: PeriodShown
    parameters: dict[str, Any]
    rows: list[ResultRow]
    total: list[Figure]
    suppressed_rows: int
    truncated: bool


class Simulation(Struct, kw_only=True):
    """
    The forecasts for all rows, in their order.
    """

    results: list[SimulationRow]
