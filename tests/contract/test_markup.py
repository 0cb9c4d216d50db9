"""Stored texts are texts on every page: the database's columns are filled with markup, and all pages are read.

Columns, screens and pages are found by themselves: `tests/privacy/columns.py` has each column, a link leads to each
screen, and the table of pages has each page.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import asyncpg
import httpx2
import pytest

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.asking.questionnaires import store as questionnaires
from afterword.core.answers.values import Given
from afterword.core.questionnaires import endings
from afterword.kit import db
from afterword.run import console
from afterword.run.app import create_app, page_groups
from afterword.tenants import mails
from afterword.tenants.logins import service
from afterword.tenants.mails import compose
from tests.contract.test_tenants import OF_NOBODY, page_of
from tests.contract.world import World
from tests.privacy.columns import FIGURES, FIXED, FREE, HOLDS, OURS
from tests.sizes import size
from tests.tenants.logins.conftest import OWN, PASSWORD, log_in

MARK: Final = "zq"
# An element and attributes behind each kind of quote, an element behind the end of all that holds raw text, and an
# expression of templates. Its number tells the column.
PAYLOAD: Final = "zq{} ' zq=1 \" zq=1 ><zq zq=1></title></textarea>--><zq>{{{{7*191919}}}}"
SHORT: Final = "zq{} ' zq \" zq><zq>"  # for names of few characters
SCRIPT: Final = "javascript:zq{}"
ID: Final = re.compile(r"[A-Za-z0-9_:.-]{22,}")
MACHINE: Final = re.compile(rf"[a-z0-9_.:/#%+-]*|{ID.pattern}|[A-Z]{{2,3}}")  # words of ours, ids, countries
ADDRESS: Final = re.compile(r"https?://")
SYNTAX: Final = {"default_locale", "locale", "locales", "time_zone", "domain", "email", "website_urls", "host_key"}
PAGES_OF_A_SCREEN: Final = size(1, 3)
SHOWN_MIN: Final = 50  # columns whose texts the pages show, of twice as many
WRITTEN: Final = {"alert_message.body", "alert_settings.saved_texts", "coupon_code.code", "public_link.box",
                  "questionnaire_draft.definition"}  # fmt: skip
VALUE: Final = str(7 * 191919)  # of the expression in the payload
PAGES: Final = [
    page.path
    for pages in page_groups()
    for page in pages.all
    if page.method == "GET" and not page.path.startswith((*OF_NOBODY, "/inbound/"))
]


class Reader(HTMLParser):
    """Collects elements, attributes and addresses that a payload has made."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == MARK:
            self.made.append(f"<{tag}>")
        for name, value in attrs:
            address = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith(MARK) or (name.startswith("on") and MARK in address):
                self.made.append(f"{tag} {name}={value}")
            if name in {"href", "src", "action", "formaction", "srcdoc", "data"}:
                self.links.append(value or "")
                if address.startswith("javascript:"):
                    self.made.append(f"{tag} {name}={value}")


async def poison(world: World) -> list[str]:
    """Write markup into each column with texts of people, and return these; triggers and foreign keys are off."""
    found: list[str] = []
    async with db.connection(world.pool) as database:
        columns = await database.fetch(
            """select table_name, column_name, data_type from information_schema.columns
               where table_schema = 'public' and data_type in ('text', 'jsonb', 'ARRAY') order by 1, 2"""
        )
    async with db.transaction(world.pool) as database:
        await database.execute("set local session_replication_role = replica")
        for column in columns:
            table, name = column["table_name"], column["column_name"]
            said = {**FREE.get(table, {}), **HOLDS.get(table, {})}.get(name)
            if said is None or said in {FIXED, OURS, FIGURES} or name in SYNTAX:
                continue
            await fill(database, len(found), table, name, is_text=column["data_type"] == "text")
            found.append(f"{table}.{name}")
    questionnaires._versions.clear()
    return found


