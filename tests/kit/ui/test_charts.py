"""Views of charts: mirrored with their texts, and honest where a figure is hidden."""

import re
from typing import Literal

from afterword.console.screens import DOMAIN
from afterword.core.figures import metrics
from afterword.core.figures.reports import Figure
from afterword.kit.texts import Texts, texts
from afterword.kit.ui import charts
from afterword.kit.web import html

FIGURES = [
    Figure(metrics.nps(30, 10, 60)),
    Figure(metrics.nps(2, 1, 3), suppressed=True),
    Figure(metrics.nps(5, 9, 40)),
]
NAMES = ["one", "two", "three"]


class Mirrored(Texts):
    @property
    def direction(self) -> Literal["rtl"]:
        return "rtl"


def words_of(*, is_mirrored: bool) -> Texts:
    words = texts(DOMAIN, "en")
    return Mirrored(words._catalogue, language="ar", locale=words._locale) if is_mirrored else words


def drawn(view: charts.View, words: Texts) -> str:
    source = '{% import "console/charts.html" as charts %}{{ charts.figure(t, view) }}'
    return html._environment.render_str(source, "test.html", t=words, view=view)


def places(page: str) -> list[float]:
    return [float(each) for each in re.findall(r'cx="([\d.]+)%"', page)]


def test_mirrored() -> None:
    pages: list[str] = []
    for is_mirrored in (False, True):
        words = words_of(is_mirrored=is_mirrored)
        given = {"bounds": (-100.0, 100.0), "unit": "", "head": ("From", "NPS"), "finding": "NPS"}
        trend = charts.trend_view(words, FIGURES, NAMES, **given)
        rows = [(name, figure, "/x") for name, figure in zip(NAMES, FIGURES, strict=True)]
        groups = charts.groups_view(words, rows, total=FIGURES[0], bounds=(-100, 100), unit="", finding="NPS")
        pages.append(drawn(trend, words) + drawn(groups, words))
    one, other = map(places, pages)
    assert 4 == len(one)  # what is hidden has no place
    assert one == [round(100 - place, 3) for place in other]


def test_what_differs_is_marked_in_its_row() -> None:
    """By a class of its own: that of changes in words begins with an arrow, which would be a cell of the row."""
    words = words_of(is_mirrored=False)
    change = metrics.change(metrics.nps(55, 2, 60), metrics.nps(10, 40, 60))
    figure = Figure(metrics.nps(55, 2, 60), change=change)
    page = drawn(
        charts.groups_view(words, [("a", figure, "")], total=None, bounds=(-100, 100), unit="", finding=""), words
    )
    assert 'class="chart-row clear-higher"' in page


def test_hidden() -> None:
    words = words_of(is_mirrored=False)
    funnel = charts.funnel_view(
        words, [("Sent", Figure(metrics.count(9, metric="sent", of=9), suppressed=True))], finding=""
    )
    page = drawn(funnel, words)
    assert "has too few people" in page
    assert ">9" not in page


def test_parts_lead_to_their_responses() -> None:
    words = words_of(is_mirrored=False)
    assert ["/detractor", "/passive", "/promoter"] == [
        one.url for one in charts.parts_of(words, FIGURES[0], lambda band: f"/{band}")
    ]
    assert ["", "", ""] == [one.url for one in charts.parts_of(words, FIGURES[0])]
