"""The hosts of organizations serve the public pages of their organization, and nothing else."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from starlette.types import Scope

from afterword.core.wire.hosts import requested_host
from afterword.core.wire.site import Site

OwnersOf = Callable[[str, str], Awaitable[set[str]]]
"""The organizations to which the page `/{kind}/{key}` belongs."""

NOWHERE: Final = "/%2F"  # no route has it
NOTHING: Final = "-"  # no page has it as its key
_PAGE: Final = re.compile(r"/(?P<kind>a|asset|l|p|s|u)/(?P<key>[^/]+)(?P<rest>/.*)?\Z", re.DOTALL)
_COMMON: Final = ("/static/public/", "/theme/", "/domains/")
_PROBES: Final = frozenset({"/healthz", "/readyz"})


class PageGate:
    def __init__(self, site: Site, owners_of: OwnersOf) -> None:
        self._site = site
        self._owners_of = owners_of

    async def path(self, scope: Scope, sent: Mapping[str, str]) -> str:
        """The path to serve: on an organization's host, one that is not found in place of what is not its own.

        Pages of others are then refused by their own handler, as unknown ones are, which also counts who tries.
        """
        path: str = scope["path"]
        organization_id = self._site.domains.organization_of(requested_host(sent.get("host", "")))
        if organization_id is None or path in _PROBES or path.startswith(_COMMON):
            return path
        page = _PAGE.match(path)
        if page is None:
            return NOWHERE
        owners = await self._owners_of(page["kind"], page["key"])
        if not owners or organization_id in owners:
            return path
        return f"/{page['kind']}/{NOTHING}{page['rest'] or ''}"
