"""Saved views of the list of responses: each is an address with a name."""

from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from afterword.console.response_list import RESPONSES, ResponseFilter, done
from afterword.console.screens import Screens, Visit
from afterword.kit.db import Database
from afterword.kit.nouns import service
from afterword.kit.web import html
from afterword.listening.responses import views
from afterword.listening.responses.views import VIEW, ResponseView, may_remove

routes = Screens()
VIEWS: Final = f"{RESPONSES}/views"
ONE: Final = f"{VIEWS}/{{view_id}}"


@routes.post(VIEWS, scope="Questionnaire Instance.Read")
async def save_view(visit: Visit) -> Response:
    choice = ResponseFilter.read(visit.query)
    columns = {
        "title": visit.form.text("title"),
        "query": urlencode({**choice.query, "after": "", "since": ""}),
        "shared": bool(visit.form.text("shared")),
    }
    async with visit.write() as db:
        await service.create(VIEW, db, caller=visit.caller, columns=columns, site=visit.site, now=visit.now)
    return html.redirect(done(choice.url(), "view"))


@routes.get(ONE, scope="Questionnaire Instance.Read")
async def ask_remove(visit: Visit) -> Response:
    async with visit.read() as db:
        view = await service.get(VIEW, db, caller=visit.caller, key=visit.id("view_id"))
    return visit.page(
        "view.html",
        title=visit.words("Remove the view “{title}”?", title=view.title),
        view=view,
        url=_choice(view).url(),
        may_remove=may_remove(visit.caller, view),
    )


@routes.post(ONE, scope="Questionnaire Instance.Read")
async def remove_view(visit: Visit) -> Response:
    async with visit.write() as db:
        await service.delete(VIEW, db, caller=visit.caller, key=visit.id("view_id"), site=visit.site, now=visit.now)
    return html.redirect(done(RESPONSES, "removed"))


async def views_of(visit: Visit, db: Database, choice: ResponseFilter) -> list[dict[str, Any]]:
    here = choice.url()
    return [
        {
            "title": view.title,
            "url": _choice(view).url(),
            "is_current": _choice(view).url() == here,
            "remove_url": f"{VIEWS}/{view.view_id}" if may_remove(visit.caller, view) else "",
            "is_shared": view.shared,
        }
        for view in await views.views_of(db, caller=visit.caller)
    ]


def _choice(view: ResponseView) -> ResponseFilter:
    """A query that no longer reads as it was saved is the filter of those parts that do."""
    return ResponseFilter.read(dict(parse_qsl(view.query)))
