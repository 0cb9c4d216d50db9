"""Saved views: made by users for themselves or for everybody, and removed by whoever made them, or by an owner."""

from datetime import datetime
from typing import Final

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.responses.views import store
from afterword.responses.views.store import View

VERSION: Final = 1  # a view does not change
VIEWS_MAX: Final = 50  # of a user
SHOWN_MAX: Final = 100
TITLE_CHARACTERS_MAX: Final = 100
QUERY_CHARACTERS_MAX: Final = 4_000


async def save(db: Database, *, caller: Caller, title: str, query: str, shared: bool, now: datetime) -> View:
    """Raises Forbidden for a caller who is no user, Invalid, and Conflict where the user has VIEWS_MAX views."""
    user_id = _user_of(caller)
    name = " ".join(title.split())
    if not 1 <= len(name) <= TITLE_CHARACTERS_MAX or not name.isprintable():
        message = f"A name of 1 to {TITLE_CHARACTERS_MAX} characters is expected."
        raise errors.Invalid.at("/title", "too_long" if name else "required", message)
    if len(query) > QUERY_CHARACTERS_MAX:
        raise errors.Invalid.at("/query", "too_long", "This filter is too long to be saved.")
    key = {"organization_id": caller.organization_id, "user_id": user_id}
    if await store.count_views(db, **key) >= VIEWS_MAX:
        raise errors.Conflict(f"You have {VIEWS_MAX} views. Remove one first.")
    return await store.insert_view(db, **key, view_id=ids.ordered(now), title=name, query=query, shared=shared, now=now)


async def list_views(db: Database, *, caller: Caller) -> list[View]:
    """The user's own and the shared ones; of a caller who is no user those alone."""
    return await store.list_views(
        db, organization_id=caller.organization_id, user_id=caller.user_id or "", limit=SHOWN_MAX
    )


async def get(db: Database, *, caller: Caller, view_id: str) -> View:
    """A view that the caller may use. Raises NotFound."""
    found = await store.get_view(
        db, organization_id=caller.organization_id, view_id=view_id, user_id=caller.user_id or ""
    )
    return errors.found(found, "There is no such view.")


def may_remove(caller: Caller, view: View) -> bool:
    return view.user_id == caller.user_id or caller.role in {"owner", "admin"}


async def remove(db: Database, *, caller: Caller, view_id: str, expect: errors.Expect = errors.ANY) -> None:
    """`expect` is told the version. Raises what it raises, NotFound, and Forbidden for what somebody else shares."""
    view = await get(db, caller=caller, view_id=view_id)
    if not may_remove(caller, view):
        raise errors.Forbidden("Somebody else made this view.")
    expect(VERSION)
    await store.delete_view(db, organization_id=caller.organization_id, view_id=view_id)


def _user_of(caller: Caller) -> str:
    if not caller.user_id:
        raise errors.Forbidden("Views belong to users, and this token belongs to none.")
    return caller.user_id
