"""Words of screens: figures, acts, networks and devices."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.requests import Request

from afterword.console.screens import Guest, flash_of
from afterword.core.figures.metrics import Base, Change, Measure, Unit
from afterword.core.figures.reports import Figure
from afterword.core.wire.site import Site
from afterword.kit.texts import texts
from afterword.kit.ui import text
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


SOURCE = Path(text.__file__).parents[2]
NAMED = re.compile(r"[?&]done=(\w+)|done=[\"'](\w+)[\"']")


def test_each_act_has_its_sentence() -> None:
    paths = (*SOURCE.glob("console/*.py"), *SOURCE.glob("*/screens/*.py"))
    sources = [path.read_text() for path in paths]
    named = {name for one in sources for match in NAMED.finditer(one) for name in match.groups() if name}
    assert len(named) > 20
    assert named <= set(text.TEXTS), "acts that say nothing"
    words = {word for one in sources for word in re.findall(r"\w+", one)}
    assert set() == set(text.TEXTS) - words, "sentences that no act says"


@pytest.mark.parametrize("name", [*sorted(text.MAILED), "saved"])
def test_a_mail_that_nobody_sends(name: str) -> None:
    """Without a mail server the page does not say that a mail is on its way."""
    said = []
    for sends_mail in (True, False):
        site = Site("http://localhost", b"k" * 32, sends_mail=sends_mail)
        scope = {"type": "http", "query_string": f"done={name}".encode(), "headers": [], "state": {"site": site}}
        said.append(flash_of(Guest(Request(scope), datetime(2026, 12, 1, tzinfo=UTC))))
    assert [text.TEXTS[name], text.KEPT if name in text.MAILED else text.TEXTS[name]] == said


@pytest.mark.parametrize(
    ("host", "network"),
    [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2ff::7", "2001:db8:1:200::/56"), ("", "unknown"), ("x", "unknown")],
)
def test_network(host: str, network: str) -> None:
    assert network == text.network_of(host)


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140 Safari/537.36 Edg/140", "Edge, Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit Version/18 Safari/604.1",
            "Safari, iPhone",
        ),
        ("curl/8", "?"),
        ("", "?"),
    ],
)
def test_device(agent: str, device: str) -> None:
    assert device == text.device_of(agent)
