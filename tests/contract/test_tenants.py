"""Nothing of another organization can be reached, by any operation; foreign, deleted and absent look the same."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self
from urllib.parse import quote, urlencode

import pytest

from afterword.asking.instances.pages import PAGE_PURPOSE, VIEW_PURPOSE
from afterword.asking.instances.starts import START_PURPOSE
from afterword.core.answers.suspicion import token_of
from afterword.kit.web.operations import Route
from afterword.kit.web.paging import LIMIT_MAX
from afterword.run.app import page_groups
from afterword.sending.messages.composing import SAMPLE_ID
from tests.conftest import settled
from tests.contract import probes
from tests.contract.findings import NOT_FOUND, Findings, columns_of, good_body, next_of, rows_of
from tests.contract.kinds import each_kind_with_ids
from tests.contract.wire import Reply
from tests.contract.world import (
    ABSENT,
    DELETED,
    ROUTES,
    WEBSITE,
    Tenant,
    World,
    has_body,
    has_list,
    makes,
    name_of,
    routes_where,
    save_draft,
    some_with_list,
    with_body,
    with_list,
)
from tests.sizes import one_of, share_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES_MAX: Final = 3  # of a list that is walked through
RECORDED: Final = {"GET /q/responder/{responder_id}/timeline"}  # readings of a person: an entry in the reader's own log
PER_REQUEST: Final = ("request_id", "instance")
KEYS: Final = {
    "attempt_id": ("attempt", "reply"),
    "value_id": ("instance_id", "responder_id", "name"),
    "tag_key": ("instance_id", "tag"),
    "row": ("item_id",),
    "entry_id": ("entry_id", "version_id"),
}  # made of others
ANOTHER_ONE: Final = {"POST /token/{token_id}/rotation"}  # what they answer with is not what the path names
OF_THE_PRODUCT: Final = {"/application/type"}  # lists that are everybody's
FORM: Final = {"content-type": "application/x-www-form-urlencoded", "origin": WEBSITE}


def same(reply: Reply) -> tuple[int, Mapping[str, str], Mapping[str, Any]]:
    """All of a refusal that may not differ between a foreign and an absent thing."""
    headers = {name: value for name, value in reply.headers.items() if name != "x-request-id"}
    document = {name: value for name, value in reply.document.items() if name not in PER_REQUEST}
    return reply.status, headers, document


class Guard:
    """Asks as ours, and sees that theirs is neither shown nor touched."""

    def __init__(self, world: World, route: Route) -> None:
        self.world, self.route = world, route
        self.findings = Findings(world, route)
        self.before: dict[str, str] = {}
        self.entries: list[str] = []

    async def __aenter__(self) -> Self:
        self.before = await self.world.digests_of(self.world.theirs)
        if name_of(self.route) in RECORDED:
            self.entries = (await self.world.rows_of(self.world.theirs))["audit_entry"]
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is None:
            after = await self.world.digests_of(self.world.theirs)
            if name_of(self.route) in RECORDED:
                self.findings.found += self._foreign_entries(
                    (await self.world.rows_of(self.world.theirs))["audit_entry"]
                )
                after["audit_entry"] = self.before["audit_entry"]
            assert self.before == after
            self.findings.report()

    def _foreign_entries(self, after: Iterable[str]) -> list[str]:
        """Entries that their log lost, and those of a reading that is not their own."""
        before, now = set(self.entries), set(after)
        by_themselves = f'"actor_id": "{self.world.theirs.house.user_id}"'
        foreign = [entry for entry in now - before if by_themselves not in entry]
        return [f"their audit log: {entry}" for entry in [*(before - now), *foreign]]

    async def ask(self, target: str, **options: Any) -> Reply:
        """Ask, and look for what is theirs in the answer."""
        options = {**good_body(self.world, self.route), **options}
        reply = await self.world.ask(self.route.method, target, **options)
        self.findings.count += 1
        sent = target + str(options)
        for name, value in leaks_of(self.world.theirs).items():
            if value in reply.body.decode() and value not in sent:
                self.findings.found.append(f"{target}: their {name} is in {reply.body[:300]!r}")
        return reply


def leaks_of(tenant: Tenant) -> dict[str, str]:
    """Values that stand in an answer only if it is this organization's."""
    house = tenant.house
    ids = {name: value for name, value in tenant.ids.items() if name not in {"reference_id", "status_id"}}
    return {**ids, "domain": f'"{house.domain}"', "name": house.domain.title()}


