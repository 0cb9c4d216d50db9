"""Settings: the statuses of cases, those of the product and own ones."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.alerts import status_deletion
from afterword.alerts.resources import AlertStatus, AlertStatusRequest, AlertStatusUpdate
from afterword.alerts.statuses import service, store
from afterword.console.cases.rows import status_text
from afterword.console.inputs import Input, document_of, form_page, read_as, same_version
from afterword.console.lists import Listing
from afterword.console.screens import Screens, Visit
from afterword.core.messaging.alerts import STATUSES_MAX
from afterword.core.wire.lists import Page
from afterword.web import fields, html

STATUSES: Final = "/console/settings/statuses"
ONE: Final = f"{STATUSES}/{{status_id}}"
LISTED: Final = fields.listing_of(AlertStatus, order=(("position", "asc"),), id="status_id")
INPUTS: Final = (
    Input("title", "text", "Title", required=True),
    Input("description", "area", "Description", "For your colleagues."),
    Input("color", "text", "Colour", "Such as #005d69.", required=True),
    Input("closing", "switch", "A case with it is closed", options=(("", "no"), ("1", "yes"))),
    Input("position", "number", "Place in the list", "The lowest number comes first.", required=True),
)

routes = Screens()


@routes.get(STATUSES, scope="Alert Status.Update")
async def list_statuses(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await store.list_statuses(db, **visit.caller.part, page=Page.first(LISTED, limit=STATUSES_MAX + 50))
    return visit.page(
        "things.html",
        title=words("Statuses of cases"),
        tab="statuses",
        lead=words("A case has one status. Those of the product stay; add your own beside them."),
        new=(words("New status"), f"{STATUSES}/new") if "Alert Status.Create" in visit.caller.scopes else None,
        list=Listing(
            rows=[
                {
                    "url": "" if one.system else f"{STATUSES}/{one.status_id}",
                    "title": status_text(words, one.status_id, one.title),
                    "state": words("closed") if one.closing else words("open"),
                    "when": words("of the product") if one.system else "",
                    "more": one.description or "",
                }
                for one in found.items
            ],
            empty="",
        ),
    )


@routes.post(f"{STATUSES}/new", scope="Alert Status.Create")
async def make_status(visit: Visit) -> Response:
    try:
        request = read_as(AlertStatusRequest, document_of(visit.form, INPUTS), visit)
        async with visit.write() as db:
            await service.create(db, caller=visit.caller, columns=request.named(), now=visit.now)
    except errors.Invalid as refusal:
        return await _form(visit, None, refusal)
    return html.redirect(f"{STATUSES}?done=saved")


@routes.get(ONE, scope="Alert Status.Update")
async def status_page(visit: Visit) -> Response:
    return await _form(visit, await _status(visit))


@routes.post(ONE, scope="Alert Status.Update")
async def save_status(visit: Visit) -> Response:
    try:
        request = read_as(AlertStatusUpdate, document_of(visit.form, INPUTS), visit)
        async with visit.write() as db:
            await service.update(
                db,
                caller=visit.caller,
                status_id=_number(visit),
                changes=request.named(),
                now=visit.now,
                expect=same_version(visit),
            )
    except service.StatusInUse as used:
        return await _form(visit, await _status(visit), errors.Invalid.at("/closing", used.code, used.detail))
    except (errors.Invalid, errors.Stale) as refusal:
        return await _form(visit, await _status(visit), refusal)
    return html.redirect(f"{STATUSES}?done=saved")


@routes.get(f"{ONE}/removal", scope="Alert Status.Delete")
async def confirm_removal(visit: Visit) -> Response:
    words, status = visit.words, await _status(visit)
    return visit.confirm(
        title=words("Remove the status “{title}”?", title=status.title),
        sentences=[words("It cannot be removed while an alert or a case has it.")],
        button=words("Remove the status"),
    )


@routes.post(f"{ONE}/removal", scope="Alert Status.Delete")
async def remove_status(visit: Visit) -> Response:
    async with visit.write() as db:
        await status_deletion.delete_status(
            db, caller=visit.caller, status_id=_number(visit), move_to=None, now=visit.now, expect=lambda _: None
        )
    return html.redirect(f"{STATUSES}?done=removed")


def _number(visit: Visit) -> int:
    """The number of the address. Raises NotFound for what is none."""
    text = visit.id("status_id")
    if not text.isascii() or not text.isdigit() or len(text) > 9:  # noqa: PLR2004  as long as any of them
        raise errors.NotFound("There is no such alert status.")
    return int(text)


async def _status(visit: Visit) -> store.Status:
    """An own status of the organization. Raises NotFound for one of the product."""
    async with visit.read() as db:
        found = await service.get(db, caller=visit.caller, status_id=_number(visit))
    if found.system:
        raise errors.NotFound("This status belongs to the product and stays as it is.")
    return found


@routes.get(f"{STATUSES}/new", scope="Alert Status.Create")
async def _form(visit: Visit, status: store.Status | None = None, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    here = f"{STATUSES}/{status.status_id}" if status else f"{STATUSES}/new"
    may_remove = status is not None and "Alert Status.Delete" in visit.caller.scopes
    return form_page(
        visit,
        title=status.title if status else words("New status"),
        back=(words("Statuses of cases"), STATUSES),
        action=here,
        inputs=INPUTS,
        stored=status or AlertStatusRequest(title="", color="#005d69"),
        version=status.version if status else "",
        refusal=refusal,
        links=[(words("Remove the status"), f"{here}/removal")] if may_remove else (),
        thing=("alert_status", str(status.status_id)) if status else None,
    )
