"""One search over everything that the reader may see."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from afterword.console import settings
from afterword.console.screens import Marked, Screens, Visit
from afterword.listening.screens.questionnaire_results import RESULTS, results_url
from afterword.listening.search import api
from afterword.listening.search.api import Hit

FIND: Final = "/console/find"
GROUPS: Final[Mapping[str, Marked]] = {
    "responder": "People", "questionnaire_instance": "Responses", "queue_item": "Messages", "alert_instance": "Cases",
    "questionnaire": "Questionnaires",
}  # fmt: skip
PAGES: Final[Mapping[str, str]] = {
    "responder": "/console/people/",
    "questionnaire_instance": "/console/responses/",
    "queue_item": "/console/sending/",
    "alert_instance": "/console/cases/",
    "questionnaire": "/console/questionnaires/",
}

routes = Screens()


@routes.get(FIND, for_limited="part", is_long=True)
async def find(visit: Visit) -> Response:
    words, text = visit.words, visit.query.get("q", "").strip()
    hits = await visit.load(api.find, caller=visit.caller, text=text, secret=visit.site.secret, now=visit.now)
    groups = [
        (words(title), [_row(visit, hit) for hit in hits if hit.kind == kind])
        for kind, title in GROUPS.items()
        if any(hit.kind == kind for hit in hits)
    ]
    pages = settings.found(words, visit.may_open, text) if text else []
    return visit.page("find.html", title=words("Find"), text=text, pages=pages, groups=groups)


@routes.get(f"{FIND}/pages", for_limited="free")
async def find_pages(visit: Visit) -> Response:
    """All pages that the role opens, for the palette."""
    pages = settings.found(visit.words, visit.may_open, "")
    return visit.page("find_pages.html", title=visit.words("Pages"), pages=pages)


def _row(visit: Visit, hit: Hit) -> dict[str, Any]:
    results = results_url(hit.id) if hit.kind == "questionnaire" and visit.may_open(RESULTS) else ""
    is_closed = hit.kind == "questionnaire" and not visit.is_open(RESULTS.removesuffix("/results"))
    return {
        "url": results if is_closed else f"{PAGES[hit.kind]}{hit.id}",
        "hit": hit,
        "results_url": "" if is_closed else results,
        "when": visit.words.moment(hit.time, time_zone=visit.zone) if hit.time else "",
    }
