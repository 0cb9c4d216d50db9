"""Metadata definitions over HTTP, and what a declared name changes: strict requests, flat maps, public links."""

from typing import Any, Final

import pytest

from afterword.asking.questionnaires import metadata
from afterword.core.questionnaires import metadata as core_metadata
from afterword.kit import db
from tests.asking.questionnaires.http import Api
from tests.conftest import House

QUESTIONNAIRE = "/q/metadata/questionnaire"
RESPONDER = "/q/metadata/responder"
DEFINITION = {
    "metadata_id", "kind", "name", "title", "type", "anonymize", "level", "application_id", "application_type_id",
    "read_only", "created_time", "updated_time", "created_by", "updated_by",
}  # fmt: skip
RETAIL = "0000000000000000retail"
GLOBALS = {"score", "transaction_id", "transaction_date", "store_pickup", "store_id"}


def named(name: str = "basket", **more: object) -> dict[str, Any]:
    return {"name": name, "title": "Basket", "type": "text", "level": "organization", **more}


class TestDeclare:
    async def test_wrong(self, api: Api, neighbour: House) -> None:
        of_another = {"level": "application", "application_id": neighbour.application_id}
        for wrong, pointer, code in (
            ({"name": "9lives"}, "/name", "invalid_format"),
            ({"name": "a b"}, "/name", "invalid_format"),
            ({"level": "application"}, "/application_id", "required"),
            ({"level": "application_type"}, "/application_type_id", "required"),
            ({"application_type_id": RETAIL}, "/application_type_id", "exclusive"),
            (of_another, "/application_id", "unknown_id"),
        ):
            assert [(pointer, code)] == api.wrong(await api.post(QUESTIONNAIRE, named() | wrong))

    async def test_confined(self, api: Api) -> None:
        other = await api.application()
        token = await api.token(application_ids=[other])
        assert 403 == (await api.post(QUESTIONNAIRE, named(), token=token)).status_code
        body = named(level="application", application_id=api.house.application_id)
        assert [("/application_id", "unknown_id")] == api.wrong(await api.post(QUESTIONNAIRE, body, token=token))
        assert 201 == (await api.post(QUESTIONNAIRE, {**body, "application_id": other}, token=token)).status_code

    async def test_ok(self, api: Api) -> None:
        response = await api.post(QUESTIONNAIRE, named(type="number", anonymize=True))
        assert 201 == response.status_code
        body = response.json()
        assert DEFINITION == body.keys()
        assert {
            "kind": "questionnaire", "name": "basket", "type": "number", "anonymize": True, "level": "organization",
            "application_id": None, "application_type_id": None, "read_only": False, "created_by": api.house.token_id,
        }.items() <= body.items()  # fmt: skip
        assert response.headers["Location"].endswith(f"{QUESTIONNAIRE}/{body['metadata_id']}")
        assert body == (await api.get(f"{QUESTIONNAIRE}/{body['metadata_id']}")).json()
        assert 404 == (await api.get(f"{RESPONDER}/{body['metadata_id']}")).status_code

    async def test_taken(self, api: Api) -> None:
        """A name is unique for its kind and level, and free at others."""
        assert 201 == (await api.post(QUESTIONNAIRE, named())).status_code
        again = await api.post(QUESTIONNAIRE, named())
        assert (409, "already_exists") == (again.status_code, again.json()["code"])
        assert 201 == (await api.post(RESPONDER, named())).status_code
        body = named(level="application", application_id=api.house.application_id)
        assert 201 == (await api.post(QUESTIONNAIRE, body)).status_code
        assert 409 == (await api.post(QUESTIONNAIRE, body)).status_code
        assert 201 == (await api.post(QUESTIONNAIRE, {**body, "application_id": await api.application()})).status_code

    async def test_too_many(self, api: Api) -> None:
        """Those of the other kind are not counted."""
        async with db.transaction(api.pool) as database:
            await database.execute(
                """insert into metadata_definition (organization_id, metadata_id, kind, name, title, type, level)
                   select $1, lpad(n::text, 22, '0'), 'questionnaire', 'name_' || n, 'Basket', 'text', 'organization'
                   from generate_series(1, $2::int) n""",
                *(api.house.organization_id, metadata.DEFINITIONS_MAX),
            )
        assert [("", "too_many")] == api.wrong(await api.post(QUESTIONNAIRE, named("other")))
        assert 201 == (await api.post(RESPONDER, named())).status_code


