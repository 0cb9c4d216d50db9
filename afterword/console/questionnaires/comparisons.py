"""Two versions of a questionnaire beside each other, or a version and the draft: the difference in words."""

from typing import Final

from starlette.responses import Response

from afterword.console.questionnaires.publication import VERSIONS, sentence_of
from afterword.console.questionnaires.questionnaires import PATH
from afterword.console.screens import Screens, Visit
from afterword.questionnaires import access
from afterword.questionnaires.drafts import service as drafts
from afterword.questionnaires.drafts import store as drafts_store
from afterword.questionnaires.drafts.service import DRAFT
from afterword.questionnaires.versions import store

COMPARISON: Final = f"{VERSIONS}/comparison"
OFFERED_MAX: Final = 1_000  # versions to choose from
SHOWN_MAX: Final = 500  # differences

routes = Screens()


@routes.get(COMPARISON, scope="Questionnaire Version.Read")
async def comparison_page(visit: Visit) -> Response:
    """From the earlier to the later one, in whatever order they are chosen; at first the newest ones."""
    words = visit.words
    async with visit.read() as db:
        one = await access.get(db, caller=visit.caller, **visit.ids)
        numbers = await store.list_numbers(db, **one.key, limit=OFFERED_MAX)
        has_draft = await drafts_store.get_draft(db, **one.key) is not None
        order = [*([DRAFT] if has_draft else []), *(version_id for version_id, _, _ in numbers)]  # the newest first
        first, second = (visit.query.get(name) or default for name, default in _defaults(order))
        later, earlier = sorted((first, second), key=lambda each: order.index(each) if each in order else OFFERED_MAX)
        found = (
            await drafts.compare(db, questionnaire=one, version_id=earlier, compared_id=later)
            if earlier != later
            else []
        )
    names = {DRAFT: words("the draft")} | {
        version_id: words(
            "Version {n}, {day}", n=words.count(number), day=words.date(published_time, time_zone=visit.zone)
        )
        for version_id, number, published_time in numbers
    }
    return visit.page(
        "versions_compared.html",
        title=words("Compare versions of “{name}”", name=one.display_name),
        path=f"{PATH}/{one.questionnaire_id}/versions",
        offered=[(each, names[each]) for each in order],
        first=first,
        second=second,
        heading_text=""
        if earlier == later
        else words("From {earlier} to {later}", earlier=names.get(earlier, ""), later=names.get(later, "")),
        differences=[sentence_of(words, each) for each in found[:SHOWN_MAX]],
        more=len(found) - SHOWN_MAX,
    )


def _defaults(order: list[str]) -> list[tuple[str, str]]:
    """The names of the query, each with the newest that is not the other's."""
    later, earlier = (order * 2)[:2] if order else ("", "")
    return [("from", earlier), ("to", later)]
