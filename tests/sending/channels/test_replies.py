"""Real replies and what each means, and where a conversation breaks off."""

import itertools
from pathlib import Path

import pytest

from afterword.kit.transport.base import Outcome, Refused, Retry, Sent
from afterword.sending.channels.conversation import GREYLIST_SECONDS, Phase, broken, classify, enhanced_of, worded
from tests.bar import Tell
from tests.sending.channels import calls

READ = Path(__file__).with_name("replies.txt").read_text().splitlines()
REPLIES = [
    (expected, Phase[phase], int(code), text)
    for expected, phase, code, text in (line.split(maxsplit=3) for line in READ if not line.startswith("#"))
]


def kind(outcome: Outcome) -> str:
    match outcome:
        case Refused(suppress=True):
            return "gone"
        case Retry(cause="recipient", after_seconds=seconds):
            return "grey" if seconds == GREYLIST_SECONDS else "plain"
        case _:
            return calls.kind(outcome)


@pytest.mark.parametrize(("expected", "phase", "code", "text"), REPLIES)
def test_replies(expected: str, phase: Phase, code: int, text: str, tell: Tell) -> None:
    found = kind(classify(phase, code, text, recipient="ann@example.org"))
    tell("{right} of {replies} replies read right", right=expected == found, replies=1, whole=len(REPLIES))
    assert expected == found


def test_at_least_forty() -> None:
    assert len({(code, text) for _, _, code, text in REPLIES}) == len(REPLIES) >= 40


def test_six_codes_suppress_and_no_other(tell: Tell) -> None:
    """Of every code that RFC 3463 has room for, in every phase; with every reply that means never where they do."""
    codes = [f"{kind}.{subject}.{detail}" for kind in (4, 5) for subject in range(8) for detail in range(40)]
    replies = (500, 521, 550, 551, 552, 553, 554, 556)
    tried = [*itertools.product((Phase.RCPT, Phase.DOT), replies, codes), *itertools.product(Phase, (550,), codes)]
    found: set[str] = set()
    for phase, reply, code in tried:
        outcome = classify(phase, reply, f"{code} no")
        if isinstance(outcome, Refused) and outcome.suppress:
            assert phase in {Phase.RCPT, Phase.DOT}
            found.add(code)
    tell(f"{len(found)} of {len(codes)} enhanced codes suppress")
    assert {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"} == found


def test_greylisting_waits_five_minutes() -> None:
    assert GREYLIST_SECONDS >= 300


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("reply", [(421, "4.3.2 closing"), (454, "busy"), (452, "4.5.3 x"), (550, "rate limited")])
def test_throttled_at_any_point(phase: Phase, reply: tuple[int, str]) -> None:
    assert classify(phase, *reply) == Retry("throttle", worded(*reply), reply[0])


@pytest.mark.parametrize(
    ("expected", "phase"),
    [
        ("connection", Phase.CONNECT),
        ("connection", Phase.AUTH),
        ("connection", Phase.MAIL),
        ("plain", Phase.RCPT),
        ("plain", Phase.DATA),
        ("plain", Phase.BODY),
        ("unknown", Phase.DOT),
    ],
)
def test_broken_off(expected: str, phase: Phase) -> None:
    assert expected == kind(broken(phase, "The server hung up."))


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.DOT])
@pytest.mark.parametrize("code", [-1, 0, 150, 250, 354, 421, 450, 535, 550, 599, 999])
def test_never_unknown_before_the_dot(phase: Phase, code: int) -> None:
    assert isinstance(classify(phase, code, "5.1.1 whatever"), Retry | Refused)


@pytest.mark.parametrize(
    ("expected", "phase", "code", "text"),
    [
        ("example.org", Phase.RCPT, 450, "4.7.0 <ann@example.org>: rate limit exceeded"),
        ("example.org", Phase.RCPT, 452, "4.5.3 Too many recipients"),
        ("example.org", Phase.DOT, 450, "4.7.0 delivery to EXAMPLE.org is rate limited"),
        (None, Phase.DOT, 454, "Throttling failure: Maximum sending rate exceeded."),
        (None, Phase.DOT, 454, "Throttling failure for sub.example.org and example.organic"),
        (None, Phase.MAIL, 450, "4.7.0 rate limit of example.org exceeded"),
        (None, Phase.RCPT, 421, "4.7.0 too many connections"),
        (None, Phase.CONNECT, 421, "4.7.0 too many connections"),
        (None, Phase.RCPT, 450, "4.7.1 Client host rejected: too many connections"),
    ],
)
def test_whose_throttle_it_is(expected: str | None, phase: Phase, code: int, text: str) -> None:
    outcome = classify(phase, code, text, recipient="Ann@Example.ORG")
    assert isinstance(outcome, Retry)
    assert ("throttle", expected) == (outcome.cause, outcome.domain)


def test_a_retry_of_the_recipients_own_has_no_domain() -> None:
    outcome = classify(Phase.RCPT, 451, "4.7.1 Greylisting", recipient="ann@example.org")
    assert isinstance(outcome, Retry)
    assert outcome.domain is None


def test_addresses_are_masked() -> None:
    outcome = classify(
        Phase.RCPT, 550, "5.1.1 <ann@example.org>: no\nsuch\x00user bob%40example.org", recipient="ann@x"
    )
    assert isinstance(outcome, Refused)
    assert "ann@" not in outcome.reason
    assert "bob" not in outcome.reason
    assert "\n" not in outcome.reason
    assert "\x00" not in outcome.reason


def test_long_replies_are_cut() -> None:
    assert 500 == len(worded(550, "no " * 10_000))


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("4XyZ1abCD", "2.0.0 Ok: queued as 4XyZ1abCD"),
        ("0100018b2f-ab12-000000", "Ok 0100018b2f-ab12-000000"),
        (None, "2.0.0 Ok"),
        (None, "message accepted for delivery"),
    ],
)
def test_reference(expected: str | None, text: str) -> None:
    outcome = classify(Phase.DOT, 250, text)
    assert isinstance(outcome, Sent)
    assert expected == outcome.reference


@pytest.mark.parametrize(
    ("expected", "text"), [("5.1.1", "5.1.1 no"), ("5.1.10", "<x> 5.1.10 no"), (None, "10.5.1.1 no"), (None, "no")]
)
def test_enhanced(expected: str | None, text: str) -> None:
    assert expected == enhanced_of(text)
