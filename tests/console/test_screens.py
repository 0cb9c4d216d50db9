"""The frame of screens: forms within limits, addresses of our own, networks and devices in words."""

from urllib.parse import urlencode

import pytest

from afterword import errors
from afterword.console import screens


@pytest.mark.parametrize(
    ("host", "network"),
    [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2ff::7", "2001:db8:1:200::/56"), ("", "unknown"), ("x", "unknown")],
)
def test_network(host: str, network: str) -> None:
    assert network == screens.network_of(host)


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140 Safari/537.36 Edg/140", "Edge, Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit Version/18 Safari/604.1",
            "Safari, iPhone",
        ),
        ("curl/8", "?"),
        ("", "?"),
    ],
)
def test_device(agent: str, device: str) -> None:
    assert device == screens.device_of(agent)


@pytest.mark.parametrize(
    ("given", "own"),
    [
        ("/console/responses?tab=all", "/console/responses?tab=all"),
        ("/console", "/console"),
        ("/consoles", "/console"),
        ("", "/console"),
        ("https://evil.example/console", "/console"),
        ("//evil.example/console", "/console"),
        ("/console/\\evil", "/console"),
        ("/console/\r\nSet-Cookie: a=b", "/console"),
    ],
)
def test_own_address(given: str, own: str) -> None:
    assert own == screens.own_address(given)


class TestForm:
    def test_too_much(self) -> None:
        with pytest.raises(errors.Malformed):
            screens.read_form(b"&".join(b"a=1" for _ in range(screens.FIELDS_MAX + 1)))
        with pytest.raises(errors.TooLarge):
            screens.read_form(urlencode({"a": "x" * (screens.VALUE_CHARACTERS_MAX + 1)}).encode())
        with pytest.raises(errors.Malformed):
            screens.read_form("a=é".encode())
        with pytest.raises(errors.Malformed):
            screens.read_form(b"a=%ff")

    def test_ok(self) -> None:
        form = screens.read_form(b"a=+x+&a=y&b=%C3%A9%00&c=1%0D%0A2")
        assert ("x", " x ", ["+x+".replace("+", " "), "y"]) == (form.text("a"), form.secret("a"), form.all("a"))
        assert ("é", "1\n2", "", []) == (form.text("b"), form.text("c"), form.text("d"), form.all("d"))
