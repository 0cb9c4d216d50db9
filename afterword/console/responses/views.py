"""Saved views of the list of responses: each is an address with a name."""

from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from afterword.console.response_list import RESPONSES, ResponseFilter, done
from afterword.console.screens import Screens, Visit
from afterword.db import Database
from afterword.responses.views import service
from afterword.responses.views.store import View
from afterword.web import html

routes = Screens()
VIEWS: Final = f"{RESPONSES}/views"
ONE: Final = f"{VIEWS}/{{view_id}}"


@routes.post(VIEWS, scope="Questionnaire Instance.Read")
async def save_view(visit: Visit) -> Response:
    choice = ResponseFilter.read(visit.query)
    async with visit.write() as db:
        await service.save(
            db,
            caller=visit.caller,
            title=visit.form.text("title"),
            query=urlencode({**choice.query, "after": "", "since": ""}),
            shared=bool(visit.form.text("shared")),
            now=visit.now,
        )
    return html.redirect(done(choice.url(), "view"))


@routes.get(ONE, scope="Questionnaire Instance.Read")
async def ask_remove(visit: Visit) -> Response:
    view = await visit.find(service.get)
    return visit.page(
        "view.html",
        title=visit.words("Remove the view “{title}”?", title=view.title),
        view=view,
        url=_choice(view).url(),
        may_remove=service.may_remove(visit.caller, view),
    )


@routes.post(ONE, scope="Questionnaire Instance.Read")
async def remove_view(visit: Visit) -> Response:
    async with visit.write() as db:
        await service.remove(db, caller=visit.caller, **visit.ids)
    return html.redirect(done(RESPONSES, "removed"))


async def views_of(visit: Visit, db: Database, choice: ResponseFilter) -> list[dict[str, Any]]:
    here = choice.url()
    return [
        {
            "title": view.title,
            "url": _choice(view).url(),
            "is_current": _choice(view).url() == here,
            "remove_url": f"{VIEWS}/{view.view_id}" if service.may_remove(visit.caller, view) else "",
            "is_shared": view.shared,
        }
        for view in await service.list_views(db, caller=visit.caller)
    ]


def _choice(view: View) -> ResponseFilter:
    """A query that no longer reads as it was saved is the filter of those parts that do."""
    return ResponseFilter.read(dict(parse_qsl(view.query)))
