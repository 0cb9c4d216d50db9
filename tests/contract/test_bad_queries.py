"""Wrong queries to every operation: what cannot be read, paging, cursors, filters, orders, and attempts to inject."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import quote

import pytest

from afterword.core.wire.lists import CRITERIA, Column
from afterword.kit.web.operations import Route
from tests.contract import probes
from tests.contract.findings import Findings, columns_of, good_body, rows_of
from tests.contract.hostile import QUERIES
from tests.contract.kinds import each_kind, each_kind_where
from tests.contract.wire import CANARY
from tests.contract.world import ABSENT, World, has_list, some_with_columns, some_with_list
from tests.kit.web.test_paging import MISTAKES
from tests.sizes import FULL

Each = TypeVar("Each")

pytestmark = pytest.mark.asyncio(loop_scope="session")


class TestQuery:
    @each_kind
    async def test_malformed(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        for query, code in QUERIES.items():
            reply = await world.ask(route.method, f"{path}?{query}")
            await findings.expect(query[:40], reply, (400, code))
        findings.report()

    @each_kind
    async def test_response_fields(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        for query in (
            "response_fields=nope",
            "response_fields[]=nope",
            "response_fields[0]=nope",
            "fields=nope",
            "fields[]=nope",
        ):
            name = query.partition("=")[0].partition("[")[0]
            reply = await world.ask(route.method, f"{path}?{query}", **good_body(world, route))
            await findings.expect_field(query, reply, name, ["unknown_field"])
        findings.report()

    @each_kind
    async def test_unknown_parameters_are_named(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        options = {} if route.rows_max is None else good_body(world, route)  # none cannot be cut into records
        strict = {"Prefer": "handling=strict"} if route.method == "GET" else {}
        reply = await world.ask(route.method, f"{path}?nonsense={CANARY}", headers=strict, **options)
        wrong = [place for place in reply.wrong if place[1] != "required"]  # of a body that was not sent
        assert [("nonsense", "unknown_member")] == wrong
        await findings.check("nonsense", reply)
        findings.report()

    @each_kind_where(has_list)
    async def test_paging(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        for query, place, code in PAGING:
            if route.shape == "cursor" and query.startswith("pagination"):
                place, code = "pagination", "exclusive"  # noqa: PLW2901  it has no pages
            reply = await world.ask("GET", f"{path}?{query}")
            await findings.expect_field(query[:60], reply, place, [code])
        findings.report()

    @each_kind_where(has_list)
    async def test_paging_in_a_body(self, world: World, route: Route) -> None:
        """A GET's body is a query too, and its values have types that no query has."""
        findings, path = Findings(world, route), world.ours.path(route)
        for document, place in TYPED_PARAMETERS:
            if route.shape == "cursor" and "pagination" in document:
                place = "pagination"  # noqa: PLW2901  it has no pages
            reply = await world.ask("GET", path, document=document)
            await findings.expect(str(document)[:60], reply, (422, "invalid"))
            if reply.status == 422 and place not in {place for place, _ in reply.wrong}:
                findings.found.append(f"{document}: {reply.wrong}")
        findings.report()

    @some_with_columns
    async def test_cursors(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        foreign = await self.cursor(world)
        flipped = foreign[:-1] + ("A" if foreign[-1] != "A" else "B")
        other = {
            "x",
            CANARY,
            "%FF".replace("%", ""),
            "é",
            "=" * 5,
            "A" * 16,
            "A" * 513,
            "../..",
            flipped,
            f"{foreign}=",
            foreign,
        }
        for cursor in other:
            reply = await world.ask(
                "GET", f"{path}?cursor={quote(cursor)}&order_by[ASC][]={next(iter(columns_of(route)))}"
            )
            await findings.expect_field(cursor[:20], reply, "cursor", ["invalid_cursor"])
        findings.report()

    @staticmethod
    async def cursor(world: World) -> str:
        """A good cursor, of another list."""
        base = f"/v3.2/q/questionnaire/{world.ours.ids['questionnaire_id']}/pipeline/{world.ours.ids['pipeline_id']}"
        for _ in range(2):
            await world.ask("POST", f"{base}/queue/item", document={"responder_channel_identifier": "a@example.com"})
        reply = await world.ask("GET", f"{base}/queue/item?limit=1&filter_by[NOT_NULL][ItemId]=")
        return reply.headers["link"].partition("cursor=")[2].partition("&")[0]

    @some_with_columns
    async def test_filters(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        for query, place, code in wrong_filters(columns_of(route)):
            reply = await world.ask("GET", f"{path}?{query}")
            await findings.expect_field(query[:80], reply, place, [code])
        findings.report()

    @some_with_columns
    async def test_every_column_takes_its_criteria(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        for number, (name, column) in enumerate(columns_of(route).items()):
            value = quote(GOOD[column.kind])
            for query in (
                *(f"limit=1&filter_by[{one}][{name}]={value}" for one in part_of(criteria_of(column), number)),
                f"filter_by[IN][{name}][]={value}", f"order_by[ASC][]={name}", f"order_by[DESC][]={name}&limit=1",
            ):  # fmt: skip
                await findings.expect(query, await world.ask("GET", f"{path}?{query}"), (200, ""))
        findings.report()

    @some_with_list
    async def test_injection(self, world: World, route: Route) -> None:
        """SQL in a value is only a value: it finds nothing."""
        findings, path = Findings(world, route), world.ours.path(route)
        for number, (name, column) in enumerate(columns_of(route).items()):
            if column.kind not in {"text", "id"}:
                continue
            for text in part_of(INJECTIONS, number):
                for criterion in ("EQUAL", "IN", *(() if "%" in text else ("LIKE",))):
                    reply = await world.ask("GET", f"{path}?filter_by[{criterion}][{name}]={quote(text, safe='')}")
                    await findings.expect(f"{criterion} {name} {text}", reply, (200, ""))
                    assert [] == rows_of(reply), (name, text)
        for text in set(INJECTIONS).difference(route.listing.columns if route.listing else ()):
            reply = await world.ask("GET", f"{path}?order_by[ASC][]={quote(text, safe='')}")
            await findings.expect_field(text, reply, "order_by[ASC]", ["unknown_column"])
        findings.report()


def part_of(each: Sequence[Each], number: int) -> Sequence[Each]:
    """Of these the ones that a column meets: one in six, the next column the next ones; all of them at full size."""
    return each if FULL else each[number % min(SOME, len(each)) :: SOME]


def criteria_of(column: Column) -> list[str]:
    """The criteria that a column of this kind has."""
    wrong = ("LIKE", "NOT_LIKE") if column.kind not in {"text", "id"} else ()
    return [
        criterion
        for criterion in CRITERIA
        if criterion not in wrong and not (column.kind == "boolean" and criterion.startswith(("GREATER", "LESS")))
    ]


def wrong_filters(columns: Mapping[str, Column]) -> Iterable[tuple[str, str, str]]:
    """Query, parameter and code of everything that a filter or an order can do wrong."""
    some = next(iter(columns))
    nope = f"filter_by[EQUAL][{CANARY[:3]}]"
    yield f"{nope}=1", nope, "unknown_column"
    yield f"filter_by[NEARLY][{some}]=1", "filter_by[NEARLY]", "unknown_criterion"
    yield f"filter_by[equal][{some}]=1", "filter_by[equal]", "unknown_criterion"
    yield "filter_by=1", "filter_by", "wrong_type"
    yield "filter_by[]=1", "filter_by", "wrong_type"
    yield "filter_by[EQUAL]=1", "filter_by[EQUAL]", "wrong_type"
    yield "order_by=1", "order_by", "wrong_type"
    yield f"order_by[UP][]={some}", "order_by[UP]", "unknown_value"
    yield f"order_by[asc][]={some}", "order_by[asc]", "unknown_value"
    yield "order_by[ASC][]=Nope", "order_by[ASC]", "unknown_column"
    if len(columns) > 3:
        yield "&".join(f"order_by[ASC][]={name}" for name in list(columns)[:4]), "order_by", "too_many"
    criteria = [c for c in CRITERIA if c not in {"LIKE", "NOT_LIKE"}]
    pairs = [(criterion, name) for name, column in columns.items() for criterion in criteria if column.kind == "id"]
    if len(pairs) > 20:
        yield "&".join(f"filter_by[{c}][{n}]=x" for c, n in pairs[:21]), "filter_by", "too_many"
    for number, (name, column) in enumerate(columns.items()):
        yield from part_of(list(wrong_values(name, column)), number)


def wrong_values(name: str, column: Column) -> Iterable[tuple[str, str, str]]:
    """Values that this column refuses."""
    place = f"filter_by[EQUAL][{name}]"
    yield f"{place}[x]=1", place, "wrong_type"
    many = "&".join(f"filter_by[IN][{name}][]={quote(GOOD[column.kind])}" for _ in range(201))
    yield many, f"filter_by[IN][{name}]", "too_many"
    for text, code in WRONG.get(column.kind, {}).items():
        yield f"{place}={quote(text)}", place, code
    if column.kind in {"text", "id"}:
        yield f"filter_by[LIKE][{name}]={'x' * 256}", f"filter_by[LIKE][{name}]", "too_long"
        yield f"filter_by[LIKE][{name}]=x%5C", f"filter_by[LIKE][{name}]", "invalid_format"
        yield f"{place}={'x' * 4097}", place, "too_long"
    else:
        yield f"filter_by[LIKE][{name}]={quote(GOOD[column.kind])}", f"filter_by[LIKE][{name}]", "wrong_type"
    if column.kind == "boolean":
        yield f"filter_by[LESS_THAN][{name}]=1", f"filter_by[LESS_THAN][{name}]", "wrong_type"


GOOD: Final = {
    "text": "Sample",
    "id": ABSENT,
    "integer": "1",
    "number": "1.5",
    "boolean": "1",
    "time": "2026-11-21T18:23:45+02:00",
    "date": "2026-11-21",
}
WRONG: Final[Mapping[str, Mapping[str, str]]] = {
    "integer": {
        CANARY: "wrong_type",
        "1.5": "wrong_type",
        "": "wrong_type",
        "9" * 19: "wrong_type",
        "\u0661": "wrong_type",
    },
    "number": {CANARY: "wrong_type", "": "wrong_type", "NaN": "wrong_type", "1e400": "wrong_type"},
    "boolean": {CANARY: "wrong_type", "2": "wrong_type", "": "wrong_type", "yes": "wrong_type"},
    "time": {text: code for text, code in probes.REFUSED_DATES.items() if text != "2026-11-21T18:23:45 02:00"},
    "date": {CANARY: "invalid_format", "": "invalid_format", "2026-02-30": "invalid_format"},
}
PAGING: Final = [one for one in MISTAKES if one[0].startswith(("pagination", "limit", "cursor"))]
TYPED_PARAMETERS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"pagination": {"page": 1.5}}, "pagination[page]"),
    ({"pagination": {"page": True}}, "pagination[page]"),
    ({"pagination": {"page": {"a": 1}}}, "pagination[page]"),
    ({"pagination": {"include_results": [1]}}, "pagination[include_results]"),
    ({"pagination": 7}, "pagination"),
    ({"pagination": [[]]}, "pagination"),
    ({"limit": 1.5}, "limit"),
    ({"limit": False}, "limit"),
    ({"limit": [5]}, "limit"),
    ({"cursor": 7}, "cursor"),
    ({"cursor": {"a": [CANARY]}}, "cursor"),
    ({"filter_by": 7}, "filter_by"),
    ({"filter_by": {"EQUAL": [1]}}, "filter_by[EQUAL]"),
    ({"filter_by": {"EQUAL": {"": 1}}}, "filter_by[EQUAL][]"),
    ({"filter_by": {"~/": {"a": 1}}}, "filter_by[~/]"),
    ({"order_by": 7}, "order_by"),
    ({"order_by": {"ASC": 7}}, "order_by[ASC]"),
    ({"order_by": {"ASC": [[CANARY]]}}, "order_by[ASC]"),
    ({"order_by": {"ASC": {"a": {"b": 1}}}}, "order_by[ASC]"),
    ({"response_fields": ["nope"]}, "response_fields"),
]
SOME: Final = 6
INJECTIONS: Final = (
    "'", "''", "' or '1'='1", "' or 1=1 --", "'; drop table queue_item; --", "\\'; select pg_sleep(9) --", '" or ""="',
    "1) union select verifier_digest from token --", "$1", "$$x$$", "{0}", "%s", "%(a)s", "x' || (select 1) || '",
    "listed.item_id", "organization_id", "/**/or/**/1=1", "0x27", "\u02bc or 1=1", "\uff55nion", "{{7*7}}", "${7*7}",
)  # fmt: skip