async def fill(database: Any, number: int, table: str, name: str, *, is_text: bool) -> None:
    """Fill each row's value, also an absent text; what the table refuses stays as it is."""
    for row in await database.fetch(f"select ctid::text as place, to_jsonb({name}) as value from {table}"):
        value = row["value"]
        if value is None and not is_text:
            continue
        wanted = [SCRIPT] if name.endswith("_url") else [PAYLOAD, SHORT]
        texts = [pattern.format(number) + (value or "") for pattern in wanted] if is_text else []
        if ID.fullmatch(str(value)):
            continue
        for changed in texts or [changed_of(value, number)]:
            try:
                async with db.savepoint(database):
                    await database.execute(
                        f"""update {table} set {name} = (select {name} from
                              jsonb_populate_record(null::{table}, jsonb_build_object('{name}', $1::jsonb)))
                            where ctid = $2::text::tid""",
                        *(changed, row["place"]),
                    )
                break
            except (db.Taken, asyncpg.IntegrityConstraintViolationError):
                continue


def changed_of(value: Any, number: int) -> Any:
    """The document with markup in its texts; ids, and words that programs read, stay."""
    match value:
        case dict():
            return {key: changed_of(one, number) for key, one in value.items()}
        case list():
            return [changed_of(one, number) for one in value]
        case str() if ADDRESS.match(value):
            return SCRIPT.format(number)
        case str() if not MACHINE.fullmatch(value):
            return PAYLOAD.format(number) + value
        case _:
            return value


async def write(world: World) -> None:
    """Add to the world an answer in words, a coupon, texts of cases, a box, and a draft with all its endings."""
    ours = world.ours
    path = f"/v3.2/coupon/pool/{ours.ids['pool_id']}/code"
    assert 200 <= (await world.ask("POST", path, document={"codes": ["A 1"]})).status < 300
    causes = {"saved_texts": [{"title": "Sorry", "body": "We are sorry."}], "causes": ["Late"], "remedies": ["Voucher"]}
    assert 200 == (await world.ask("PATCH", "/v3.2/alert/settings", document=causes)).status
    async with db.transaction(world.pool) as database:
        await database.execute(
            """insert into alert_message (organization_id, message_id, alert_instance_id, incoming, address, subject,
                 body, locale, state)
               select $1, alert_instance_id || n, alert_instance_id, n = 1, 'ann@example.com', 'Your delivery',
                 'It came.', 'en', case n when 1 then 'received' else 'failed' end
               from alert_instance, generate_series(1, 2) n where organization_id = $1""",
            ours.ids["organization_id"],
        )
        context = await lock_context(database, instance_id=ours.ids["instance_id"])
        asked = next(one for one in context.definition.questions() if one.type == "text")
        answers = {asked.question_id: Given("Fine words")}
        await save_answers(database, context=context, answers=answers, complete=False, now=database.clock.now())
    path = f"/v3.2/q/questionnaire/{ours.ids['questionnaire_id']}/draft"
    document = (await world.ask("GET", path)).document["definition"]
    texts = dict.fromkeys(endings.TEXTS, "Some words")
    addresses = dict.fromkeys(endings.ADDRESSES, "https://shop.example/thanks")
    picture = (await world.ask("GET", f"/v3.2/asset/{ours.ids['asset_id']}")).document["path"]
    choices = [{"value": 1, "label": "Red", "picture": picture}, {"value": 2, "label": "Blue"}]
    document["groups"][0]["questions"].append({"type": "single_choice", "title": "Which?", "choices": choices})
    question = document["groups"][0]["questions"][0]["question_id"]
    five = {"subject": f"question:{question}", "operator": "equal", "value": 5}
    quota = {"title": "Enough", "text": "We have enough answers.", "responses_max": 1, "conditions": five}
    document["endings"] = [quota, {**document["endings"][0], **texts, **addresses}]
    assert 200 == (await world.ask("PUT", path, document=document)).status
    box = {"click_selector": "#feedback a", "addresses": ["/check out/*"]}
    links = await world.ask("GET", f"/v3.2/q/questionnaire/{ours.ids['questionnaire_id']}/link")
    for link in links.document["results"]:
        path = f"/v3.2/q/link/{link['link_id']}"
        assert 200 == (await world.ask("PATCH", path, document={"box": box})).status


