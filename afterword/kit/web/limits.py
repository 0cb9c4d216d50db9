"""Rate limits in this process's memory: requests by token and organization, failures by source."""

import collections
import ipaddress
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

import msgspec

from afterword import errors

WINDOW_SECONDS = 60
KEYS_MAX = 100_000  # in one window; further keys share one count
TOKEN_REQUESTS_DEFAULT = 6_000
ORGANIZATION_REQUESTS_DEFAULT = 24_000
FAILURES_DEFAULT = 60
LINK_STARTS_DEFAULT = 120  # of public links, by source: a shop's visitors may share one
MISSES_DEFAULT = 30  # by source, of short links and of references on public links: both could be guessed
LARGE_BODIES_MAX = 16  # at the same time in a process; one may take a hundred megabytes while it is processed
LARGE_BODIES_OF_ONE_MAX = 4  # of an organization
LARGE_BODY_WAIT_SECONDS = 2
UPLOADS_DEFAULT = 60  # of pages with files, by source
UPLOADS_AT_ONCE_MAX = 16  # in a process
UPLOADS_OF_ONE_MAX = 4  # of a source
_REST = "the rest"


class Limits(msgspec.Struct, frozen=True):
    """Requests a minute; 0: no limit."""

    token_requests: int = TOKEN_REQUESTS_DEFAULT
    organization_requests: int = ORGANIZATION_REQUESTS_DEFAULT
    failed_authentications: int = FAILURES_DEFAULT
    link_starts: int = LINK_STARTS_DEFAULT
    misses: int = MISSES_DEFAULT
    uploads: int = UPLOADS_DEFAULT
    link_burst: int = 0  # of one questionnaire, from one network; more are held back. 0: none, however fast


class LimitState(msgspec.Struct, frozen=True):
    """The rest of a limit in this window, and the seconds until the next window."""

    limit: int
    remaining: int
    reset_seconds: int
    is_over: bool = False

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        return (
            (b"ratelimit-limit", b"%d" % self.limit),
            (b"ratelimit-remaining", b"%d" % self.remaining),
            (b"ratelimit-reset", b"%d" % self.reset_seconds),
        )


class Counter:
    """Counts by key in windows of a minute; all windows start together, so that resetting is one `clear`."""

    def __init__(self, limit: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._window = -1
        self._counts: dict[str, int] = {}

    def add(self, key: str, count: int = 1) -> LimitState:
        window, passed = divmod(int(self._clock()), WINDOW_SECONDS)
        if window != self._window:
            self._window = window
            self._counts.clear()
        if key not in self._counts and len(self._counts) >= KEYS_MAX:
            key = _REST
        total = self._counts[key] = self._counts.get(key, 0) + count
        remaining = max(0, self.limit - total)
        return LimitState(self.limit, remaining, WINDOW_SECONDS - passed, is_over=0 < self.limit < total)


class Limiter:
    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = Counter(limits.token_requests, clock=clock)
        self._organizations = Counter(limits.organization_requests, clock=clock)
        self._failures = Counter(limits.failed_authentications, clock=clock)
        self._starts = Counter(limits.link_starts, clock=clock)
        self._misses = Counter(limits.misses, clock=clock)
        self._bursts = Counter(limits.link_burst, clock=clock)
        self._uploads = Counter(limits.uploads, clock=clock)
        self._large: collections.Counter[str] = collections.Counter()
        self._uploading: collections.Counter[str] = collections.Counter()

    def count_failure(self, source: str) -> None:
        """Count a failed authentication of this source; raises TooMany over the limit.

        Counted after authentication: other clients behind the same address may have valid credentials.
        """
        _count(self._failures, source, "Too many failed authentications from this address.")

    def count_start(self, source: str) -> None:
        """Count a start on a public link, which anybody may make; raises TooMany over the limit."""
        _count(self._starts, source, "Too many questionnaires were started from this address.")

    @property
    def holds_back(self) -> bool:
        """Whether responses that come in bursts, or too fast, wait for a person."""
        return self._bursts.limit > 0

    def is_burst(self, source: str, questionnaire_id: str) -> bool:
        """Count a start at a questionnaire; True over the limit of its network."""
        return self._bursts.add(f"{network_key(source)} {questionnaire_id}").is_over

    def count_miss(self, source: str) -> None:
        """Count a page address that does not exist; raises TooMany over the limit."""
        _count(self._misses, source, "Too many addresses were tried.")

    def take_back_miss(self, source: str) -> None:
        """Count one less: it was counted before anybody looked, and is none."""
        self._misses.add(source, -1)

    def count_upload(self, source: str) -> None:
        """Count a posted page that may hold files; raises TooMany over the limit."""
        _count(self._uploads, source, "Too many files were sent from this address.")

    def upload(self, source: str) -> AbstractContextManager[None]:
        """Take a slot while a page with files is read and checked; raises Unavailable where none is free."""
        return _slot(self._uploading, source_key(source), most=UPLOADS_AT_ONCE_MAX, most_of_one=UPLOADS_OF_ONE_MAX)

    def large_body(self, organization_id: str) -> AbstractContextManager[None]:
        """Take a slot while a large body is read and processed; raises Unavailable where none is free."""
        return _slot(self._large, organization_id, most=LARGE_BODIES_MAX, most_of_one=LARGE_BODIES_OF_ONE_MAX)

    def count_request(self, *, token_id: str, organization_id: str, requests: int = 1) -> LimitState | None:
        """Count requests. Returns the state of the limit that is over or closest to it; None when both are off."""
        state = self._tokens.add(token_id, requests) if self._tokens.limit else None
        if not self._organizations.limit:
            return state
        other = self._organizations.add(organization_id, requests)
        if state is None or (not other.is_over, other.remaining) < (not state.is_over, state.remaining):
            return other
        return state


def check(state: LimitState | None, detail: str = "Too many requests in this minute.") -> None:
    """Raise TooMany over the limit; it says when the next request is taken."""
    if state is not None and state.is_over:
        seconds = state.reset_seconds
        raise errors.TooMany(f"{detail} Try again in {seconds} seconds.", headers={"Retry-After": str(seconds)})


def source_key(address: str) -> str:
    """One source is an IPv4 address, or a /64 network of IPv6, since one customer gets that many."""
    return _range_of(address, 64) if ":" in address else address


def network_key(address: str) -> str:
    """The range that an address is rented out in: /24 of IPv4, /48 of IPv6."""
    return _range_of(address, 48 if ":" in address else 24)


def _range_of(address: str, bits: int) -> str:
    """The network of so many bits that has the address; a text that is no address stays as it is."""
    try:
        return str(ipaddress.ip_network(f"{address.partition('%')[0]}/{bits}", strict=False))
    except ValueError:
        return address


def _count(counter: Counter, source: str, detail: str) -> None:
    if counter.limit:
        check(counter.add(source_key(source)), detail)


@contextmanager
def _slot(taken: "collections.Counter[str]", key: str, *, most: int, most_of_one: int) -> Generator[None, None, None]:
    if taken.total() >= most or taken[key] >= most_of_one:
        raise errors.Unavailable(
            f"At most {most_of_one} large bodies of one sender are read at the same moment.",
            headers={"Retry-After": str(LARGE_BODY_WAIT_SECONDS)},
        )
    taken[key] += 1
    try:
        yield
    finally:
        taken[key] -= 1
        if not taken[key]:
            del taken[key]
