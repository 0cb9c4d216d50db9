"""Rate limits in this process's memory: requests by token and organization, failures by source."""

import collections
import ipaddress
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from afterword import errors

WINDOW_SECONDS = 60
KEYS_MAX = 100_000  # of one window; strangers beyond it share one count
TOKEN_REQUESTS_DEFAULT = 6_000
ORGANIZATION_REQUESTS_DEFAULT = 24_000
FAILURES_DEFAULT = 60
LINK_STARTS_DEFAULT = 120  # of public links, by source: a shop's visitors may share one
MISSES_DEFAULT = 30  # by source, of short links and of references on public links: both could be tried out
LARGE_BODIES_MAX = 16  # in a process at the same moment; one may take a hundred megabytes while it is worked off
LARGE_BODIES_OF_ONE_MAX = 4  # of an organization
LARGE_BODY_WAIT_SECONDS = 2
_REST = "the rest"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many a minute; 0: no limit."""

    token_requests: int = TOKEN_REQUESTS_DEFAULT
    organization_requests: int = ORGANIZATION_REQUESTS_DEFAULT
    failed_authentications: int = FAILURES_DEFAULT
    link_starts: int = LINK_STARTS_DEFAULT
    misses: int = MISSES_DEFAULT


@dataclass(frozen=True, slots=True)
class LimitState:
    """What is left of a limit, and in how many seconds it starts anew."""

    limit: int
    remaining: int
    reset_seconds: int
    is_over: bool = False


class Counter:
    """Counts by key in windows of a minute; all windows start together, so that forgetting costs nothing."""

    def __init__(self, limit: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._window = -1
        self._counts: dict[str, int] = {}

    def add(self, key: str, count: int = 1) -> LimitState:
        """Count `count` more for `key`."""
        reset_seconds = self._turn()
        if key not in self._counts and len(self._counts) >= KEYS_MAX:
            key = _REST
        total = self._counts[key] = self._counts.get(key, 0) + count
        return LimitState(self.limit, max(0, self.limit - total), reset_seconds, is_over=0 < self.limit < total)

    @property
    def reset_seconds(self) -> int:
        """Until the window ends; at least 1."""
        return WINDOW_SECONDS - int(self._clock()) % WINDOW_SECONDS

    def _turn(self) -> int:
        window, passed = divmod(int(self._clock()), WINDOW_SECONDS)
        if window != self._window:
            self._window = window
            self._counts.clear()
        return WINDOW_SECONDS - passed


class Limiter:
    """The limits of a web process."""

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = Counter(limits.token_requests, clock=clock)
        self._organizations = Counter(limits.organization_requests, clock=clock)
        self._failures = Counter(limits.failed_authentications, clock=clock)
        self._starts = Counter(limits.link_starts, clock=clock)
        self._misses = Counter(limits.misses, clock=clock)
        self._large: collections.Counter[str] = collections.Counter()

    def count_failure(self, source: str) -> None:
        """One more authentication of this source failed; raises TooMany over the limit.

        Counted after the look-up: others behind the same address may have good credentials.
        """
        if self._failures.limit and self._failures.add(source_key(source)).is_over:
            raise _too_many("Too many failed authentications from this address.", self._failures.reset_seconds)

    def count_start(self, source: str) -> None:
        """One more start on a public link, which anybody may make; raises TooMany over the limit."""
        if self._starts.limit and self._starts.add(source_key(source)).is_over:
            raise _too_many("Too many questionnaires were started from this address.", self._starts.reset_seconds)

    def count_miss(self, source: str) -> None:
        """One more address of a page that leads nowhere; raises TooMany over the limit."""
        if self._misses.limit and self._misses.add(source_key(source)).is_over:
            raise _too_many("Too many addresses were tried.", self._misses.reset_seconds)

    @contextmanager
    def large_body(self, organization_id: str) -> Generator[None, None, None]:
        """Hold a place for a body of many megabytes while it is read and worked off; raises Unavailable without one."""
        if self._large.total() >= LARGE_BODIES_MAX or self._large[organization_id] >= LARGE_BODIES_OF_ONE_MAX:
            raise errors.Unavailable(
                f"At most {LARGE_BODIES_OF_ONE_MAX} large bodies of an organization are read at the same moment.",
                headers={"Retry-After": str(LARGE_BODY_WAIT_SECONDS)},
            )
        self._large[organization_id] += 1
        try:
            yield
        finally:
            self._large[organization_id] -= 1
            if not self._large[organization_id]:
                del self._large[organization_id]

    def count_request(self, *, token_id: str, organization_id: str, requests: int = 1) -> LimitState | None:
        """`requests` more; what is left of the limit that is over, or ends first. None when both are off."""
        standings = [
            counter.add(key, requests)
            for counter, key in ((self._tokens, token_id), (self._organizations, organization_id))
            if counter.limit
        ]
        return min(standings, key=lambda standing: (not standing.is_over, standing.remaining)) if standings else None


def over(standing: LimitState) -> errors.TooMany:
    """The refusal of a request that is over."""
    return _too_many("Too many requests in this minute.", standing.reset_seconds)


def source_key(address: str) -> str:
    """What counts as one source: an IPv4 address, or the 64 bits of an IPv6 network that one customer gets."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network(f"{address.partition('%')[0]}/64", strict=False))
    except ValueError:
        return address


def _too_many(detail: str, seconds: int) -> errors.TooMany:
    return errors.TooMany(detail, headers={"Retry-After": str(seconds)})
