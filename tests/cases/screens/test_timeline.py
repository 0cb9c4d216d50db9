"""The sentences of a change."""

from datetime import UTC, datetime
from typing import Any

import pytest

from afterword.cases.history import Entry
from afterword.cases.screens.cases import Timeline
from afterword.kit.texts import texts

NOW = datetime(2026, 11, 25, 10, tzinfo=UTC)
LATER = "2026-11-26T11:30:00+00:00"


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ({"assigned_user_id": "b"}, ["Owner: Ben"]),
        ({"assigned_user_id": None}, ["No owner any more."]),
        ({"status_id": 2, "severity": "high"}, ["Status: In progress", "High severity"]),
        ({"due_time": LATER}, ["Due tomorrow 11:30 AM."]),
        ({"due_time": None}, []),
        ({"due_time": None, "waiting_since": LATER}, ["Waits for the customer; the clock stands still."]),
        ({"due_time": LATER, "waiting_since": None}, ["The clock goes on: due tomorrow 11:30 AM."]),
        ({"waiting_since": None}, ["Waits for the customer no longer."]),
        ({"call_back_time": LATER}, ["Call back tomorrow 11:30 AM."]),
        ({"call_back_time": None}, ["Called back."]),
        (
            {"status_id": 3, "cause": "Late", "remedy": None, "resolved_time": LATER},
            ["Status: Closed", "Cause: Late", "The case was closed."],
        ),
        ({"resolved_time": None}, ["The case was opened again."]),
    ],
)
def test_sentences(to: dict[str, Any], expected: list[str]) -> None:
    timeline = Timeline(
        texts("console", "en"),
        now=NOW,
        zone="UTC",
        statuses={2: "In progress", 3: "Closed"},
        outcome="",
    )
    entry = Entry(
        history_id="h",
        alert_instance_id="c",
        kind="changed",
        user_id=None,
        user_name=None,
        owner_name="Ben",
        body=None,
        changes={name: {"from": None, "to": value} for name, value in to.items()},
        created_time=NOW,
    )
    [line] = timeline.lines([entry])
    plain = [sentence.translate({0x2068: None, 0x2069: None, 0x202F: " "}) for sentence in line["sentences"]]
    assert expected == plain