class TestRead:
    async def test_list(self, api: Api) -> None:
        await api.post(QUESTIONNAIRE, named())
        rows = (await api.get(QUESTIONNAIRE)).json()
        assert all(DEFINITION == row.keys() for row in rows)
        assert GLOBALS == {row["name"] for row in rows if row["level"] == "global"}
        assert {row["read_only"] for row in rows if row["level"] != "organization"} == {True}
        assert "basket" == rows[0]["name"], "the newest first"
        found = (await api.get(f"{QUESTIONNAIRE}?filter_by[EQUAL][ReadOnly]=0")).json()
        assert ["basket"] == [row["name"] for row in found]
        people = {"email", "phone_number", "first_name", "last_name"}
        assert people == {row["name"] for row in (await api.get(RESPONDER)).json()}

    async def test_the_products_have_ids_for_good(self, api: Api) -> None:
        response = await api.get(f"{QUESTIONNAIRE}/000000000transactionid")
        assert (200, "transaction_id", True) == (
            response.status_code,
            response.json()["name"],
            response.json()["read_only"],
        )
        assert 404 == (await api.get(f"{RESPONDER}/000000000transactionid")).status_code

    async def test_confined(self, api: Api) -> None:
        body = named(level="application", application_id=api.house.application_id)
        metadata_id = (await api.post(QUESTIONNAIRE, body)).json()["metadata_id"]
        await api.post(QUESTIONNAIRE, named("all"))
        token = await api.token(application_ids=[await api.application()])
        assert 404 == (await api.get(f"{QUESTIONNAIRE}/{metadata_id}", token=token)).status_code
        names = {row["name"] for row in (await api.get(QUESTIONNAIRE, token=token)).json()}
        assert ("basket" in names, "all" in names) == (False, True)


class TestChange:
    async def test_the_products(self, api: Api) -> None:
        path = f"{QUESTIONNAIRE}/000000000transactionid"
        assert 403 == (await api.patch(path, {"title": "Mine"})).status_code
        assert 403 == (await api.delete(path)).status_code

    async def test_ok(self, api: Api) -> None:
        made = await api.post(QUESTIONNAIRE, named())
        path = f"{QUESTIONNAIRE}/{made.json()['metadata_id']}"
        assert 412 == (await api.patch(path, {"title": "Cart"}, **{"If-Match": '"9"'})).status_code
        changed = await api.patch(path, {"title": "Cart", "type": "date", "name": "other"}, **{"If-Match": '"1"'})
        assert (200, "Cart", "text", "basket", '"2"') == (
            changed.status_code, *(changed.json()[name] for name in ("title", "type", "name")), changed.headers["ETag"]
        )  # fmt: skip
        again = await api.patch(path, {"title": "Cart"})
        assert (changed.json(), '"2"') == (again.json(), again.headers["ETag"])

    async def test_delete(self, api: Api) -> None:
        path = f"{QUESTIONNAIRE}/{(await api.post(QUESTIONNAIRE, named())).json()['metadata_id']}"
        assert 204 == (await api.delete(path)).status_code
        assert (404, 404) == ((await api.delete(path)).status_code, (await api.get(path)).status_code)


