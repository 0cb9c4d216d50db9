"""Wrong requests to every operation, made from the route table: each gets its documented refusal, none a 500."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest

from afterword import errors
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.kit.web import runner
from afterword.kit.web.operations import DEPTH_MAX, Route
from afterword.tenants.organizations import service as accounts
from tests import machine
from tests.contract import probes
from tests.contract.findings import NOT_FOUND, UNAUTHENTICATED, UNKNOWN_ROUTE, Findings, good_body
from tests.contract.hostile import HOSTILE, HOSTILE_LISTS, JSON
from tests.contract.kinds import each_kind, each_kind_where, each_kind_with_ids
from tests.contract.wire import CANARY, DOCUMENTED, FIELD_CODES, problem_faults
from tests.contract.world import (
    ABSENT,
    ROUTES,
    World,
    every_path,
    makes,
    name_of,
    routes_where,
    some_with_body,
    with_body,
)
from tests.dates import YEAR, last_sunday
from tests.sizes import FULL

pytestmark = pytest.mark.asyncio(loop_scope="session")

METHODS: Final = ("GET", "POST", "PATCH", "PUT", "DELETE")
UNKNOWN_TOKENS: Final = (
    "",
    CANARY,
    "afw_0000000000000000_00000000000000000000000000000000000000",
    "afw_0000000000000000_000000000000000000000000000000003rO54B",
    "afw_" + "x" * 5000,
    "\xe9\xff",
    "null",
)
NONSENSE_HEADERS: Final = (
    "Prefer", "If-None-Match", "X-Request-Id", "X-Forwarded-Host", "Origin", "Range", "Expect", "Cookie",
)  # fmt: skip
CPU_SECONDS_MAX: Final = 0.05
PARTS: Final = 1 if FULL else 4  # of the hostile bodies, each for another route
HOSTILE_MIN: Final = 80


def with_members(
    members_of: Callable[[type[msgspec.Struct]], list[str]], *, is_wanted: Callable[[Route], object] = lambda _: True
) -> pytest.MarkDecorator:
    """A case for each operation whose body has such members."""
    return routes_where(
        lambda route: route.body is not None and route.rows_max is None and members_of(route.body) and is_wanted(route)
    )


async def test_there_are_routes() -> None:
    """The table that all probes are made from is whole: nothing is declared and not mounted."""
    assert len(ROUTES) == len({name_of(route) for route in ROUTES})
    assert {"Queue", "Queue - Simplified", "Pipelines", "Questionnaires", "Questions"} <= {r.tag for r in ROUTES}
    assert HOSTILE_MIN <= len({hostile.label for hostile in HOSTILE})
    assert 60 <= len(probes.REFUSED_DATES)


class TestCaller:
    @each_kind
    async def test_nobody_and_strangers(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        ask = lambda **options: world.ask(route.method, path, token=None, **options)  # noqa: E731
        await findings.expect("anonymous", await ask(), (401, "unauthenticated"))
        await findings.expect("another scheme", await ask(headers={"Authorization": "Basic YTpi"}), UNAUTHENTICATED)
        for text in UNKNOWN_TOKENS:
            code = "invalid_token" if text else "unauthenticated"
            reply = await ask(headers={"Authorization": f"Bearer {text}"})
            await findings.expect(f"Bearer {text[:20]}", reply, (401, code))
            await findings.expect(f"esat-auth {text[:20]}", await ask(headers={"esat-auth": text}), (401, code))
            assert "www-authenticate" in reply.headers
        cut = world.ours.token[:-1]
        await findings.expect("a cut token", await ask(headers={"esat-auth": cut}), (401, "invalid_token"))
        swapped = world.ours.token.swapcase()
        await findings.expect("another case", await ask(headers={"esat-auth": swapped}), (401, "invalid_token"))
        both = {"Authorization": f"Bearer {world.ours.token}", "esat-auth": world.theirs.token}
        await findings.expect("two tokens", await ask(headers=both), (401, "ambiguous_credentials"))
        findings.report()

    @each_kind
    async def test_token_in_the_address(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        for name in ("access_token", "token", "Token", "%74oken"):
            target = f"{path}?{name}={world.ours.token}"
            await findings.expect(name, await world.ask(route.method, target, token=None), UNAUTHENTICATED)
            await findings.expect(f"{name} besides", await world.ask(route.method, target), UNAUTHENTICATED)
        reply = await world.ask(route.method, f"{path}?esat-auth={world.ours.token}", token=None)
        await findings.expect("esat-auth", reply, UNAUTHENTICATED)
        reply = await world.ask(route.method, path, token=None, headers={"Cookie": f"esat-auth={world.ours.token}"})
        await findings.expect("a cookie", reply, UNAUTHENTICATED)
        findings.report()

    @each_kind
    async def test_domain_of_another(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        for domain in (world.theirs.house.domain, CANARY, "demo.example", "dem", "\xe9"):
            reply = await world.ask(route.method, path, headers={"esat-domain": domain})
            await findings.expect(domain, reply, (403, "domain_mismatch"))
        findings.report()

    async def test_dead_tokens(self, world: World) -> None:
        for code, token in (await world.dead_tokens()).items():
            for route in ROUTES:
                findings = Findings(world, route)
                reply = await world.ask(route.method, world.ours.path(route), token=token)
                await findings.expect(code, reply, (401, code))
                findings.report()

    async def test_order_of_checks(self, world: World) -> None:
        """A request with everything wrong is told the first thing alone."""
        token = await world.token_for(["Plan.Create"])  # plans are made on the command line: no route wants it
        for route in ROUTES:
            findings, path = Findings(world, route), f"{world.ours.path(route)}?a[=%zz"
            everything: dict[str, Any] = {"headers": {"content-type": "text/plain"}, "body": b"\xff"}
            reply = await world.ask(route.method, path, token=None, **everything)
            await findings.expect("no token", reply, UNAUTHENTICATED)
            everything["headers"]["esat-domain"] = "other"
            reply = await world.ask(route.method, path, token=token, **everything)
            await findings.expect("domain", reply, (403, "domain_mismatch"))
            del everything["headers"]["esat-domain"]
            reply = await world.ask(route.method, path, token=token, **everything)
            await findings.expect("scope", reply, (403, "insufficient_scope"))
            reply = await world.ask(route.method, path, **everything)
            await findings.expect("edge", reply, (400, "malformed_query"))
            findings.report()


class TestPath:
    @each_kind_with_ids
    async def test_unknown_and_misshapen_ids(self, world: World, route: Route) -> None:
        findings = Findings(world, route)
        options = good_body(world, route)
        misshapen = (
            "0", "-", ABSENT[:-1], ABSENT + "z", "0" * 21 + "-", "%C3%A9" * 11, "0" * 21 + "%0A", "%00" * 22, "null",
            "0" * 5000, "%F0%9F%98%80" * 22, "%FF" * 22, "{id}", "..%00", "'%20or%201=1--", CANARY,
        )  # fmt: skip
        for name in route.parameters:
            if makes(route, name):
                continue
            for text in (ABSENT, *misshapen):
                reply = await world.ask(route.method, world.ours.path(route, **{name: text}), **options)
                # An address that ends in a line break leads nowhere.
                expected = [NOT_FOUND, (404, "unknown_route")] if text.endswith("%0A") else [NOT_FOUND]
                await findings.expect(f"{name} {text[:30]}", reply, *expected)
        findings.report()

    @each_kind
    async def test_tricks(self, world: World, route: Route) -> None:
        findings, path = Findings(world), world.ours.path(route)
        first, _, last = path.rpartition("/")
        tricks = [
            f"{first}%2F{last}", f"{first}%2f{last}", path.replace("/v3.2/", "/v3.2%2F"), f"{path}%2F",
            f"{first}%5C{last}", f"{first}\\{last}", f"{path};a=b", f"{first}/..;/{last}", f"{first}/./{last}",
            f"{first}/x/../{last}", f"{first}/x/%2e%2e/{last}", f"{first}/..%2f{last}", f"{first}%252F{last}",
            f"{first}/%ff/{last}", f"{first}/%/{last}", f"{first}/%20/{last}", f"{path}%00",
            path.replace("/v3.2/", "/v3.2/%00"), path.replace("/v3.2", "/V3.2"), path.replace("/v3.2", "/v3.3"),
            path.replace("/v3.2", ""), f"{path}/{CANARY}",
        ]  # fmt: skip
        # A route that makes the resource of its path takes any text there, and first of all lacks a body.
        takes_any = any(makes(route, name) for name in route.parameters)
        # A template's name is any text, too, and its required parameter is looked at before it.
        unmade = [(422, "invalid")] if takes_any or route.path.startswith("/report/template") else []
        for target in tricks:
            reply = await world.ask(route.method, target)
            await findings.expect(target, reply, UNKNOWN_ROUTE, NOT_FOUND, (405, "method_not_allowed"), *unmade)
        findings.report()

    @each_kind
    async def test_one_spelling_for_each_address(self, world: World, route: Route) -> None:
        path = world.ours.path(route)
        for target in (
            path.replace("/", "//"), f"{path}/", path.replace("/v3.2/", "/v3.2///"), path.replace("/v3.2", "/v3.0"),
            path.replace("/v3.2", "/v3.1/"),
        ):  # fmt: skip
            reply = await world.ask(route.method, target, token=None)
            assert (401, "unauthenticated") == (reply.status, reply.code), target

    @each_kind
    async def test_long_address(self, world: World, route: Route) -> None:
        findings, path = Findings(world, route), world.ours.path(route)
        reply = await world.ask(route.method, f"{path}?a={'x' * 16_384}")
        await findings.expect("query", reply, (414, "target_too_long"))
        if route.parameters:
            target = world.ours.path(route, **{route.parameters[0]: "x" * 16_384})
            await findings.expect("path", await world.ask(route.method, target), (414, "target_too_long"))
        findings.report()

    @every_path
    async def test_wrong_methods(self, world: World, path: str) -> None:
        findings = Findings(world)
        mine = [route for route in ROUTES if route.path == path]
        there = {route.method for route in mine}
        target = world.ours.path(mine[0])
        allowed = there | {"OPTIONS"} | ({"HEAD"} if "GET" in there else set())
        wrong = [
            method for method in (*METHODS, "HEAD", "TRACE", "CONNECT", "PROPFIND", "get", "X") if method not in allowed
        ]
        for method in wrong:
            reply = await world.ask(method, target)
            assert allowed == set(reply.headers.get("allow", "").split(", ")), (method, reply)
            if method != "HEAD":
                await findings.expect(method, reply, (405, "method_not_allowed"))
        reply = await world.ask("OPTIONS", target, token=None)
        assert (204, b"", allowed) == (reply.status, reply.body, set(reply.headers["allow"].split(", ")))
        for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
            reply = await world.ask("OPTIONS", target, headers={header: "DELETE"})
            assert 204 == reply.status
        findings.report()


WITHOUT_VERSION: Final = {"/q/queue/clock"}


class TestHeaders:
    @each_kind
    async def test_accept(self, world: World, route: Route) -> None:
        """An answer without a body needs no admission."""
        findings = Findings(world, route)
        path = world.ours.path(route, **dict.fromkeys(route.parameters, ABSENT))
        absent = NOT_FOUND if route.parameters else (route.status, "")
        expected = (406, "not_acceptable") if route.answer or route.media_types else absent
        for accept in (
            "text/html",
            "application/rtf, model/*",
            "application/json;q=0",
            "*/*;q=0",
            "audio/*",
            "application/problem+json",
            CANARY,
        ):
            if accept in {one.partition(";")[0] for one in route.media_types}:
                continue
            await findings.expect(accept, await world.ask(route.method, path, headers={"Accept": accept}), expected)
        findings.report()

    @each_kind_where(lambda route: route.method == "POST")
    async def test_idempotency_key(self, world: World, route: Route) -> None:
        findings = Findings(world, route)
        path = world.ours.path(route, **dict.fromkeys(route.parameters, ABSENT))
        options = good_body(world, route)
        for key in ("", " ", '""', "a b", "x" * 256, "\xe9", "a\tb", f"{CANARY}\x7f"):
            reply = await world.ask(route.method, path, headers={"Idempotency-Key": key}, **options)
            await findings.expect(key, reply, (400, "malformed_header"))
            assert [("Idempotency-Key", "malformed_header")] == reply.wrong
        findings.report()

    @routes_where(lambda route: route.method in {"PATCH", "PUT", "DELETE"} and route.path not in WITHOUT_VERSION)
    async def test_if_match(self, world: World, route: Route) -> None:
        findings = Findings(world, route)
        options: dict[str, Any] = {"document": {"locale": "de"}} if route.method == "PATCH" else good_body(world, route)
        first = '"0"' if route.parameters else '"00"'  # settings that nobody has changed have the version 0
        for tag in (first, 'W/"999999999"', f'{first}, "999999999"', f'"{CANARY}"', '"\xe9"', '""', "1", "x" * 5000):
            reply = await world.ask(route.method, world.ours.path(route), headers={"If-Match": tag}, **options)
            await findings.expect(tag[:20], reply, (412, "precondition_failed"))
        reply = await world.ask(route.method, world.ours.path(route), headers={"If-None-Match": "*"}, **options)
        await findings.expect("not one that is there", reply, (412, "precondition_failed"))
        findings.report()

    @each_kind
    async def test_nonsense(self, world: World, route: Route) -> None:
        """Headers that nothing depends on are ignored, whatever they hold."""
        findings = Findings(world, route)
        path = world.ours.path(route, **dict.fromkeys(route.parameters, ABSENT))
        expected = [NOT_FOUND] if route.parameters else [(route.status, "")]
        for name in NONSENSE_HEADERS:
            for value in ("\xff\xfe", "x" * 5000, "=;,\"'", "handling", f"{CANARY}, a=b; c"):
                options = good_body(world, route)  # anew: some things are there once
                if not route.parameters:
                    await world.ready(route)
                reply = await world.ask(route.method, path, headers={name: value}, **options)
                await findings.expect(f"{name}: {value[:10]}", reply, *expected)
        findings.report()


class TestBody:
    @each_kind
    async def test_hostile_bodies(self, world: World, route: Route, monkeypatch: pytest.MonkeyPatch) -> None:
        """Refused quickly, and before anything that could ask the database."""
        findings, path = Findings(world, route), world.ours.path(route)
        slow: list[str] = []
        monkeypatch.setattr(runner.Operation, "_check_fields", reached)
        all_of_them = HOSTILE if route.rows_max is None else HOSTILE_LISTS
        for hostile in all_of_them[ROUTES.index(route) % PARTS :: PARTS]:
            if hostile.headers.get("content-type", JSON).partition(";")[0].lower() in route.uploads:
                continue  # which it reads: tests/kit/web/test_uploads.py
            if hostile.expected == (400, "too_deep") and hostile.depth in range(DEPTH_MAX, route.depth_max + 1):
                continue  # definitions may be that deep
            headers = {"content-type": JSON, **hostile.headers}
            before = time.process_time()
            reply = await world.ask(route.method, path, headers=headers, body=hostile.body)
            spent = time.process_time() - before
            no_json = [(415, "unsupported_media_type")] if route.uploads else []
            await findings.expect(hostile.label, reply, hostile.expected, *no_json)
            if machine.is_over(spent, limit=CPU_SECONDS_MAX):
                slow.append(f"{hostile.label}: {spent:.3f} s")
        findings.report()
        assert len(slow) <= 1, slow  # a collection of garbage falls on one of them

    @some_with_body
    async def test_wrong_members(self, world: World, route: Route) -> None:
        assert route.body is not None
        findings, path = Findings(world, route), world.ours.path(route)
        is_patch = route.method == "PATCH"
        for probe in probes.wrong_bodies(route.body, world.ours, is_patch=is_patch):
            reply = await world.ask(route.method, path, document=probe.document)
            await findings.expect_field(probe.label, reply, probe.pointer, probe.codes)
        assert findings.count > 10
        findings.report()

    @with_body
    async def test_all_wrong_members_at_once(self, world: World, route: Route) -> None:
        assert route.body is not None
        members = msgspec.json.decode(msgspec.json.encode(probes.filled(route.body, world.ours)))
        wrong = {name: [[CANARY]] if not isinstance(value, list) else CANARY for name, value in members.items()}
        reply = await world.ask(route.method, world.ours.path(route), document=wrong)
        assert (422, {f"/{name}" for name in members}) == (reply.status, {place for place, _ in reply.wrong})
        assert [] == problem_faults(reply)

    @with_members(probes.required_of)
    async def test_nothing_sent(self, world: World, route: Route) -> None:
        assert route.body is not None
        findings, path = Findings(world, route), world.ours.path(route)
        for body in (None, b"", b"{}", b"[]", b"\xef\xbb\xbf{}"):
            reply = await world.ask(route.method, path, headers={"content-type": JSON}, body=body)
            await findings.expect(str(body), reply, (422, "invalid"))
            assert [(f"/{name}", "required") for name in probes.required_of(route.body)] == reply.wrong
        findings.report()

    @with_body
    async def test_strict_names_what_is_not_a_member(self, world: World, route: Route) -> None:
        assert route.body is not None
        assert route.answer is not None
        findings, path = Findings(world, route), world.ours.path(route)
        settable = set(probes.filled(route.body, world.ours))
        shown = next(name for name in route.answer.__struct_fields__ if name not in settable)
        for name, code in {"nonsense": "unknown_member", shown: "read_only", "__proto__": "unknown_member"}.items():
            document = {**probes.valid(route.body, world.ours), name: CANARY}
            reply = await world.ask(route.method, path, document=document, headers={"Prefer": "handling=strict"})
            await findings.expect_field(name, reply, f"/{name}", [code])
        if "metadata" in settable:
            groups = ("questionnaire", "responder") if route.method == "POST" else ("questionnaire",)
            named: dict[str, Any] = {f"/{group}": {group: {"undeclared": CANARY}} for group in groups}
            if route.path.startswith("/q/responder") or "/link" in route.path:  # of one kind alone
                named = {"": {"undeclared": CANARY}}
            for place, metadata in named.items():
                document = {**probes.valid(route.body, world.ours), "metadata": metadata}
                reply = await world.ask(route.method, path, document=document, headers={"Prefer": "handling=strict"})
                await findings.expect_field(place, reply, f"/metadata{place}/undeclared", ["unknown_metadata"])
        findings.report()

    @with_members(probes.ids_of)
    async def test_unknown_ids(self, world: World, route: Route) -> None:
        assert route.body is not None
        findings, path = Findings(world, route), world.ours.path(route)
        for name in probes.ids_of(route.body):
            document = {**probes.valid(route.body, world.ours), name: ABSENT}
            reply = await world.ask(route.method, path, document=document)
            await findings.expect_field(name, reply, f"/{name}", ["unknown_id"])
        findings.report()


class TestDates:
    @with_members(probes.moments_of, is_wanted=lambda route: route.parameters)
    async def test_accepted(self, world: World, route: Route) -> None:
        """Same instant, same offset; without one the organization's zone. Sent where nothing is, so nothing is made."""
        assert route.body is not None
        path = world.ours.path(route, **dict.fromkeys(route.parameters, ABSENT))
        for name in probes.moments_of(route.body):
            for text in ACCEPTED_DATES:
                document = {**probes.valid(route.body, world.ours), name: text}
                reply = await world.ask(route.method, path, document=document)
                assert (404, "not_found") == (reply.status, reply.code), (name, text, reply.body)

    async def test_come_back_as_sent(self, world: World) -> None:
        base = f"/v3.2/q/questionnaire/{world.ours.ids['questionnaire_id']}/pipeline/{world.ours.ids['pipeline_id']}"
        for text, expected in ACCEPTED_DATES.items():
            document = {"responder_channel_identifier": "a@example.com", "send_time": text}
            reply = await world.ask("POST", f"{base}/queue/item", document=document)
            assert (201, expected) == (reply.status, reply.document.get("send_time")), text


