"""The HTTP interface of metadata values."""

from collections.abc import Mapping
from datetime import tzinfo
from types import SimpleNamespace
from typing import Final, LiteralString, Unpack

from afterword.asking.instances import responders, service as instances
from afterword.asking.instances.responders import IS_WHOLE
from afterword.asking.questionnaires import access, metadata
from afterword.core.organizations.access import Reach
from afterword.core.questionnaires.metadata import MetadataDefinition
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

_QUESTIONNAIRE_VALUES: Final[LiteralString] = """i.questionnaire_id, i.instance_id, v.key as name, v.value,
    i.created_time, coalesce((i.metadata_times ->> v.key)::timestamptz, i.created_time) as updated_time,
    i.instance_id || ':' || (v.key collate "C") as value_id
  from questionnaire_instance i cross join lateral jsonb_each_text(i.metadata) v"""
_RESPONDER_VALUES: Final[LiteralString] = """r.responder_id, v.key as name, v.value, r.created_time,
    coalesce((r.metadata_times ->> v.key)::timestamptz, r.created_time) as updated_time,
    r.responder_id || ':' || (v.key collate "C") as value_id
  from responder r cross join lateral jsonb_each_text(r.metadata) v"""


async def list_questionnaire_value_records(
    db: Database, *, organization_id: str, questionnaire_id: str, test_only: bool, page: Page
) -> Rows[Row]:
    return await db.fetch_list(
        f"""select {_QUESTIONNAIRE_VALUES}
           where i.organization_id = $1 and i.questionnaire_id = $2 and i.deleted_time is null
             and (i.test or not $3)""",
        *(organization_id, questionnaire_id, test_only),
        page=page,
    )


async def _list_questionnaire_values_of_instance(
    db: Database, *, organization_id: str, instance_id: str, page: Page
) -> Rows[Row]:
    return await db.fetch_list(
        f"""select {_QUESTIONNAIRE_VALUES}
           where i.organization_id = $1 and i.instance_id = $2 and i.deleted_time is null""",
        *(organization_id, instance_id),
        page=page,
    )


async def list_responder_values_of_questionnaire(
    db: Database, *, questionnaire_id: str, page: Page, **reach: Unpack[Reach]
) -> Rows[Row]:
    return await db.fetch_list(
        f"""select {_RESPONDER_VALUES}
           cross join (select $4::text[] as application_ids, $3::boolean as test_only, null::text[] as only) reach
           where r.organization_id = $1 and exists (
             select 1 from questionnaire_instance i
             where i.organization_id = r.organization_id and i.responder_id = r.responder_id
               and i.questionnaire_id = $2 and i.deleted_time is null and (i.test or not $3))
             and {IS_WHOLE}""",
        *(reach["organization_id"], questionnaire_id, reach["test_only"], list(reach["application_ids"])),
        page=page,
    )


async def list_responder_value_records(
    db: Database, *, organization_id: str, responder_id: str, is_shown: bool, page: Page
) -> Rows[Row]:
    """A page of the values of one responder; of none unless `is_shown`."""
    return await db.fetch_list(
        f"select {_RESPONDER_VALUES} where r.organization_id = $1 and r.responder_id = $2 and $3::boolean",
        *(organization_id, responder_id, is_shown),
        page=page,
    )


routes = Routes(tag="Questionnaire Instances", scope="Questionnaire Value")


class QuestionnaireValue(fields.Resource):
    """A metadata value of an instance; without a declaration `metadata_id` is null and `type` is text."""

    questionnaire_id: fields.Id
    instance_id: fields.Id
    metadata_id: fields.Computed[fields.Id | None]
    name: str
    type: fields.Computed[str]
    value: str
    created_time: fields.DateTime
    updated_time: fields.DateTime


QUESTIONNAIRE_VALUES: Final = fields.listing_of(QuestionnaireValue, id="value_id")


class ResponderValue(fields.Resource):
    """A metadata value of a responder; without a declaration `metadata_id` is null and `type` is text."""

    responder_id: fields.Id
    metadata_id: fields.Computed[fields.Id | None]
    name: str
    type: fields.Computed[str]
    value: str
    created_time: fields.DateTime
    updated_time: fields.DateTime


RESPONDER_VALUES: Final = fields.listing_of(ResponderValue, id="value_id")


@routes.list(
    "/q/questionnaire/{questionnaire_id}/value",
    answer=QuestionnaireValue,
    listing=QUESTIONNAIRE_VALUES,
    summary="Get Questionnaire Value List by questionnaire id",
)
async def list_questionnaire_values(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    rows = await list_questionnaire_value_records(db, **questionnaire.key, test_only=call.caller.test, page=call.page)
    declared = await metadata.declared_of(db, **questionnaire.key)
    return _answer(call, QuestionnaireValue, rows, declared.questionnaire)


@routes.list(
    "/q/instance/{instance_id}/value",
    for_limited="part",
    answer=QuestionnaireValue,
    shape="array",
    listing=QUESTIONNAIRE_VALUES,
    summary="Get Questionnaire Value List by instance id",
)
async def list_instance_values(call: Call[None], db: Database) -> Answer:
    instance = await instances.get(db, caller=call.caller, **call.ids)
    rows = await _list_questionnaire_values_of_instance(db, **instance.key, page=call.page)
    declared = await metadata.declared_of(db, **instance.questionnaire_key)
    return _answer(call, QuestionnaireValue, rows, declared.questionnaire)


@routes.list(
    "/q/questionnaire/{questionnaire_id}/responder/value",
    scope="Responder Value.Read",
    answer=ResponderValue,
    listing=RESPONDER_VALUES,
    summary="Get Responder Value List by questionnaire id",
)
async def list_questionnaire_responder_values(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    rows = await list_responder_values_of_questionnaire(db, **call.caller.reach, **call.ids, page=call.page)
    declared = await metadata.declared_of(db, **questionnaire.key)
    return _answer(call, ResponderValue, rows, declared.responder)


@routes.list(
    "/q/responder/{responder_id}/value",
    scope="Responder Value.Read",
    answer=ResponderValue,
    shape="array",
    listing=RESPONDER_VALUES,
    summary="Get Responder Value List by responder id",
)
async def list_responder_values(call: Call[None], db: Database) -> Answer:
    responder = await responders.get(db, caller=call.caller, **call.ids)
    key = {"organization_id": call.caller.organization_id, **call.ids}
    rows = await list_responder_value_records(db, **key, is_shown=responder.is_whole, page=call.page)
    declared = await responders.declared_names(db, caller=call.caller, **call.ids)
    return _answer(call, ResponderValue, rows, declared.responder)


def _answer(
    call: Call[None], resource: type[fields.Resource], rows: Rows[Row], known: Mapping[str, MetadataDefinition]
) -> Answer:
    return Answer(rows.map(lambda row: shown(resource, row, known, call.zone)))


def shown(
    resource: type[fields.Resource], row: Row, known: Mapping[str, MetadataDefinition], zone: tzinfo
) -> fields.Resource:
    found = known.get(row["name"])
    declared = {"metadata_id": found and found.metadata_id, "type": found.type if found else "text"}
    return resource.of(SimpleNamespace(**row), zone, **declared)
