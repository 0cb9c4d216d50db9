"""The list of what the reader was told: the newest first, each with its case, to be marked as read."""

from contextlib import suppress
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.cases.notifications import api, service, store
from afterword.cases.notifications.store import Notification
from afterword.console.screens import Screens, Visit
from afterword.kit.ui.lists import ROWS, Listing, page_links, page_of
from afterword.kit.web import fields, html
from afterword.tenants.mails import SETTINGS, page_of_case

NOTICES: Final = "/console/notifications"
LISTING: Final = fields.listing_of(api.Notification)

routes = Screens()


@routes.get(NOTICES, scope="Notification.Read")
async def list_notices(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await store.list_notifications(
            db,
            organization_id=visit.caller.organization_id,
            user_id=visit.session.user_id,
            page=page_of(LISTING, visit.query),
        )
    return visit.page(
        "notices.html",
        title=words("Notifications"),
        choose=(words("Choose what you are told"), SETTINGS),
        action=f"{NOTICES}/read",
        unread=[one.notification_id for one in found.items if not one.read],
        list=Listing(
            rows=[_row(visit, one) for one in found.items],
            empty=words("You were told nothing in the last 90 days."),
            **page_links(found, visit.query, NOTICES),
        ),
    )


@routes.post(f"{NOTICES}/read", scope="Notification.Update")
async def mark_as_read(visit: Visit) -> Response:
    async with visit.write() as db:
        for notification_id in visit.form.all("id")[:ROWS]:
            with suppress(errors.NotFound):  # pruned since the page was shown
                await service.mark_read(
                    db, caller=visit.caller, notification_id=notification_id, read=True, now=visit.now
                )
    return html.redirect(f"{NOTICES}?done=notices_read")


def _row(visit: Visit, one: Notification) -> dict[str, Any]:
    return {
        "title": one.title,
        "body": one.body,
        "url": page_of_case(one.link),
        "when": visit.words.moment(one.created_time, time_zone=visit.zone),
        "is_unread": not one.read,
    }
