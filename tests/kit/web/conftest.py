"""A tiny slice of its own over a real table, mounted like any other, and a client that speaks ASGI to it."""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from typing import Annotated, Any, Literal, cast

import asyncpg
import httpx2
import msgspec
import pytest

from afterword import errors, ids
from afterword.core.wire import times
from afterword.core.wire.lists import Column, Listing, Rows
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web import fields
from afterword.kit.web.limits import Limits
from afterword.kit.web.operations import Answer, Call, Download, Routes
from afterword.run import app
from afterword.tenants.organizations import service as accounts
from tests.databases import TEMPLATE, address_of, administer, emptied_database

NOTES = Listing(
    columns={
        "note_id": Column("note_id", "id"),
        "title": Column("title"),
        "locale": Column("locale", nullable=True),
        "rank": Column("rank", "integer", nullable=True),
        "weight": Column("weight", "number", nullable=True),
        "done": Column("done", "boolean"),
        "created_time": Column("created_time", "time"),
    },
    order=(("created_time", "desc"),),
    id="note_id",
)

routes = Routes(tag="Notes")


class NoteRequest(fields.Request):
    title: fields.Text200
    locale: fields.Locale | None = None
    rank: Annotated[int, fields.Meta(ge=0, le=100)] | None = None
    weight: float | None = None
    done: bool = False
    send_time: fields.Moment | None = None
    kind: Literal["plain", "fancy"] = "plain"
    owner_id: fields.Id | None = None
    metadata: fields.MetadataGroups | None = None
    tags: Annotated[list[Annotated[str, fields.Meta(max_length=10)]], fields.Meta(max_length=3)] = msgspec.field(
        default_factory=list
    )


class NoteUpdate(fields.Request):
    title: fields.Text200 | fields.UnsetType = fields.UNSET
    locale: fields.Locale | fields.UnsetType | None = fields.UNSET
    rank: Annotated[int, fields.Meta(ge=0, le=100)] | fields.UnsetType | None = fields.UNSET
    metadata: fields.MetadataAny | fields.UnsetType = fields.UNSET


class Note(fields.Answer):
    note_id: fields.Id
    title: str
    locale: str | None
    rank: int | None
    send_time: fields.DateTime | None
    created_time: fields.DateTime


class Echo(fields.Answer):
    words: list[str]


class EchoQuery(fields.Request):
    word: list[str] = msgspec.field(default_factory=list)
    count: Annotated[int, fields.Meta(ge=1, le=5)] = 1


def shown(row: Any, call: Call[Any], send_time: str | None = None) -> Note:
    return Note(
        note_id=row["note_id"],
        title=row["title"],
        locale=row["locale"],
        rank=row["rank"],
        send_time=send_time,
        created_time=times.format_time(row["created_time"], zone=call.zone),
    )


async def get_row(call: Call[Any], database: db.Database) -> Any:
    row = await database.fetch_row(
        "select * from note where organization_id = $1 and note_id = $2",
        call.caller.organization_id,
        call.ids["note_id"],
    )
    if row is None:
        raise errors.NotFound("There is no such note.")
    return row


@routes.get(
    "/note", scope="Tag.Read", answer=Note, shape="envelope", listing=NOTES, summary="List notes", query=EchoQuery
)
async def list_notes(call: Call[None], database: db.Database) -> Answer:
    rows: Rows[db.Row] = await database.fetch_list(
        "select * from note where organization_id = $1", call.caller.organization_id, page=call.page
    )
    return Answer(rows.map(lambda row: shown(row, call)))


@routes.get("/note/bare", scope="Tag.Read", answer=Note, shape="array", listing=NOTES, summary="List notes bare")
async def list_bare(call: Call[None], database: db.Database) -> Answer:
    rows = await database.fetch_list(
        "select * from note where organization_id = $1", call.caller.organization_id, page=call.page
    )
    return Answer(rows.map(lambda row: shown(row, call)))


@routes.get("/note/echo", scope="Tag.Read", answer=Echo, summary="Echo", query=EchoQuery)
async def echo(call: Call[None], database: db.Database) -> Answer:
    return Answer(Echo(words=call.query.word * call.query.count))


READER = "afterword reader"


