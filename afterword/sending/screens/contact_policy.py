"""Settings: the contact policy over all pipelines, and the addresses that are not written to."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import read_as
from afterword.console.nouns import settings_form
from afterword.console.removals import removal
from afterword.console.screens import Database, Screens, Visit
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.ui.text import address_text
from afterword.kit.web import html
from afterword.people.responders import suppressions
from afterword.people.responders.suppressions import SUPPRESSION, SuppressionRequest
from afterword.sending.pipelines.policies import POLICY
from afterword.sending.screens.queue_items import CHANNELS, reason_text

PATH: Final = "/console/settings/policy"
SUPPRESSIONS: Final = "/console/settings/suppressions"
LISTED: Final = structs.listing_of(SUPPRESSION)
REASONS: Final = ("blocked", "unsubscribed")

routes = Screens()


settings_form(
    routes,
    POLICY,
    PATH,
    scope="Contact Policy.Update",
    title="Contact policy",
    lead=lambda visit: visit.words("It applies to all pipelines, except those that opt out."),
    tab="policy",
)


@routes.post(SUPPRESSIONS, scope="Suppression.Create", again=(errors.Invalid, errors.Conflict))
async def suppress(visit: Visit) -> Response:
    form = visit.form
    document: dict[str, Any] = {
        "channel_id": form.text("channel_id"),
        "identifier": form.text("identifier"),
        "reason": form.text("reason") if form.text("reason") in REASONS else REASONS[0],
        "note": form.text("note") or None,
    }
    request = read_as(SuppressionRequest, document, visit)
    await visit.change(suppressions.add, caller=visit.caller, request=request, secret=visit.site.secret, now=visit.now)
    return html.redirect(f"{SUPPRESSIONS}?done=stopped")


async def _lifted(visit: Visit) -> dict[str, str]:
    words, one = visit.words, await visit.row(SUPPRESSION)
    return {"address": address_text(words, one.identifier), "reason": reason_text(words, one.reason)}


removal(
    routes,
    f"{SUPPRESSIONS}/{{suppression_id}}/lifting",
    scope="Suppression.Delete",
    title="Allow messages to {address} again?",
    sentences=["The reason was: {reason}."],
    button="Allow messages again",
    get=_lifted,
    remove=lambda visit, db: nouns.delete(SUPPRESSION, db, key=visit.id("suppression_id"), **visit.acting),
    to=SUPPRESSIONS,
    done="lifted",
    back=SUPPRESSIONS,
    is_harmless=True,
)


@routes.get(SUPPRESSIONS, scope="Suppression.Read")
async def _suppressions(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    visit.caller.require_all()
    found = await nouns.rows(
        SUPPRESSION, db, organization_id=visit.caller.organization_id, page=page_of(LISTED, visit.query)
    )
    return visit.page(
        "suppressions.html",
        title=words("Not to be contacted"),
        channels=[(str(each), words(CHANNELS[each])) for each in (CHANNEL_EMAIL, CHANNEL_SMS)],
        names=CHANNELS,
        reasons=[(each, reason_text(words, each)) for each in REASONS],
        list=Listing(
            rows=[(one, address_text(words, one.identifier), reason_text(words, one.reason)) for one in found.items],
            empty=words("No one yet. People who unsubscribe and addresses that bounce are listed here."),
            **page_links(found, visit.query, SUPPRESSIONS),
        ),
        refusal=refusal,
    )
