"""The figures of the work on cases: each number leads to exactly its cases; an outcome in words."""

import html
import re
from datetime import UTC, datetime
from typing import Any, cast

import httpx2
import pytest

from afterword.cases.alert_instances.store import WorkItem
from afterword.cases.screens.figures import outcome_text
from afterword.cases.statuses import title_of
from afterword.kit.texts import texts
from tests.cases.conftest import Desk
from tests.cases.screens.test_cases import links_of

FIGURE = re.compile(r'<a href="(/console/cases/figures/cases[^"]*)">([\d%\u202f\xa0 ]+)(?:</a>| <)')


async def test_each_figure_leads_to_its_cases(office: Desk, owner: httpx2.AsyncClient) -> None:
    first, second = [case["alert_instance_id"] for case in await office.cases()]
    await office.execute(
        """update alert_instance set created_time = now() - interval '40 days', due_time = now() - interval '1 hour'
           where alert_instance_id = $1""",
        first,
    )
    for case_id in (first, second):
        await office.api.ok("PATCH", f"/alert/instance/{case_id}", {"status_id": 3, "cause": "Late"})
    await office.execute("update alert_instance set recovered = true, recovery_time = resolved_time")
    short = FIGURE.findall(html.unescape((await owner.get("/console/cases")).text))
    assert ["1", "2", "50\u00a0%", "100\u00a0%"] == [text for _, text in short]
    for by in ("month", "week", "day", "owner", "cause", "status", "alert", "severity"):
        page = html.unescape((await owner.get(f"/console/cases/figures?days=90&by={by}")).text)
        found = FIGURE.findall(page)
        assert found
        for url, text in found:
            listed = links_of(await owner.get(url))
            assert listed
            assert text.endswith("%") or int(text) == len(listed), (by, url)
    assert 200 == (await owner.get("/console/cases/figures/cases?figure=x&from=y&by=z&after=q")).status_code
    unknown = await owner.get("/console/cases/figures/cases?by=owner&key=nobody")
    assert "No cases." in unknown.text


NOW = datetime(2026, 11, 25, tzinfo=UTC)

WORDS = texts("console", "en")


class Item:
    """As much of a work item as the words are made of."""

    recovery_item_id: str | None = "I"
    recovery_time: Any = NOW
    recovered: bool | None = True
    first_score: int | None = 3
    score_now: int | None = 8


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"recovery_item_id": None, "recovery_time": None}, ""),
        ({"recovery_time": None}, "asked again"),
        ({"recovered": None}, "answered again"),
        ({"first_score": None}, "won back"),
        ({}, "3 → 8, won back"),
        ({"recovered": False, "score_now": 4}, "3 → 4, not won back"),
    ],
)
def test_outcome(changes: dict[str, Any], expected: str) -> None:
    item = Item()
    for name, value in changes.items():
        setattr(item, name, value)
    shown = outcome_text(WORDS, cast("WorkItem", item))
    assert expected == shown.replace("\u2068", "").replace("\u2069", "")


def test_status() -> None:
    assert "In progress" == title_of(WORDS, 2, "Other")
    assert "Other" == title_of(WORDS, 100, "Other")
