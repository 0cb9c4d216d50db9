"""The HTTP routes of retention periods and legal holds."""

from typing import Annotated, Any, Final

from msgspec import Meta

from afterword.core.wire.lists import Rows
from afterword.core.wire.times import zone_of
from afterword.db import Database
from afterword.organizations.retention import service, store
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType
from afterword.web.operations import Answer, Call, Routes

PATH: Final = "/organization/{organization_id}/retention"

Days = Annotated[int, Meta(ge=1, le=3650)]
AnswersDays = Annotated[int, Meta(ge=30, le=3650)]
EventsDays = Annotated[int, Meta(ge=30, le=90)]
AuditDays = Annotated[int, Meta(ge=30, le=730)]
ExportsDays = Annotated[int, Meta(ge=1, le=7)]

routes = Routes(tag="Organizations")


class RetentionUpdate(fields.Request):
    """Changes of retention periods, in days."""

    anonymize_after_days: Days | UnsetType | None = UNSET
    delete_after_days: AnswersDays | UnsetType | None = UNSET
    texts_days: Days | UnsetType | None = UNSET
    people_days: Days | UnsetType | None = UNSET
    items_days: Days | UnsetType | None = UNSET
    uploads_days: Days | UnsetType | None = UNSET
    answers_days: AnswersDays | UnsetType | None = UNSET
    events_days: EventsDays | UnsetType | None = UNSET
    audit_days: AuditDays | UnsetType | None = UNSET
    exports_days: ExportsDays | UnsetType | None = UNSET


class Retention(fields.Resource):
    """The time for which an organization keeps personal data, in days."""

    organization_id: fields.Id
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
    updated_time: fields.DateTime
    updated_by: fields.Id | None


class LegalHoldRequest(fields.Request):
    """A new legal hold. Without a responder it covers the whole organization."""

    reason: fields.Text500
    responder_id: fields.Id | None = None


class LegalHold(fields.Resource):
    """Data that is kept whatever its age, of a person or of the whole organization."""

    hold_id: fields.Id
    responder_id: fields.Id | None
    reason: str
    created_time: fields.DateTime
    created_by: fields.Id | None


@routes.get(PATH, scope="Organization.Read", answer=Retention, summary="Get Retention")
async def get_retention(call: Call[None], db: Database) -> Answer:
    return _shown(await service.get(db, caller=call.caller), call)


@routes.patch(
    PATH,
    scope="Organization.Update",
    body=RetentionUpdate,
    answer=Retention,
    summary="Update Retention",
    description="A worker acts by it within a day. Try it with `/preview` first: what was removed does not come back.",
)
async def update_retention(call: Call[RetentionUpdate], db: Database) -> Answer:
    periods = await service.update(
        db, caller=call.caller, changes=call.body.named(), now=call.now, check_version=call.check_version
    )
    return _shown(periods, call)


@routes.list(
    f"{PATH}/hold",
    scope="Organization.Read",
    answer=LegalHold,
    summary="Get all legal holds",
    description="Only for callers that reach the whole organization.",
)
async def list_legal_holds(call: Call[None], db: Database) -> Rows[service.LegalHold]:
    service.require_reach(call.caller)
    return await store.list_holds(db, organization_id=call.caller.organization_id, page=call.page)


@routes.post(
    f"{PATH}/hold",
    scope="Organization.Update",
    body=LegalHoldRequest,
    answer=LegalHold,
    summary="Create Legal Hold",
    description="Nothing of it is removed by age, and a person under a hold cannot be erased, until it is lifted.",
)
async def create_legal_hold(call: Call[LegalHoldRequest], db: Database) -> Answer:
    made = await service.hold(
        db, caller=call.caller, responder_id=call.body.responder_id, reason=call.body.reason, now=call.now
    )
    return Answer(record=made, location=f"{PATH.format_map(call.ids)}/hold/{made.hold_id}")


@routes.get(f"{PATH}/hold/{{hold_id}}", scope="Organization.Read", answer=LegalHold, summary="Get Legal Hold")
async def get_legal_hold(call: Call[None], db: Database) -> service.LegalHold:
    return await service.get_hold(db, caller=call.caller, hold_id=call.ids["hold_id"])


@routes.delete(f"{PATH}/hold/{{hold_id}}", scope="Organization.Update", summary="Lift Legal Hold")
async def lift_legal_hold(call: Call[None], db: Database) -> None:
    await service.lift(db, caller=call.caller, hold_id=call.ids["hold_id"], check_version=call.check_version)


def _shown(periods: store.Periods, call: Call[Any]) -> Answer:
    return Answer(Retention.of(periods, zone_of(call.caller.time_zone)), version=periods.version)
