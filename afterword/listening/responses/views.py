"""Saved views: filters of the list of responses with a name, made by users for themselves or for everybody."""

from collections.abc import Sequence
from typing import Annotated, Final, TypeVar

from msgspec import Meta

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import route_of
from afterword.kit.nouns.declaration import Change, Editable, Noun, OwnRecord
from afterword.kit.nouns.structs import listing_of, resource_of
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.responses.service import SavedView

VIEWS_MAX: Final = 50  # of a user
SHOWN_MAX: Final = 100
TITLE_CHARACTERS_MAX: Final = 100
QUERY_CHARACTERS_MAX: Final = 4_000

Found = TypeVar("Found", "ResponseView", SavedView)
Title = Annotated[str, Meta(min_length=1, max_length=TITLE_CHARACTERS_MAX)]
Query = Annotated[
    str,
    Meta(max_length=QUERY_CHARACTERS_MAX, description="Of the console's address: `tab=unhappy&days=30`."),
]
QueryShown = Annotated[str, Meta(description="Of the console's address.")]
Shared = Annotated[bool, Meta(description="Whether all users of the organization see it.")]


class ResponseView(OwnRecord, kw_only=True):
    """A saved filter of the list of responses."""

    view_id: fields.Id
    user_id: fields.Id
    title: Annotated[Title, Editable(write=lambda text: " ".join(text.split()), holds="account")]
    query: Annotated[Query, Editable(shown=QueryShown, holds="account")]
    shared: Annotated[Shared, Editable(shown=Shared)] = False


async def _check(change: Change[ResponseView]) -> None:
    """Raise Forbidden for a caller who is no user, Invalid, and Conflict where the user has VIEWS_MAX views."""
    columns, caller = change.columns, change.caller
    if not caller.user_id:
        raise errors.Forbidden("Views belong to users, and this token belongs to none.")
    title = columns["title"]
    if not 1 <= len(title) <= TITLE_CHARACTERS_MAX or not title.isprintable():
        message = f"A name of 1 to {TITLE_CHARACTERS_MAX} characters is expected."
        raise errors.Invalid.at("/title", "too_long" if title else "required", message)
    if len(columns["query"]) > QUERY_CHARACTERS_MAX:
        raise errors.Invalid.at("/query", "too_long", "This filter is too long to be saved.")
    if columns["shared"] and caller.limit is not None:
        raise errors.Invalid.at(
            "/shared", "unknown_value", "You see a part of the data, so your views are yours alone."
        )
    key = {"organization_id": caller.organization_id, "user_id": caller.user_id}
    if await _count_views(change.db, **key) >= VIEWS_MAX:
        raise errors.Conflict(f"You have {VIEWS_MAX} views. Remove one first.")
    columns["user_id"] = caller.user_id


def may_remove(caller: Caller, user_id: str) -> bool:
    """Whether the caller may remove a view of this user."""
    return user_id == caller.user_id or caller.role in {"owner", "admin"}


VIEW = Noun(
    record=ResponseView,
    table="response_view",
    one="view",
    many="views",
    tag="Responses",
    path="/q/response/view",
    scope="Questionnaire Instance",
    about_create="A filter of the list of responses, with a name.",
    about={"create": "For users alone: a token of the organization has no views."},
    names={"create": "save_view", "delete": "remove_view"},
    summaries={"create": "Save a view of responses", "delete": "Remove a saved view"},
    rights={"create": "Read", "delete": "Read"},
    operations=("list", "create", "get", "delete"),
    visible="(t.user_id = $2 or t.shared)",
    is_personal=True,
    filled=("user_id",),
    check=_check,
    fixed=lambda caller, view: (
        None if may_remove(caller, view.user_id) else errors.Forbidden("Somebody else made this view.")
    ),
)
routes = Routes(tag=VIEW.tag, scope=VIEW.scope)


@routes.get(
    VIEW.path,
    answer=resource_of(VIEW),
    shape="array",
    summary="Get all saved views of responses",
    description="The user's own, at most fifty, and those that others share.",
)
async def list_views(call: Call[None], db: Database) -> Answer:
    return Answer([resource_of(VIEW).of(one, call.zone) for one in await views_of(db, caller=call.caller)])


routes.all += [route_of(VIEW, "create"), route_of(VIEW, "delete")]


async def views_of(db: Database, *, caller: Caller) -> list[ResponseView]:
    """The user's own ones, then those that others share, by name; of a caller who is no user those alone."""
    page = Page.first(listing_of(VIEW), limit=SHOWN_MAX)
    found = await nouns.rows(VIEW, db, **caller.reach, user_id=caller.user_id, page=page)
    return in_order(found.items, caller=caller)


def in_order(views: Sequence[Found], *, caller: Caller) -> list[Found]:
    """The caller's own ones first, each part by name."""
    return sorted(views, key=lambda one: (one.user_id != caller.user_id, one.title.lower(), one.view_id))


async def _count_views(db: Database, *, organization_id: str, user_id: str) -> int:
    return await db.fetch_value(
        "select count(*) from response_view where organization_id = $1 and user_id = $2", organization_id, user_id
    )