class TestPath:
    @pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "PUT", "DELETE"])
    async def test_foreign_is_as_absent(self, world: World, method: str) -> None:
        """Each id alone, then all of them: the same answer as for an id that never was, but for the request's id."""
        before = await world.digests_of(world.theirs)
        for route in (one for one in ROUTES if one.parameters and one.method == method):
            guard = Guard(world, route)
            alone = [(name,) for name in route.parameters if not makes(route, name)]
            for names in dict.fromkeys([*alone, tuple(route.parameters)]):
                foreign = {name: world.theirs.id_of(route, name) for name in names}
                absent = dict.fromkeys(names, ABSENT)
                found = await guard.ask(world.ours.path(route, **foreign))
                expected = await guard.ask(world.ours.path(route, **absent))
                await guard.findings.expect(f"{name_of(route)} {names}", found, NOT_FOUND)
                assert same(expected) == same(found), (name_of(route), names)
            guard.findings.report()
        assert before == await world.digests_of(world.theirs)

    @routes_where(lambda route: DELETED.intersection(route.parameters))
    async def test_deleted_is_as_absent(self, world: World, route: Route) -> None:
        async with Guard(world, route) as guard:
            for name in DELETED.intersection(route.parameters):
                found = await guard.ask(world.ours.path(route, **{name: world.ours.deleted[name]}))
                await guard.findings.expect(name, found, NOT_FOUND)
                assert same(await guard.ask(world.ours.path(route, **{name: ABSENT}))) == same(found)

    async def test_deleted_ones_are_known(self, world: World) -> None:
        assert DELETED == world.ours.deleted.keys() == world.theirs.deleted.keys()

    @routes_where(lambda route: len(route.parameters) > 1)
    async def test_ours_below_a_parent_of_ours_that_is_not_its_own(self, world: World, route: Route) -> None:
        """The ids of a path must belong together, and not only to the same organization."""
        async with Guard(world, route) as guard:
            for name in route.parameters:
                others = {other: world.theirs.ids[other] for other in route.parameters if other != name}
                found = await guard.ask(world.ours.path(route, **others))
                await guard.findings.expect(f"only {name} is ours", found, NOT_FOUND)

    @each_kind_with_ids
    async def test_tricks(self, world: World, route: Route) -> None:
        """No other spelling of the address, and no header, leads to it."""
        path = world.theirs.path(route)
        ours, theirs = (tenant.id_of(route, route.parameters[0]) for tenant in (world.ours, world.theirs))
        mixed = world.ours.path(route)
        async with Guard(world, route) as guard:
            for target in (
                path.replace("/", "//"), f"{path}/", path.replace("/v3.2", "/v3.0"),
                mixed.replace(ours, f"{ours}%2F..%2F{theirs}"), mixed.replace(ours, f"{ours}/../{theirs}"),
                mixed.replace(ours, f"{ours}/..;/{theirs}"), mixed.replace(ours, f"{ours};/{theirs}"),
                mixed.replace(ours, f"{theirs}%00{ours}"), mixed.replace(ours, f"{theirs}%0A"),
                mixed.replace(ours, f"*,{theirs}"),
                path.replace(theirs, "".join(f"%{ord(letter):02x}" for letter in theirs)),
            ):  # fmt: skip
                reply = await guard.ask(target)
                await guard.findings.expect(
                    target, reply, NOT_FOUND, (404, "unknown_route"), (405, "method_not_allowed")
                )
            reply = await guard.ask(f"{path}?esat-domain=neighbour")
            refused = NOT_FOUND if route.method == "GET" else (422, "invalid")  # there is no such parameter
            await guard.findings.expect("a parameter", reply, refused, (405, "method_not_allowed"))
            for headers in TRICK_HEADERS:
                await guard.findings.expect(str(headers), await guard.ask(path, headers=headers), NOT_FOUND)
            reply = await guard.ask(path, headers={"esat-domain": world.theirs.house.domain})
            await guard.findings.expect("esat-domain", reply, (403, "domain_mismatch"))

    @each_kind_with_ids
    async def test_conditional_requests(self, world: World, route: Route) -> None:
        """No header that asks about a version tells that there is one."""
        async with Guard(world, route) as guard:
            for name in ("If-Match", "If-None-Match"):
                for tag in ("*", '"1"', '"2"'):
                    reply = await guard.ask(world.theirs.path(route), headers={name: tag})
                    await guard.findings.expect(f"{name}: {tag}", reply, NOT_FOUND)


