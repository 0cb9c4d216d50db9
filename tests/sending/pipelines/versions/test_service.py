"""The versions of a pipeline: who may read them, each change in sentences, values that are lost, paging."""

from typing import Any

from afterword.kit import db
from afterword.sending.pipelines import service as pipelines, versions as pipelines_versions
from tests.sending.pipelines.test_pipeline_api import change
from tests.sending.queue.conftest import Client

LONG = {"all": [{"subject": "questionnaire_metadata:note", "operator": "equal", "value": "x" * 300} for _ in range(4)]}
CHANGES: tuple[tuple[dict[str, Any], list[tuple[str, str | None]]], ...] = (
    ({"delay_cap_days": 1}, [
        ("A message without a send time is due after 1 day.", "A message without a send time is due immediately.")]),
    ({"delay_cap_days": 2, "title": "Later", "priority": 9}, [
        ("It is called “Later”.", "It is called “E-mail”."),
        ("A message without a send time is due after 2 days.", "A message without a send time is due after 1 day."),
        ("The priority changed.", None)]),
    ({"message_body": "Well? {{ link }}"}, [("The texts of its messages changed.", None)]),
    ({"paused": True}, [("It was switched off.", None)]),
    ({"conditions": LONG}, [("The conditions changed.", None)]),
    ({"conditions": None}, [("The conditions changed.", None)]),
    ({"end_time": "2029-12-01T09:00:00+02:00"}, [
        ("The pipeline runs until Dec 1, 2029, 9:00 AM.", "The pipeline has no end.")]),
    ({"reminders": [{"delay_days": 3}]}, [
        ("1 reminder follows, after 3 days, until the first answer.", "No reminders.")]),
    ({"reminders": [{"delay_days": 3, "messages": {"en": {"body": "Again?"}}}]}, [("The reminders changed.", None)]),
    ({"delay_from": "questionnaire_metadata:transaction_date"}, [
        ("A message without a send time is due 2 days after its “transaction_date”.",
         "A message without a send time is due after 2 days.")]),
)  # fmt: skip


async def versions(client: Client, query: str = "") -> dict[str, Any]:
    return await client.ok("GET", f"{client.pipeline}/version{query}")


async def test_versions(client: Client) -> None:
    path = f"{client.pipeline}/version"
    assert 404 == (await client.send("GET", path.replace(client.queue.pipeline_id, "p" * 22))).status_code
    title = (await client.ok("GET", client.pipeline))["title"]
    for changes, _ in CHANGES:
        assert 200 == (await change(client, changes)).status_code
    found = (await versions(client))["results"]
    assert ["changed"] * len(CHANGES) == [one["action"] for one in found[: len(CHANGES)]]
    assert "token" == found[0]["actor_kind"]
    for (_, expected), version in zip(reversed(CHANGES), found, strict=False):
        said = [(one["after"].replace("\u202f", " "), one["before"]) for one in version["changes"]]
        assert [(after, before and before.replace("“E-mail”", f"“{title}”")) for after, before in expected] == said
    second = await versions(client, "?pagination[page]=2&pagination[max_per_page]=3")
    assert found[3:6] == second["results"]


async def test_taken_back(client: Client) -> None:
    """Back to a version: all members but `paused`; not where one of them is lost."""
    for changes, _ in CHANGES[:7]:
        await change(client, changes)
    house = client.queue.house
    place = {"questionnaire_id": house.questionnaire_id, "pipeline_id": client.queue.pipeline_id}
    async with db.connection(client.queue.pool) as database:
        pipeline = await pipelines.get(database, caller=house.caller, **place)
        known = await pipelines_versions.list_newest(database, pipeline=pipeline)
    taken = [pipelines_versions.changes_to(one, pipeline=pipeline) for one in known]
    assert {} == taken[0]
    assert {"end_time": None} == taken[1]
    assert taken[2] is None
    assert (1, None) == ((taken[6] or {})["delay_cap_days"], (taken[6] or {})["end_time"])
    assert "paused" not in (taken[6] or {})
