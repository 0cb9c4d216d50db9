"""Screens of the console with ids of another organization: as with ids that nobody has, and nothing changes."""

import re
import uuid
from collections.abc import AsyncGenerator, Mapping
from typing import Final

import httpx2
import pytest
import pytest_asyncio

from afterword.console.screens import Screen
from afterword.kit import db
from afterword.run import console
from tests.contract.test_tenants import leaks_of
from tests.contract.world import ABSENT, World, save_draft
from tests.sizes import share_of
from tests.tenants.logins.conftest import Office, browser_of, log_in

OF_THE_PRODUCT: Final = "/console/reports/ready/"  # reports that everybody has
NAMES_OF_THE_PRODUCT: Final = frozenset({"library_name", "template_id"})
OF_A_LOGIN: Final = frozenset({"passkey_id", "session_id"})  # tests/tenants/screens
NAMES: Final = re.compile(r"{(\w+)}")
NO_IDS: Final[Mapping[str, str]] = {"kind": "questionnaire", "locale": "el", "number": "0", "part": "delay"}
FORM: Final = {"version": "1", "tag": "theirs", "locale": "el", "role": "agent", "body": "Theirs", "title": "Theirs"}
OWNER: Final = "own@demo.example"
LACKING: Final = frozenset(
    {
        "/console/cases/{alert_instance_id}/mail/{message_id}",
        "/console/people/{responder_id}/suppression/{suppression_id}",
        "/console/questionnaires/{questionnaire_id}/edit/{question_id}/jump/{number}",
        "/console/questionnaires/{questionnaire_id}/import",
        "/console/responses/taggings/{tagging_id}",
        "/console/sending/pipelines/{questionnaire_id}/{pipeline_id}/versions/{entry_id}",
        "/console/settings/providers/{account_id}/secret",
        "/console/welcome/{questionnaire_id}/message",
    }
)  # nothing of this kind is there, or it is the maker's own
SCREENS: Final = [
    screen
    for screen in console.screens()
    if set(NAMES.findall(screen.path)) - OF_A_LOGIN
    and not screen.is_open
    and not screen.path.startswith(OF_THE_PRODUCT)
]
LISTS: Final = [one for one in console.screens() if one.method == "GET" and not NAMES.search(one.path)]
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stranger(world: World) -> AsyncGenerator[httpx2.AsyncClient]:
    """The owner of the other organization, logged in."""
    house, email = world.theirs.house, f"{uuid.uuid4().hex}@neighbour.example"  # the module may begin twice
    await Office(world.pool, house.organization_id, house.application_id, "").add_user(email, role="owner")
    async with browser_of(world.pool) as browser:
        await log_in(browser, email=email)
        yield browser


async def ids_of(world: World) -> Mapping[str, str]:
    """One of everything of ours that a screen names; other tests have changed the draft."""
    await save_draft(world.wire, world.ours)
    async with db.connection(world.pool) as database:
        entry_id = await database.fetch_value(
            "select entry_id from audit_entry where thing_id = $1 limit 1", world.ours.ids["pipeline_id"]
        )
    return {**world.ours.ids, **NO_IDS, "entry_id": entry_id}


async def status_of(browser: httpx2.AsyncClient, screen: Screen, ids: Mapping[str, str], world: World) -> int:
    """The status for these ids; the answer shows nothing of ours."""
    path = screen.path.format_map(ids)
    reply = await browser.request(screen.method, path, data=FORM if screen.method == "POST" else None)
    leaks = {name: value for name, value in leaks_of(world.ours).items() if name not in NAMES_OF_THE_PRODUCT}
    assert not [name for name, value in leaks.items() if value in reply.text and value not in path], path
    return reply.status_code


async def test_foreign_is_as_absent(world: World, stranger: httpx2.AsyncClient) -> None:
    ours = await ids_of(world)
    before = await world.digests_of(world.ours)
    absent = {**dict.fromkeys(ours, ABSENT), **NO_IDS}
    found: list[str] = []
    drawn = share_of([screen.path for screen in SCREENS], 0.25)
    for screen in SCREENS:
        for ids in (ours, absent) if screen.path in drawn else (ours,):
            status = await status_of(stranger, screen, ids, world)
            found += [f"{screen.method} {screen.path}: {status}"] if status != 404 else []
    assert [] == found
    assert before == await world.digests_of(world.ours)


async def test_lists_show_nothing_of_ours(world: World, stranger: httpx2.AsyncClient) -> None:
    for screen in LISTS:
        assert await status_of(stranger, screen, {}, world) < 500, screen.path


async def test_it_has_teeth(world: World) -> None:
    """The ids lead to something: to our own owner each screen shows it."""
    house = world.ours.house
    await Office(world.pool, house.organization_id, house.application_id, "").add_user(OWNER, role="owner")
    ours = await ids_of(world)
    async with browser_of(world.pool) as browser:
        await log_in(browser, email=OWNER)
        found = {
            screen.path: (await browser.get(screen.path.format_map(ours))).status_code
            for screen in SCREENS
            if screen.method == "GET"
        }
    assert LACKING == {path for path, status in found.items() if status == 404}
