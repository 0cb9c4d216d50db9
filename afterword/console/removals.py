"""Removals: one declaration registers the page that asks, and the act behind its button."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from starlette.responses import Response

from afterword.console.screens import Marked, Screens, Use, Visit
from afterword.core.organizations.access import ForLimited
from afterword.kit.db import Database
from afterword.kit.web import html

_BLANK: Final = re.compile(r"\{(\w+)\}")
Thing = TypeVar("Thing")


def removal(
    routes: Screens,
    path: str,
    *,
    scope: str | None = None,
    proof: bool = False,
    for_limited: ForLimited = "refused",
    title: Marked,
    sentences: Sequence[Marked] | Callable[[Visit, Thing], Sequence[str]],
    button: Marked,
    get: Callable[[Visit], Awaitable[Thing]],
    remove: Callable[[Visit, Database], Awaitable[object]],
    to: str,
    done: str = "removed",
    back: str = "",
    is_harmless: bool = False,
    uses: Callable[[Visit, Thing], Awaitable[Sequence[Use]]] | None = None,
    in_use: Marked = "",
) -> None:
    """Register GET and POST of `path`, with texts that stand in the catalogue.

    `get` finds the thing: a record, or a mapping; the blanks of `title` and `sentences` are its members. `to`: the page
    that follows, which says `done`, unless `remove` returns a response. `back`: the page before, else one step up. Both
    may have parameters of `path`. `is_harmless`: nothing is lost, so the button is not red. `uses`: what
    refuses the act; while there is any, the page says `in_use` and has no button.
    """

    async def ask(visit: Visit) -> Response:
        thing = await get(visit)
        found = await uses(visit, thing) if uses else ()
        said = sentences(visit, thing) if callable(sentences) else [_filled(visit, one, thing) for one in sentences]
        return visit.confirm(
            title=_filled(visit, title, thing),
            sentences=[visit.words(in_use)] if found else said,
            button=visit.words(button),
            back=back.format(**visit.ids),
            is_harmless=is_harmless,
            uses=found,
        )

    async def act(visit: Visit) -> Response:
        async with visit.write() as db:
            answer = await remove(visit, db)
        return answer if isinstance(answer, Response) else html.redirect(f"{to.format(**visit.ids)}?done={done}")

    routes.get(path, scope=scope, proof=proof, for_limited=for_limited)(ask)
    routes.post(path, scope=scope, proof=proof, for_limited=for_limited)(act)


def _filled(visit: Visit, text: str, thing: object) -> str:
    values: Mapping[str, Any] = {
        name: thing[name] if isinstance(thing, Mapping) else getattr(thing, name) for name in _BLANK.findall(text)
    }
    return visit.words(text, **values)
