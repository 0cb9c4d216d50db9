"""The pause of all sending of the organization: every account of it, with a reason that each page shows."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.screens import Screens, Visit
from afterword.kit.web import html
from afterword.sending.providers import service
from afterword.sending.screens.queue_items import SENDING

PAUSE: Final = f"{SENDING}/pause"
REASON_CHARACTERS_MAX: Final = 500

routes = Screens()


@routes.post(PAUSE, scope="Provider.Update")
async def pause(visit: Visit) -> Response:
    reason = visit.form.text("reason")
    if not 0 < len(reason) <= REASON_CHARACTERS_MAX:
        message = visit.words("Give a reason, in up to 500 characters.")
        return await _form(visit, errors.Invalid.at("/reason", "required", message))
    async with visit.write() as db:
        await service.pause_all(db, caller=visit.caller, reason=reason)
    return html.redirect(f"{SENDING}?done=all_paused")


@routes.post(f"{PAUSE}/end", scope="Provider.Update")
async def resume(visit: Visit) -> Response:
    async with visit.write() as db:
        await service.resume_all(db, caller=visit.caller)
    return html.redirect(f"{SENDING}?done=all_resumed")


@routes.get(PAUSE, scope="Provider.Update")
async def _form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    visit.caller.require_whole()
    return visit.page(
        "sending_pause.html",
        title=visit.words("Pause all sending?"),
        status=refusal.status if refusal else 200,
        refusal=refusal,
        reason=visit.form.text("reason"),
    )
