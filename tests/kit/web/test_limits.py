"""Counting in windows of a minute, in bounded memory."""

from contextlib import ExitStack

import pytest

from afterword import errors
from afterword.kit.web import limits
from afterword.kit.web.limits import Counter, Limiter, Limits, source_key


class Clock:
    def __init__(self) -> None:
        self.seconds = 600.0

    def __call__(self) -> float:
        return self.seconds


def test_over_and_new_again() -> None:
    clock = Clock()
    counter = Counter(2, clock=clock)
    assert [(1, False), (0, False), (0, True)] == [
        (standing.remaining, standing.is_over) for standing in (counter.add("a") for _ in range(3))
    ]
    assert 1 == counter.add("b").remaining
    clock.seconds += 59
    assert (True, 1) == ((state := counter.add("a")).is_over, state.reset_seconds)
    clock.seconds += 1
    assert (1, 60) == ((state := counter.add("a")).remaining, state.reset_seconds)


def test_off() -> None:
    limiter = Limiter(Limits(0, 0, 0))
    assert limiter.count_request(token_id="t", organization_id="o") is None
    for _ in range(1000):
        limiter.count_failure("192.0.2.1")


def test_failures_of_one_source() -> None:
    clock = Clock()
    limiter = Limiter(Limits(0, 0, 3), clock=clock)
    for _ in range(3):
        limiter.count_failure("192.0.2.1")
    with pytest.raises(errors.TooMany) as caught:
        limiter.count_failure("192.0.2.1")
    assert "60" == caught.value.headers["Retry-After"]
    assert "Try again in 60 seconds." in caught.value.detail
    limiter.count_failure("192.0.2.2")
    clock.seconds += 60
    limiter.count_failure("192.0.2.1")


def test_the_nearer_limit_is_told() -> None:
    limiter = Limiter(Limits(10, 5, 0))
    standing = limiter.count_request(token_id="t", organization_id="o", requests=2)
    assert standing is not None
    assert (5, 3) == (standing.limit, standing.remaining)


def test_the_limit_that_is_over_is_told() -> None:
    """Not the other one, of which nothing is left but which is not over yet."""
    limiter = Limiter(Limits(3, 2, 0))
    limiter.count_request(token_id="t", organization_id="o", requests=2)
    standing = limiter.count_request(token_id="t", organization_id="o")
    assert standing is not None
    assert (2, True) == (standing.limit, standing.is_over)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEYS_MAX", 3)
    counter = Counter(2)
    for key in "abc":
        counter.add(key)
    assert [False, False, True] == [counter.add(key).is_over for key in "def"]
    assert not counter.add("a").is_over


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::7", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("not:an address", "not:an address"),
    ],
)
def test_what_is_one_source(address: str, key: str) -> None:
    assert key == source_key(address)


class TestLargeBodies:
    def test_of_an_organization(self) -> None:
        limiter = Limiter(Limits())
        with ExitStack() as held:
            for _ in range(limits.LARGE_BODIES_OF_ONE_MAX):
                held.enter_context(limiter.large_body("a"))
            with pytest.raises(errors.Unavailable) as refused, limiter.large_body("a"):
                pass
            assert {"Retry-After": "2"} == refused.value.headers
            held.enter_context(limiter.large_body("b"))
        with limiter.large_body("a"):
            pass

    def test_of_all(self) -> None:
        limiter = Limiter(Limits())
        with ExitStack() as held:
            for number in range(limits.LARGE_BODIES_MAX):
                held.enter_context(limiter.large_body(str(number)))
            with pytest.raises(errors.Unavailable), limiter.large_body("another"):
                pass


def test_files_of_one_source() -> None:
    limiter = Limiter(Limits(uploads=1))
    with ExitStack() as held:
        for _ in range(limits.UPLOADS_OF_ONE_MAX):
            held.enter_context(limiter.upload("2001:db8::1"))
        with pytest.raises(errors.Unavailable), limiter.upload("2001:db8::2"):
            raise AssertionError
    limiter.count_upload("192.0.2.1")
    with pytest.raises(errors.TooMany):
        limiter.count_upload("192.0.2.1")
