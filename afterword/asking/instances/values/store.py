"""The SQL that lists metadata, stored as a map in each instance and responder, one row per name.

A value has a time of its own only if it changed after its row was created. So the indexes of the rows give
the order of these lists, and a page after a cursor costs as much as the first page.
"""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Final, LiteralString

import msgspec

from afterword.asking.instances.responders.store import IS_WHOLE
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row


class QuestionnaireValue(msgspec.Struct, frozen=True):
    questionnaire_id: str
    instance_id: str
    name: str
    value: str
    created_time: datetime
    updated_time: datetime


class ResponderValue(msgspec.Struct, frozen=True):
    responder_id: str
    name: str
    value: str
    created_time: datetime
    updated_time: datetime


_QUESTIONNAIRE_VALUES: Final[LiteralString] = """i.questionnaire_id, i.instance_id, v.key as name, v.value,
    i.created_time, coalesce((i.metadata_times ->> v.key)::timestamptz, i.created_time) as updated_time,
    i.instance_id || ':' || (v.key collate "C") as value_id
  from questionnaire_instance i cross join lateral jsonb_each_text(i.metadata) v"""
_RESPONDER_VALUES: Final[LiteralString] = """r.responder_id, v.key as name, v.value, r.created_time,
    coalesce((r.metadata_times ->> v.key)::timestamptz, r.created_time) as updated_time,
    r.responder_id || ':' || (v.key collate "C") as value_id
  from responder r cross join lateral jsonb_each_text(r.metadata) v"""


async def list_questionnaire_values(
    db: Database, *, organization_id: str, questionnaire_id: str, test_only: bool, page: Page
) -> Rows[QuestionnaireValue]:
    rows = await db.fetch_list(
        f"""select {_QUESTIONNAIRE_VALUES}
           where i.organization_id = $1 and i.questionnaire_id = $2 and i.deleted_time is null
             and (i.test or not $3)""",
        *(organization_id, questionnaire_id, test_only),
        page=page,
    )
    return rows.map(_questionnaire_value)


async def list_questionnaire_values_of_instance(
    db: Database, *, organization_id: str, instance_id: str, page: Page
) -> Rows[QuestionnaireValue]:
    rows = await db.fetch_list(
        f"""select {_QUESTIONNAIRE_VALUES}
           where i.organization_id = $1 and i.instance_id = $2 and i.deleted_time is null""",
        *(organization_id, instance_id),
        page=page,
    )
    return rows.map(_questionnaire_value)


async def list_responder_values_of_questionnaire(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    page: Page,
) -> Rows[ResponderValue]:
    rows = await db.fetch_list(
        f"""select {_RESPONDER_VALUES}
           cross join (select $4::text[] as application_ids, $3::boolean as test_only) reach
           where r.organization_id = $1 and exists (
             select 1 from questionnaire_instance i
             where i.organization_id = r.organization_id and i.responder_id = r.responder_id
               and i.questionnaire_id = $2 and i.deleted_time is null and (i.test or not $3))
             and {IS_WHOLE}""",
        *(organization_id, questionnaire_id, test_only, list(application_ids)),
        page=page,
    )
    return rows.map(_responder_value)


async def list_responder_values(
    db: Database, *, organization_id: str, responder_id: str, is_shown: bool, page: Page
) -> Rows[ResponderValue]:
    """A page of the values of one responder; of none unless `is_shown`."""
    rows = await db.fetch_list(
        f"select {_RESPONDER_VALUES} where r.organization_id = $1 and r.responder_id = $2 and $3::boolean",
        *(organization_id, responder_id, is_shown),
        page=page,
    )
    return rows.map(_responder_value)


_questionnaire_values: Final = itemgetter(*QuestionnaireValue.__struct_fields__)
_responder_values: Final = itemgetter(*ResponderValue.__struct_fields__)


def _questionnaire_value(row: Row) -> QuestionnaireValue:
    return QuestionnaireValue(*_questionnaire_values(row))


def _responder_value(row: Row) -> ResponderValue:
    return ResponderValue(*_responder_values(row))
