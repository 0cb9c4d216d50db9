"""The operations of a noun: read one, list, create, update, delete."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, Generic

import msgspec

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Page, Rows
from afterword.core.wire.site import Site
from afterword.errors import FieldError
from afterword.kit.db import Dangling, Database, Taken
from afterword.kit.nouns import structs
from afterword.kit.nouns.declaration import Change, Given, Noun, R, version_of
from afterword.kit.nouns.statements import absent_version, count_uses, statements_of


def is_of_all(caller: Caller, application_id: str | None) -> errors.Refusal | None:
    """Why a caller with some applications may not change what is of the whole organization."""
    if caller.application_ids and application_id is None:
        return errors.Forbidden("This is for the whole organization; your token is for certain applications.")
    return None


async def check_application(change: Change[R]) -> None:
    """Raise Invalid unless `application_id` is one that the caller reaches, or null for who reaches all."""
    application_id = change.after("application_id")
    if application_id is None:
        if change.caller.application_ids:
            message = "Your token is for certain applications; name one of them."
            raise errors.Invalid.at("/application_id", "required", message)
    elif not await get_reaches_application(change, application_id):
        raise errors.Invalid.of(FieldError("unknown_id", "There is no such application.", pointer="/application_id"))


async def get_reaches_application(change: Change[R], application_id: str) -> bool:
    """Whether the organization has the application, and the caller may use it."""
    reached = change.caller.application_ids
    return (not reached or application_id in reached) and await change.db.fetch_value(
        "select exists (select from application where organization_id = $1 and application_id = $2)",
        *(change.caller.organization_id, application_id),
    )


PRODUCT_ROWS_MAX: Final = 100


class Made(msgspec.Struct, Generic[R], frozen=True):
    """`shown`: secrets that this answer shows, and nothing later."""

    record: R
    shown: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


async def find(
    noun: Noun[R],
    db: Database,
    *,
    organization_id: str,
    key: Any,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    user_id: str | None = None,
    is_locked: bool = False,
) -> R | None:
    """The row as these applications and tests, or this user, see it; without them, whoever asks."""
    found = statements_of(noun)
    if is_locked and noun.may_be_absent:  # before it is read: who waits for a lock has read what was there before
        await _claim_organization(db, organization_id=organization_id)
    leading = _leading(noun, organization_id, application_ids, user_id, test_only=test_only)
    row = await db.fetch_row(found.get_locked if is_locked else found.get, *leading, key)
    return _record(noun, row) if row else None


def _record(noun: Noun[R], row: Mapping[str, Any]) -> R:
    if noun.may_be_absent and row["version"] == absent_version(noun):
        return noun.record(**{name: value for name, value in row.items() if value is not None})
    return noun.record(**row)


async def get(noun: Noun[R], db: Database, *, caller: Caller, key: Any, is_locked: bool = False) -> R:
    """Raises NotFound, and what this caller may get instead."""
    noun.allow(caller, "get")
    row = await find(noun, db, **caller.reach, user_id=caller.user_id, key=key, is_locked=is_locked)
    return errors.found(row, noun.nothing)


async def rows(
    noun: Noun[R],
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    user_id: str | None = None,
    parent_id: str | None = None,
    page: Page,
) -> Rows[R]:
    """A page of the rows; `parent_id`: of those that belong to it."""
    found = statements_of(noun)
    leading = _leading(noun, organization_id, application_ids, user_id, test_only=test_only)
    if parent_id is None:
        listed = await db.fetch_list(found.list, *leading, page=page)
    else:
        listed = await db.fetch_list(found.list_of, *leading, parent_id, page=page)
    return listed.map(lambda row: noun.record(**row))


def _leading(
    noun: Noun[Any], organization_id: str, application_ids: Sequence[str], user_id: str | None, *, test_only: bool
) -> tuple[object, ...]:
    reach = (user_id,) if noun.is_personal else (list(application_ids), test_only)
    return (organization_id, *reach)[: statements_of(noun).leading]


async def every(noun: Noun[R], db: Database, *, organization_id: str, **reach: Any) -> list[R]:
    """All rows in their own order; there are at most so many as an organization may have, and those of the product."""
    return (await rows(noun, db, organization_id=organization_id, **reach, page=whole_page(noun))).items


async def create(
    noun: Noun[R], db: Database, *, caller: Caller, columns: Mapping[str, Any], site: Site, now: datetime
) -> Made[R]:
    """Raises what its rules raise, and Invalid (`too_many`)."""
    noun.allow(caller, "create")
    change = Change[R](db=db, caller=caller, site=site, now=now, key=None, before=None)
    change.columns.update(structs.written(noun, columns))
    change.key = await noun.new_key(change)
    await noun.check(change)
    if noun.most is not None and await _count_locked(noun, db, organization_id=caller.organization_id) >= noun.most:
        raise errors.Invalid.at("", "too_many", f"An organization has at most {noun.most:,} {noun.many}.")
    made = await insert(
        noun,
        db,
        organization_id=caller.organization_id,
        key=change.key,
        columns=change.columns,
        now=now,
        by=caller.actor_id or None,
    )
    return Made(made, change.shown)


async def insert(
    noun: Noun[R],
    db: Database,
    *,
    organization_id: str,
    key: Any,
    columns: Mapping[str, Any],
    now: datetime,
    by: str | None,
) -> R:
    """Insert a row that the product makes itself: without rules and limit."""
    has_by = "created_by" in noun.record.__struct_fields__
    values = (organization_id, key, _document(columns), now, *((by,) if has_by else ()))
    with _keys(noun):
        return noun.record(**await db.fetch_one(statements_of(noun).insert, *values))


async def update(
    noun: Noun[R],
    db: Database,
    *,
    caller: Caller,
    key: Any,
    changes: Mapping[str, Any],
    site: Site,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> R:
    """Raises NotFound, what `expect` raises for the row's version, and what its rules raise."""
    change = await _change(noun, db, caller=caller, key=key, site=site, now=now, expect=expect)
    before = change.row
    given = {one.name for one in noun.members if isinstance(one.role, Given)}
    change.columns.update(
        (name, value)
        for name, value in structs.written(noun, changes).items()
        if name in given or getattr(before, name) != value
    )
    if not change.columns:
        return before
    await noun.check(change)
    columns = change.columns
    if noun.may_be_absent:
        columns = {**{name: getattr(before, name) for name in noun.written(later=True)}, **columns}
    stamps = (now, caller.actor_id or None)[: noun.stamps_later]
    values = (caller.organization_id, key, _document(columns), *stamps)
    with _keys(noun):
        row = await db.fetch_row(statements_of(noun).update, *values)
    return noun.record(**row) if row else before


