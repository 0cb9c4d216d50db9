"""Settings: conditions of the organization on how its people and tokens come in."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import document_of, form_page, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.screens import Screens, Visit
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns import structs
from afterword.kit.web import html
from afterword.tenants.logins import policies
from afterword.tenants.logins.identities import service as identities
from afterword.tenants.logins.policies import POLICY
from afterword.tenants.screens.organization import LOGINS
from afterword.tenants.screens.organization import PATH as ORGANIZATION

INPUTS: Final = inputs_of(POLICY)

routes = Screens()


@routes.post(LOGINS, scope="Organization.Update", proof=True, again=(errors.Invalid, errors.Stale))
async def save_policy(visit: Visit) -> Response:
    wanted = read_as(structs.creation_of(POLICY), document_of(visit.form, INPUTS), visit).named()
    async with visit.write() as db:
        expect = same_version(visit)
        await policies.save(db, caller=visit.caller, wanted=wanted, address=visit.address, now=visit.now, expect=expect)
    return html.redirect(f"{LOGINS}?done=saved")


@routes.get(LOGINS, scope="Organization.Update", of_owners=True)
async def _show(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    identities.require_owner(visit.caller)
    async with visit.read() as db:
        policy = await nouns.get(POLICY, db, caller=visit.caller, key=visit.caller.organization_id)
    return form_page(
        visit,
        title=words("How people log in"),
        back=(words("Organization"), ORGANIZATION),
        inputs=INPUTS,
        stored=policy,
        version=policy.version,
        refusal=refusal,
        lead=words("It applies at once, to open sessions too. Your address is {address}.", address=visit.address),
        thing=("login_policy", policy.organization_id),
    )
