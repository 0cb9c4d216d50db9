"""The person as whom the preview is seen: found by the search for people, and named in the address by an id alone."""

from starlette.responses import Response

from afterword.console.lists import ROWS, Column, Listing, address
from afterword.console.people import SEARCH_CHARACTERS
from afterword.console.questionnaires.questionnaires import PATH
from afterword.console.screens import Screens, Visit
from afterword.core.wire.lists import Page
from afterword.instances.responders import api as responders_api
from afterword.instances.responders import service as responders
from afterword.people import service as people
from afterword.questionnaires import access

routes = Screens()


@routes.get(f"{PATH}/{{questionnaire_id}}/edit/person", scope="Questionnaire.Update")
async def choose_person(visit: Visit) -> Response:
    words, search = visit.words, visit.query.get("q", "").strip()
    visit.caller.require("Responder.Read")
    visit.caller.require("Responder Value.Read")
    shortest, longest = SEARCH_CHARACTERS
    is_searched = shortest <= len(search) <= longest
    async with visit.read() as db:
        await access.get(db, caller=visit.caller, **visit.ids)
        page = Page.first(responders_api.RESPONDERS, limit=ROWS)
        found = await responders.find(db, caller=visit.caller, search=search if is_searched else None, page=page)
        views = await responders.views_of(db, caller=visit.caller, responders=found.items, now=visit.now)
        if is_searched:
            await people.note(db, caller=visit.caller, action="searched", now=visit.now)
    editor = f"{PATH}/{visit.id('questionnaire_id')}/edit"
    return visit.page(
        "preview_person.html",
        title=words("See the preview as a person"),
        search=search,
        action=f"{editor}/person",
        back=editor,
        list=Listing(
            rows=[
                {
                    "url": address(editor, {"as": one.responder_id}),
                    "name": ", ".join(each.identifier for each in views[one.responder_id].identifiers),
                }
                for one in found.items
            ],
            columns=[Column(text=words("Address"))],
            empty=words(
                "Nobody is found. An order key is found by the whole of it, a name by the beginnings of its words."
            ),
        ),
    )
