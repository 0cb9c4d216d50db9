"""Proxies in front: whom they let through to the doors of operators, and that one which nobody named is warned of."""

import httpx2
import pytest
from structlog.testing import capture_logs

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web.loopback import untrusted_proxy, url_with_key
from tests.run.test_app import SITE, client_of


class TestProxies:
    @pytest.mark.parametrize(
        ("forwarded", "expected"), [(None, None), ("203.0.113.9, 192.0.2.7:443", None), ("203.0.113.9", "192.0.2.7")]
    )
    def test_untrusted(self, forwarded: str | None, expected: str | None) -> None:
        sent = {"host": "a", **({"x-forwarded-for": forwarded} if forwarded else {})}
        assert expected == untrusted_proxy({"client": ("192.0.2.7", 1)}, sent)

    @pytest.mark.parametrize(
        ("forwarded", "expected"), [(None, "missing"), ("203.0.113.9", "ignored"), ("203.0.113.9, 192.0.2.1", None)]
    )
    async def test_health_tells_it(self, pool: db.Pool, forwarded: str | None, expected: str | None) -> None:
        """The doctor asks it at the public address. No address is in the answer."""
        async with client_of(pool) as client:
            response = await client.get("/healthz", headers={"X-Forwarded-For": forwarded} if forwarded else {})
        assert expected == response.headers.get("Afterword-Forwarded-For")
        assert not any(part in f"{response.headers}{response.text}" for part in ("192.0.2.", "203.0.113."))

    async def test_is_warned_of_once(self, client: httpx2.AsyncClient) -> None:
        with capture_logs() as told:
            for _ in range(2):
                await client.get("/note", headers={"X-Forwarded-For": "203.0.113.9"})
        assert ["AFTERWORD_TRUSTED_PROXIES"] == [line["setting"] for line in told if "setting" in line]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:8080", "X-Forwarded-For": "127.0.0.1"}, 404),
        ({"Host": "localhost:8080", "Forwarded": "for=203.0.113.9"}, 404),
        ({"Host": "survey.example.com"}, 404),
        ({"Host": "localhost:8080"}, 200),
        ({"Host": "[::1]:8080"}, 200),
        ({"Host": "localhost", "X-Forwarded-Proto": "https"}, 404),
        ({"Host": "localhost", "X-Client-IP": "203.0.113.9"}, 404),
        ({"Host": "localhost", "CF-Connecting-IP": "203.0.113.9"}, 404),
    ],
)
async def test_metrics_behind_a_proxy_here(pool: db.Pool, headers: dict[str, str], status: int) -> None:
    site = Site("http://localhost:8080", SITE.secret)
    async with client_of(pool, source="127.0.0.1", site=site) as client:
        assert status == (await client.get("/metrics", headers=headers)).status_code


async def test_metrics_of_a_public_address(pool: db.Pool) -> None:
    """Behind a proxy on this machine a stranger chooses the Host, so only the key opens them."""
    site = Site("https://survey.example.com", SITE.secret)
    async with client_of(pool, source="127.0.0.1", site=site) as client:
        client.headers["Host"] = "localhost"
        keyed = url_with_key(site, "metrics").removeprefix(site.public_url)
        statuses = [(await client.get(path)).status_code for path in ("/metrics", "/metrics?key=00", keyed)]
    assert [404, 404, 200] == statuses
