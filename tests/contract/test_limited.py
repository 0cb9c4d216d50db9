"""A caller who sees one branch alone: each route and screen is closed, shows that branch, or shows no data."""

import csv
import html
import re
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

import httpx2
import pytest
import pytest_asyncio

from afterword.console.screens import HOME, Screen
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.kit.web.operations import Route
from afterword.run import console
from afterword.tenants.organizations import service as accounts
from tests.contract.findings import good_body
from tests.contract.test_screens import FORM, LACKING, NAMES, ids_of
from tests.contract.wire import Reply
from tests.contract.world import ROUTES, World, name_of
from tests.tenants.logins.conftest import Office, browser_of, log_in

HERE, ELSEWHERE = "Harbour Street", "Station"  # ours has all its data in the first one
IN_BRANCH: Final = (
    """update questionnaire_instance set metadata = jsonb_set(metadata, '{store_id}', to_jsonb($2::text))
       where organization_id = $1""",
    """update queue_item set metadata = jsonb_set(metadata, '{questionnaire,store_id}', to_jsonb($2::text))
       where organization_id = $1""",
)
# Ids of the data of people; other ids are of settings.
DATA: Final = (
    "instance_id",
    "responder_id",
    "item_id",
    "alert_instance_id",
    "comment_id",
    "file_id",
    "code",
    "tag",
    "export_id",
    "view_id",
)
NOTHING: Final = frozenset({404, 410, 422})
SCREENS: Final = [one for one in console.screens() if not one.is_open and one.path not in {HOME, "/console/logout"}]
OF_ALL: Final = [one.path for one in SCREENS if "{export_id}" in one.path]  # the world's export has all branches
ASKING: Final = "/console/invitations"  # nothing without a question in the address
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True)
class Branches:
    """Tokens and browsers of two people with all rights, each limited to one branch."""

    world: World
    tokens: dict[str, str]
    browsers: dict[str, httpx2.AsyncClient]

    async def ask(self, route: Route, branch: str) -> Reply:
        path = self.world.ours.path(route)
        return await self.world.ask(route.method, path, token=self.tokens[branch], **good_body(self.world, route))

    def leaks(self, text: str, sent: str) -> list[str]:
        """Names of what it shows of the data of the first branch, and was not in the request."""
        ids = {name: self.world.ours.ids[name] for name in DATA}
        return [name for name, value in ids.items() if value in text and value not in sent]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def branches(world: World) -> AsyncGenerator[Branches]:
    house, tokens = world.ours.house, dict[str, str]()
    async with db.transaction(world.pool) as database:
        now = database.clock.now()
        for statement in IN_BRANCH:
            await database.execute(statement, house.organization_id, HERE)
        for branch in (HERE, ELSEWHERE):
            _, tokens[branch] = await accounts.create_token(
                database,
                organization_id=house.organization_id,
                title=branch,
                scopes=SCOPES,
                kind="organization",
                user_id=None,
                only_where="store_id",
                only_values=[branch],
                now=now,
            )
    office = Office(world.pool, house.organization_id, house.application_id, "")
    async with browser_of(world.pool) as here, browser_of(world.pool) as elsewhere:
        browsers = {HERE: here, ELSEWHERE: elsewhere}
        for branch, browser in browsers.items():
            email = f"{uuid.uuid4().hex}@demo.example"  # the module may begin twice in one process
            user_id = await office.add_user(email, role="admin")
            async with db.transaction(world.pool) as database:
                await database.execute(
                    "update organization_user set only_where = 'store_id', only_values = $2 where user_id = $1",
                    *(user_id, [branch]),
                )
            await log_in(browser, email=email)
        yield Branches(world, tokens, browsers)


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
async def test_route(branches: Branches, route: Route) -> None:
    await branches.world.ready(route)
    is_of_data = bool(set(DATA).intersection(route.parameters))
    is_writing = route.for_limited == "part" and route.method != "GET" and is_of_data
    before = await branches.world.digests_of(branches.world.ours) if is_writing else {}
    reply = await branches.ask(route, ELSEWHERE)
    sent = branches.world.ours.path(route) + str(good_body(branches.world, route))
    assert [] == branches.leaks(reply.body.decode(), sent)
    if route.for_limited == "refused":
        assert (403, "forbidden") == (reply.status, reply.code)
        assert ELSEWHERE in reply.document["detail"]
    elif route.for_limited == "free":
        assert 200 == reply.status
    elif is_of_data:
        assert 404 == reply.status
    if is_writing:
        assert before == await branches.world.digests_of(branches.world.ours)


