"""Settings: conditions of the organization on how its people and tokens come in."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import Input, document_of, form_page, read_as, same_version
from afterword.console.screens import Screens, Visit
from afterword.kit.web import html
from afterword.tenants.logins import policies
from afterword.tenants.logins.identities import service
from afterword.tenants.logins.policies import LoginPolicyRequest
from afterword.tenants.screens.organization import LOGINS
from afterword.tenants.screens.organization import PATH as ORGANIZATION

INPUTS: Final = (
    Input("requires_second_factor", "switch", "A second factor is required",
          "People without one set it up at their next log-in, and see nothing before."),
    Input("requires_provider", "switch", "Log-in through your own provider alone",
          "Owners may still use their passwords with a second factor, for days when the provider is down."),
    Input("console_networks", "lines", "Networks of the console",
          "One a line, such as 203.0.113.0/24. Empty: from anywhere."),
    Input("token_networks", "lines", "Networks of all tokens",
          "A token of the API works from these networks alone. A token may have narrower ones of its own."),
)  # fmt: skip

routes = Screens()


@routes.post(LOGINS, scope="Organization.Update", proof=True)
async def save_policy(visit: Visit) -> Response:
    try:
        request = read_as(LoginPolicyRequest, document_of(visit.form, INPUTS), visit)
        async with visit.write() as db:
            await policies.save(
                db,
                caller=visit.caller,
                requires_second_factor=request.requires_second_factor,
                requires_provider=request.requires_provider,
                console_networks=request.console_networks,
                token_networks=request.token_networks,
                address=visit.address,
                now=visit.now,
                expect=same_version(visit),
            )
    except (errors.Invalid, errors.Stale) as refusal:
        return await _show(visit, refusal)
    return html.redirect(f"{LOGINS}?done=saved")


@routes.get(LOGINS, scope="Organization.Update")
async def _show(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    service.require_owner(visit.caller)
    async with visit.read() as db:
        policy = await policies.get_login_policy_record(db, organization_id=visit.caller.organization_id)
    return form_page(
        visit,
        title=words("How people log in"),
        back=(words("Organization"), ORGANIZATION),
        action=LOGINS,
        inputs=INPUTS,
        stored=policy,
        version=policy.version,
        refusal=refusal,
        lead=words("It holds at once, for open sessions too. Your address is {address}.", address=visit.address),
        thing=("login_policy", policy.organization_id),
    )
