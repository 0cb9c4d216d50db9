"""The record of a questionnaire instance and its columns."""

from datetime import datetime
from operator import itemgetter
from typing import Final, LiteralString

import msgspec

from afterword.core.wire.times import Instant
from afterword.db import Row


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

    @classmethod
    def of(cls, row: Row) -> "Instance":
        return cls(*_values(row))


INSTANCE_COLUMNS: Final[LiteralString] = """organization_id, instance_id, questionnaire_id, version_id, responder_id,
  item_id, channel_id, pipeline_id, reference_id, previous_questionnaire_instance_id, short_code, test, locale,
  valid_days, editable, finalized, question_ids, metadata, sent_time, delivered_time, viewed_time, submitted_time,
  completed_time, processed_time, flow_time, deleted_time, version, created_time,
  updated_time, created_by, updated_by"""

SHOWN_COLUMNS: Final[LiteralString] = """instance_id, questionnaire_id, responder_id, short_code, locale, valid_days,
  editable, finalized, question_ids, sent_time, delivered_time, viewed_time, submitted_time, completed_time,
  processed_time, flow_time, created_time, updated_time, created_by, updated_by"""

# True for instances `i` of these applications ($3; none: all).
OF_APPLICATIONS: Final[LiteralString] = """(cardinality($3::text[]) = 0 or exists (
  select 1 from questionnaire q where q.organization_id = i.organization_id
    and q.questionnaire_id = i.questionnaire_id and q.owner_application_id = any($3)))"""

_values: Final = itemgetter(*Instance.__struct_fields__)
