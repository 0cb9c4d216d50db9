"""The preview beside the form: the draft's answer page in a frame, and the person as whom it is seen."""

from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from afterword import ids
from afterword.asking.instances import responders
from afterword.asking.questionnaires import access
from afterword.asking.screens.questionnaires import PATH, Work
from afterword.console.answers import note_person
from afterword.console.screens import Database, Screens, Visit
from afterword.core.questionnaires.metadata import name_of
from afterword.core.wire.lists import Page
from afterword.kit.ui.lists import ROWS, SEARCH_CHARACTERS, Column, Listing, address
from afterword.kit.ui.text import LIGHT, LOOKS, PHONE, SHADES
from afterword.privacy import profiles
from afterword.sending import previews

LOCALE_CHARACTERS_MAX: Final = 35


def pane(visit: Visit, work: Work, *, current: str) -> dict[str, Any]:
    """The values of the frame; none where there is nothing to show yet. `current`: the id of the question or ending.

    The chosen ones stand in the address, so that they stay from question to question.
    """
    definition, words = work.definition, visit.words
    if not definition.questions():
        return {}
    ends = int(visit.now.timestamp()) + previews.PREVIEW_SECONDS
    questionnaire, kept = work.questionnaire, kept_of(visit)
    person = kept.get("as") if may_choose_person(visit) else None
    permission = previews.Permission(
        questionnaire.organization_id, questionnaire.questionnaire_id, responder_id=person, ends=ends
    )
    note_person(visit, person)
    asked = kept.get("language", "")
    language = asked if asked in definition.locales else definition.default_locale
    shade = kept.get("shade", LIGHT)
    shown = {"locale": language, "scheme": shade}
    shown |= {"edit": "1"} if language == definition.default_locale else {}
    shown |= {"question": current} if definition.question(current) else {}
    shown |= {"ending": current} if current in {one.ending_id for one in definition.endings} else {}
    return {
        "url": f"{previews.address_of(permission, site=visit.site)}?{urlencode(shown)}",
        "language": language,
        "look": kept.get("look", PHONE),
        "shade": shade,
        "languages": [(one, words.language_name(one)) for one in definition.locales],
        "looks": [(name, words(text)) for name, text in LOOKS.items()],
        "shades": [(name, words(text)) for name, text in SHADES.items()],
        "query": address("", kept),
        "person_url": f"{work.path}/edit/person" if may_choose_person(visit) else "",
        "person": person or "",
    }


def may_choose_person(visit: Visit) -> bool:
    """A caller of some applications sees people in parts only, and the page would show the whole."""
    return {"Responder.Read", "Responder Value.Read"} <= visit.caller.scopes and not visit.caller.is_limited


def kept_of(visit: Visit) -> dict[str, str]:
    """The choices of the address that are not the usual ones."""
    chosen = {"language": visit.query.get("language", "")[:LOCALE_CHARACTERS_MAX]}
    chosen |= {name: visit.query.get(name, "") for name in ("look", "shade")}
    chosen["as"] = person if ids.is_id(person := visit.query.get("as", "")) else ""
    return {
        name: text
        for name, text in chosen.items()
        if text and text not in {PHONE, LIGHT} and (name in {"language", "as"} or text in {*LOOKS, *SHADES})
    }


routes = Screens()


@routes.get(f"{PATH}/{{questionnaire_id}}/edit/person", scope="Questionnaire.Update")
async def choose_person(visit: Visit, db: Database) -> Response:
    words, search = visit.words, visit.query.get("q", "").strip()
    visit.caller.require("Responder.Read")
    visit.caller.require("Responder Value.Read")
    is_searched = len(search) in SEARCH_CHARACTERS
    await access.get(db, caller=visit.caller, **visit.ids)
    page = Page.first(responders.RESPONDERS, limit=ROWS)
    found = await responders.find(db, caller=visit.caller, search=search if is_searched else None, page=page)
    views = await responders.views_of(db, caller=visit.caller, responders=found.items, now=visit.now)
    if is_searched:
        await profiles.note(db, caller=visit.caller, action="searched", now=visit.now)
    editor = f"{PATH}/{visit.id('questionnaire_id')}/edit"
    return visit.page(
        "preview_person.html",
        title=words("Preview as a person"),
        search=search,
        action=f"{editor}/person",
        back=editor,
        list=Listing(
            rows=[
                {
                    "url": address(editor, {"as": one.responder_id}),
                    "name": name_of(views[one.responder_id].values or {}) or words("Unknown person"),
                    "addresses": ", ".join(each.identifier for each in views[one.responder_id].identifiers),
                }
                for one in found.items
            ],
            columns=[Column(text=words("Name")), Column(text=words("Address"))],
            empty=words(
                "No one found. Enter an order key in full; for a name, the first letters of its words are enough."
            ),
        ),
    )