class TestTokens:
    @pytest.mark.parametrize(
        "scope",
        [
            "Queue",
            "Queue.*",
            "*",
            "",
            "queue.create",
            "Queue.Create ",
            "Queue.Create2",
            "Queue.Create Queue.Read",
            "Nope.Read",
        ],
    )
    async def test_unknown_scope(self, world: World, scope: str) -> None:
        async with db.transaction(world.pool) as database:
            with pytest.raises(errors.Invalid) as refused:
                await accounts.create_token(
                    database,
                    organization_id=world.ours.house.organization_id,
                    title="Probe",
                    scopes=["Queue.Read", scope],
                    kind="organization",
                    user_id=None,
                    now=database.clock.now(),
                )
        assert ["unknown_scope"] == [error.code for error in refused.value.errors]

    async def test_scope_that_the_maker_does_not_hold(self, world: World) -> None:
        maker = replace(world.ours.house.caller, scopes=frozenset({"Queue.Read"}))
        for scope in sorted(SCOPES - {"Queue.Read"}):
            with pytest.raises(errors.Invalid):
                await world.token_for([scope], maker=maker)


async def reached(*_: object) -> None:
    """In place of whatever comes behind the edge."""
    raise AssertionError("it passed the edge")


async def test_every_code_has_its_page(world: World) -> None:
    """The address in `type` has a page."""
    of_all = frozenset[str]().union(*(codes for status, codes in DOCUMENTED.items() if status not in {409, 410}))
    of_routes = {code for route in ROUTES for code in route.refusals} - FIELD_CODES
    for code in of_all | of_routes:
        reply = await world.ask("GET", f"/problems/{code}", token=None)
        assert 200 == reply.status, code