async def delete(
    noun: Noun[R],
    db: Database,
    *,
    caller: Caller,
    key: Any,
    site: Site,
    now: datetime,
    expect: errors.Expect = errors.ANY,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Raises NotFound, what `expect` and its rules raise, and Dangling while something refers to it."""
    change = await _change(noun, db, caller=caller, key=key, site=site, now=now, expect=expect)
    if noun.delete is not None:
        await noun.delete(change, options or {})
    else:
        await delete_row(noun, change)


async def delete_row(noun: Noun[R], change: Change[R]) -> None:
    """Raises Dangling while something refers to it."""
    with _keys(noun):
        await change.db.execute(statements_of(noun).delete, change.caller.organization_id, change.key)


USES_COUNTED_MAX: Final = 1_000


async def list_uses(noun: Noun[R], db: Database, *, caller: Caller, key: Any) -> list[tuple[str, int, str]]:
    """Those that refuse the removal: what they are, how many up to USES_COUNTED_MAX, and their page."""
    uses = noun.screens.uses if noun.screens else ()
    counts = await db.fetch_row(count_uses(noun), caller.organization_id, key, USES_COUNTED_MAX) if uses else None
    return [(text, count, url) for (text, _, url), count in zip(uses, counts or (), strict=True) if count]


def whole_page(noun: Noun[Any]) -> Page:
    """The page of all rows of an organization, and of the product."""
    assert noun.most is not None, f"{noun.many} have a limit"  # noqa: S101
    return Page.first(structs.listing_of(noun), limit=noun.most + PRODUCT_ROWS_MAX)


def columns_of(noun: Noun[R], record: R) -> dict[str, Any]:
    """The record as an event keeps it: without secrets."""
    return {one.name: getattr(record, one.name) for one in noun.columns}


async def _count_locked(noun: Noun[Any], db: Database, *, organization_id: str) -> int:
    """Locks the organization, so that two creations do not pass the limit together."""
    await _claim_organization(db, organization_id=organization_id)
    return await db.fetch_value(statements_of(noun).count, organization_id)


async def _claim_organization(db: Database, *, organization_id: str) -> None:
    await db.execute("select from organization where organization_id = $1 for no key update", organization_id)


async def _change(
    noun: Noun[R], db: Database, *, caller: Caller, key: Any, site: Site, now: datetime, expect: errors.Expect
) -> Change[R]:
    before = await get(noun, db, caller=caller, key=key, is_locked=True)
    expect(version_of(before))
    if refusal := noun.fixed(caller, before):
        raise refusal
    return Change(db=db, caller=caller, site=site, now=now, key=key, before=before)


def _document(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as JSON: bytes as PostgreSQL reads them from a text."""
    return {name: f"\\x{value.hex()}" if isinstance(value, bytes) else value for name, value in columns.items()}


@contextmanager
def _keys(noun: Noun[Any]) -> Generator[None]:
    try:
        yield
    except (Taken, Dangling) as error:
        if noun.conflict is None:
            raise
        raise noun.conflict(error) from error
