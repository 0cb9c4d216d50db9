"""Drafts: two changes at a time lose nothing; without a published version, their readable part is shown."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from afterword import errors
from afterword.asking.questionnaires import access, drafts, metadata
from afterword.core.questionnaires import editing as core_editing
from afterword.kit import db
from tests.asking.questionnaires.http import Api, definition, made, published
from tests.conftest import House


async def test_edit(api: Api, house: House) -> None:
    questionnaire_id, version = await published(api)
    path = f"/q/questionnaire/{questionnaire_id}/draft"
    assert 204 == (await api.delete(path)).status_code
    [group] = version["definition"]["groups"]

    async def add(name: str, **caller: Any) -> None:
        question = {**core_editing.blank("text", name.ljust(22, "0")), "title": name}
        async with db.transaction(api.pool) as database:
            await drafts.edit(
                database,
                caller=replace(house.caller, **caller),
                questionnaire_id=questionnaire_id,
                change=lambda document: core_editing.placed(document, [question], after=""),
                now=database.clock.now(),
            )

    with pytest.raises(errors.NotFound):
        await add("refused", application_ids=("0" * 22,))
    await asyncio.gather(add("One"), add("Two"))
    draft = (await api.get(path)).json()
    titles = [one["title"] for one in draft["definition"]["groups"][0]["questions"]]
    assert [one["title"] for one in group["questions"]] == titles[:-2]
    assert {"One", "Two"} == set(titles[-2:])


async def test_read_anew_where_it_changed(api: Api, house: House) -> None:
    """The same document is read once; after a change, and with other declared names, it is read again."""
    questionnaire_id = await made(api)
    path = f"/q/questionnaire/{questionnaire_id}/draft"

    async def examined() -> drafts.Examined:
        async with db.connection(api.pool) as database:
            questionnaire = await access.get(database, caller=house.caller, questionnaire_id=questionnaire_id)
            draft = await drafts.get(database, **questionnaire.key)
            return await drafts.examine(database, questionnaire=questionnaire, draft=draft)

    await api.put(path, definition({"type": "text", "title": "Hello {{questionnaire_metadata.shop}}"}))
    first, again = await examined(), await examined()
    assert first.definition is again.definition
    assert first.findings.found == again.findings.found != []
    assert first.findings.found is not again.findings.found
    await api.put(path, definition({"type": "text", "title": "Hello"}))
    changed = await examined()
    assert changed.definition is not first.definition
    assert [] == changed.findings.found
    vars(metadata)["_kept"].clear()
    assert changed.definition is not (await examined()).definition


class TestGroupsOfADraft:
    async def test_never_published(self, api: Api) -> None:
        questionnaire_id = await made(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        assert [] == (await api.get(f"{path}/group")).json()
        document = definition({"type": "nps", "title": "Likely?"}, {"type": "stars"}, {"type": "text", "title": "Why?"})
        document["groups"] += [{"questions": 7}, {"title": "Empty"}]
        await api.put(f"{path}/draft", document)
        groups = (await api.get(f"{path}/group")).json()
        assert [(0, 3, None), (1, 0, None), (2, 0, None)] == [
            (one["position"], one["questions_count"], one["version_id"]) for one in groups
        ]
        group = f"{path}/group/{groups[0]['group_id']}"
        assert groups[0] == (await api.get(group)).json()
        asked = (await api.get(f"{group}/question")).json()
        assert ["Likely?", "", "Why?"] == [one["title"] for one in asked]
        assert asked[2] == (await api.get(f"{path}/question/{asked[2]['question_id']}")).json()
        found = (await api.get(f"{group}/question?filter_by[EQUAL][Type]=nps")).json()
        assert ["Likely?"] == [one["title"] for one in found]

    async def test_every_scalar_filters(self, api: Api) -> None:
        path = f"/q/questionnaire/{await made(api)}"
        choices = [{"value": 1, "label": "A"}, {"value": 2, "label": "B"}]
        document = definition(
            {"type": "number", "title": "How far?", "number_max": 0.5, "decimals": 1},
            {"type": "date", "title": "When?", "date_min": "0001-01-01", "date_max": "9999-12-31"},
            {"type": "ranking", "title": "What first?", "choices": choices, "rank_max": 1},
        )
        await api.put(f"{path}/draft", document)
        [group] = (await api.get(f"{path}/group?filter_by[NULL][VersionId]=null")).json()
        questions = f"{path}/group/{group['group_id']}/question?filter_by[EQUAL][GroupId]={group['group_id']}"
        for condition, titles in (
            ("[EQUAL][NumberMax]=0.5", ["How far?"]),
            ("[EQUAL][Decimals]=1", ["How far?"]),
            ("[LESS_THAN][DateMin]=2026-02-01", ["When?"]),
            ("[NOT_NULL][RankMax]=null", ["What first?"]),
            ("[NULL][VersionId]=null", ["How far?", "When?", "What first?"]),
        ):
            found = await api.get(f"{questions}&filter_by{condition}")
            assert titles == [one["title"] for one in found.json()], found.text

    async def test_nothing_without_a_proper_id(self, api: Api) -> None:
        """Whatever is shown can be asked for by its id."""
        questionnaire_id = await made(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        matrix = {
            "type": "matrix", "title": "Parts", "choices": [{"value": 1, "label": "A"}, {"value": 2, "label": "B"}],
            "rows": [{"row_id": "no", "label": "One"}, {"label": "Two"}],
        }  # fmt: skip
        document = definition(matrix, {"question_id": "no", "type": "nps", "title": "Likely?"})
        document["groups"] += [{"group_id": "no", "questions": [{"type": "nps", "title": "Likely?"}]}]
        await api.put(f"{path}/draft", document)
        [group] = (await api.get(f"{path}/group")).json()
        [asked] = (await api.get(f"{path}/group/{group['group_id']}/question")).json()
        assert ["Two"] == [row["label"] for row in asked["rows"]]

    async def test_published(self, api: Api) -> None:
        """A draft is not shown while there is a version."""
        questionnaire_id, version = await published(api)
        path = f"/q/questionnaire/{questionnaire_id}"
        await api.put(f"{path}/draft", definition({"type": "text", "title": "Another"}))
        [group] = (await api.get(f"{path}/group")).json()
        assert version["version_id"] == group["version_id"]
