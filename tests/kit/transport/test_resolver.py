"""Questions to name servers: texts, no texts, no such name, no answer; and answers are kept until their end."""

import pytest

from afterword.kit.transport import http
from afterword.kit.transport.http import NotAsked, Resolver
from tests.kit.transport.name_server import name_server


async def test_texts() -> None:
    long = "v=DKIM1; p=" + "A" * 400
    async with name_server(
        {"shop.example": ["v=spf1 -all", "x"], "long.example": [long], "none.example": []}
    ) as server:
        asking = Resolver([("127.0.0.1", server.port)])
        assert ["v=spf1 -all", "x"] == await asking.texts("shop.example")
        assert [long] == await asking.texts("long.example")
        assert [] == await asking.texts("none.example")
        assert None is await asking.texts("absent.example")
        assert ["v=spf1 -all", "x"] == await asking.texts("SHOP.example")
        assert 1 == server.asked.count("shop.example")


async def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ANSWER_SECONDS", 0.2)
    async with name_server({}, "slow.example") as server:
        asking = Resolver([("127.0.0.1", server.port)])
        for name in ("slow.example", "a" * 64 + ".example", "a..example"):
            with pytest.raises(NotAsked):
                await asking.texts(name)
