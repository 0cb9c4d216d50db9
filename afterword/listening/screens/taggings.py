"""A tag for many responses of the list: these of the page or all that match, its progress, and the way back."""

from typing import Final

from starlette.responses import Response

from afterword.console.response_list import RESPONSES, ResponseFilter, chips_of
from afterword.console.screens import Screens, Visit
from afterword.kit.texts import Texts
from afterword.kit.web import html
from afterword.listening.responses import service as responses
from afterword.listening.responses import taggings
from afterword.listening.responses.store import FOUND_MAX
from afterword.listening.responses.taggings import Action

routes = Screens()
TAGGINGS: Final = f"{RESPONSES}/taggings"
ONE: Final = f"{TAGGINGS}/{{tagging_id}}"
REFRESH_SECONDS: Final = "2"


@routes.get(TAGGINGS, scope="Tag.Create")
async def count_first(visit: Visit) -> Response:
    """The number of responses that match, before all of them are tagged."""
    visit.caller.require("Questionnaire Instance.Read")
    words, choice = visit.words, ResponseFilter.read(visit.query).fixed(visit)
    node = choice.node(visit)
    async with visit.read() as db:
        found = await responses.select(
            db,
            caller=visit.caller,
            application_id=choice.application_id or None,
            chosen=choice.filter(visit),
            condition=node,
            limit=FOUND_MAX,
        )
    return visit.page(
        "tagging_all.html",
        title=words.plural("Tag {n} response", "Tag {n} responses", len(found)),
        filters=[text for text, _ in chips_of(visit, choice, node)],
        count=len(found),
        action=choice.url("taggings"),
        actions=actions_of(visit.words),
        back=ResponseFilter.read(visit.query).url(),
    )


@routes.post(TAGGINGS, scope="Tag.Create")
async def tag_responses(visit: Visit) -> Response:
    choice, form = ResponseFilter.read(visit.query), visit.form
    action: Action = "remove" if form.text("action") == "remove" else "add"
    async with visit.write() as db:
        made = await taggings.begin(
            db,
            caller=visit.caller,
            tag=form.text("tag"),
            action=action,
            chosen=choice.filter(visit),
            application_id=choice.application_id or None,
            condition=choice.node(visit),
            instance_ids=None if form.text("among") == "all" else form.all("id"),
            now=visit.now,
        )
    return html.redirect(choice.url(f"taggings/{made.tagging_id}"))


def actions_of(words: Texts) -> list[tuple[str, str]]:
    return [("add", words("Add")), ("remove", words("Remove"))]


@routes.get(ONE, scope="Tag.Read")
async def show_tagging(visit: Visit) -> Response:
    tagging = await visit.find(taggings.get)
    choice = ResponseFilter.read(visit.query)
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
        await taggings.undo(db, caller=visit.caller, **visit.ids, now=visit.now)
    return html.redirect(ResponseFilter.read(visit.query).url(f"taggings/{visit.id('tagging_id')}"))
