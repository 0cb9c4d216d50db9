"""Responders over the API: found by address, counted, shown with what they were asked, changed."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

import pytest

from afterword.asking.instances import responders as instances_responders, service as instances
from afterword.asking.instances.issuing import IssueInput
from afterword.core.organizations.access import SCOPES
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from afterword.people.responders import service as responders, store as responders_store
from tests.asking.instances.conftest import NOW, NPS, Shop
from tests.asking.instances.test_api import codes


async def asked(shop: Shop, **metadata: str) -> str:
    return (await shop.issue(metadata={"responder": metadata}))["responder_id"]


async def found(shop: Shop, query: str = "") -> list[str]:
    response = await shop.get(f"/q/responder?{query}")
    assert 200 == response.status_code, response.text
    return [one["responder_id"] for one in response.json()["results"]]


async def search(shop: Shop, text: str) -> list[str]:
    people = await found(shop, f"search={quote(text, safe='')}")
    counted = await shop.get(f"/q/responder/count?search={quote(text, safe='')}")
    assert {"count": len(people)} == counted.json()
    return people


class TestRefusals:
    async def test_search_without_measure(self, shop: Shop) -> None:
        for text, code in (("an", "too_short"), ("a" * 321, "too_long")):
            response = await shop.get(f"/q/responder?search={text}")
            assert (422, code) == (response.status_code, response.json()["errors"][0]["code"])

    async def test_wrong_members(self, shop: Shop) -> None:
        """Nor are more names than fit, and undeclared ones where the client is strict."""
        path = f"/q/responder/{await asked(shop, email='ann@example.com')}"
        for body, pointer in (({"time_zone": "Nowhere"}, "/time_zone"), ({"locale": "??"}, "/locale")):
            response = await shop.patch(path, body)
            assert (422, [pointer]) == (response.status_code, [one for one, _ in codes(response)])
        response = await shop.patch(path, {"metadata": {f"name {number}": "x" for number in range(200)}})
        assert (422, "too_many") == (response.status_code, codes(response)[0][1])
        response = await shop.patch(path, {"metadata": {"shoe": "42"}}, headers={"Prefer": "handling=strict"})
        assert [("/metadata/shoe", "unknown_metadata")] == codes(response)


class TestCreate:
    async def test_found_or_new(self, shop: Shop) -> None:
        body = {"metadata": {"email": "Ann@Example.com", "name": "Ann"}, "locale": "el", "time_zone": "Europe/Athens"}
        made = await shop.post("/q/responder", body)
        assert 201 == made.status_code
        ann = made.json()
        assert f"/q/responder/{ann['responder_id']}" in made.headers["location"]
        assert ("el", "Europe/Athens", [{"channel_id": 1, "identifier": "Ann@example.com"}]) == (
            ann["locale"], ann["time_zone"], ann["identifiers"],
        )  # fmt: skip
        again = await shop.post("/q/responder", {"metadata": {"email": "Ann@example.com", "city": "Volos"}})
        assert (200, ann["responder_id"]) == (again.status_code, again.json()["responder_id"])
        values = (await shop.get(f"/q/responder/{ann['responder_id']}/value")).json()
        assert {"Ann", "Volos"} < {one["value"] for one in values}
        assert ann["responder_id"] == await asked(shop, email="Ann@example.com")


class TestSearch:
    @pytest.fixture
    async def people(self, shop: Shop) -> dict[str, str]:
        return {
            "ann": await asked(shop, email="Ann.Smith@Example.com"),
            "anna": await asked(shop, email="anna@example.org", phone_number="+306900000001"),
            "bob": await asked(shop, email="bob@example.com", phone_number="+306900000002"),
            "percent": await asked(shop, email="100%_sure@example.com"),
        }

    async def test_ok(self, shop: Shop, people: dict[str, str]) -> None:
        for text, names in (
            ("ann", {"ann", "anna"}),
            ("ANN", {"ann", "anna"}),
            (" ann.s ", {"ann"}),
            ("ann.smith@example.com", {"ann"}),
            ("Ann.Smith@EXAMPLE.com", {"ann"}),
            ("anna@example.org", {"anna"}),
            ("anna@example.orgs", set[str]()),
            ("nna", set[str]()),
            ("+3069", {"anna", "bob"}),
            ("+30 690 000 0002", {"bob"}),
            ("6900000001", {"anna"}),  # national, in the organization's country
            ("100%", {"percent"}),
            ("100_", set[str]()),
            ("a%b", set[str]()),
        ):
            assert {people[name] for name in names} == set(await search(shop, text)), text

    async def test_by_name(self, shop: Shop, people: dict[str, str]) -> None:
        """By the beginnings of words of any value, in any case and without accents."""
        await asked(shop, email="other@example.com", first_name="Yannis", last_name="Papas")
        yannis = await asked(
            shop,
            email="y@example.com",
            name="Yannis Papadopoulos",
            full_name="Γιάννης ΠΑΠΑΔΟΠΟΥΛΟΣ",
            card="gold-7, m'kay.",
        )
        blind = await shop.with_token(scopes=SCOPES - {"Responder Value.Read"})
        stranger = await shop.of_another_organization()
        for text in ("papado", "ΠΑΠΑΔΌΠΟΥΛΟΣ", "papadopoulos yann", "Γιάννης παπ", "GOLD-7", "m'kay"):
            assert [yannis] == await search(shop, text), text
            assert [] == await search(blind, text), text
            assert [] == await search(stranger, text), text

    async def test_with_filters(self, shop: Shop, people: dict[str, str]) -> None:
        await shop.patch(f"/q/responder/{people['anna']}", {"locale": "en"})
        assert [people["anna"]] == await found(shop, "search=ann&filter_by[EQUAL][Locale]=en")
        counted = await shop.get("/q/responder/count?search=ann&filter_by[EQUAL][Locale]=en")
        assert {"count": 1} == counted.json()
        assert list(reversed(people.values())) == await found(shop)
        for query in ("", "?limit=1"):
            assert {"count": 4} == (await shop.get(f"/q/responder/count{query}")).json()

    async def test_by_cursor(self, shop: Shop, people: dict[str, str]) -> None:
        """A cursor belongs to its search."""
        first = await shop.get("/q/responder?search=ann&limit=1")
        cursor, link = first.json()["next_cursor"], first.headers["link"]
        assert "search=ann" in link
        second = (await shop.get(f"/q/responder?search=ann&limit=1&cursor={cursor}")).json()
        ids = [one["responder_id"] for page in (first.json(), second) for one in page["results"]]
        assert ([people["anna"], people["ann"]], None) == (ids, second["next_cursor"])
        for other in ("", "search=bob&"):
            response = await shop.get(f"/q/responder?{other}limit=1&cursor={cursor}")
            assert ("cursor", "invalid_cursor") == tuple(
                response.json()["errors"][0][one] for one in ("parameter", "code")
            )

    async def test_test_tokens_see_test_people(self, shop: Shop, people: dict[str, str]) -> None:
        tester = await shop.with_token(test=True)
        responder_id = await asked(tester, email="ann.test@example.com")
        assert ([responder_id],) * 2 == (await found(tester), await search(tester, "ann"))
        assert 404 == (await tester.get(f"/q/responder/{people['ann']}")).status_code


class TestGet:
    async def test_ok(self, shop: Shop) -> None:
        request = IssueInput(
            locale="en", metadata=Changes(responder={"email": "Ann@Example.com", "phone_number": "+306900000000"})
        )
        instance = await shop.world.issue(request)
        later = NOW + timedelta(minutes=5)
        async with db.transaction(shop.world.pool) as database:
            await instances.settle_times(
                database, "sent", times={(instance.organization_id, instance.instance_id): NOW}, now=NOW
            )
        await shop.world.save(instance, {NPS: 9}, now=later)
        await shop.world.issue(request, now=later)

        response = await shop.get(f"/q/responder/{instance.responder_id}")

        assert '"1"' == response.headers["etag"]
        assert {
            "responder_id": instance.responder_id,
            "organization_id": instance.organization_id,
            "identifiers": [
                {"channel_id": 1, "identifier": "Ann@example.com"},
                {"channel_id": 2, "identifier": "+306900000000"},
            ],
            "locale": "en",
            "time_zone": None,
            "suppressed": False,
            "instances_count": 2,
            "last_contacted_time": "2026-11-21T18:23:45+02:00",
            "last_submitted_time": "2026-11-21T18:28:45+02:00",
            "anonymized_time": None,
            "created_time": "2026-11-21T18:23:45+02:00",
            "updated_time": "2026-11-21T18:23:45+02:00",
            "created_by": shop.world.caller.token_id,
            "updated_by": shop.world.caller.token_id,
        } == response.json()

    async def test_suppressed(self, shop: Shop) -> None:
        responder_id = await asked(shop, email="ann@example.com", phone_number="+306900000000")
        async with db.transaction(shop.world.pool) as database:
            addresses = await responders_store.list_addresses(
                database, organization_id=shop.world.caller.organization_id, responder_id=responder_id
            )
            await responders.unsubscribe(database, address=addresses[0], now=NOW)
        assert (await shop.get(f"/q/responder/{responder_id}")).json()["suppressed"] is True

    async def test_figures_of_the_callers_applications(self, shop: Shop) -> None:
        """A caller of some applications sees only their figures."""
        whole = shop.world.caller
        responder_id = await asked(shop, email="ann@example.com")
        counts: list[int] = []
        async with db.connection(shop.world.pool) as database:
            responder = await instances_responders.get(database, caller=whole, responder_id=responder_id)
            for application_ids in ((), (shop.world.application_id,), ("0" * 22,)):
                caller = replace(whole, application_ids=application_ids)
                known = await instances_responders.views_of(database, caller=caller, responders=[responder], now=NOW)
                counts.append(known[responder_id].details.instances_count)
        assert [1, 1, 0] == counts


class TestUpdate:
    async def test_ok(self, shop: Shop) -> None:
        responder_id = await asked(shop, email="ann@example.com", first_name="Ann", shoe="42")
        path = f"/q/responder/{responder_id}"

        body = {"locale": "en_US", "time_zone": "Europe/Paris", "metadata": {"first_name": "Anna", "shoe": None}}
        response = await shop.patch(path, body)

        assert 200 == response.status_code
        assert ("en_US", "Europe/Paris") == (response.json()["locale"], response.json()["time_zone"])
        values = {one["name"]: one["value"] for one in (await shop.get(f"{path}/value")).json()}
        assert {"email": "ann@example.com", "first_name": "Anna"} == values
        events = [event for event in await shop.world.events(responder_id) if event.type == "responder.updated"]
        assert ["Europe/Paris"] == [event.data["time_zone"] for event in events]
        cleared = (await shop.patch(path, {"locale": None, "time_zone": None})).json()
        assert (None, None) == (cleared["locale"], cleared["time_zone"])

    async def test_nothing_new(self, shop: Shop) -> None:
        path = f"/q/responder/{await asked(shop, first_name='Ann')}"
        before = (await shop.get(path)).json()

        response = await shop.patch(path, {**before, "metadata": {"first_name": "Ann", "gone": ""}})

        assert ('"1"', before) == (response.headers["etag"], response.json())


class TestPeopleOfOthers:
    """A token of one application, or of tests, and a person whom others ask."""

    @pytest.fixture
    async def carol(self, shop: Shop) -> str:
        return await asked(shop, email="carol@example.com", phone_number="+306911111111", rsecret_a="kept")

    @pytest.fixture(params=["application", "test"])
    async def limited(self, request: pytest.FixtureRequest, shop: Shop) -> Shop:
        if request.param == "test":
            return await shop.with_token(test=True)
        return await shop.with_own_questionnaire()

    async def test_given_by_id(self, limited: Shop, carol: str) -> None:
        own = await limited.issue(metadata={"responder": {"email": "own@example.com"}})
        for response in (
            await limited.post(limited.instances, {"responder_id": carol}),
            await limited.patch(f"/q/instance/{own['instance_id']}", {"responder_id": carol}),
        ):
            assert (422, [("/responder_id", "unknown_id")]) == (response.status_code, codes(response))
        assert 404 == (await limited.get(f"/q/responder/{carol}")).status_code

    async def test_found_by_address(self, shop: Shop, limited: Shop, carol: str) -> None:
        metadata = {"responder": {"email": "carol@example.com", "phone_number": "+306922222222", "rsecret_a": "new"}}
        instance = await limited.issue(metadata=metadata)
        assert carol == instance["responder_id"]
        for response in (
            await limited.patch(f"/q/responder/{carol}", {"metadata": {"rsecret_a": "new"}}),
            await limited.patch(f"/q/instance/{instance['instance_id']}", {"metadata": metadata}),
        ):
            assert response.status_code in {403, 404}
        seen = await limited.get(f"/q/responder/{carol}")
        assert [] == (seen.json()["identifiers"] if seen.status_code == 200 else [])
        values = await limited.get(f"/q/responder/{carol}/value")
        assert [] == (values.json() if values.status_code == 200 else [])
        path = f"/q/questionnaire/{limited.world.questionnaire_id}/responder/value"
        assert [] == (await limited.get(path)).json()["results"]
        assert ([], []) == (await search(limited, "+306911111111"), await search(limited, "carol@example.com"))

        kept = {one["name"]: one["value"] for one in (await shop.get(f"/q/responder/{carol}/value")).json()}
        assert ("+306911111111", "kept") == (kept["phone_number"], kept["rsecret_a"])
        assert [carol] == await search(shop, "+306911111111")
        assert [] == await search(shop, "+306922222222")

    async def test_own_people_are_read_and_changed(self, limited: Shop) -> None:
        own = await asked(limited, email="own@example.com", rsecret_a="first")
        assert own == await asked(limited, email="own@example.com", rsecret_a="second")
        values = {one["name"]: one["value"] for one in (await limited.get(f"/q/responder/{own}/value")).json()}
        assert "second" == values["rsecret_a"]
        assert 200 == (await limited.patch(f"/q/responder/{own}", {"metadata": {"rsecret_a": "third"}})).status_code
        assert [own] == await search(limited, "own@example.com")
