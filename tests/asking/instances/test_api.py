"""The routes of questionnaire instances: issue, list, read, change, delete."""

from datetime import timedelta
from typing import Any

import httpx2

from afterword.asking.instances.issuing import IssueInput
from tests.asking.instances.conftest import NOW, NPS, PUBLIC_URL, SINGLE, Shop

FIELDS = [
    "instance_id", "questionnaire_id", "responder_id", "locale", "valid_days", "editable", "finalized", "created_time",
    "updated_time", "sent_time", "delivered_time", "viewed_time", "submitted_time", "completed_time", "collection_url",
    "question_ids", "processed_time", "flow_time", "created_by", "updated_by", "full_quota_id", "anonymity",
    "collection_url_short",
    "collection_url_long",
]  # fmt: skip


def codes(response: httpx2.Response) -> list[tuple[str | None, str]]:
    return [(error.get("pointer"), error["code"]) for error in response.json()["errors"]]


class TestIssue:
    async def test_wrong(self, shop: Shop) -> None:
        wrong: list[tuple[dict[str, Any], str, str]] = [
            ({"reference_id": "a/b"}, "/reference_id", "invalid_format"),
            ({"metadata": {"responder": {"email": []}}}, "/metadata/responder/email", "wrong_type"),
        ]
        for body, pointer, code in wrong:
            response = await shop.post(shop.instances, body)
            assert (422, [(pointer, code)]) == (response.status_code, codes(response))

        body = {"finalized": True, "nonsense": 1, "metadata": {"questionnaire": {"undeclared": "x"}}}

        lax = await shop.post(shop.instances, body)
        strict = await shop.post(shop.instances, body, headers={"Prefer": "handling=strict"})

        assert (201, False) == (lax.status_code, lax.json()["finalized"])
        assert 422 == strict.status_code
        assert {"/finalized", "/nonsense"} <= {pointer for pointer, _ in codes(strict)}

    async def test_ok(self, shop: Shop) -> None:
        response = await shop.post(shop.instances, {"locale": "en-GB", "valid_days": 7, "editable": True})

        body = response.json()
        assert (201, FIELDS) == (response.status_code, list(body))
        assert ("en", 7, True, False) == (body["locale"], body["valid_days"], body["editable"], body["finalized"])
        assert f"{PUBLIC_URL}/a/{body['instance_id']}" == body["collection_url"] == body["collection_url_long"]
        assert body["collection_url_short"].startswith(f"{PUBLIC_URL}/s/")
        assert f"{NPS},{SINGLE}" == ",".join(body["question_ids"].split(",")[:2])
        assert body["created_time"] == body["updated_time"]
        assert {None} == {
            body[name] for name in FIELDS if name.endswith("_time") and name[:7] not in {"created", "updated"}
        }
        assert f"{PUBLIC_URL}/v3.2/q/instance/{body['instance_id']}" == response.headers["Location"]
        again = await shop.get(f"/q/instance/{body['instance_id']}")
        assert (body, response.headers["ETag"]) == (again.json(), again.headers["ETag"])

    async def test_the_clients_own_message(self, shop: Shop) -> None:
        """Times come back in the organization's zone; ids, other times and the end are not the client's to set."""
        body = await shop.issue(
            sent_time="2026-07-01T09:00:00Z",
            delivered_time="2026-07-01 12:00:05",
            viewed_time="2026-07-01T09:00:00Z",
            instance_id="0" * 22,
            finalized=True,
        )

        assert ("2026-07-01T12:00:00+03:00", "2026-07-01T12:00:05+03:00") == (
            body["sent_time"],
            body["delivered_time"],
        )
        assert (None, False) == (body["viewed_time"], body["finalized"])
        assert "0" * 22 != body["instance_id"]

    async def test_null_is_absent(self, shop: Shop) -> None:
        body = await shop.issue(responder_id=None, locale=None, valid_days=None, editable=None, metadata=None)

        assert ("el", 30, False) == (body["locale"], body["valid_days"], body["editable"])

    async def test_reference(self, shop: Shop) -> None:
        """A test token works on test data only: it neither sees the instance nor can take its reference."""
        first = await shop.post(shop.instances, {"reference_id": "order~1"})
        again = await shop.post(shop.instances, {"reference_id": "order~1", "valid_days": 1})

        assert (201, 200) == (first.status_code, again.status_code)
        assert first.json() == again.json()
        refused = await (await shop.with_token(test=True)).post(shop.instances, {"reference_id": "order~1"})
        assert (409, "already_exists") == (refused.status_code, refused.json()["code"])


