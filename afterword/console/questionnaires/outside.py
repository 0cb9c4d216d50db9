"""Values that come from outside, with an item, an instance or the address of a public link, and their uses."""

from typing import Final

from starlette.responses import Response

from afterword.console.questionnaires import outline
from afterword.console.questionnaires.builder import EDIT
from afterword.console.questionnaires.questionnaires import Work, work_of
from afterword.console.screens import Screens, Visit
from afterword.console.settings.metadata_names import METADATA, TYPES
from afterword.core.questionnaires import editing, variables
from afterword.core.questionnaires.metadata import Kind

OUTSIDE: Final = f"{EDIT}/values"

routes = Screens()


@routes.get(OUTSIDE, scope="Questionnaire.Update")
async def values_page(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        work = await work_of(visit, db)
    uses = variables.metadata_of(work.definition)
    rows = [_row(visit, work, kind, name, uses.pop(f"{kind}.{name}", [])) for kind, name in _declared(work)]
    undeclared = [_row(visit, work, *_split(name), places) for name, places in uses.items()]
    link = visit.public_pages.public_link_url(work.questionnaire.questionnaire_id)
    return visit.page(
        "outside.html",
        title=words("Values from outside"),
        path=f"{work.path}/edit",
        rows=[*undeclared, *sorted(rows, key=lambda row: not row["uses"])],
        link="" if not work.questionnaire.public_link else link,
        new=f"{METADATA}/new" if "Metadata.Create" in visit.caller.scopes else "",
    )


def _row(visit: Visit, work: Work, kind: Kind, name: str, places: list[str | None]) -> dict[str, object]:
    words, known = visit.words, work.declared.get(kind, name)
    found = [(one, editing.question_of(work.draft.definition, one)) for one in places if one]
    return {
        "name": name,
        "title": known.title if known else "",
        "type": words(dict(TYPES)[known.type]) if known else "",
        "kind": words("Of the order") if kind == "questionnaire" else words("Of the person"),
        "parameter": name if work.declared.kind_of(name) == kind else f"responder[{name}]",
        "uses": [
            {"url": f"{work.path}/edit/{one}", "text": outline.title_of(words, question or {})}
            for one, question in found
        ]
        + ([{"url": f"{work.path}/edit/texts", "text": words("Texts around the questions")}] if None in places else []),
        "is_declared": known is not None,
    }


def _declared(work: Work) -> list[tuple[Kind, str]]:
    return [
        *(("questionnaire", name) for name in work.declared.questionnaire),
        *(("responder", name) for name in work.declared.responder),
    ]


def _split(variable: str) -> tuple[Kind, str]:
    kind, _, name = variable.partition(".")
    return ("responder" if kind == "responder" else "questionnaire"), name
