"""Saved views of the list of responses: each is an address with a name."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from afterword import errors
from afterword.console.response_list import RESPONSES, ResponseFilter
from afterword.console.screens import Database, Screens, Undo, Visit
from afterword.kit.nouns import service as nouns
from afterword.listening.responses.service import SavedView
from afterword.listening.responses.views import VIEW, in_order, may_remove

routes = Screens()
VIEWS: Final = f"{RESPONSES}/views"
ONE: Final = f"{VIEWS}/{{view_id}}"


@routes.post(VIEWS, scope="Questionnaire Instance.Read", for_limited="part")
async def save_view(visit: Visit, db: Database) -> Response:
    choice = ResponseFilter.read(visit.query)
    columns = {
        "title": visit.form.text("title"),
        "query": urlencode({**choice.query, "after": "", "since": ""}),
        "shared": bool(visit.form.text("shared")),
    }
    await nouns.create(VIEW, db, columns=columns, **visit.acting)
    return visit.did(choice.url(), "view")


@routes.post(ONE, scope="Questionnaire Instance.Read", for_limited="part")
async def remove_view(visit: Visit, db: Database) -> Response:
    """Remove it at once; the way back saves it again, as one's own."""
    view = await nouns.get(VIEW, db, caller=visit.caller, key=visit.id("view_id"))
    if visit.caller.limit is not None and view.user_id != visit.caller.user_id:
        raise errors.NotFound("There is no such view.")
    await nouns.delete(VIEW, db, key=view.view_id, **visit.acting)
    fields = {"title": view.title, "shared": "1" if view.shared and visit.caller.limit is None else ""}
    return visit.did(RESPONSES, "view_removed", Undo(f"{VIEWS}?{view.query}", fields))


def shown(visit: Visit, views: Sequence[SavedView], choice: ResponseFilter) -> list[dict[str, Any]]:
    here = choice.url()
    found: list[dict[str, Any]] = []
    for view in in_order(views, caller=visit.caller):
        # A query that no longer reads as it was saved is the filter of those parts that do.
        url = ResponseFilter.read(dict(parse_qsl(view.query))).url()
        found.append(
            {
                "title": view.title,
                "url": url,
                "is_current": url == here,
                "remove_url": f"{VIEWS}/{view.view_id}" if may_remove(visit.caller, view.user_id) else "",
            }
        )
    return found
