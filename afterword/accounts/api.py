"""The HTTP door of accounts: applications, read by whoever integrates."""

from datetime import tzinfo

from afterword import errors
from afterword.accounts import store
from afterword.core.times import format_time
from afterword.db import Database
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Applications")


class Application(fields.Answer):
    """A shop, brand or product of the organization; it owns questionnaires."""

    application_id: fields.Id
    organization_id: fields.Id
    application_type_id: fields.Id
    display_name: str
    description: str | None
    time_zone: str | None
    default_locale: str | None
    website_urls: list[str]
    active: bool
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None

    @classmethod
    def of(cls, application: store.Application, zone: tzinfo) -> "Application":
        """The record as the wire shows it, its times in the organization's zone."""
        return cls(
            application_id=application.application_id,
            organization_id=application.organization_id,
            application_type_id=application.application_type_id,
            display_name=application.display_name,
            description=application.description,
            time_zone=application.time_zone,
            default_locale=application.default_locale,
            website_urls=list(application.website_urls),
            active=application.active,
            created_time=format_time(application.created_time, zone=zone),
            updated_time=format_time(application.updated_time, zone=zone),
            created_by=application.created_by,
            updated_by=application.updated_by,
        )


@routes.get(
    "/application",
    scope="Application.Read",
    answer=Application,
    shape="envelope",
    listing=store.APPLICATIONS,
    summary="Get all applications",
)
async def list_applications(call: Call[None], db: Database) -> Answer:
    """The applications that the caller may see."""
    rows = await store.list_applications(
        db, organization_id=call.caller.organization_id, among=call.caller.application_ids, page=call.page
    )
    return Answer(rows.map(lambda application: Application.of(application, call.zone)))


@routes.get("/application/{application_id}", scope="Application.Read", answer=Application, summary="Get Application")
async def get_application(call: Call[None], db: Database) -> Answer:
    """One of them."""
    application = await store.get_application(
        db,
        organization_id=call.caller.organization_id,
        application_id=call.ids["application_id"],
        among=call.caller.application_ids,
    )
    if application is None:
        raise errors.NotFound("There is no such application.")
    return Answer(Application.of(application, call.zone), version=application.version)