class TestDeclared:
    async def declared(self, api: Api) -> core_metadata.Declared:
        async with db.connection(api.pool) as database:
            return await metadata.declared(
                database, organization_id=api.house.organization_id, application_id=api.house.application_id
            )

    async def test_a_change_is_seen(self, api: Api) -> None:
        assert "basket" not in (await self.declared(api)).questionnaire
        await api.post(QUESTIONNAIRE, named(type="number"))
        assert "number" == (await self.declared(api)).questionnaire["basket"].type

    async def test_kept_for_a_moment(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        """Changes of another process show after two seconds."""
        before = await self.declared(api)
        async with db.transaction(api.pool) as database:
            await database.execute(
                """insert into metadata_definition (organization_id, metadata_id, kind, name, title, type, level)
                   values ($1, $1, 'questionnaire', 'basket', 'Basket', 'text', 'organization')""",
                api.house.organization_id,
            )
        with monkeypatch.context() as patch:
            patch.setattr(metadata, "KEPT_SECONDS", 60)  # as if no time had passed since
            assert before is await self.declared(api)
        api.pool.clock.set(api.pool.clock.now(), monotonic=_later(seconds=-3))
        assert "basket" in (await self.declared(api)).questionnaire

    async def test_no_query_when_kept(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(metadata, "KEPT_SECONDS", 60)
        key = {"organization_id": api.house.organization_id, "questionnaire_id": api.house.questionnaire_id}
        async with db.connection(api.pool) as database:
            first = await metadata.declared_of(database, **key)
            monkeypatch.setattr(db.Database, "fetch", None)
            monkeypatch.setattr(db.Database, "fetch_row", None)
            assert first is await metadata.declared_of(database, **key)

    async def test_unknown_application(self, api: Api) -> None:
        async with db.connection(api.pool) as database:
            found = await metadata.declared(
                database, organization_id=api.house.organization_id, application_id="0" * 22
            )
        assert core_metadata.GLOBAL is found

    async def test_other_organization(self, api: Api, neighbour: House) -> None:
        await api.post(QUESTIONNAIRE, named())
        async with db.connection(api.pool) as database:
            found = await metadata.declared(
                database, organization_id=neighbour.organization_id, application_id=neighbour.application_id
            )
        assert "basket" not in found.questionnaire


STRICT: Final = {"Prefer": "handling=strict"}


class TestStrict:
    """Declared names pass a strict request; unknown and unfit ones are named."""

    async def test_queue_item(self, api: Api) -> None:
        items = f"/q/questionnaire/{api.house.questionnaire_id}/pipeline/{api.house.pipeline_id}/queue/item"
        body = {"responder_channel_identifier": "a@example.com", "metadata": {"questionnaire": {"basket": "three"}}}
        place = "/metadata/questionnaire/basket"
        assert [(place, "unknown_metadata")] == api.wrong(await api.post(items, body, **STRICT))
        assert 201 == (await api.post(items, body)).status_code
        await api.post(QUESTIONNAIRE, named(type="number"))
        assert [(place, "invalid_format")] == api.wrong(await api.post(items, body, **STRICT))
        body["metadata"] = {"questionnaire": {"basket": "3"}}
        made = await api.post(items, body, **STRICT)
        assert 201 == made.status_code
        path = f"/q/queue/item/{made.json()['item_id']}"
        wrong = {"metadata": {"responder": {"basket": "3"}}}
        found = api.wrong(await api.patch(path, wrong, **STRICT))
        assert [("/metadata/responder/basket", "unknown_metadata")] == found

    async def test_confined(self, api: Api) -> None:
        """To who may not see the questionnaire it is not there, whatever else is wrong."""
        token = await api.token(application_ids=[await api.application()])
        base = f"/q/questionnaire/{api.house.questionnaire_id}"
        body: dict[str, object] = {"metadata": {"questionnaire": {"basket": "three"}}}
        assert 404 == (await api.post(f"{base}/instance", body, token=token, **STRICT)).status_code
        body["responder_channel_identifier"] = "a@example.com"
        items = f"{base}/pipeline/{api.house.pipeline_id}/queue/item"
        assert 404 == (await api.post(items, body, token=token, **STRICT)).status_code

    async def test_instance(self, api: Api) -> None:
        path = f"/q/questionnaire/{api.house.questionnaire_id}/instance"
        body = {"metadata": {"responder": {"tier": "gold"}}}
        found = api.wrong(await api.post(path, body, **STRICT))
        assert [("/metadata/responder/tier", "unknown_metadata")] == found
        await api.post(RESPONDER, named("tier"))
        assert 201 == (await api.post(path, body, **STRICT)).status_code

    async def test_flat_names_find_their_side(self, api: Api) -> None:
        """A flat name is the questionnaire's, unless it is declared for responders only."""
        path = f"/q/questionnaire/{api.house.questionnaire_id}/instance"
        instance_id = (await api.post(path, {})).json()["instance_id"]
        await api.post(RESPONDER, named("tier"))
        changed = await api.patch(f"/q/instance/{instance_id}", {"metadata": {"tier": "gold", "free": "text"}})
        assert 200 == changed.status_code
        content = (await api.get(f"/q/instance/{instance_id}/response/content")).json()["metadata"]
        assert {"questionnaire": {"free": "text"}, "responder": {"tier": "gold"}} == content


class TestConditions:
    """Pipelines ask for declared names by their types; what its type cannot read counts as missing."""

    def lane(self, api: Api) -> str:
        return f"/q/questionnaire/{api.house.questionnaire_id}/pipeline"

    def body(self, operator: str, value: object) -> dict[str, Any]:
        condition = {"subject": "questionnaire_metadata:basket", "operator": operator, "value": value}
        return {"channel_id": 4, "title": "Link", "conditions": condition}

    async def test_checked_when_saved(self, api: Api) -> None:
        refused = await api.post(self.lane(api), self.body("greater", 100))
        assert ("/conditions/operator", "wrong_type") in api.wrong(refused), "an undeclared name is text"
        assert 201 == (await api.post(self.lane(api), self.body("equal", "full"))).status_code
        await api.post(QUESTIONNAIRE, named(type="number"))
        made = await api.post(self.lane(api), self.body("greater", 100))
        assert 201 == made.status_code
        assert 422 == (await api.post(self.lane(api), self.body("equal", "full"))).status_code
        path = f"{self.lane(api)}/{made.json()['pipeline_id']}"
        assert 422 == (await api.patch(path, {"conditions": self.body("contains", "1")["conditions"]})).status_code

    async def test_what_stays_is_not_measured_again(self, api: Api) -> None:
        definition = (await api.post(QUESTIONNAIRE, named(type="number"))).json()
        made = (await api.post(self.lane(api), self.body("greater", 100))).json()
        await api.delete(f"{QUESTIONNAIRE}/{definition['metadata_id']}")
        path = f"{self.lane(api)}/{made['pipeline_id']}"
        assert 200 == (await api.patch(path, {**made, "title": "Another"})).status_code

    async def test_compared_by_type(self, api: Api) -> None:
        """As text 9 is more than 100, as a number it is not; a value that is no number is missing."""
        await api.post(QUESTIONNAIRE, named(type="number"))
        pipeline_id = (await api.post(self.lane(api), self.body("greater", 100))).json()["pipeline_id"]
        results: dict[str, str] = {}
        for value in ("9", "100.5", "many"):
            item = {"responder_channel_identifier": "a", "metadata": {"questionnaire": {"basket": value}}}
            path = f"{self.lane(api)}/{pipeline_id}/queue/item/simulate"
            [row] = (await api.post(path, [item])).json()["results"]
            results[value] = row["verdict"]
        assert {"9": "skip", "100.5": "go", "many": "skip"} == results


class TestPublicLink:
    async def test_declared_names_alone(self, api: Api) -> None:
        await api.post(QUESTIONNAIRE, named())
        await api.post(RESPONDER, named("tier"))
        query = "basket=three&free=text&responder[tier]=gold&responder[free]=text&store_id=7"
        await api.patch(f"/q/questionnaire/{api.house.questionnaire_id}", {"public_link": True})
        instance_id = await api.start(f"/p/{api.house.questionnaire_id}?{query}")
        content = (await api.get(f"/q/instance/{instance_id}/response/content")).json()["metadata"]
        assert {"questionnaire": {"basket": "three", "store_id": "7"}, "responder": {"tier": "gold"}} == content


def _later(*, seconds: float) -> float:
    import time  # noqa: PLC0415  this one test shifts the clock

    return time.monotonic() + seconds
