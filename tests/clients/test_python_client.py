"""The Python client: what it sends and repeats, and the whole of it against the running service."""

import json
import re
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from afterword_client import (
    ApiError,
    Client,
    Conflict,
    Credentials,
    Disconnected,
    Forbidden,
    Invalid,
    NotFound,
    RateLimited,
    Stale,
    Unauthorized,
    models,
)

from afterword.kit import db
from tests.conftest import House, build_house
from tests.databases import fresh_database
from tests.dates import YEAR
from tests.journeys import processes

FOLDER = Path(__file__).parents[2] / "clients/python"
LATER = datetime(YEAR, 1, 15, 10, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between tries are noted instead of waited for."""
    pauses: list[float] = []
    monkeypatch.setattr("afterword_client.client.time.sleep", pauses.append)
    return pauses


@pytest.mark.parametrize("url", ["localhost:8341", "survey.example.com", "", "ftp://survey.example.com", "https://"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="An address such as"):
        Client(url, token="afw_t")


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("2 fields are wrong: locale, title.", " /locale: There is no such language."),
        ("1 field is wrong: locale. There is no such language.", ""),
    ],
)
def test_a_refusal_says_once_what_is_wrong_with_each_field(detail: str, expected: str) -> None:
    wrong = {"code": "unknown_value", "message": "There is no such language.", "pointer": "/locale"}
    client, asked = scripted(httpx2.Response(422, json={"code": "invalid", "detail": detail, "errors": [wrong]}))
    with pytest.raises(Invalid) as refused:
        client.request("GET", "/q/questionnaire")
    assert f"422 invalid: {detail}{expected}" == str(refused.value)
    assert "afterword-client" == asked[0].headers["user-agent"]


def scripted(*answers: httpx2.Response | Exception) -> tuple[Client, list[httpx2.Request]]:
    """A client whose wire gives these answers in turn, and what it was asked."""
    asked: list[httpx2.Request] = []
    left = iter(answers)

    def handle(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Client("https://survey.example", token="afw_t", transport=httpx2.MockTransport(handle)), asked


def problem(status: int, code: str, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, json={"code": code, "detail": "A sentence."}, headers=headers)


class TestRepeating:
    def test_post_carries_one_key_through_all_tries(self, quick: list[float]) -> None:
        afterword, asked = scripted(
            httpx2.ConnectError("gone"), problem(503, "unavailable"), httpx2.Response(201, json={})
        )
        assert 201 == afterword.request("POST", "/q/x", body={"a": 1}).status
        assert 1 == len({request.headers["idempotency-key"] for request in asked})
        assert 3 == len(asked)
        assert 2 == len(quick)

    def test_given_key(self) -> None:
        afterword, asked = scripted(httpx2.Response(201, json={}))
        afterword.request("POST", "/q/x", body={}, idempotency_key="mine")
        assert "mine" == asked[0].headers["idempotency-key"]

    def test_waits_as_long_as_the_service_says(self, quick: list[float]) -> None:
        afterword, _ = scripted(problem(429, "rate_limited", **{"Retry-After": "7"}), httpx2.Response(200, json={}))
        afterword.request("GET", "/q/x")
        assert [7.0] == quick

    def test_does_not_wait_for_ever(self, quick: list[float]) -> None:
        afterword, _ = scripted(problem(429, "rate_limited", **{"Retry-After": "3600"}))
        with pytest.raises(RateLimited):
            afterword.request("GET", "/q/x")
        assert [] == quick

    def test_gives_up(self) -> None:
        afterword, asked = scripted(*[httpx2.ReadTimeout("slow")] * 4)
        with pytest.raises(Disconnected, match="ReadTimeout"):
            afterword.request("GET", "/q/x")
        assert 4 == len(asked)

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 422, 500])
    def test_refusals_are_not_repeated(self, status: int) -> None:
        afterword, asked = scripted(problem(status, "code"))
        with pytest.raises(ApiError, match=f"{status} code: A sentence"):
            afterword.request("GET", "/q/x")
        assert 1 == len(asked)

    def test_deleted_by_a_try_whose_answer_was_lost(self) -> None:
        afterword, _ = scripted(httpx2.ReadTimeout("slow"), problem(404, "not_found"))
        assert 204 == afterword.request("DELETE", "/q/x").status

    def test_page_of_a_proxy(self) -> None:
        afterword, _ = scripted(*[httpx2.Response(502, text="<html>")] * 4)
        with pytest.raises(ApiError, match="did not come from Afterword"):
            afterword.request("GET", "/q/x")


class TestQuery:
    def test_nested(self) -> None:
        afterword, asked = scripted(httpx2.Response(200, json=[]))
        query = {
            "filter_by": {"IN": {"StatusId": [1, 2]}, "EQUAL": {"Locale": "el"}},
            "order_by": {"DESC": ["SendTime"]},
            "include": True,
            "from_time": LATER,
            "absent": None,
        }
        afterword.request("GET", "/q/x", query=query)
        assert [
            ("filter_by[IN][StatusId][]", "1"), ("filter_by[IN][StatusId][]", "2"), ("filter_by[EQUAL][Locale]", "el"),
            ("order_by[DESC][]", "SendTime"), ("include", "true"), ("from_time", f"{YEAR}-01-15T10:30:00+00:00"),
        ] == list(httpx2.QueryParams(asked[0].url.query).multi_items())  # fmt: skip

    def test_ids_are_one_segment(self) -> None:
        afterword, asked = scripted(problem(404, "not_found"))
        with pytest.raises(NotFound):
            afterword.queue_simplified.get_simplified_item("a/../b?c")
        assert b"/v3.2/q/queue/item/a%2F..%2Fb%3Fc" == asked[0].url.raw_path


def test_token_or_credentials() -> None:
    for token in (None, ""):  # "" as from a variable that is not set
        with pytest.raises(ValueError, match="token or credentials"):
            Client("https://survey.example", token=token)


@pytest.fixture(scope="module")
def generated() -> Iterator[Any]:
    sys.path.insert(0, str(FOLDER))
    import generate  # noqa: PLC0415

    yield generate
    sys.path.remove(str(FOLDER))


@pytest.mark.parametrize("name", ["models", "operations"])
def test_is_generated_from_the_present_document(generated: Any, name: str) -> None:
    document = json.loads(generated.DOCUMENT.read_text())
    written = (generated.PACKAGE / f"{name}.py").read_text()
    assert getattr(generated, name)(document) == written, "run `make client`"


# Against the running service -----------------------------------------------------------------------------------------


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def service(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[House, str]]:
    """A web process on a database of its own; its organization and its address."""
    async with fresh_database(server_url) as url:
        async with await db.open_pool(url, size_max=2) as pool:
            house = await build_house(pool, domain="demo")
        port = processes.free_port()
        folder = tmp_path_factory.mktemp("client")
        settings = {"database_url": url, "data_dir": folder, "port": port, "secret": "k" * 40}
        async with processes.command("web", folder=folder, **settings) as child:
            await processes.ready(f"http://localhost:{port}", child)
            yield house, f"http://localhost:{port}"


@pytest.fixture
def afterword(service: tuple[House, str]) -> Iterator[Client]:
    house, url = service
    with Client(url, token=house.token) as opened:
        yield opened


def request_of(number: int, **more: Any) -> models.QueueItemRequest:
    return models.QueueItemRequest(responder_channel_identifier=f"ann{number}@example.com", send_time=LATER, **more)


@pytest.mark.parametrize("number", range(2))
def test_readme_runs(
    number: int, service: tuple[House, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, afterword: Client
) -> None:
    """Each block of the README as it stands there, but for the address and the token."""
    house, url = service
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert 2 == len(blocks)
    source = blocks[number].replace("https://survey.example.com", url).replace("afw_…", house.token)
    monkeypatch.chdir(tmp_path)
    exports = f"/q/questionnaire/{house.questionnaire_id}/export"

    def worker(_: float) -> None:
        for export in afterword.pages(exports, models.Export, limit=10):  # nobody writes files here
            afterword.questionnaire_exports.delete_export(export.export_id)

    monkeypatch.setattr("afterword_client.client.time.sleep", worker)
    values = {"questionnaire_id": house.questionnaire_id, "pipeline_id": house.pipeline_id}
    exec(compile(source, "README.md", "exec"), values)  # noqa: S102


class TestService:
    def test_schedule_change_cancel(self, afterword: Client, service: tuple[House, str]) -> None:
        house, _ = service
        item = afterword.queue.schedule_item(house.questionnaire_id, house.pipeline_id, request_of(1, locale="el"))
        assert (1, "el", LATER) == (item.status_id, item.locale, item.send_time)

        later = LATER + timedelta(days=1)
        changed = afterword.queue_simplified.change_simplified_item(
            item.item_id, models.QueueItemUpdate(send_time=later)
        )
        assert (later, "el") == (changed.send_time, changed.locale)

        cancelled = afterword.queue_simplified.change_simplified_item(
            item.item_id, models.QueueItemUpdate(status_id=5, result="Order was canceled")
        )
        assert (5, "Order was canceled") == (cancelled.status_id, cancelled.result)
        with pytest.raises(Conflict) as refused:
            afterword.queue_simplified.change_simplified_item(item.item_id, models.QueueItemUpdate(send_time=LATER))
        assert "item_closed" == refused.value.code

        afterword.queue_simplified.delete_simplified_item(item.item_id)
        with pytest.raises(NotFound) as gone:
            afterword.queue_simplified.get_simplified_item(item.item_id)
        assert gone.value.request_id

    def test_same_key_is_one_item(self, afterword: Client, service: tuple[House, str]) -> None:
        house, _ = service
        made = [
            afterword.queue.schedule_item(
                house.questionnaire_id, house.pipeline_id, request_of(2), idempotency_key="order-2"
            )
            for _ in range(2)
        ]
        assert 1 == len({item.item_id for item in made})

    def test_all_wrong_fields(self, afterword: Client, service: tuple[House, str]) -> None:
        house, _ = service
        wrong = models.QueueItemRequest(responder_channel_identifier="nobody", locale="no language")
        with pytest.raises(Invalid) as refused:
            afterword.queue.schedule_item(house.questionnaire_id, house.pipeline_id, wrong)
        assert "/locale" in {each.pointer for each in refused.value.errors}

    def test_lists_are_walked_to_their_end(self, afterword: Client, service: tuple[House, str]) -> None:
        house, _ = service
        made = {
            afterword.queue.schedule_item(house.questionnaire_id, house.pipeline_id, request_of(n, locale="de")).item_id
            for n in range(7)
        }
        found = list(
            afterword.queue.list_items(
                house.questionnaire_id, house.pipeline_id, filter_by={"EQUAL": {"Locale": "de"}},
                order_by={"ASC": ["CreatedTime"]}, limit=3,
            )
        )  # fmt: skip
        assert (7, made) == (len(found), {item.item_id for item in found})
        assert house.questionnaire_id in {
            each.questionnaire_id for each in afterword.questionnaires.list_questionnaires(limit=1)
        }

    def test_stale(self, afterword: Client, service: tuple[House, str]) -> None:
        house, _ = service
        item = afterword.queue.schedule_item(house.questionnaire_id, house.pipeline_id, request_of(3))
        etag = afterword.request("GET", f"/q/queue/item/{item.item_id}").headers["etag"]
        update = models.QueueItemUpdate(locale="en")
        afterword.queue_simplified.change_simplified_item(item.item_id, update, if_match=etag)
        with pytest.raises(Stale):
            afterword.queue_simplified.change_simplified_item(
                item.item_id, models.QueueItemUpdate(locale=None), if_match=etag
            )

    def test_instances(self, afterword: Client, service: tuple[House, str]) -> None:
        house, _ = service
        instance = afterword.questionnaire_instances.issue_instance(
            house.questionnaire_id, models.InstanceRequest(valid_days=7, locale="en")
        )
        assert instance.collection_url.endswith(instance.instance_id)
        content = afterword.questionnaire_instances_simplified.get_instance_content(instance.instance_id)
        assert content.open

    def test_unknown_token(self, service: tuple[House, str]) -> None:
        with Client(service[1], token="afw_no") as stranger, pytest.raises(Unauthorized):
            next(iter(stranger.questionnaires.list_questionnaires()))

    def test_credentials(self, service: tuple[House, str]) -> None:
        house, url = service
        credentials = Credentials(house.token_id, house.token, scope="queue.read questionnaire.read")
        with Client(url, credentials=credentials) as afterword:
            assert list(afterword.questionnaires.list_questionnaires())
            with pytest.raises(Forbidden) as refused:
                afterword.queue.schedule_item(house.questionnaire_id, house.pipeline_id, request_of(4))
        assert ["Queue.Create"] == refused.value.required_scopes

    def test_threads_share_a_client(self, afterword: Client, service: tuple[House, str]) -> None:
        house, _ = service
        found: list[str] = []

        def schedule(number: int) -> None:
            made = afterword.queue.schedule_item(house.questionnaire_id, house.pipeline_id, request_of(number))
            found.append(made.item_id)

        threads = [threading.Thread(target=schedule, args=[n]) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert 8 == len(set(found))
