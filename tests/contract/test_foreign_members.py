"""Ids of another organization in bodies and queries, at whatever depth: refused like ids that nobody has.

The places are read from the types of the members; one whose name says nothing fails until `world.py` or `ALIASES` says
what it names.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast
from urllib.parse import quote

import msgspec
import pytest
from msgspec import inspect

from afterword.kit.web.operations import Route
from tests.contract import probes
from tests.contract.test_tenants import Guard, same
from tests.contract.wire import Reply
from tests.contract.world import ABSENT, ROUTES, Tenant, World, name_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

Place = tuple[str | int, ...]
ALIASES: Final = {
    "actor_id": "user_id",
    "entity_id": "alert_id",  # the first of the entities that can be watched
    "outcome_question_id": "question_id",
    "escalation_user_id": "user_id",
    "recovery_questionnaire_id": "questionnaire_id",
    "subscriber_user_id": "user_id",
}
OF_THE_PRODUCT: Final = {
    "application_type_id": "the product's, the same for everybody",
    "template_id": "the product's, of which a body names one by a literal",
}
NUMBERS: Final = {"AlertRequest", "AlertUpdate", "AlertInstanceUpdate"}  # with a status_id of one organization's own
CONDITIONS: Final = {"conditions", "filter"}
NO_IDS: Final = {
    "channel_id",
    "client_id",
    "external_id",
    "reference_id",
    "status_id",
    "thing_id",
}  # numbers, words of others, any text
TEMPLATES: Final = {"pipeline_id": "funnel", "outcome_question_id": "drivers", "question_ids": "drivers"}
FILTERS: Final[dict[Place, str]] = {
    ("pipeline_id",): "counts what went through it: of a pipeline of others, nothing",
    ("version_id",): "lists the invitations to it: of a version of others, none",
    ("actor_id",): "leaves the entries of this user: of a user of others, none",
}
INVITATIONS: Final = "/report/invitation"  # whose selection filters, as that of reports does
ELSEWHERE: Final = {
    "POST /q/questionnaire/{questionnaire_id}/pipeline": "conditions of pipelines name no question",
    "PATCH /q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}": "conditions of pipelines name no question",
    "POST /q/queue/batch": "its filter is no condition",
    "POST /q/response/tag": "its filter is no condition, but has one over all questionnaires",
    "POST /q/response/export": "its filter is no condition, but has one over all questionnaires",
    "POST /q/questionnaire/validation": "jumps name questions of the definition itself",
}


def ids_within(struct: type[msgspec.Struct]) -> Iterator[Place]:
    """Where a body or a query has ids."""
    for member in members_of(struct):
        yield from ((member.encode_name, *rest) for rest in _within(member.type))
        if struct.__name__ in NUMBERS and member.encode_name == "status_id":
            yield ("status_id",)


def _within(kind: inspect.Type) -> Iterator[Place]:
    if isinstance(kind, inspect.Metadata):
        if (kind.extra or {}).get("kind") == "id":
            yield ()
        yield from _within(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for option in kind.types:
            yield from _within(option)
    elif isinstance(kind, inspect.ListType):
        yield from ((0, *rest) for rest in _within(kind.item_type))
    elif isinstance(kind, inspect.StructType):
        yield from ids_within(kind.cls)


def members_of(struct: type[msgspec.Struct]) -> Sequence[inspect.Field]:
    """The members of a body or a query."""
    return cast("inspect.StructType", inspect.type_info(struct)).fields


def planted(struct: type[msgspec.Struct], place: Place, value: object, tenant: Tenant) -> dict[str, Any]:
    """A body that is right but for the value at this place."""
    name, *rest = place
    member = next(each for each in members_of(struct) if each.encode_name == name)
    fitting = {"questionnaire_ids": [tenant.ids["questionnaire_id"]], "metrics": [{"metric": "nps"}], "last_days": 7}
    base = fitting if struct.__name__ == "ReportSpec" else probes.valid(struct, tenant)
    return {**base, str(name): _grown(member.type, rest, value, tenant)}


def _grown(kind: inspect.Type, rest: Sequence[str | int], value: object, tenant: Tenant) -> object:
    if not rest:
        return value
    if isinstance(kind, inspect.Metadata):
        return _grown(kind.type, rest, value, tenant)
    if isinstance(kind, inspect.UnionType):
        wanted = (inspect.Metadata, inspect.ListType, inspect.StructType)
        return _grown(next(each for each in kind.types if isinstance(each, wanted)), rest, value, tenant)
    if isinstance(kind, inspect.ListType):
        return [_grown(kind.item_type, rest[1:], value, tenant)]
    assert isinstance(kind, inspect.StructType)
    return planted(kind.cls, tuple(rest), value, tenant)


def theirs_at(place: Place, tenant: Tenant) -> object:
    """The id that an organization has for a place."""
    names = [str(step) for step in place if isinstance(step, str)]
    name = names[-1].removesuffix("s") if isinstance(place[-1], int) else names[-1]
    name = ALIASES.get(name, name)
    assert name in tenant.ids, f"{place} has no probe: say in world.py, or in ALIASES, what {name} is"
    return int(tenant.ids[name]) if name == "status_id" else tenant.ids[name]


def absent_at(place: Place) -> object:
    """An id that nobody has."""
    return 32_000 if place[-1] == "status_id" else ABSENT


BODIES: Final = [
    pytest.param(route, place, id=f"{name_of(route)} {'.'.join(map(str, place))}")
    for route in ROUTES
    if route.body is not None
    for place in ids_within(route.body)
    if place[-1] not in OF_THE_PRODUCT
]
QUERIES: Final = [
    pytest.param(route, place, id=f"{name_of(route)} {'.'.join(map(str, place))}")
    for route in ROUTES
    if route.query is not None
    for place in ids_within(route.query)
]
CONDITIONAL: Final = [
    pytest.param(route, member.encode_name, id=f"{name_of(route)} {member.encode_name}")
    for route in ROUTES
    if route.body is not None and name_of(route) not in ELSEWHERE
    for member in members_of(route.body)
    if member.encode_name in CONDITIONS
]


@pytest.mark.parametrize(("route", "place"), BODIES)
async def test_in_bodies(world: World, route: Route, place: Place) -> None:
    assert route.body is not None
    many = route.rows_max is not None
    other: dict[str, str] = {}
    if route.path == "/user/{user_id}":  # nobody may change what they themselves may reach
        made = await world.ask("POST", "/v3.2/user", document={"email": f"{place[0]}@demo.test", "role": "agent"})
        other["user_id"] = made.document["user_id"]
    path = world.ours.path(route, **other)
    async with Guard(world, route) as guard:
        replies: list[Reply] = []
        for value in (theirs_at(place, world.theirs), absent_at(place)):
            document = planted(route.body, place, value, world.ours)
            replies.append(await guard.ask(path, document=[document] if many else document))
        found, absent = replies
        pointer = "".join(f"/{step}" for step in place)
        await guard.findings.expect_field(str(place), found, pointer, ["unknown_id"])
        assert same(absent) == same(found)


@pytest.mark.parametrize(("route", "name"), CONDITIONAL)
async def test_in_conditions(world: World, route: Route, name: str) -> None:
    """A question of theirs is none that a condition could ask about."""
    assert route.body is not None
    async with Guard(world, route) as guard:
        replies: list[Reply] = []
        for value in (world.theirs.ids["question_id"], ABSENT):
            leaf = {"subject": f"question:{value}", "operator": "equal", "value": 5}
            document = {**probes.valid(route.body, world.ours), name: leaf}
            replies.append(await guard.ask(world.ours.path(route), document=document))
        assert [422, 422] == [reply.status for reply in replies], replies
        assert same(replies[1]) == same(replies[0])


@pytest.mark.parametrize(("route", "place"), QUERIES)
async def test_in_queries(world: World, route: Route, place: Place) -> None:
    assert route.query is not None
    needed = probes.valid(route.query, world.ours)
    first = str(next(iter(place)))
    is_template = "template_id" in route.texts and first in TEMPLATES  # those that read this parameter
    template = {"template_id": TEMPLATES[first]} if is_template else {}
    path = world.ours.path(route, **template)
    if template.get("template_id") == "drivers":
        needed["outcome_question_id"] = world.ours.ids["question_id"]
    async with Guard(world, route) as guard:
        replies: list[Reply] = []
        for value in (theirs_at(place, world.theirs), absent_at(place)):
            asked = {**needed, first: [value] if len(place) > 1 else value}
            pairs = [
                f"{name}[]={quote(str(each))}" if isinstance(text, list) else f"{name}={quote(str(each))}"
                for name, text in asked.items()
                for each in (text if isinstance(text, list) else [text])
            ]
            replies.append(await guard.ask(f"{path}?{'&'.join(pairs)}", document=msgspec.UNSET))
        if place == ("actor_id",):
            assert [(200, 1)] * 2 == [(reply.status, len(reply.body.splitlines())) for reply in replies]  # the head
        elif place in FILTERS and route.path == INVITATIONS:
            assert [(200, [])] * 2 == [(reply.status, reply.document["results"]) for reply in replies]
        elif place in FILTERS and is_template:
            assert [200, 200] == [reply.status for reply in replies]
            theirs, absent = ([row["figures"] for row in reply.document["rows"]] for reply in replies)
            assert absent == theirs  # their windows end at the moment of each
        else:
            assert {reply.status for reply in replies} <= {404, 422}, replies
            assert same(replies[1]) == same(replies[0])


@pytest.mark.parametrize("route", [route for route in ROUTES if route.body or route.query], ids=name_of)
async def test_ids_are_known_as_such(world: World, route: Route) -> None:
    """A member that is called an id is of the type Id, by which it is found here; and the services look it up."""
    for struct in (route.body, route.query):
        if struct is None:
            continue
        places = {str(step).removesuffix("s") for place in ids_within(struct) for step in place}
        called = {name.removesuffix("s") for name in _names(struct) if name.endswith(("_id", "_ids"))}
        assert called <= places | NO_IDS | OF_THE_PRODUCT.keys()


def _names(struct: type[msgspec.Struct]) -> Iterator[str]:
    for member in members_of(struct):
        yield member.encode_name
        for kind in (member.type, *(member.type.types if isinstance(member.type, inspect.UnionType) else ())):
            inner = kind.item_type if isinstance(kind, inspect.ListType) else kind
            if isinstance(inner, inspect.StructType):
                yield from _names(inner.cls)


async def test_what_is_excused_exists() -> None:
    assert set(ELSEWHERE) <= {name_of(route) for route in ROUTES}
