"""Networks and devices in words."""

import pytest

from afterword.kit.ui import text


@pytest.mark.parametrize(
    ("host", "network"),
    [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2ff::7", "2001:db8:1:200::/56"), ("", "unknown"), ("x", "unknown")],
)
def test_network(host: str, network: str) -> None:
    assert network == text.network_of(host)


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
    assert device == text.device_of(agent)