@routes.get("/note/server", scope="Tag.Read", answer=Echo, summary="Server", query=EchoQuery, is_long=True)
async def get_server(call: Call[None], database: db.Database) -> Answer:
    """The name of the server's session; the reader's lacks what the words name."""
    name: str = await database.fetch_value("select current_setting('application_name')")
    match call.query.word if name == READER else ():
        case ["row"]:
            raise errors.NotFound("There is no such note.")
        case ["schema"]:
            await database.fetch_value("select no_such_column from note")
        case ["time"]:
            raise db.Slow("The database is not available at the moment.")
        case _:
            pass
    return Answer(Echo(words=[name]))


@routes.get("/note/far", scope="Tag.Read", answer=Note, shape="envelope", listing=NOTES, summary="Far", is_long=True)
async def list_far(call: Call[None], database: db.Database) -> object:
    return await list_notes(call, database)


class Entry(fields.Answer):
    note_id: fields.Id


@routes.get("/note/log", scope="Tag.Read", answer=Entry, shape="cursor", listing=NOTES, summary="Log of notes")
async def list_log(call: Call[None], database: db.Database) -> Answer:
    rows = await database.fetch_list(
        "select * from note where organization_id = $1", call.caller.organization_id, page=call.page
    )
    return Answer(rows.map(lambda row: Entry(note_id=row["note_id"])))


@routes.get("/note/broken", scope="Tag.Read", answer=Echo, summary="Broken")
async def broken(call: Call[None], database: db.Database) -> Answer:
    raise RuntimeError("secret detail")


@routes.get("/note/{note_id}", scope="Tag.Read", answer=Note, summary="Get note")
async def get_note(call: Call[None], database: db.Database) -> Answer:
    row = await get_row(call, database)
    return Answer(shown(row, call), version=row["version"])


@routes.post(
    "/note", scope="Tag.Create", body=NoteRequest, answer=Note, summary="Create note", refusals=("already_exists",)
)
async def create_note(call: Call[NoteRequest], database: db.Database) -> Answer:
    return await insert(call, database)


async def insert(call: Call[NoteRequest], database: db.Database) -> Answer:
    note = call.body
    note_id = ids.ordered(call.now)
    row = await database.fetch_row(
        """insert into note (organization_id, note_id, title, locale, rank, weight, done, created_time)
           values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp()) returning *""",
        call.caller.organization_id,
        note_id,
        note.title,
        note.locale,
        note.rank,
        note.weight,
        note.done,
    )
    assert row is not None
    send_time = str(note.send_time) if note.send_time else None
    return Answer(shown(row, call, send_time), version=1, location=f"/note/{note_id}")


async def insert_shared(call: Call[NoteRequest], pool: db.Pool) -> Answer:
    async with db.transaction(pool) as database:
        return await insert(call, database)


@routes.post(
    "/note/quick", scope="Tag.Create", body=NoteRequest, answer=Note, summary="Create note fast", shared=insert_shared
)
async def create_quickly(call: Call[NoteRequest], database: db.Database) -> Answer:
    return await insert(call, database)


class BatchQuery(fields.Request):
    on_conflict: Literal["error", "skip"] = "error"


class Batch(fields.Answer):
    titles: list[str | None]
    codes: list[list[str]]
    on_conflict: str


@routes.post(
    "/note/batch",
    scope="Tag.Create",
    body=NoteRequest,
    answer=Batch,
    summary="Create notes",
    rows_max=250,
    query=BatchQuery,
)
async def create_notes(call: Call[list[NoteRequest | errors.Invalid]], database: db.Database) -> Answer:
    for row in call.body:
        if not isinstance(row, errors.Invalid):
            await insert(replace(cast("Call[Any]", call), body=row), database)
    titles = [None if isinstance(row, errors.Invalid) else row.title for row in call.body]
    codes = [
        [f"{error.pointer} {error.code}" for error in row.errors] if isinstance(row, errors.Invalid) else []
        for row in call.body
    ]
    return Answer(Batch(titles=titles, codes=codes, on_conflict=call.query.on_conflict))


CLOSED: list[str] = []  # the names of the files whose chunks have ended, one way or another


class FileQuery(fields.Request):
    fails: Literal["not", "at once", "later"] = "not"
    name: str = "notes.csv"