@pytest.mark.parametrize("screen", SCREENS, ids=lambda one: f"{one.method} {one.path}")
async def test_screen(branches: Branches, screen: Screen) -> None:
    path = screen.path.format_map({**await ids_of(branches.world), "passkey_id": "none", "session_id": "none"})
    reply = await branches.browsers[ELSEWHERE].request(
        screen.method, path, data=FORM if screen.method == "POST" else None
    )
    assert [] == branches.leaks(reply.text, path)
    if screen.for_limited == "refused":
        assert 403 == reply.status_code
    elif screen.for_limited == "part" and set(DATA).intersection(NAMES.findall(screen.path)):
        assert 404 == reply.status_code
    else:
        assert reply.status_code < 500
        assert 403 != reply.status_code


class TestTeeth:
    """The one whose branch it is sees it: what the other one does not see is no empty page."""

    async def test_routes(self, branches: Branches) -> None:
        found: list[str] = []
        for route in ROUTES:
            if route.for_limited == "part" and route.method == "GET" and "export_id" not in route.parameters:
                reply = await branches.ask(route, HERE)
                found += [] if reply.status == 200 else [f"{name_of(route)}: {reply.status}"]
        assert [] == found

    async def test_counts(self, branches: Branches) -> None:
        for branch, is_there in ((HERE, True), (ELSEWHERE, False)):
            token = branches.tokens[branch]
            counted = await branches.world.ask("GET", "/v3.2/q/response/count", token=token)
            assert is_there == bool(counted.document["count"])
            assert is_there == any(counted.document["bands"].values() or counted.document["channels"].values())
            body = {"document": {"limit": 10}}
            found = await branches.world.ask("POST", "/v3.2/q/response/search", token=token, **body)
            assert is_there == bool(found.document["results"])

    async def test_figures(self, branches: Branches) -> None:
        """Nothing of another branch is in the figures of a report, of the overview and of sending."""
        questionnaire_id = branches.world.ours.ids["questionnaire_id"]
        spec = {"questionnaire_ids": [questionnaire_id], "metrics": [{"metric": "csat"}], "last_days": 365}
        asked = f"questionnaire_id={questionnaire_id}"
        for branch, is_there in ((HERE, True), (ELSEWHERE, False)):
            token = branches.tokens[branch]
            body = {"document": {"spec": spec}}
            found = await branches.world.ask("POST", "/v3.2/report/run", token=token, **body)
            assert is_there == bool(found.document["total"][0]["n"])
            found = await branches.world.ask("GET", f"/v3.2/report/invitation?{asked}", token=token)
            assert is_there == bool(found.document["results"])
            found = await branches.world.ask("GET", "/v3.2/report/overview", token=token)
            assert is_there == any(one["figure"]["n"] for one in found.document["scores"])
            found = await branches.world.ask("GET", "/v3.2/q/queue/item", token=token)
            assert is_there == bool(found.document["results"])
            found = await branches.world.ask("GET", "/v3.2/q/queue/count", token=token)
            assert is_there == any(one["count"] for one in found.document)
            file = await branches.browsers[branch].get("/console/reports/ready/csat/csv")
            rows = csv.DictReader(file.text.lstrip("\ufeff").splitlines())
            assert is_there == any(int(row["n"] or 0) for row in rows)

    async def test_people(self, branches: Branches) -> None:
        """The branch finds who answered there, in the list and by their page; the other branch finds nobody."""
        ours = branches.world.ours.ids
        path = f"/console/people/{ours['responder_id']}"
        for branch, is_there in ((HERE, True), (ELSEWHERE, False)):
            page = await branches.browsers[branch].get("/console/people")
            assert is_there == (f'href="{path}"' in html.unescape(page.text))
            assert (200 if is_there else 404) == (await branches.browsers[branch].get(path)).status_code
            page = await branches.browsers[branch].get("/console/people?q=ann@exam")
            assert path not in html.unescape(page.text)

    async def test_views(self, branches: Branches) -> None:
        """Each has views of their own; a shared one of a colleague is neither shown nor removed."""
        here, elsewhere = branches.browsers[HERE], branches.browsers[ELSEWHERE]
        shared = {"title": "All of us", "shared": "1"}
        assert 422 == (await here.post("/console/responses/views?tab=unhappy", data=shared)).status_code
        house, theirs = branches.world.ours.house, f"{'0' * 21}v"
        async with db.transaction(branches.world.pool) as database:
            await database.execute(
                """insert into response_view (organization_id, view_id, user_id, title, query, shared)
                   values ($1, $2, $3, 'All of us', 'tab=unhappy', true)""",
                *(house.organization_id, theirs, house.user_id),
            )
        saved = await here.post("/console/responses/views?tab=unhappy", data={"title": "Of Harbour"})
        assert 303 == saved.status_code
        page = html.unescape((await here.get("/console/responses")).text)
        [removal] = re.findall(r'Of Harbour</a><form method="post" action="(/console/responses/views/\w{22})"', page)
        for browser, is_there in ((here, True), (elsewhere, False)):
            page = (await browser.get("/console/responses")).text
            assert is_there == ("Of Harbour" in page)
            assert "All of us" not in page
            assert 404 == (await browser.post(f"/console/responses/views/{theirs}")).status_code
        assert 404 == (await elsewhere.post(removal)).status_code
        assert 303 == (await here.post(removal)).status_code
        assert removal not in html.unescape((await here.get("/console/responses")).text)
        async with db.transaction(branches.world.pool) as database:
            deleted = "delete from response_view where organization_id = $1 and view_id = $2"
            await database.execute(deleted, house.organization_id, theirs)

    async def test_exports(self, branches: Branches) -> None:
        """A file holds one branch; people with another limit do not find it."""
        made: dict[str, str] = {}
        for branch, is_there in ((HERE, True), (ELSEWHERE, False)):
            token, body = branches.tokens[branch], {"document": {"format": "csv"}}
            reply = await branches.world.ask("POST", "/v3.2/q/response/export", token=token, **body)
            assert (201, is_there) == (reply.status, bool(reply.document["selected_count"]))
            made[branch] = reply.document["export_id"]
        for branch, token in branches.tokens.items():
            listed = await branches.world.ask("GET", "/v3.2/q/response/export", token=token)
            assert [made[branch]] == [one["export_id"] for one in listed.document["results"]][:1]
            for other, export_id in made.items():
                found = await branches.world.ask("GET", f"/v3.2/q/export/{export_id}", token=token)
                assert (200 if branch == other else 404) == found.status
        assert 200 == (await branches.world.ask("GET", f"/v3.2/q/export/{made[HERE]}")).status

    async def test_screens(self, branches: Branches) -> None:
        ids, found = await ids_of(branches.world), list[str]()
        for screen in SCREENS:
            if (
                screen.for_limited == "part"
                and screen.method == "GET"
                and screen.path not in {*LACKING, *OF_ALL, ASKING}
            ):
                path = screen.path.format_map(ids)
                reply = await branches.browsers[HERE].get(path)
                found += [] if reply.status_code == 200 else [f"{path}: {reply.status_code}"]
        assert [] == found

    async def test_no_link_leads_to_a_refusal(self, branches: Branches) -> None:
        """Of the pages that are open, with data and without."""
        ids, found = await ids_of(branches.world), set[str]()
        for screen in SCREENS:
            if screen.for_limited != "refused" and screen.method == "GET" and "{passkey_id}" not in screen.path:
                page = await branches.browsers[HERE].get(screen.path.format_map(ids))
                links = re.findall(r'(?:href|action)="(/console[^"]*)"', html.unescape(page.text))
                found |= {f"{link} of {screen.path}" for link in links if is_refused(link)}
        assert set() == found


def is_refused(link: str) -> bool:
    path = link.partition("?")[0].partition("#")[0].rstrip("/")
    fitting = [one for one in console.screens() if re.fullmatch(NAMES.sub("[^/]+", one.path), path)]
    exact = [one for one in fitting if one.path == path] or fitting
    return bool(exact) and path != HOME and all(one.for_limited == "refused" and not one.is_open for one in exact)


async def test_the_first_page_is_open(branches: Branches) -> None:
    page = await branches.browsers[ELSEWHERE].get(HOME)
    assert 200 == page.status_code
    assert f'<span class="chip">{ELSEWHERE}</span>' in page.text
