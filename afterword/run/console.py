"""All screens of the console, for `app.py` and for the tests that go through them."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from afterword import console
from afterword.console.nouns import NOUNS, screens_of
from afterword.console.screens import Screen, Screens
from afterword.kit.web.routing import Pages


def _declared() -> Iterator[Screens]:
    """The `routes` of each module, in any order: the router sorts addresses by itself."""
    for found in walk_packages(console.__path__, f"{console.__name__}."):
        routes = getattr(import_module(found.name), "routes", None) if found.name != __name__ else None
        if isinstance(routes, Screens):
            yield routes


ROUTES = (*_declared(), *map(screens_of, NOUNS))


def screens() -> list[Screen]:
    return [screen for routes in ROUTES for screen in routes.all]


def pages() -> list[Pages]:
    return [routes.pages for routes in ROUTES]
