"""The HTTP interface of metadata values."""

from collections.abc import Mapping
from datetime import tzinfo
from typing import Final

from afterword.asking.instances import service as instances
from afterword.asking.instances.responders import service as responders
from afterword.asking.instances.values import store
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.metadata import service as metadata_service
from afterword.core.questionnaires.metadata import Declared, MetadataDefinition
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

routes = Routes(tag="Questionnaire Instances")


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
    scope="Questionnaire Value.Read",
    answer=QuestionnaireValue,
    listing=QUESTIONNAIRE_VALUES,
    summary="Get Questionnaire Value List by questionnaire id",
)
async def list_questionnaire_values(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    rows = await store.list_questionnaire_values(
        db,
        organization_id=questionnaire.organization_id,
        questionnaire_id=questionnaire.questionnaire_id,
        test_only=call.caller.test,
        page=call.page,
    )
    declared = await _declared(db, questionnaire.organization_id, questionnaire.questionnaire_id)
    return _answer(call, QuestionnaireValue, rows, declared.questionnaire)


@routes.list(
    "/q/instance/{instance_id}/value",
    scope="Questionnaire Value.Read",
    answer=QuestionnaireValue,
    shape="array",
    listing=QUESTIONNAIRE_VALUES,
    summary="Get Questionnaire Value List by instance id",
)
async def list_instance_values(call: Call[None], db: Database) -> Answer:
    instance = await instances.get(db, caller=call.caller, **call.ids)
    rows = await store.list_questionnaire_values_of_instance(
        db, organization_id=instance.organization_id, instance_id=instance.instance_id, page=call.page
    )
    declared = await _declared(db, instance.organization_id, instance.questionnaire_id)
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
    rows = await store.list_responder_values_of_questionnaire(
        db, **call.caller.reach, questionnaire_id=questionnaire.questionnaire_id, page=call.page
    )
    declared = await _declared(db, questionnaire.organization_id, questionnaire.questionnaire_id)
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
    rows = await store.list_responder_values(
        db,
        organization_id=responder.organization_id,
        responder_id=responder.responder_id,
        is_shown=responder.is_whole,
        page=call.page,
    )
    declared = await responders.declared(db, caller=call.caller, responder_id=responder.responder_id)
    return _answer(call, ResponderValue, rows, declared.responder)


async def _declared(db: Database, organization_id: str, questionnaire_id: str) -> Declared:
    return await metadata_service.declared_of(db, organization_id=organization_id, questionnaire_id=questionnaire_id)


def _answer(
    call: Call[None],
    resource: type[fields.Resource],
    rows: Rows[store.QuestionnaireValue] | Rows[store.ResponderValue],
    known: Mapping[str, MetadataDefinition],
) -> Answer:
    return Answer(rows.map(lambda value: shown(resource, value, known, call.zone)))


def shown(
    resource: type[fields.Resource],
    value: store.QuestionnaireValue | store.ResponderValue,
    known: Mapping[str, MetadataDefinition],
    zone: tzinfo,
) -> fields.Resource:
    """The value with its declaration, if there is one."""
    found = known.get(value.name)
    return resource.of(value, zone, metadata_id=found and found.metadata_id, type=found.type if found else "text")
