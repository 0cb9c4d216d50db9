"""A tag for many responses of the list: these of the page or all that match, its progress, and the way back."""

from typing import Final

from starlette.responses import Response

from afterword.console.response_list import RESPONSES, choice_of
from afterword.console.screens import Screens, Visit
from afterword.responses.taggings import service
from afterword.responses.taggings.store import Action
from afterword.web import html

routes = Screens()
TAGGINGS: Final = f"{RESPONSES}/taggings"
ONE: Final = f"{TAGGINGS}/{{tagging_id}}"
REFRESH_SECONDS: Final = "2"


@routes.post(TAGGINGS, scope="Tag.Create")
async def tag_responses(visit: Visit) -> Response:
    choice, form = choice_of(visit), visit.form
    is_of_page = form.text("among") != "all" or bool(choice.condition)
    action: Action = "remove" if form.text("action") == "remove" else "add"
    async with visit.write() as db:
        made = await service.begin(
            db,
            caller=visit.caller,
            tag=form.text("tag"),
            action=action,
            chosen=choice.filter(visit),
            application_id=choice.application_id or None,
            instance_ids=form.all("id") if is_of_page else None,
            now=visit.now,
        )
    return html.redirect(choice.url(f"taggings/{made.tagging_id}"))


@routes.get(ONE, scope="Tag.Read")
async def show_tagging(visit: Visit) -> Response:
    async with visit.read() as db:
        tagging = await service.get(db, caller=visit.caller, tagging_id=visit.id("tagging_id"))
    choice = choice_of(visit)
    response = visit.page(
        "tagging.html",
        title=visit.words("Tag: {tag}", tag=tagging.tag),
        tagging=tagging,
        back=choice.url(),
        undo_url=choice.url(f"taggings/{tagging.tagging_id}/undo"),
        may_undo="Tag.Create" in visit.caller.scopes,
    )
    if tagging.state in {"running", "undoing"}:
        response.headers["Refresh"] = REFRESH_SECONDS
    return response


@routes.post(f"{ONE}/undo", scope="Tag.Create")
async def undo_tagging(visit: Visit) -> Response:
    async with visit.write() as db:
        await service.undo(db, caller=visit.caller, tagging_id=visit.id("tagging_id"), now=visit.now)
    return html.redirect(choice_of(visit).url(f"taggings/{visit.id('tagging_id')}"))
