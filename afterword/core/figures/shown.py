"""Figures as they are shown: rounded, and of a hidden one nothing but that it is."""

from typing import Any, Final

from afterword.core.figures.metrics import Change, Interval
from afterword.core.figures.reports import Figure

VALUE_DECIMALS: Final = 2
CORRELATION_DECIMALS: Final = 3
TEST_DECIMALS: Final = 4
P_MIN: Final = 0.0001  # a smaller p is shown as this one: no chance is 0


def document_of(figure: Figure) -> dict[str, Any]:
    """The figure with every member that the API shows."""
    measure, hidden = figure.measure, figure.suppressed
    decimals = CORRELATION_DECIMALS if measure.unit == "correlation" else VALUE_DECIMALS
    return {
        "metric": measure.metric,
        "value": None if hidden or measure.value is None else _rounded(measure.value, decimals),
        "unit": measure.unit,
        "n": None if hidden else measure.n,
        "base": measure.base,
        "population": None,
        "interval": None if hidden or measure.interval is None else _interval(measure.interval, decimals),
        "method": "none" if hidden else measure.method,
        "scale": f"{measure.scale[0]}-{measure.scale[1]}" if measure.scale else None,
        "parts": None if hidden or measure.parts is None else dict(measure.parts),
        "suppressed": hidden,
        "suppressed_reason": figure.suppressed_reason,
        "change": None if hidden or figure.change is None else _change(figure.change, decimals),
    }


def _interval(interval: Interval, decimals: int) -> dict[str, Any]:
    low, high = _rounded(interval.low, decimals), _rounded(interval.high, decimals)
    return {"low": low, "high": high, "level": interval.level}


def _change(change: Change, decimals: int) -> dict[str, Any]:
    return {
        "previous": _rounded(change.previous, decimals),
        "difference": _rounded(change.difference, decimals),
        "z": None if change.z is None else _rounded(change.z, TEST_DECIMALS),
        "p": None if change.p is None else max(P_MIN, _rounded(change.p, TEST_DECIMALS)),
        "method": change.method,
        "real": change.real,
    }


def _rounded(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0  # no -0.0
