"""Coupon pools: their codes, who may see them, and that each response gets one code that no other gets."""

import asyncio
from typing import Any

from afterword.asking.instances import answers
from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES
from afterword.core.wire import code128, qr
from afterword.kit import db
from tests.asking.questionnaires.http import Api, definition, published

SCORE = "s" * 22
POOL = {"key": "thanks", "title": "Ten percent", "low_count": 1}
ENDINGS: list[dict[str, Any]] = [
    {
        "ending_id": "c" * 22,
        "conditions": {"subject": f"question:{SCORE}", "operator": "greater_equal", "value": 9},
        "title": "A present",
        "coupon_pool": "thanks",
    },
    {"ending_id": "d" * 22, "title": "No present"},
]


async def pool_of(api: Api, *codes: str) -> str:
    made = await api.post("/coupon/pool", POOL)
    assert 201 == made.status_code
    path = f"/coupon/pool/{made.json()['pool_id']}"
    if codes:
        assert {"added": len(codes), "known": 0} == (await api.post(f"{path}/code", {"codes": codes})).json()
    return path


async def questionnaire(api: Api) -> str:
    question = {"question_id": SCORE, "type": "nps", "title": "Would you recommend us?"}
    questionnaire_id, _ = await published(api, definition(question, endings=ENDINGS), editable=True)
    return f"/q/questionnaire/{questionnaire_id}/instance"


async def completed(api: Api, path: str, score: int = 10) -> str:
    instance_id = (await api.post(path)).json()["instance_id"]
    await save(api, instance_id, score)
    return instance_id


async def save(api: Api, instance_id: str, score: int) -> None:
    async with db.transaction(api.pool) as database:
        context = await answers.lock_context(database, instance_id=instance_id)
        await answers.save_answers(
            database, context=context, answers={SCORE: Given(score)}, complete=True, now=database.clock.now()
        )


async def test_pools(api: Api) -> None:
    path = await pool_of(api, "A-1", "A-2")
    assert [("/key", "already_exists")] == api.wrong(await api.post("/coupon/pool", POOL))
    assert [("/key", "invalid_format")] == api.wrong(await api.post("/coupon/pool", {**POOL, "key": "No"}))
    for wrong in ("Ω", " a", "a\tb"):
        assert [("/codes/1", "invalid_format")] == api.wrong(await api.post(f"{path}/code", {"codes": ["B", wrong]}))
    assert {"added": 1, "known": 2} == (await api.post(f"{path}/code", {"codes": ["A-1", "A-3", "A-3"]})).json()
    other = (await api.post("/coupon/pool", {**POOL, "key": "other"})).json()
    assert [("/key", "already_exists")] == api.wrong(await api.patch(f"/coupon/pool/{other['pool_id']}", POOL))
    shown = (await api.patch(path, {"title": "Five percent"})).json()
    assert ("Five percent", 3, 0) == (shown["title"], shown["free_count"], shown["given_count"])
    blind = await api.token(scopes=SCOPES - {"Responder.Read"})
    assert 403 == (await api.get(f"{path}/code", token=blind)).status_code
    assert 200 == (await api.get(path, token=blind)).status_code
    assert 204 == (await api.delete(f"{path}/code")).status_code
    assert 0 == (await api.get(path)).json()["free_count"]
    assert 204 == (await api.delete(path)).status_code
    assert 404 == (await api.get(path)).status_code


async def test_each_gets_one(api: Api) -> None:
    """Ten complete at once and three codes are there: three get one each, the others the next ending."""
    path, instances = await pool_of(api, "A-1", "A-2", "A-3"), await questionnaire(api)
    found = await asyncio.gather(*(completed(api, instances) for _ in range(10)))
    given = {one["code"]: one["instance_id"] for one in (await api.get(f"{path}/code")).json()["results"]}
    assert {"A-1", "A-2", "A-3"} == given.keys()
    assert 3 == len({*given.values()} & {*found})
    codes = {instance_id: code for code, instance_id in given.items()}
    for instance_id in found:
        for _ in range(2):
            page = (await api.client.get(f"/a/{instance_id}")).text
            assert ("No present" in page) == (instance_id not in codes)
            assert (f">{codes.get(instance_id)}</p>" in page) == (instance_id in codes)
    holder = given["A-1"]
    await save(api, holder, 0)  # the answer changes, and the ending; the code stays theirs
    assert "No present" in (await api.client.get(f"/a/{holder}")).text
    await save(api, holder, 10)
    page = (await api.client.get(f"/a/{holder}")).text
    bars = code128.bars_of("A-1")
    assert bars is not None
    assert all(text in page for text in (">A-1</p>", f'd="{bars.path}"', f'd="{qr.code_of("A-1").path}"'))
    assert 409 == (await api.delete(path)).status_code
    assert {"added": 1, "known": 0} == (await api.post(f"{path}/code", {"codes": ["A-4"]})).json()
    assert 3 == (await api.get(path)).json()["given_count"]  # a page that somebody saw does not change
