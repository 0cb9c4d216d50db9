"""Texts that would be more than values in a query that is put together: in every path, parameter, cursor and header.

Filters and orders have theirs in test_bad_queries.py, for every column of every list; here is the rest. Nothing that
is stored changes, no list shows another row, and no statement fails. In every run two operations of each family meet
some of the texts, AFTERWORD_TEST_FAULTS=full sends all of them to every operation.
"""

import base64
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote, quote_plus

import asyncpg
import httpx2
import msgspec
import pytest
from structlog.testing import capture_logs

from afterword import errors as refusals
from afterword.kit import db
from afterword.kit.db import list_queries
from afterword.kit.web.operations import Route
from tests.bar import Tell
from tests.conftest import House
from tests.contract.findings import Findings, good_body, rows_of
from tests.contract.test_bad_queries import INJECTIONS
from tests.contract.wire import Reply
from tests.contract.world import ROUTES, World, has_list, makes, name_of
from tests.sizes import FULL

pytestmark = pytest.mark.asyncio(loop_scope="session")

MORE: Final = (
    "') or exists (select from token) --", "x'::int", "'; select pg_terminate_backend(pid) from pg_stat_activity; --",
    "\\x27 or 1=1", "1; copy token to program 'id'", "' and 1=cast(version() as int) --", "E'\\\\' or 1=1",
)  # fmt: skip
TEXTS: Final = (*INJECTIONS, *MORE)
HEADERS: Final = ("If-Match", "If-None-Match", "Idempotency-Key", "Accept-Language", "X-Request-Id", "Prefer")
PARAMETERS: Final = ("response_fields", "locale", "limit", "cursor", "q", "search", "id", "organization_id", "nonsense")


def routes_with(wanted: Callable[[Route], object]) -> pytest.MarkDecorator:
    """A case for each operation like this: at full size for all, else for the first and the last of each family."""
    families: dict[str, list[Route]] = {}
    for route in ROUTES:
        if wanted(route):
            families.setdefault(route.tag, []).append(route)
    found = [each if FULL else [*each[:1], *each[1:][-1:]] for each in families.values()]
    return pytest.mark.parametrize("route", [route for each in found for route in each], ids=name_of)


some_with_ids = routes_with(lambda route: route.parameters)
some_lists = routes_with(has_list)


def some(place: int, number: int, *, of: Sequence[str] = TEXTS) -> list[str]:
    """The texts that meet this place: all of them at full size, else some, others for each place."""
    return list(of) if FULL else [of[(place * number + each) % len(of)] for each in range(number)]


class Errors:
    """The database's errors for statements that it could not run."""

    def __init__(self) -> None:
        self.said: list[str] = []


@contextmanager
def watched() -> Generator[Errors]:
    """Notes every error of a statement, whatever becomes of it; a key that was taken is none."""
    found, real = Errors(), db._refusal_of

    def note(error: BaseException) -> refusals.Refusal | None:
        if isinstance(error, asyncpg.PostgresError) and not isinstance(
            error, asyncpg.IntegrityConstraintViolationError
        ):
            found.said.append(f"{type(error).__name__}: {error}")
        return real(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "_refusal_of", note)
        yield found


async def expect(findings: Findings, errors: Errors, label: str, reply: Reply, *, refused: bool = False) -> None:
    """No failure of ours, no error of the database; where `refused`, a refusal."""
    if reply.status >= 500 or errors.said or (refused and reply.status < 400):
        findings.found.append(f"{label}: {reply.status} {reply.body[:200]!r} {errors.said}")
    errors.said.clear()
    await findings.check(label, reply)


@some_with_ids
async def test_in_paths(world: World, route: Route, tell: Tell) -> None:
    """Text in place of an id finds nothing."""
    findings, before = Findings(world, route), await world.digests_of(world.theirs)
    with watched() as errors:
        for name in (name for name in route.parameters if not makes(route, name)):
            for text in some(ROUTES.index(route), 2):
                path = world.ours.path(route, **{name: quote(text, safe="")})
                reply = await world.ask(route.method, path, **good_body(world, route))
                await expect(findings, errors, f"{name}={text}", reply, refused=True)
    findings.report()
    assert before == await world.digests_of(world.theirs)
    tell("paths: {count} requests, found 0, database errors 0", count=findings.count)


@routes_with(lambda route: route.method == "GET" or route.parameters)
async def test_in_headers(world: World, route: Route, tell: Tell) -> None:
    """The path names what is not there, so that nothing is done, whatever the header says."""
    findings = Findings(world, route)
    path = world.ours.path(route, **{name: "z" * 22 for name in route.parameters if not makes(route, name)})
    with watched() as errors:
        for place, header in enumerate(HEADERS):
            if FULL or place == ROUTES.index(route) % len(HEADERS):
                for text in some(ROUTES.index(route), 2, of=[text for text in TEXTS if text.isascii()]):
                    reply = await world.ask(route.method, path, headers={header: text}, **good_body(world, route))
                    await expect(findings, errors, f"{header}: {text}", reply)
    findings.report()
    tell("headers: {count} requests, database errors 0", count=findings.count)