class TestBody:  # the ids that a body names: test_foreign_members.py
    @with_body
    async def test_ids_that_nobody_may_set(self, world: World, route: Route) -> None:
        """Tenant and place of a thing come from the token and the path; a body that names others is not heard."""
        assert route.body is not None
        assert route.answer is not None
        settable = probes.filled(route.body, world.ours)
        document = {
            **probes.valid(route.body, world.ours),
            **{name: value for name, value in world.theirs.ids.items() if name not in settable},
            "previous_item_id": world.theirs.ids["item_id"],
            "questionnaire_instance_id": world.theirs.ids["instance_id"],
            "previous_questionnaire_instance_id": world.theirs.ids["instance_id"],
            "created_by": world.theirs.ids["token_id"],
        }
        await world.ready(route)
        async with Guard(world, route) as guard:
            reply = await guard.ask(world.ours.path(route), document=document)
            if 422 == reply.status and route.body.__struct_config__.forbid_unknown_fields:
                assert {"unknown_member"} == {one["code"] for one in reply.document["errors"]}
                return
            assert reply.status in {200, 201}, reply
            for name in route.answer.__struct_fields__:
                if name_of(route) in ANOTHER_ONE:
                    continue
                if name in world.ours.ids and name not in settable and name in route.parameters:
                    assert world.ours.id_of(route, name) == str(reply.document[name])

    @routes_where(lambda route: has_body(route) and route.method == "POST")
    async def test_idempotency_keys_are_each_ones_own(self, world: World, route: Route) -> None:
        await world.ready(route)
        headers = {"Idempotency-Key": f"shared-{name_of(route)}".replace(" ", "")}
        document = probes.valid(route.body, world.ours) if route.body else {}
        document_there = probes.valid(route.body, world.theirs) if route.body else {}
        theirs = await world.ask(
            "POST", world.theirs.path(route), token=world.theirs.token, document=document_there, headers=headers
        )
        async with Guard(world, route) as guard:
            ours = await guard.ask(world.ours.path(route), document=document, headers=headers)
            assert (route.status, route.status) == (theirs.status, ours.status)
            assert "idempotency-replayed" not in ours.headers
            assert theirs.document != ours.document or route.status == 200  # which makes nothing
            again = await guard.ask(world.ours.path(route), document=document, headers=headers)
            kept = {**ours.document, **dict.fromkeys(route.secret_members)}  # what is shown once is not kept
            assert (kept, "true") == (again.document, again.headers["idempotency-replayed"])
            if route.parameters:
                reply = await guard.ask(world.theirs.path(route), document=document, headers=headers)
                assert reply.code in {"not_found", "idempotency_key_reused"}


