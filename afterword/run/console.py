"""All screens of the console, for `app.py` and for the tests that go through them."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from starlette.responses import Response

from afterword import errors
from afterword.asking import screens as asking
from afterword.cases import screens as cases
from afterword.console.nouns import NOUNS, screens_of
from afterword.console.screens import HOME, Screen, Screens, Visit
from afterword.events import screens as events
from afterword.kit.web.routing import Pages
from afterword.listening import screens as listening
from afterword.people import screens as people
from afterword.privacy import screens as privacy
from afterword.sending import screens as sending
from afterword.tenants import screens as tenants


def _declared() -> Iterator[Screens]:
    """The `routes` of each module, in any order: the router sorts addresses by itself."""
    for package in (asking, cases, events, listening, people, privacy, sending, tenants):
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            routes = getattr(import_module(found.name), "routes", None)
            if isinstance(routes, Screens):
                yield routes


ROUTES = (*_declared(), *map(screens_of, NOUNS))
ELSEWHERE = Screens()


async def _show_nothing(_visit: Visit) -> Response:
    """The console says that it has no such page: that of customers would speak of their link."""
    raise errors.NotFound("There is no such page.")


def screens() -> list[Screen]:
    return [screen for routes in ROUTES for screen in routes.all]


# Addresses that take a form alone have no page either.
_FORMS = {one.path for one in screens()} - {one.path for one in screens() if one.method == "GET"}
for _path in (f"{HOME}/{{path:path}}", *sorted(_FORMS)):
    ELSEWHERE.get(_path, for_limited="free")(_show_nothing)


def pages() -> list[Pages]:
    return [routes.pages for routes in (*ROUTES, ELSEWHERE)]