ACCEPTED_DATES: Final = {
    f"{YEAR}-01-15T10:30:00+02:00": f"{YEAR}-01-15T10:30:00+02:00",
    f"{YEAR}-01-15t10:30:00z": f"{YEAR}-01-15T10:30:00+00:00",
    f"{YEAR}-01-15T10:30Z": f"{YEAR}-01-15T10:30:00+00:00",
    f"{YEAR}-01-15 10:30": f"{YEAR}-01-15T10:30:00+02:00",  # local in Athens
    f"{YEAR}-07-15 10:30:59": f"{YEAR}-07-15T10:30:59+03:00",
    f"{YEAR}-07-15T10:30:59.999999999": f"{YEAR}-07-15T10:30:59+03:00",
    f"{YEAR}-07-15T10:30:59.1-0330": f"{YEAR}-07-15T10:30:59-03:30",
    f"{YEAR}-01-15T00:00:00+14:00": f"{YEAR}-01-15T00:00:00+14:00",
    f"{YEAR}-01-15T00:00:00-14:00": f"{YEAR}-01-15T00:00:00-14:00",
    f"{YEAR}-01-15T00:00:00-00:00": f"{YEAR}-01-15T00:00:00+00:00",
    f"{last_sunday(3)} 03:30": f"{last_sunday(3)}T04:00:00+03:00",  # in the gap: the first instant after it
    f"{last_sunday(10)} 03:30": f"{last_sunday(10)}T03:30:00+03:00",  # in the fold: the first of the two
    "2028-02-29T23:59:59Z": "2028-02-29T23:59:59+00:00",
    "1970-01-01T00:00:00Z": "1970-01-01T00:00:00+00:00",
    "1970-01-01T14:00:00+14:00": "1970-01-01T14:00:00+14:00",
    "1970-01-01 02:00": "1970-01-01T02:00:00+02:00",
}
