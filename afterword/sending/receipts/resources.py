"""Resource of a receipt in an item's events."""

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from afterword.core.wire import times


def of_event(data: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """The report in what an event of an item kept, its time in the organization's zone."""
    report: dict[str, Any] = dict(data["report"])
    time = report["time"]
    return {**report, "time": time and times.format_time(datetime.fromisoformat(time), zone=zone)}
