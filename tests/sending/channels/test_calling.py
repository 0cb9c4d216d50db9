"""The table of what an HTTP answer means, row by row, for a gateway of ours and for a receiver that dedupes."""

import pytest

from afterword.kit.transport.base import Fenced, Sent
from afterword.kit.transport.http import Answer
from afterword.sending.channels import calling
from afterword.sending.channels.calling import Terms
from tests.sending.channels import calls
from tests.sending.channels.calls import Begin, kind
from tests.sending.channels.receiver import Receiver, Reply, Way, closed_port

GATEWAY = Terms(is_ours=True, may_repeat=False, seconds=5.0)
IDEMPOTENT = Terms(is_ours=True, may_repeat=True, seconds=5.0)
RECEIVER = Terms(is_ours=False, may_repeat=True, seconds=5.0)


@pytest.mark.parametrize(
    ("status", "gateway", "receiver"),
    [
        (200, "sent", "sent"), (201, "sent", "sent"), (202, "sent", "sent"), (204, "sent", "sent"),
        (299, "sent", "sent"),
        (301, "account", "recipient"), (302, "account", "recipient"), (308, "account", "recipient"),
        (401, "account", "recipient"), (403, "account", "recipient"),
        (429, "throttle", "throttle"), (503, "throttle", "throttle"),
        (408, "recipient", "recipient"), (425, "recipient", "recipient"),
        (400, "refused", "refused"), (402, "refused", "refused"), (404, "refused", "refused"),
        (410, "refused", "refused"),
        (422, "refused", "refused"), (499, "refused", "refused"),
        (500, "unknown", "recipient"), (502, "unknown", "recipient"), (504, "unknown", "recipient"),
    ],
)  # fmt: skip
def test_statuses(status: int, gateway: str, receiver: str) -> None:
    answer = Answer(status, {}, b"")
    assert (gateway, receiver) == (
        kind(calling.outcome_of(answer, GATEWAY)),
        kind(calling.outcome_of(answer, RECEIVER)),
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None), ({"retry-after": "30"}, 30), ({"retry-after": "0"}, 1), ({"retry-after": "86400"}, 3600),
        ({"retry-after": "soon"}, None), ({"retry-after": "-5"}, None), ({"retry-after": "9" * 400}, None),
        ({"retry-after": "Sat, 21 Nov 2026 10:01:00 GMT", "date": "Sat, 21 Nov 2026 10:00:00 GMT"}, 60),
        ({"retry-after": "Sat, 21 Nov 2026 09:00:00 GMT", "date": "Sat, 21 Nov 2026 10:00:00 GMT"}, 1),
        ({"retry-after": "Sat, 21 Nov 2026 10:01:00 GMT"}, None),  # measured by what?
    ],
)  # fmt: skip
def test_retry_after(headers: dict[str, str], seconds: int | None) -> None:
    assert seconds == calling.retry_after(Answer(429, headers, b""))


async def call(url: str, terms: Terms, begin: Begin) -> str:
    async with calls.calling() as caller:
        outcome = await calling.call(
            caller,
            method="POST",
            url=url,
            headers={},
            content=b"x",
            terms=terms,
            begin=begin,
            judge=lambda answer: calling.outcome_of(answer, terms),
        )
    return kind(outcome)


class TestNoAnswer:
    """Known not sent before the first byte, unknown after it, unless repeating is harmless."""

    @pytest.mark.parametrize(("terms", "expected"), [(GATEWAY, "connection"), (RECEIVER, "recipient")])
    async def test_refused_connection(self, terms: Terms, expected: str) -> None:
        begin = Begin()
        with closed_port() as port:
            assert expected == await call(f"http://127.0.0.1:{port}", terms, begin)
        assert 0 == begin.count  # so that no attempt of a gateway's is counted

    @pytest.mark.parametrize(("terms", "expected"), [(GATEWAY, "account"), (RECEIVER, "recipient")])
    async def test_an_address_that_may_not_be_called(self, terms: Terms, expected: str) -> None:
        begin = Begin()
        assert (expected, 0) == (await call("http://10.0.0.1/x", terms, begin), begin.count)

    @pytest.mark.parametrize("way", ["drop", "reset", "half", "garbage"])
    @pytest.mark.parametrize(
        ("terms", "expected"), [(GATEWAY, "unknown"), (IDEMPOTENT, "recipient"), (RECEIVER, "unknown")]
    )
    async def test_broken_after_it_left(self, way: Way, terms: Terms, expected: str) -> None:
        begin = Begin()
        async with Receiver(Reply(way=way)) as receiver:
            assert (expected, 1) == (await call(receiver.url, terms, begin), begin.count)

    async def test_fenced(self) -> None:
        async with Receiver() as receiver:
            with pytest.raises(Fenced):
                await call(receiver.url, GATEWAY, Begin(Fenced()))
            assert [] == receiver.given

    async def test_answered(self) -> None:
        begin = Begin()
        async with Receiver(Reply(202)) as receiver:
            assert ("sent", 1) == (await call(receiver.url, GATEWAY, begin), begin.count)


def test_what_is_kept_of_an_answer() -> None:
    assert Sent(None, 202, "HTTP 202") == calling.outcome_of(Answer(202, {}, b"anything"), GATEWAY)