class TestLists:
    async def test_order_and_filter(self, shop: Shop) -> None:
        issued = [await shop.world.issue(IssueInput(valid_days=n), now=NOW + timedelta(minutes=n)) for n in range(3)]
        newest_first = [instance.instance_id for instance in reversed(issued)]

        for path in ("/q/instance", shop.instances):
            page = (await shop.get(path)).json()
            some = (await shop.get(f"{path}?filter_by[GREATER_THAN][ValidDays]=0&order_by[ASC][]=ValidDays")).json()
            cursor = (await shop.get(f"{path}?limit=2")).json()
            rest = (await shop.get(f"{path}?limit=2&cursor={cursor['next_cursor']}")).json()

            assert newest_first == [one["instance_id"] for one in page["results"]]
            assert (1, 10, 1, 3) == tuple(page[name] for name in ("page", "max_per_page", "last_page", "total_results"))
            assert FIELDS == list(page["results"][0])
            assert [1, 2] == [one["valid_days"] for one in some["results"]]
            assert newest_first == [one["instance_id"] for one in [*cursor["results"], *rest["results"]]]

    async def test_only_what_may_be_seen(self, shop: Shop) -> None:
        kept, gone = await shop.issue(), await shop.issue()
        await shop.delete(f"/q/instance/{gone['instance_id']}")

        async def listed(viewer: Shop) -> list[str]:
            return [one["instance_id"] for one in (await viewer.get("/q/instance")).json()["results"]]

        assert [kept["instance_id"]] == await listed(shop)
        assert [kept["instance_id"]] == await listed(await shop.with_token(application_ids=[shop.world.application_id]))
        assert [] == await listed(await shop.of_another_application())
        assert [] == await listed(await shop.of_another_organization())
        assert [] == await listed(await shop.with_token(test=True))


