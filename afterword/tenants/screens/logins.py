"""Settings: conditions of the organization on how its people and tokens come in."""

from collections.abc import Mapping
from typing import Any

from afterword.console.inputs import same_version
from afterword.console.nouns import settings_form
from afterword.console.screens import Screens, Visit
from afterword.kit.db import Database
from afterword.tenants.logins import policies
from afterword.tenants.logins.policies import POLICY
from afterword.tenants.screens.organization import LOGINS, PATH as ORGANIZATION

routes = Screens()


async def _save(visit: Visit, db: Database, wanted: Mapping[str, Any]) -> None:
    expect = same_version(visit)
    await policies.save(db, caller=visit.caller, wanted=wanted, address=visit.address, now=visit.now, expect=expect)


settings_form(
    routes,
    POLICY,
    LOGINS,
    scope="Organization.Update",
    title="How people log in",
    lead=lambda visit: visit.words(
        "It applies at once, to open sessions too. Your address is {address}.", address=visit.address
    ),
    back=("Organization", ORGANIZATION),
    proof=True,
    of_owners=True,
    save=_save,
)