@routes.get(
    "/note/file", scope="Tag.Read", answer=None, summary="All notes", media_types=("text/csv",), query=FileQuery
)
async def get_file(call: Call[None], database: db.Database) -> Answer:
    count = await database.fetch_value("select count(*) from note")

    async def chunks() -> AsyncGenerator[bytes, None]:
        if call.query.fails == "at once":
            raise errors.Gone("It is gone.")
        try:
            for number in range(count):
                yield b"%d," % await database.fetch_value("select $1::int", number)
        finally:
            CLOSED.append(call.query.name)
        if call.query.fails == "later":
            raise RuntimeError("secret detail")

    return Answer(download=Download("text/csv", call.query.name, None, chunks()), version=count)


@routes.patch("/note/{note_id}", scope="Tag.Update", body=NoteUpdate, answer=Note, summary="Change note")
async def change_note(call: Call[NoteUpdate], database: db.Database) -> Answer:
    current = await get_row(call, database)
    call.expect(current["version"])
    title = current["title"] if call.body.title is fields.UNSET else call.body.title
    if title == "taken":
        raise errors.Conflict("There is one already.")
    row = await database.fetch_row(
        "update note set title = $3, version = version + 1 where organization_id = $1 and note_id = $2 returning *",
        call.caller.organization_id,
        call.ids["note_id"],
        title,
    )
    assert row is not None
    return Answer(shown(row, call), version=row["version"])


@routes.delete("/note/{note_id}", scope="Tag.Delete", summary="Delete note")
async def delete_note(call: Call[None], database: db.Database) -> Answer:
    row = await get_row(call, database)
    call.expect(row["version"])
    await database.execute(
        "delete from note where organization_id = $1 and note_id = $2", call.caller.organization_id, call.ids["note_id"]
    )
    return Answer()


class House:
    """An organization with tokens, and the application over the notes."""

    def __init__(self, pool: db.Pool, organization_id: str, token: str, site: Site) -> None:
        self.pool, self.organization_id, self.token, self.site = pool, organization_id, token, site

    async def token_for(self, *scopes: str) -> str:
        async with db.transaction(self.pool) as database:
            _, text = await accounts.create_token(
                database,
                organization_id=self.organization_id,
                title="test",
                scopes=list(scopes),
                kind="organization",
                user_id=None,
                now=database.clock.now(),
            )
        return text

    def client(self, *, token: str | None = "", **options: Any) -> httpx2.AsyncClient:
        """A client with the all-scopes token (`None`: without) over a fresh application."""
        options.setdefault("limits", Limits(0, 0, 0))
        options.setdefault("routes", [routes])
        asgi: Any = app.create_app(pool=self.pool, site=options.pop("site", self.site), **options)
        sent = {} if token is None else {"Authorization": f"Bearer {token or self.token}"}
        transport = httpx2.ASGITransport(app=asgi, client=("192.0.2.1", 1), raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=transport, base_url="http://testserver/v3.2", headers=sent)


NOTE_TABLE = """create table note (organization_id text, note_id text collate "C", title text, locale text,
  rank integer, weight double precision, done boolean, version bigint default 1, created_time timestamptz,
  primary key (organization_id, note_id))"""
WITH_NOTES = f"{TEMPLATE}_notes_{os.getpid()}"
_made: set[str] = set()  # templates of this process


@pytest.fixture
async def pool_url(server_url: str) -> AsyncIterator[str]:
    """A database that has the table of notes as well."""
    if WITH_NOTES not in _made:
        await administer(server_url, f"create database {WITH_NOTES} template {TEMPLATE} strategy file_copy")
        connection: Any = await asyncpg.connect(address_of(server_url, WITH_NOTES))
        await connection.execute(NOTE_TABLE)
        await connection.close()
        _made.add(WITH_NOTES)
    async with emptied_database(server_url, template=WITH_NOTES) as url:
        yield url


@pytest.fixture
async def notes(pool: db.Pool) -> House:
    async with db.transaction(pool) as database:
        organization = await accounts.create_organization(
            database, domain="demo", display_name="Demo", time_zone="Europe/Athens", now=database.clock.now()
        )
    house = House(pool, organization.organization_id, "", Site("http://testserver", b"s" * 32))
    house.token = await house.token_for("Tag.Read", "Tag.Create", "Tag.Update", "Tag.Delete")
    return house


@pytest.fixture
async def client(notes: House) -> AsyncIterator[httpx2.AsyncClient]:
    async with notes.client() as client:
        yield client
