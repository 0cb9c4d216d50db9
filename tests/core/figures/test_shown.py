"""Figures in API answers: rounded values, and nothing of a hidden one."""

from msgspec.structs import replace

from afterword.core.figures.metrics import Change, Interval, Measure
from afterword.core.figures.reports import P_MIN, Figure

CHANGE = Change(previous=40.126, difference=-0.0001, z=1.23456, p=0.0000001, method="nps_z", real=True)
FIGURE = Figure(
    Measure(
        metric="nps",
        unit="points",
        n=12,
        value=41.2345,
        interval=Interval(30.126, 50.0, 0.95),
        scale=(0, 10),
        parts={"promoter": 7, "detractor": 2},
    ),
    change=CHANGE,
)


def test_rounded() -> None:
    shown = FIGURE.document
    assert (41.23, 12, "0-10") == (shown["value"], shown["n"], shown["scale"])
    assert {"low": 30.13, "high": 50.0, "level": 0.95} == shown["interval"]
    change = shown["change"]
    assert (40.13, "0.0", 1.2346, P_MIN) == (change["previous"], str(change["difference"]), change["z"], change["p"])


def test_correlations_have_a_decimal_more() -> None:
    figure = replace(FIGURE, measure=replace(FIGURE.measure, unit="correlation", value=0.12345))
    assert 0.123 == figure.document["value"]


def test_hidden() -> None:
    shown = replace(FIGURE, suppressed=True).document
    assert {"value", "n", "interval", "parts", "change", "population"} == {
        name for name, value in shown.items() if value is None
    }
    assert ("none", True) == (shown["method"], shown["suppressed"])