@some_lists
async def test_in_queries(world: World, route: Route, tell: Tell) -> None:
    """A list answers as it would without the text, or refuses it; it never shows another row."""
    findings, path = Findings(world, route), world.ours.path(route)
    assert route.listing is not None
    names = [*PARAMETERS, *(() if route.query is None else route.query.__struct_fields__)]
    changed, column = 0, route.listing.id_column.name
    here = {str(row.get(column)) for row in rows_of(await world.ask(route.method, path))}
    with watched() as errors:
        for place, name in enumerate(names):
            for text in some(ROUTES.index(route) + place, 1):
                reply = await world.ask(route.method, f"{path}?{name}={quote_plus(text)}")
                await expect(findings, errors, f"{name}={text}", reply)
                if reply.status == 200:
                    changed += any(str(row[column]) not in here for row in rows_of(reply) if column in row)
    findings.report()
    assert 0 == changed
    tell("queries: {count} requests, result sets changed {changed}, database errors 0", count=findings.count, changed=0)


@some_lists
async def test_in_cursors(world: World, route: Route, tell: Tell) -> None:
    """A cursor is ours or none, however well it is made."""
    findings, path = Findings(world, route), world.ours.path(route)
    with watched() as errors:
        for text in some(ROUTES.index(route), 1):
            for cursor in (
                base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
                base64.urlsafe_b64encode(msgspec.json.encode([text, text])).decode().rstrip("="),
                base64.urlsafe_b64encode(msgspec.msgpack.encode([text, text])).decode().rstrip("="),
            ):
                reply = await world.ask(route.method, f"{path}?cursor={quote_plus(cursor)}")
                await expect(findings, errors, f"cursor of {text}", reply, refused=True)
    findings.report()
    tell("cursors: {count} requests, all refused, database errors 0", count=findings.count)


async def test_in_bodies(client: httpx2.AsyncClient, house: House, neighbour: House, tell: Tell) -> None:
    """Two operations of a family: what is taken comes back as it was, and the neighbour has nothing of it."""
    written = asked = 0
    theirs = f"/v3.2/q/questionnaire/{neighbour.questionnaire_id}/pipeline/{neighbour.pipeline_id}/queue/item"
    with watched() as errors:
        for text in TEXTS if FULL else TEXTS[::3]:
            for method, path, body, member in _wishes(house, text):
                reply = await client.request(method, path, json=body, headers=house.headers)
                asked += 1
                assert reply.status_code < 500, (path, reply.text)
                assert [] == errors.said, path
                if reply.is_success and member in reply.json():
                    assert body[member] == _same(reply.json()[member], body[member]), path
                    written += 1
        assert [] == _rows((await client.get(theirs, headers=neighbour.headers)).json())
    assert written >= asked / 3, "hardly anything was taken"
    tell(f"bodies: {asked} requests, {written} texts written and read again unchanged, database errors 0")


def _wishes(house: House, text: str) -> list[tuple[str, str, dict[str, Any], str]]:
    """Operation, body, and the member of the answer that repeats the text."""
    questionnaire = f"/v3.2/q/questionnaire/{house.questionnaire_id}"
    lane = f"{questionnaire}/pipeline/{house.pipeline_id}"
    person, metadata = {"responder_channel_identifier": "ann@example.com"}, {"questionnaire": {"order": text}}
    return [
        (
            "POST",
            "/v3.2/application",
            {"display_name": text, "application_type_id": "0" * 16 + "custom"},
            "display_name",
        ),
        ("PATCH", f"/v3.2/application/{house.application_id}", {"display_name": text}, "display_name"),
        ("POST", f"{lane}/queue/item", {**person, "external_reference": text}, "external_reference"),
        ("POST", f"{lane}/queue/item", {**person, "metadata": metadata}, "metadata"),
        ("POST", f"{questionnaire}/instance", {"metadata": metadata}, "metadata"),
        ("PATCH", questionnaire, {"display_name": text}, "display_name"),
        ("PATCH", lane, {"sender_name": text}, "sender_name"),
        ("PATCH", lane, {"title": text}, "title"),
        ("POST", "/v3.2/token", {"title": text, "scopes": ["Queue.Read"]}, "title"),
        ("POST", "/v3.2/suppression", {"channel_id": 1, "identifier": text}, "identifier"),
    ]


def _same(found: Any, wanted: Any) -> Any:
    """Of metadata, the groups that were sent."""
    return {group: found[group] for group in wanted} if isinstance(wanted, dict) else found


def _rows(document: Any) -> list[Any]:
    return document if isinstance(document, list) else document["results"]


async def test_it_has_teeth(world: World) -> None:
    """Where filters are put into the query as they come, this is noticed, by an error or by another row."""
    real: Any = list_queries.where

    def careless(criteria: Any, parameters: list[object]) -> str:
        kept: list[object] = []
        text = real(criteria, kept)
        for number in range(len(kept), 0, -1):
            text = text.replace(f"${number}", f"'{kept[number - 1]}'")
        return text

    [route] = [route for route in ROUTES if name_of(route) == "GET /application"]
    found = 0
    # Failures are expected here: printing each with its frames and values would take longer than all the rest.
    with watched() as errors, capture_logs(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(list_queries, "where", careless)
        for text in TEXTS:
            target = f"{world.ours.path(route)}?filter_by[EQUAL][DisplayName]={quote(text, safe='')}"
            try:
                reply = await world.ask("GET", target)
                found += bool(errors.said) or reply.status >= 500 or bool(rows_of(reply))
            except asyncpg.PostgresError:
                found += 1
            errors.said.clear()
    assert found > 3
