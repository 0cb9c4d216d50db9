"""A change of a part of a draft: it begins with the published version, and two at a time lose nothing."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from afterword import errors
from afterword.asking.questionnaires import drafts
from afterword.core.questionnaires import editing as core_editing
from afterword.kit import db
from tests.asking.questionnaires.http import Api, published
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
