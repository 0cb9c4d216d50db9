"""Every part of the screens in every state, for developers: only where the data are made up."""

from typing import Any, Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires.condition_rows import RANGES, Row, Subject
from afterword.asking.screens import question_form
from afterword.console import conditions
from afterword.console.conditions import Values
from afterword.console.periods import PeriodChoice
from afterword.console.response_list import PERIODS
from afterword.console.screens import Screens, Undo, Visit
from afterword.core.figures import metrics
from afterword.core.figures.reports import Figure
from afterword.kit.texts import Texts
from afterword.kit.ui import charts
from afterword.kit.ui.lists import Column, Listing
from afterword.kit.ui.text import shown_figure

PATH: Final = "/console/parts"
BOUNDS: Final = (-100, 100)
SCORES: Final = ((40, 20), (44, 18), (52, 16), (47, 21), (58, 12), (61, 10))  # promoters and detractors of a hundred
CHANGES: Final = (("", ""), ("higher", "+5.2"), ("lower", "-3.1"), ("none", "+0.4"))
ROWS: Final = (("first", 2, "detractor", "late"), ("second", 9, "promoter", ""), ("third", 7, "passive", ""))

routes = Screens()


@routes.get(PATH)
async def show_parts(visit: Visit) -> Response:
    if not visit.session.demonstration_time:
        raise errors.NotFound("There is no such page.")
    words = visit.words
    scores = [metrics.nps(promoters, detractors, 100) for promoters, detractors in SCORES]
    figures = [
        Figure(now, change=metrics.change(now, before)) for now, before in zip(scores, scores[::-1], strict=True)
    ]
    days = [words.short_day(f"2026-11-{day:02}") for day in range(1, 1 + len(SCORES))]
    shown = shown_figure(words, figures[-1], bounds=BOUNDS)
    states = [words("On"), words("Off"), words("Open")]
    return visit.page(
        "parts_shown.html",
        title=words("Parts"),
        way_back=Undo(PATH, {}),
        steps=[
            {"text": words("Alerts"), "url": "#", "is_done": number == 0, "is_next": number == 1} for number in range(3)
        ],
        tabs_shown=[
            {"text": text, "url": "#", "is_current": number == 0, "count": number * 1_200 or None}
            for number, text in enumerate(states)
        ],
        period=PeriodChoice.read(visit.query, "30", PERIODS).field(words, PERIODS),
        responses=[_response(words, row) for row in ROWS],
        table=Listing(
            rows=[(text, 1_200) for text in states],
            empty="",
            columns=[Column(text=words("Name")), Column(text=words("Responses"), is_number=True)],
            found=3,
            next_url="#",
        ),
        figures=[replace(shown, change_kind=kind, change=change) for kind, change in CHANGES],
        trend=charts.trend_view(
            words, figures, days, bounds=BOUNDS, unit="", head=(words("From"), "NPS"), finding="", title="NPS"
        ),
        bars=charts.funnel_view(words, [(words("Sent"), figures[-1]), (words("Opened"), figures[0])], finding=""),
        sentence=conditions.values_of(
            words, Values("all", [Row("question:nps", "less_equal", "abc")]), _subjects(words)
        ),
        wrong=errors.Invalid("", errors=_wrong(words)),
        types=question_form.gallery(words),
    )


def _response(words: Texts, row: tuple[str, int, str, str]) -> dict[str, Any]:
    key, score, band, tag = row
    return {
        "id": key,
        "url": "#",
        "row": {"locale": "en", "questionnaire_name": words("Questionnaire"), "tags": [tag] if tag else []},
        "score": score,
        "highest": 10,
        "band": band,
        "band_text": "",
        "reference": "",
        "when": "-",
        "channel": words("Link"),
        "is_unread": bool(tag),
        "comment": words("Switched on.") if tag else "",
        "person": "anna@shop.example",
        "case_url": "#" if tag else "",
    }


def _wrong(words: Texts) -> list[errors.FieldError]:
    texts = {
        "title": words("Give the report a title."),
        "alert": words("Off"),
        "value-0": words("A number from {low} to {high} is expected.", low=0, high=10),
    }
    return [errors.FieldError("required", text, pointer=f"/{name}") for name, text in texts.items()]


def _subjects(words: Texts) -> dict[str, Subject]:
    ranges = {words(text): ends for text, ends in RANGES["nps"].items()}
    score = Subject(
        "question:nps", "NPS", "integer", words("Answers"), limits=("0", "10"), scale=range(11), ranges=ranges
    )
    return {score.key: score, "day": Subject("day", words("Date"), "date", words("Of the order"))}