class TestLists:
    @routes_where(lambda route: has_list(route) and route.path not in OF_THE_PRODUCT)
    async def test_only_ours(self, world: World, route: Route) -> None:
        """All rows are ours and none of theirs; the counts count ours."""
        await world.ready(route)
        async with Guard(world, route) as guard:
            path = world.ours.path(route)
            ours = await guard.ask(f"{path}?limit=500")
            theirs = await world.ask("GET", world.theirs.path(route) + "?limit=500", token=world.theirs.token)
            assert rows_of(ours)
            assert rows_of(theirs)
            # The product's are everybody's.
            own = [row for row in rows_of(ours) if not row.get("read_only") and not row.get("system")]
            assert own
            assert not {row_id(route, row) for row in own} & {row_id(route, row) for row in rows_of(theirs)}
            if route.shape == "envelope":
                counted = await guard.ask(f"{path}?pagination[max_per_page]=1")
                assert len(await ids_of_all(guard, route, path)) == counted.document["total_results"]

    @with_list
    async def test_filters_do_not_reach_theirs(self, world: World, route: Route) -> None:
        await settled(world.pool)
        async with Guard(world, route) as guard:
            path = world.ours.path(route)
            everything = set(await ids_of_all(guard, route, path))
            for query in share_of(foreign_filters(route, world.theirs), 0.25):
                reply = await guard.ask(f"{path}?limit=500&{query}")
                await guard.findings.expect(query, reply, (200, ""))
                found = {row_id(route, row) for row in rows_of(reply)}
                assert found <= everything, query
                if "[EQUAL]" in query or "[IN]" in query:
                    assert not found, query

    @some_with_list
    async def test_orders_and_pages(self, world: World, route: Route) -> None:
        """Walked through by every column, by pages and by cursors, a list is the same set of rows of ours."""
        await settled(world.pool)
        async with Guard(world, route) as guard:
            path = world.ours.path(route)
            everything = sorted(await ids_of_all(guard, route, path))
            limit = min(LIMIT_MAX, max(2, len(everything) // PAGES_MAX))
            for name in columns_of(route):
                for _, direction in one_of([(name, "ASC"), (name, "DESC")]):
                    target: str | None = f"{path}?limit={limit}&order_by[{direction}][]={name}"
                    found: list[str] = []
                    while target is not None and len(found) <= len(everything):
                        reply = await guard.ask(target)
                        found += [row_id(route, row) for row in rows_of(reply)]
                        target = next_of(reply)
                    assert everything == sorted(found), (name, direction)

    async def test_their_cursor(self, world: World) -> None:
        """A cursor holds a place, not a right: on our list it finds our rows or is refused."""
        asked: list[str] = []
        for route in filter(has_list, ROUTES):
            theirs = await world.ask("GET", f"{world.theirs.path(route)}?limit=1", token=world.theirs.token)
            target = next_of(theirs)
            if target is None:
                continue  # they have one
            asked.append(name_of(route))
            cursor = target.partition("cursor=")[2].partition("&")[0]
            async with Guard(world, route) as guard:
                reply = await guard.ask(f"{world.ours.path(route)}?limit=1&cursor={cursor}")
                await guard.findings.expect("cursor", reply, (200, ""), (422, "invalid"))
        assert len(asked) >= 20, asked


# Files that are the same for everybody, and addresses that tests/asking/links/domains asks by the name of their host.
OF_NOBODY: Final = ("/static/", "/theme/", "/asset/", "/domains/")
PAGES: Final = [
    (page.method, page.path) for pages in page_groups() for page in pages.all if not page.path.startswith(OF_NOBODY)
]
every_page = pytest.mark.parametrize(("method", "path"), PAGES)


def page_of(path: str, tenant: Tenant, **other: str) -> str:
    """The page's address with this organization's keys, or the `other` ones."""
    missing = [name for name in names_in(path) if name not in tenant.ids]
    assert not missing, f"{path} has no probe: say in tests/contract/world.py what {missing} are"
    own = {"instance_id": tenant.ids["link_instance_id"]} if path.startswith("/l/") else {}
    return path.replace(":str", "").format_map({**tenant.ids, **own, **other})


def names_in(path: str) -> list[str]:
    """The parameters of a page's path."""
    return re.findall(r"{(\w+)", path)


def refusals_of(path: str) -> set[int]:
    """Statuses for a POST without the form's token: the sample of a test message thanks everyone who tries it."""
    if SAMPLE_ID in path:
        return {200}
    return {401} if path.startswith(("/inbound/", "/in/")) else {400, 403, 422}


def changed(path: str, before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """The tables that a request changed, without the count of refused calls of a source."""
    counted = {"source"} if path.startswith("/in/") else set[str]()
    return {name: text for name, text in after.items() if text != before[name] and name not in counted}


def request_id_of(reply: Reply) -> bytes:
    """The one thing in which two refusals may differ."""
    return (reply.headers.get("x-request-id") or "-").encode()


class TestPages:
    """The public pages have no login: a link is the key, and it opens one door."""

    @every_page
    async def test_nothing_of_theirs(self, world: World, method: str, path: str) -> None:
        """Our link shows our data; a GET changes nothing at all, and a POST without the form's token neither."""
        await save_draft(world.wire, world.ours)  # other tests have changed it
        before = await world.digests_of(world.ours, world.theirs)
        reply = await world.ask(method, page_of(path, world.ours), token=None, headers=FORM, body=b"go=send&page=1")
        by_get = {405} if path.startswith("/inbound/") else {200, 302}  # few providers report so
        assert reply.status in (by_get if method == "GET" else refusals_of(path)), reply
        shown = reply.body.decode(errors="replace") + str(reply.headers)  # some are pictures
        assert not [name for name, value in leaks_of(world.theirs).items() if value in shown]
        assert {} == changed(path, before, await world.digests_of(world.ours, world.theirs))

    @every_page
    async def test_absent_and_deleted(self, world: World, method: str, path: str) -> None:
        """Keys that never existed, deleted ones and malformed ones look the same."""
        for name in names_in(path):
            if name == "reference_id":
                continue  # a client's own word: a new one starts anew
            keys = [
                ABSENT,
                world.ours.deleted.get(name, ABSENT),
                "x",
                "%00",
                "0" * 5000,
                world.theirs.deleted.get(name, "-"),
            ]
            found = [
                await world.ask(method, page_of(path, world.ours, **{name: key}), token=None, headers=FORM, body=b"")
                for key in keys
            ]
            assert {404 if method == "GET" or not path.endswith(("/view", "/choice", "/review")) else 403} == {
                reply.status for reply in found
            }
            assert 1 == len({reply.body.replace(request_id_of(reply), b"") for reply in found})

    @pytest.mark.parametrize(("method", "path"), [page for page in PAGES if page[0] != "GET"])
    async def test_their_key_does_not_fit_our_door(self, world: World, method: str, path: str) -> None:
        """A form's token is good for the one thing that it was given out for."""
        await save_draft(world.wire, world.ours)
        before = await world.digests_of(world.ours, world.theirs)
        theirs = world.theirs.ids
        subjects = [
            (PAGE_PURPOSE, f"{theirs['instance_id']}/1"), (VIEW_PURPOSE, theirs["instance_id"]),
            (VIEW_PURPOSE, world.ours.ids["instance_id"] + "/1"), ("unsubscribe", theirs["unsubscribe_id"]),
            (START_PURPOSE, f"{theirs['questionnaire_id']}//{ABSENT}"), ("", ""),
        ]  # fmt: skip
        for purpose, subject in subjects:
            token = token_of(world.site.secret, purpose, subject)
            fields = {"token": token, "page": "1", "start": ABSENT, "go": "send", theirs["question_id"]: "5"}
            reply = await world.ask(
                method, page_of(path, world.ours), token=None, headers=FORM, body=urlencode(fields).encode()
            )
            assert reply.status in refusals_of(path), (purpose, reply)
        assert {} == changed(path, before, await world.digests_of(world.ours, world.theirs))

    async def test_our_form_takes_our_questions_alone(self, world: World) -> None:
        """With the right token: a field that is named after a question of theirs is nobody's."""
        before = await world.digests_of(world.theirs)
        instance_id, question_id = world.ours.ids["instance_id"], world.theirs.ids["question_id"]
        token = token_of(world.site.secret, PAGE_PURPOSE, f"{instance_id}/1")
        names = (question_id, f"q_{question_id}", f"q-{question_id}", f"answer[{question_id}]")
        fields = {"token": token, "page": "1", "go": "next", **dict.fromkeys(names, "5")}
        reply = await world.ask("POST", f"/a/{instance_id}", token=None, headers=FORM, body=urlencode(fields).encode())
        assert reply.status in {303, 422}, reply
        rows = await world.rows_of(world.ours)
        assert not [row for row in rows["answer"] if question_id in row]
        assert before == await world.digests_of(world.theirs)

    async def test_one_reference_in_two_organizations(self, world: World) -> None:
        """The same reference below two questionnaires is two instances."""
        found: list[str] = []
        for tenant in (world.ours, world.theirs):
            path = f"/v3.2/q/questionnaire/{tenant.ids['questionnaire_id']}/instance"
            reply = await world.ask("POST", path, token=tenant.token, document={"reference_id": "order-1"})
            assert 201 == reply.status
            found.append(reply.document["instance_id"])
        assert 2 == len(set(found))


def row_id(route: Route, row: Mapping[str, Any]) -> str:
    """The member by which rows of the list are told apart."""
    assert route.listing is not None
    names = [name for name in KEYS.get(route.listing.id, (route.listing.id,)) if name in row]
    assert names, f"{name_of(route)} has no probe: its rows do not show {route.listing.id}"
    return " ".join(str(row[name]) for name in names)


async def ids_of_all(guard: Guard, route: Route, path: str) -> list[str]:
    """The ids of every row of a list, however long it is."""
    found: list[str] = []
    target: str | None = f"{path}?limit=500"
    while target is not None:
        reply = await guard.ask(target)
        found += [row_id(route, row) for row in rows_of(reply)]
        target = next_of(reply)
    return found


def foreign_filters(route: Route, theirs: Tenant) -> list[str]:
    """Filters of every column that would find their rows, were they there."""
    found: list[str] = []
    for name, column in columns_of(route).items():
        if column.kind == "id" and column.name in theirs.ids and column.name != "version_id":
            value = theirs.ids[column.name]
            found += [f"filter_by[EQUAL][{name}]={value}", f"filter_by[IN][{name}][]={value}"]
            found += [f"filter_by[NOT_EQUAL][{name}]={ABSENT}", f"filter_by[LIKE][{name}]=%25"]
        elif column.kind == "text":
            found += [f"filter_by[LIKE][{name}]=%25", f"filter_by[NOT_LIKE][{name}]={quote(ABSENT)}"]
        elif column.kind == "time":
            found += [f"filter_by[GREATER_EQUAL][{name}]=1970-01-01T00:00:00Z"]
        found += [f"filter_by[NULL][{name}]=null", f"filter_by[NOT_NULL][{name}]=null"]
    return found


TRICK_HEADERS: Final[tuple[dict[str, str], ...]] = (
    {"X-Organization": "neighbour"}, {"X-Forwarded-Host": "neighbour.example"}, {"X-Original-URL": "/v3.2/q/instance"},
    {"X-HTTP-Method-Override": "GET"}, {"Host": "neighbour.example"}, {"Cookie": "organization=neighbour"},
)  # fmt: skip
