"""The routes of a noun: list, create, get, update, delete."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.nouns import service, structs
from afterword.kit.nouns.declaration import METHODS, Noun, Operation, R
from afterword.kit.web.operations import Answer, Call, Route, Routes


def routes_of(noun: Noun[Any]) -> Routes:
    """The declared operations, to which the noun's file adds those of its own."""
    routes = Routes(tag=noun.tag, scope=noun.scope)
    routes.all = [route_of(noun, operation) for operation in noun.operations]
    return routes


def route_of(noun: Noun[R], operation: Operation) -> Route:
    method, status = METHODS[operation]
    resource = structs.resource_of(noun)
    is_list, is_one = operation == "list", operation not in {"list", "create"}
    options: dict[str, Any] = {}
    if is_list:
        options = {"shape": noun.shape, "listing": structs.listing_of(noun)}
    elif operation == "create":
        options = {"body": structs.creation_of(noun)}
    elif operation == "replace":
        options = {"body": structs.creation_of(noun), "other_statuses": (201,)}
    elif operation == "update":
        options = {"body": structs.update_of(noun)}
    elif operation == "delete" and noun.deletion is not None:
        options = {"query": noun.deletion}
    return Route(
        method=method,
        path=f"{noun.path}/{{{noun.key}}}" if is_one and not noun.is_single else noun.path,
        handler=partial(_HANDLERS[operation], noun),
        tag=noun.tag,
        scope=noun.scope_of(operation),
        summary=_summary(noun, operation),
        status=status,
        description=noun.about.get(operation, ""),
        answer=None if operation == "delete" else resource,
        texts=(noun.key,) if is_one and noun.has_number else (),
        refusals=noun.refusals.get(operation, ()),
        for_limited=noun.for_limited if method == "GET" else "refused",
        name=noun.names.get(operation) or f"{operation}_{(noun.many if is_list else noun.one).replace(' ', '_')}",
        **options,
    )


def _summary(noun: Noun[Any], operation: Operation) -> str:
    if operation in noun.summaries:
        return noun.summaries[operation]
    if operation == "list":
        return f"Get all {noun.many}"
    return f"Create new {noun.one}" if operation == "create" else f"{operation.capitalize()} {noun.one.title()}"


def _key(noun: Noun[Any], call: Call[Any]) -> Any:
    if noun.is_single:
        return call.ids.get(noun.key, call.caller.organization_id)
    return noun.read_key(call.ids[noun.key])


async def _list(noun: Noun[R], call: Call[Any], db: Database) -> Answer:
    noun.allow(call.caller, "list")
    rows = await service.rows(noun, db, **call.caller.reach, user_id=call.caller.user_id, page=call.page)
    return await answer_of_rows(noun, call, db, rows)


async def _create(noun: Noun[R], call: Call[Any], db: Database) -> Answer:
    made = await service.create(noun, db, columns=call.body.named(), **call.acting)
    return await answer_of(noun, call, db, made)


async def answer_of(
    noun: Noun[R], call: Call[Any], db: Database, made: service.Made[R], *, is_new: bool = True
) -> Answer:
    """The answer with the secrets that it alone shows."""
    path = noun.path.format_map(call.ids)
    one = f"{path}/{getattr(made.record, noun.key)}" if "get" in noun.operations else path
    location = one if is_new else None
    [given] = [{}] if noun.show is None else await noun.show(call, db, [made.record])
    shown = structs.resource_of(noun).of(made.record, call.zone, **given, **made.shown)
    return Answer(shown, version=getattr(made.record, "version", None), location=location)


async def answer_of_rows(noun: Noun[R], call: Call[Any], db: Database, rows: Rows[R]) -> Answer:
    if noun.show is None:
        return Answer(record=rows)
    resource, given = structs.resource_of(noun), iter(await noun.show(call, db, rows.items))
    return Answer(rows.map(lambda one: resource.of(one, call.zone, **next(given))))


async def _get(noun: Noun[R], call: Call[Any], db: Database) -> Answer:
    found = await service.get(noun, db, caller=call.caller, key=_key(noun, call))
    return await answer_of(noun, call, db, service.Made(found), is_new=False)


async def _update(noun: Noun[R], call: Call[Any], db: Database) -> Answer:
    changes, expect = call.body.named(), call.expect
    changed = await service.update(noun, db, key=_key(noun, call), changes=changes, expect=expect, **call.acting)
    return await answer_of(noun, call, db, service.Made(changed), is_new=False)


async def _delete(noun: Noun[R], call: Call[Any], db: Database) -> None:
    given = {} if call.query is None else call.query.named()
    await service.delete(noun, db, key=_key(noun, call), expect=call.expect, options=given, **call.acting)


_HANDLERS: dict[Operation, Callable[[Noun[Any], Call[Any], Database], Awaitable[object]]] = {
    "list": _list,
    "create": _create,
    "get": _get,
    "update": _update,
    "replace": _update,
    "delete": _delete,
}
