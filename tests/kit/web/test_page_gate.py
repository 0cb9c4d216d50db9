"""Pages on an organization's own host, by path."""

import pytest

from afterword.core.wire.site import Site
from afterword.kit.web.middleware import NOWHERE, PageGate

OWNERS = {("a", "mine"): {"us"}, ("a", "theirs"): {"them"}, ("s", "both"): {"us", "them"}}


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/a/mine", "/a/mine"),
        ("/a/theirs", "/a/-"),
        ("/a/theirs/view", "/a/-/view"),
        ("/a/nobodys", "/a/nobodys"),
        ("/s/both", "/s/both"),
        ("/healthz", "/healthz"),
        ("/static/public/box.js", "/static/public/box.js"),
        ("/static/console/keys.js", NOWHERE),
        ("/", NOWHERE),
        ("/a", NOWHERE),
        ("/a/", NOWHERE),
        ("/console", NOWHERE),
        ("/v3.2/q/instance/mine", NOWHERE),
        ("/new/mine", NOWHERE),
    ],
)
async def test_served(path: str, served: str) -> None:
    async def owners_of(kind: str, key: str) -> set[str]:
        return OWNERS.get((kind, key), set())

    site = Site("https://answers.example", b"k")
    site.domains.replace([("us", "ask.shop.example", False)])
    gate = PageGate(site, owners_of)
    assert served == await gate.path({"path": path}, {"host": "Ask.shop.example:443"})
    for host in ("answers.example", "ask.shop.example.evil.example", "a.ask.shop.example"):
        assert path == await gate.path({"path": path}, {"host": host})
