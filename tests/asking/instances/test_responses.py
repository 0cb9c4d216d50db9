"""Answers as the API returns them: of one instance, and to one question."""

from datetime import timedelta
from typing import Any, cast

from afterword.asking.instances.issuing import IssueInput
from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from tests.asking.instances.conftest import MULTI, NOW, NPS, SINGLE, TEXT, Shop, World, publish


class TestResponseContent:
    async def test_nothing_answered(self, shop: Shop) -> None:
        instance = await shop.issue()

        response = await shop.get(f"/q/instance/{instance['instance_id']}/response/content")

        assert (200, []) == (response.status_code, response.json()["answers"])
        assert [NPS, SINGLE, MULTI, TEXT] == response.json()["skipped_question_ids"]

    async def test_ok(self, shop: Shop) -> None:
        instance = await shop.world.issue(IssueInput(locale="en", metadata=Changes({"store_id": "7"})))
        await shop.world.save(instance, {TEXT: "fine", SINGLE: Given(2, "Speed")})
        await shop.world.save(instance, {NPS: 9}, complete=True)

        body = (await shop.get(f"/q/instance/{instance.instance_id}/response/content")).json()

        nps, single, text = body["answers"]
        shown = "2026-11-21T18:23:45+02:00"
        assert {
            "instance_id": instance.instance_id,
            "question_id": NPS,
            "group_id": "G000000000000000000001",
            "version_id": shop.world.version_id,
            "type": "nps",
            "title": "How likely?",
            "display_name": "NPS",
            "value": 9,
            "label": None,
            "other_text": None,
            "segment": "promoter",
            "answered_time": shown,
            "provisional": False,
        } == nps
        assert (2, "Other", "Speed", None) == (
            single["value"],
            single["label"],
            single["other_text"],
            single["segment"],
        )
        assert "fine" == text["value"]
        assert [MULTI] == body["skipped_question_ids"]
        assert (True, shown, shown) == (body["finalized"], body["submitted_time"], body["completed_time"])
        assert {"questionnaire": {"store_id": "7"}, "responder": {}} == body["metadata"]

    async def test_values_that_may_not_be_read(self, shop: Shop) -> None:
        metadata = {"questionnaire": {"store_id": "7"}, "responder": {"email": "ann@example.com"}}
        path = f"/q/instance/{(await shop.issue(metadata=metadata))['instance_id']}/response/content"
        for scope, kind in (("Questionnaire Value.Read", "questionnaire"), ("Responder Value.Read", "responder")):
            narrow = await shop.with_token(scopes=SCOPES - {scope})

            body = (await narrow.get(path)).json()

            assert metadata | {kind: {}} == body["metadata"]


class TestQuestionAnswers:
    def path(self, shop: Shop, question_id: str) -> str:
        return f"/q/questionnaire/{shop.world.questionnaire_id}/question/{question_id}/response/content"

    async def test_ok(self, shop: Shop) -> None:
        """Newest first, each in the language of its instance; those of a deleted instance are gone."""
        greek, english, gone = [await shop.world.issue(IssueInput(locale=one)) for one in ("el", "en", "el")]
        for minute, instance in enumerate((greek, english, gone)):
            await shop.world.save(instance, {SINGLE: 1}, now=NOW + timedelta(minutes=minute))
        await shop.delete(f"/q/instance/{gone.instance_id}")

        page = (await shop.get(self.path(shop, SINGLE))).json()
        empty = (await shop.get(self.path(shop, TEXT))).json()
        one = (await shop.get(self.path(shop, SINGLE) + f"?filter_by[EQUAL][InstanceId]={greek.instance_id}")).json()

        assert [("Why?", "Price"), ("Γιατί;", "Τιμή")] == [(a["title"], a["label"]) for a in page["results"]]
        assert (2, 0) == (page["total_results"], empty["total_results"])
        assert [greek.instance_id] == [answer["instance_id"] for answer in one["results"]]

    async def test_question_that_the_published_version_lacks(self, shop: Shop) -> None:
        await shop.world.save(await shop.world.issue(), {SINGLE: 1})
        await publish_without(shop.world, SINGLE)

        for query, count in (("", 1), ("?pagination[include_results]=0", 1), ("?filter_by[EQUAL][Provisional]=1", 0)):
            response = await shop.get(self.path(shop, SINGLE) + query)
            assert (200, count) == (response.status_code, response.json()["total_results"])

    async def test_question_of_another_questionnaire(self, shop: Shop) -> None:
        other = await shop.of_another_organization()
        assert 404 == (await other.get(self.path(shop, SINGLE))).status_code


async def publish_without(world: World, question_id: str) -> None:
    document = core_definition.document_of(world.definition)
    document["groups"] = [
        {**group, "questions": [one for one in group["questions"] if one["question_id"] != question_id]}
        for group in cast("list[dict[str, Any]]", document["groups"])
    ]
    key = {"organization_id": world.caller.organization_id, "questionnaire_id": world.questionnaire_id}
    async with db.transaction(world.pool) as database:
        await publish(database, document, now=NOW, **key)
