"""Public addresses: all begin with the one setting, none holds the secret."""

from afterword.core.wire.site import API_PREFIX, Site

SITE = Site("https://ask.shop.example/survey", b"secret" * 6)
PAGES = SITE.pages("O")


def test_addresses() -> None:
    addresses = {
        SITE.base_url: API_PREFIX,
        SITE.api("/token"): f"{API_PREFIX}/token",
        PAGES.collection_url("I"): "/a/I",
        PAGES.short_url("C"): "/s/C",
        PAGES.unsubscribe_url("U"): "/u/U",
        SITE.inbound_url("N"): "/inbound/N",
        PAGES.public_link_url("Q"): "/p/Q",
        SITE.problem_url("not_found"): "/problems/not_found",
    }
    assert {f"https://ask.shop.example/survey{path}": path for path in addresses.values()} == addresses


def test_the_secret_is_not_shown() -> None:
    assert "secret" not in repr(SITE)