class TestUpdate:
    async def test_wrong(self, shop: Shop) -> None:
        path = f"/q/instance/{(await shop.issue())['instance_id']}"
        wrong: list[tuple[dict[str, Any], str, str]] = [
            *(
                ({name: None}, f"/{name}", "not_nullable")
                for name in ("responder_id", "locale", "valid_days", "editable")
            ),
            ({"responder_id": "0" * 22}, "/responder_id", "unknown_id"),
            ({"locale": "?"}, "/locale", "invalid_locale"),
            ({"valid_days": 3651}, "/valid_days", "out_of_range"),
            ({"metadata": {"x": {}}}, "/metadata/x", "wrong_type"),
        ]
        for body, pointer, code in wrong:
            response = await shop.patch(path, body)
            assert (422, [(pointer, code)]) == (response.status_code, codes(response))

    async def test_language_that_the_questionnaire_lacks(self, shop: Shop) -> None:
        path = f"/q/instance/{(await shop.issue())['instance_id']}"
        strict = {"Prefer": "handling=strict"}

        refused = await shop.patch(path, {"locale": "fr-CA"}, headers=strict)
        assert (422, [("/locale", "unknown_value")]) == (refused.status_code, codes(refused))
        assert 200 == (await shop.patch(path, {"locale": "en-GB"}, headers=strict)).status_code  # another region of one
        taken = await shop.patch(path, {"locale": "fr"})
        assert (200, "el") == (taken.status_code, taken.json()["locale"])

    async def test_whole_model(self, shop: Shop) -> None:
        """A client loads the model, changes two fields and sends all of it back; the rest is not its to set."""
        before = await shop.issue()
        model = {name: value for name, value in before.items() if value is not None}
        model |= {"valid_days": 30, "editable": True, "finalized": True, "created_time": "nonsense", "instance_id": 7}
        model |= {"collection_url": "https://evil.example/", "questionnaire_id": "0" * 22}

        response = await shop.patch(f"/q/instance/{before['instance_id']}", model)

        after = response.json()
        assert (200, FIELDS) == (response.status_code, list(after))
        assert (30, True, False) == (after["valid_days"], after["editable"], after["finalized"])
        same = set(FIELDS) - {"editable", "updated_time", "updated_by"}
        assert {name: before[name] for name in same} == {name: after[name] for name in same}

    async def test_no_change(self, shop: Shop) -> None:
        instance = await shop.issue(metadata={"questionnaire": {"transaction_id": "1042"}})
        path = f"/q/instance/{instance['instance_id']}"
        before = await shop.get(path)

        for body in ({}, before.json(), {"metadata": {"transaction_id": "1042"}}, {"locale": "EL", "metadata": []}):
            response = await shop.patch(path, body)
            assert (200, before.json()) == (response.status_code, response.json())
            assert before.headers["ETag"] == response.headers["ETag"]

    async def test_metadata(self, shop: Shop) -> None:
        """Flat, where a name of responders only goes to the responder; grouped; both at once."""
        instance = await shop.issue(
            metadata={"questionnaire": {"transaction_id": "1", "note": "x"}, "responder": {"email": "a@example.com"}}
        )
        path = f"/q/instance/{instance['instance_id']}"

        for metadata in (
            {"transaction_id": 2, "phone_number": "+306900000000"},
            {"note": "", "questionnaire": {"store_id": "7"}, "responder": {"name": "Ann"}},
        ):
            assert 200 == (await shop.patch(path, {"metadata": metadata})).status_code

        content = (await shop.get(f"{path}/response/content")).json()
        assert {"transaction_id": "2", "store_id": "7"} == content["metadata"]["questionnaire"]
        assert {"email": "a@example.com", "phone_number": "+306900000000", "name": "Ann"} == content["metadata"][
            "responder"
        ]


class TestUrl:
    async def test_ok(self, shop: Shop) -> None:
        instance = await shop.issue(valid_days=1, sent_time="2026-10-24T12:00:00+03:00")

        body = (await shop.get(f"/q/instance/{instance['instance_id']}/url")).json()

        assert {
            "instance_id": instance["instance_id"],
            "collection_url": instance["collection_url"],
            "collection_url_short": instance["collection_url_short"],
            "collection_url_long": instance["collection_url"],
            "expires_time": "2026-10-25T11:00:00+02:00",  # 24 hours, one of them twice
        } == body
        endless = await shop.issue(valid_days=0)
        assert (await shop.get(f"/q/instance/{endless['instance_id']}/url")).json()["expires_time"] is None


class TestContent:
    async def test_ok(self, shop: Shop) -> None:
        instance = await shop.world.issue(IssueInput(locale="en"), now=shop.world.pool.clock.now())
        path = f"/q/instance/{instance.instance_id}/content"

        body = (await shop.get(path)).json()

        assert ("en", "ltr", True, shop.world.version_id) == (
            body["locale"],
            body["direction"],
            body["open"],
            body["version_id"],
        )
        first, second = body["groups"]
        assert ["How likely?"] == [question["title"] for question in first["questions"]]
        assert ["Why?", "Ποια;", "Ευχαριστούμε", "Σχόλιο"] == [question["title"] for question in second["questions"]]
        assert ["Price", "Other"] == [choice["label"] for choice in second["questions"][0]["choices"]]
        assert not {"translations", "jumps"} & set(first["questions"][0])
        assert {"welcome": None, "thank_you": None, "closed": None, "expired": None} == body["pages"]
        assert body["visual"] is None
        await shop.world.save(instance, {NPS: 10}, complete=True)
        assert not (await shop.get(path)).json()["open"]
