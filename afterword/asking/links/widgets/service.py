"""Finds the websites that may show a link in a box."""

from afterword import errors
from afterword.asking.links.public_links import PublicLink
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.kit.db import Database
from afterword.tenants.organizations.applications import Application, get_application


async def application_of(db: Database, *, link: PublicLink) -> Application:
    questionnaire = await questionnaires_store.get_questionnaire(
        db, organization_id=link.organization_id, questionnaire_id=link.questionnaire_id
    )
    application = await get_application(
        db, organization_id=link.organization_id, application_id=questionnaire.owner_application_id
    )
    return errors.found(application, "There is no such page.")