@asynccontextmanager
async def visitor(world: World) -> AsyncGenerator[httpx2.AsyncClient]:
    """The owner of ours, logged in to the console."""
    email, house = "owner-of-markup@demo.test", world.ours.house
    hashed = await service.hash_of(PASSWORD)
    async with db.transaction(world.pool) as database:
        login = await service.insert_login(database, email=email, password_hash=hashed, now=database.clock.now())
        await database.execute(
            "update organization_user set login_id = $3 where organization_id = $1 and user_id = $2",
            *(house.organization_id, house.user_id, login.login_id),
        )
    app: Any = create_app(pool=world.pool, site=world.site)
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url=world.site.public_url, headers=OWN) as client:
        assert 303 == (await log_in(client, email=email)).status_code
        yield client


@dataclass(frozen=True)
class Read:
    status: int
    text: str
    reader: Reader


async def read_all(client: httpx2.AsyncClient, waiting: list[str]) -> dict[str, Read]:
    """Each page that links lead to: some of each kind."""
    found: dict[str, Read] = {}
    kinds: dict[str, int] = {}
    for address in waiting:
        kind = kind_of(address)
        if address in found or kinds.get(kind, 0) >= PAGES_OF_A_SCREEN:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        response = await client.get(address, follow_redirects=True)
        reader, text = Reader(), ""
        if response.headers.get("content-type", "").startswith("text/html"):
            text = response.text
            reader.feed(text)
            assert "'unsafe-inline'" not in response.headers["content-security-policy"], address
        found[address] = Read(response.status_code, text, reader)
        host = urlsplit(str(client.base_url)).netloc
        for link in reader.links:
            target = urlsplit(urljoin(f"{client.base_url}{address}", link))
            if target.netloc == host and target.path.startswith(("/console", "/preview", "/a/", "/l/", "/p/")):
                waiting.append(target._replace(scheme="", netloc="", fragment="").geturl())
    return found


def kind_of(address: str) -> str:
    """The path in the table of screens, or the first part of a public page's."""
    path = urlsplit(address).path
    return next((one.path for pattern, one in SCREENS if pattern.fullmatch(path)), "/".join(path.split("/")[:2]))


SCREENS: Final = [
    (re.compile(re.sub(r"\\\{.*?\\\}", r"[^/]+", re.escape(screen.path))), screen)
    for screen in sorted(console.screens(), key=lambda one: one.path.count("{"))
    if screen.method == "GET"
]


async def mails_of(world: World) -> list[str]:
    """The HTML of the mails to users that wait."""
    async with db.transaction(world.pool) as database:
        now = database.clock.now() + timedelta(days=1)
        waiting = await mails.claim_mails(database, now=now, limit=50)
    return [
        compose(one, recipient="a@b.example", sender="a@b.example", site=world.site, now=now).html for one in waiting
    ]


@pytest.mark.parametrize("around", ["<p>{}</p>", '<p title="{}">', "<p title='{}'>", "<p title={}>", '<a href="{}">'])
def test_it_has_teeth(around: str) -> None:
    for payload in [SCRIPT] if "href" in around else [PAYLOAD, SHORT]:
        reader = Reader()
        reader.feed(around.replace("{}", payload.format(1)))
        assert reader.made


@pytest.mark.asyncio(loop_scope="session")
async def test_texts_stay_texts(own_world: World) -> None:
    """On the console's screens, in previews and mails, and on public pages."""
    await write(own_world)
    async with visitor(own_world) as client:
        columns = await poison(own_world)
        waiting = ["/console", *(page_of(path, own_world.ours) for path in PAGES)]
        preview = page_of("/preview/{permission}", own_world.ours)
        waiting.append(f"{preview}?ending={own_world.ours.ids['ending_id']}")
        found = await read_all(client, waiting)
    for number, text in enumerate(await mails_of(own_world)):
        found[f"mail {number}"] = Read(200, text, Reader())
        found[f"mail {number}"].reader.feed(text)
    assert {} == {address: read.reader.made[:3] for address, read in found.items() if read.reader.made}
    assert [] == [address for address, read in found.items() if read.status >= 500 or VALUE in read.text]
    shown = {columns[int(number)] for read in found.values() for number in re.findall(r"zq(\d+)", read.text)}
    assert len(shown) > SHOWN_MIN
    assert WRITTEN <= shown
