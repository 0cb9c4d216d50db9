"""Conditions tried on a response of the past: what is wrong with them, and what each leaf found."""

from typing import Any

import pytest

from afterword.core.organizations.access import SCOPES
from tests.asking.instances.conftest import NPS, TEXT, Shop
from tests.asking.instances.test_facts import answered


class TestTryConditions:
    async def ask(self, shop: Shop, instance_id: str, conditions: object) -> Any:
        path = f"/q/questionnaire/{shop.world.questionnaire_id}/condition/test"
        return await shop.post(path, {"conditions": conditions, "instance_id": instance_id})

    @pytest.mark.parametrize(
        ("conditions", "pointer", "code"),
        [
            ({"subject": f"question:{'0' * 22}", "operator": "equal", "value": 1}, "/conditions/subject", "unknown_id"),
            ({"subject": f"question:{NPS}", "operator": "is"}, "/conditions/operator", "unknown_value"),
            ({"any": [{"subject": "metric:nps", "operator": "less", "value": 1}]}, "/conditions/any/0/subject", None),
            (
                {"subject": "questionnaire_metadata:store_pickup", "operator": "equal", "value": "perhaps"},
                "/conditions/value",
                "wrong_type",
            ),
            (
                {"subject": "responder_metadata:undeclared", "operator": "less", "value": 1},
                "/conditions/operator",
                "wrong_type",
            ),
        ],
    )
    async def test_wrong_conditions(self, shop: Shop, conditions: object, pointer: str, code: str | None) -> None:
        response = await self.ask(shop, (await shop.world.issue()).instance_id, conditions)
        [wrong] = [one for one in response.json()["errors"] if one["pointer"] == pointer]
        assert (422, code or wrong["code"]) == (response.status_code, wrong["code"])

    @pytest.mark.parametrize(
        ("subject", "scope"),
        [
            ("questionnaire_metadata:transaction_date", "Questionnaire Value.Read"),
            ("responder_metadata:email", "Responder Value.Read"),
        ],
    )
    async def test_values_out_of_reach(self, shop: Shop, subject: str, scope: str) -> None:
        instance_id = (await shop.world.issue()).instance_id
        conditions = {"not": {"all": [{"subject": subject, "operator": "is_not_empty"}]}}
        reader = await shop.with_token(scopes=SCOPES - {scope})
        response = await self.ask(reader, instance_id, conditions)
        assert (403, "insufficient_scope") == (response.status_code, response.json()["code"])
        assert scope in response.json()["detail"]
        assert 200 == (await self.ask(shop, instance_id, conditions)).status_code

    async def test_no_conditions(self, shop: Shop) -> None:
        response = await self.ask(shop, (await shop.world.issue()).instance_id, None)
        assert {"matches": True, "leaves": []} == response.json()

    async def test_ok(self, shop: Shop) -> None:
        instance = await answered(shop.world)
        await shop.post(f"/q/instance/{instance.instance_id}/tag", {"tag": "vip"})
        leaves = [
            {"subject": f"question:{NPS}", "operator": "less_equal", "value": 6},
            {"subject": "questionnaire_metadata:transaction_date", "operator": "greater", "value": "2026-11-01"},
            {"subject": "tag:vip", "operator": "is_not_empty"},
            {"subject": f"question:{TEXT}", "operator": "contains", "value": "early"},
        ]

        response = await self.ask(shop, instance.instance_id, {"any": [{"all": leaves[:3]}, leaves[3]]})

        assert 200 == response.status_code, response.text
        assert {
            "matches": True,
            "leaves": [
                {**leaves[0], "actual": 3, "matches": True},
                {**leaves[1], "actual": "2026-11-20", "matches": True},
                {**leaves[2], "value": None, "actual": True, "matches": True},
                {**leaves[3], "actual": "Late", "matches": False},
            ],
        } == response.json()
