"""Words of screens."""

import pytest

from afterword.core.figures.metrics import Base, Change, Measure, Unit
from afterword.core.figures.reports import Figure
from afterword.kit.texts import texts
from afterword.kit.ui.text import CHANGES_OF_MONTHS, ZONES, change_text, change_word, figure_text, slug_of
from afterword.listening.screens.views import change_sentence


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Kalamata Books", "kalamata-books"),
        ("  Café & Crêpes! ", "cafe-crepes"),
        ("Βιβλία", ""),
        ("x" * 99, "x" * 40),
        ("-a-", "a"),
    ],
)
def test_slug(name: str, slug: str) -> None:
    assert slug == slug_of(name)


def test_zones() -> None:
    assert {"UTC", "Europe/Athens", "America/Argentina/Buenos_Aires"} <= set(ZONES)
    assert not {zone for zone in ZONES if zone.startswith("Etc/")}


@pytest.mark.parametrize(("base", "text"), [("sent", "40.0, 5 messages"), ("started", "40.0, 5 answers")])
def test_which_things_a_rate_is_of(base: Base, text: str) -> None:
    figure = Figure(Measure(metric="any", unit="percent", base=base, n=5, value=40))
    assert text == figure_text(texts("console", "en"), figure)


@pytest.mark.parametrize(
    ("unit", "difference", "before"),
    [("count", "\u221212", "15"), ("correlation", "\u221212.00", "15.00"), ("percent", "\u221212.0", "15.0")],
)
def test_change_has_the_decimals_of_its_figure(unit: Unit, difference: str, before: str) -> None:
    words = texts("console", "en")
    change = Change(previous=15, difference=-12, z=-3, p=0.01, method="nps_z", real=True)
    figure = Figure(Measure(metric="any", unit=unit, n=50, value=3), change=change)
    assert words("{difference}, clear", difference=difference) == change_text(words, figure)
    assert words("Lower than before ({previous}).", previous=before) == change_sentence(words, figure)
    assert words(CHANGES_OF_MONTHS["lower"], previous=before) == change_word(words, figure, days=None)[1]
