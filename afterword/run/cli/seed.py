"""`afterword seed`: a small real organization to begin with, and a token for it."""

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Annotated, Final

from cyclopts import Parameter

from afterword.core.organizations.access import SCOPES
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.run.cli.context import open_pool, shell_lines
from afterword.sending.pipelines.starters import service as starters
from afterword.tenants.organizations import service
from afterword.tenants.organizations.applications import get_first_application_id
from afterword.tenants.organizations.service import Organization

DOMAIN: Final = "demo"
QUESTIONNAIRES: Final = ("after_delivery", "relationship", "support_case")


@dataclass(frozen=True, slots=True)
class Seeded:
    base_url: str
    token: str = field(repr=False)
    organization_domain: str
    organization_id: str
    application_id: str
    questionnaire_id: str
    pipeline_id: str


async def seed_command(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> None:
    """Create a small real organization when there is none, and a token with every scope.

    Args:
        as_json: Print JSON instead of lines that a shell can `eval`.
    """
    async with open_pool(create=True) as (context, pool):
        document = asdict(await seed(pool, context.site))
    print(json.dumps(document, indent=2) if as_json else shell_lines(document))


async def seed(pool: db.Pool, site: Site, *, domain: str = DOMAIN) -> Seeded:
    """Create the organization `domain` when there is none; make a new token with every scope for it in any case.

    Running it again changes nothing else: questionnaires whose file says nothing new get no version.
    """
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization, application_id = await _organization(database, domain, now=now)
        placed = {
            name: await starters.start(
                database,
                organization_id=organization.organization_id,
                application_id=application_id,
                name=name,
                now=now,
            )
            for name in QUESTIONNAIRES
        }
        _, token = await service.create_token(
            database,
            organization_id=organization.organization_id,
            title="Made by afterword seed",
            scopes=SCOPES,
            kind="organization",
            user_id=None,
            now=now,
        )
    return Seeded(
        base_url=site.base_url,
        token=token,
        organization_domain=organization.domain,
        organization_id=organization.organization_id,
        application_id=application_id,
        questionnaire_id=placed["after_delivery"].questionnaire_id,
        pipeline_id=placed["after_delivery"].pipeline_id,
    )


async def _organization(database: db.Database, domain: str, *, now: datetime) -> tuple[Organization, str]:
    found = await service.get_organization_by_domain(database, domain=domain)
    organization = found or await service.create_organization(
        database, domain=domain, display_name="Demo Shop", postal_address="1 Harbour Street, 12345 Sampletown", now=now
    )
    application_id = await get_first_application_id(database, organization_id=organization.organization_id)
    if application_id is None:
        application = await service.create_application(
            database, organization_id=organization.organization_id, display_name="Demo Shop", now=now
        )
        application_id = application.application_id
    return organization, application_id
