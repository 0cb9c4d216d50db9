"""The faults that Afterword must survive, by number: what is done, how much of it, what must come out, and which tests.

A run ends with a line for each number that it touched, and under it what its tests measured. `docs/proof.md` prints
this table; tests/test_bar.py holds both to the tests that there are.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, Protocol

FIGURE: Final = "figure"  # record_property(FIGURE, "…"): what a test measured, told at the end of the run
NUMBER: Final = "bar"
ALWAYS: Final = frozenset({"T01", "T07", "T13"})  # whose fault tests every change must pass
COSTLY_FROM_SECONDS: Final = 0.3  # of all cases of a test, with what they share
# Of the tests that a run may leave out it begins so many seconds, as costs.txt has them.
COSTLY_SECONDS_MAX: Final = 240.0
FAULTS_SECONDS_MAX: Final = 40.0
COSTS: Final = Path(__file__).with_name("costs.txt")
# Costly tests of every change: of what any change can break, and the main job.
EVERY_CHANGE: Final = (
    "tests/test_tidy", "tests/test_docs", "tests/console/test_texts.py", "tests/contract/test_openapi.py",
    "tests/contract/test_statements.py", "tests/journeys/test_journey.py",
)  # fmt: skip


class Tell(Protocol):
    """Says a figure; `counts` stand in its braces, and are added up over the cases of a test.

    Of counts named `most_…` and `fewest_…` the largest and the smallest stands there. `whole` is not shown: it says how
    many cases the figure is made of, so that a run which saw fewer of them says that it is a part.
    """

    def __call__(self, figure: str, **counts: int) -> None: ...


_NUMBERED: Final = re.compile(r"(T\d\d)\b:?\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Proof:
    """One number. `here`: the size in every change, None: nightly alone. `tests`: file or file::name, below tests/."""

    number: str
    fault: str
    here: str | None
    full: str
    figure: str
    tests: tuple[str, ...]


def _proof(number: str, fault: str, here: str | None, full: str, figure: str, *tests: str) -> Proof:
    return Proof(number, fault, here, full, figure, tests)


# A row a fault: number, what is done, its size in every run, its size at night, what must come out, and the tests.
PROOFS: Final[tuple[Proof, ...]] = (
    _proof(
        "T01", "`kill -9` of random workers while they send; again with answers lost after the dot and 4yz",
        "1,000 sends, 6 kills", "20,000 sends, 50 kills",
        "reconciler 0; copies only of items with an `unknown` attempt",
        "run/worker/faults/test_crash.py::test_killed_workers",
    ),
    _proof(
        "T02", "workers die for good, beside 10,000 overdue rows that are locked", "10 workers",
        "200 workers, 20 at once",
        "claimed again within lease + 2 s, all; nothing overdue by more than 5 s",
        "run/worker/faults/test_crash.py::test_recovery",
    ),
    _proof(
        "T03", "the same host name and process id again, restarted amid sends", None, "20 restarts",
        "as T01; no lease is revived", "run/worker/faults/test_crash.py::test_the_same_name_again",
    ),
    _proof(
        "T04", "a channel blocks the loop; a process in which nothing turns", "100 sends", "1,000 sends",
        "wrongly reaped 0; what stands still is fenced, reconciler 0",
        "run/worker/faults/test_poison.py::test_blocked_loop",
    ),
    _proof(
        "T05", "workers sleep past their leases and go on", "1,000 sends, 3 sleepers", "20,000 sends, 21 sleepers",
        "copies only with an `unknown` attempt; stale writes 0; one terminal event each",
        "run/worker/faults/test_crash.py::test_zombies",
    ),
    _proof(
        "T06", "items that end, starve or hold up their worker", "3 poisons, 60 others", "3 poisons, 2,000 others",
        "each kills one worker at most and ends Failed with its cause, 1 event, 1 notification; the others late p99 at "
        "most 2 s; cancelling works meanwhile",
        "run/worker/faults/test_poison.py::test_poison", "run/worker/test_sender.py::TestPoison",
        "run/worker/test_sender.py::TestGivingUp",
    ),
    _proof(
        "T07", "the database dies under sends, 50 POSTs and 20 PATCHes a second, then stays away",
        "1 restart, 5 s away, 400 sends", "10 restarts, 30 s away, 20,000 sends",
        "503 + `Retry-After` within 1 s; acknowledged lost 0; first success within 2 s, all at work within 5 s",
        "run/worker/faults/test_database.py::test_database_restarts",
    ),
    _proof(
        "T08", "items that are due at once, found by polling alone; behind a pooler", None, "each way",
        "missed 0; lateness p99 at most poll + 250 ms; an idle worker uses next to nothing",
        "run/worker/faults/test_polling.py",
    ),
    _proof(
        "T09", "an item that names another as its predecessor; items that are too late when they are found", None,
        "5,000 pairs, 30 kills", "overtaken 0; too late ends Ignored and unsent",
        "run/worker/faults/test_time.py::test_order", "run/worker/faults/test_time.py::test_too_late_when_found",
    ),
    _proof(
        "T10", "every way in which an item ends, and whatever is reported afterwards", "all", "all",
        "exactly 1 terminal event each; a failed one stays 30 days",
        "sending/queue/test_endings.py", "sending/queue/test_retention.py", "sending/queue/test_move_table.py",
    ),
    _proof(
        "T11", "a snapshot that is held, and a dump, beside 800 items a second", None, "5 minutes",
        "at least 90 % of the rate; claim p99 at most 50 ms", "run/worker/faults/test_volume.py::test_old_snapshot",
    ),
    _proof(
        "T12", "clients that cancel, delete, move or send back in the moment of dispatch", "200 items", "2,000 items",
        "cancelled or deleted means not sent, else 409; nothing is revived",
        "run/worker/faults/test_races.py::test_second_thoughts", "sending/queue/test_races.py",
    ),
    _proof(
        "T13", "equal POSTs at once under one `Idempotency-Key`; the web process killed between commit and answer",
        "40 keys by 16, 2 kills", "500 keys by 16, 20 kills",
        "rows = keys; one 201, the rest replays or 409; other body 422, too long 400",
        "contract/test_races.py::TestIdempotencyKeys", "run/worker/faults/test_lost_answers.py",
        "tenants/organizations/test_idempotency.py",
    ),
    _proof(
        "T14", "web and workers with wrong clocks", "100 items", "1,000 items", "early 0; late by at most 1 s (p99)",
        "run/worker/faults/test_clocks.py::test_wrong_clocks",
    ),
    _proof(
        "T15", "windows, quiet hours and local times over every change of the clocks in 40 zones", "1,000 examples",
        "50,000 examples", "each sent once, inside an allowed window", "core/test_clock_changes.py",
    ),
    _proof(
        "T16", "8 writers that commit in any order, a long transaction, a reader that is killed", "8 times 300 events",
        "8 times 25,000 events", "missed 0; one subject's deliveries in order; repeats only under their id",
        "events/test_faults.py::test_nothing_is_missed_and_order_holds",
        "events/test_faults.py::test_killed_between_sending_and_settling",
    ),
    _proof(
        "T17", "nobody works for 6 hours; a base backup, or a dump, of two hours ago is put in place", None,
        "5,000 overdue items",
        "nothing leaves before it is confirmed; then at its rate, the rest Ignored, 1 event each",
        "run/worker/faults/test_time.py::test_outage", "run/worker/faults/test_time.py::test_database_goes_back",
        "run/worker/faults/test_time.py::test_a_dump_is_restored", "sending/queue/test_restores.py",
    ),
    _proof(
        "T18", "one organization has very much due and a target that hangs; another has an item a second",
        "5,000 waiting", "100,000 waiting",
        "the other's dispatch p99 at most 1 s, its webhooks p99 at most 2 s; the target holds at most 2 slots",
        "run/worker/faults/test_neighbours.py", "events/test_faults.py::test_a_target_that_hangs_harms_nobody",
    ),
    _proof(
        "T19", "every phase of SMTP with drop, reset, silence, garbage, drop by drop, 4yz, 5yz, 421", "80 cells",
        "80 cells", "the table of meanings, cell by cell; `unknown` only after the dot; a late 250 counts",
        "sending/channels/test_email.py::test_every_phase_and_fault",
        "sending/channels/test_email.py::test_taken_without_a_word",
        "sending/channels/test_email.py::test_late_answer_counts",
    ),
    _proof(
        "T20", "replies of real servers", "all", "all",
        "each is read right; greylisted mail arrives; faults of ours fail 0 items; six codes suppress",
        "sending/channels/test_replies.py", "run/worker/test_smtp.py::TestAccount",
        "run/worker/test_smtp.py::TestAddresses",
    ),
    _proof(
        "T21", "a server that takes so many a second; a server that dies amid sending",
        "300 messages; dead for 2 s, rests a thirtieth", "10,000 messages; dead for 60 s",
        "all delivered, no attempt counted; hardly a refusal once learned; at most one probe a rest of 30 s, then the "
        "full rate within 30 s; uniform jitter",
        "run/worker/test_smtp.py::TestThrottled", "run/worker/test_smtp.py::TestBreaker",
        "run/worker/test_smtp.py::test_a_server_that_dies_amid_sending", "sending/providers/test_rates.py",
    ),
    _proof(
        "T22", "30 profiles of scanners, link previews and browsers at each address of a mail and of public links; "
        "blind posts of every form; 8 programs that run the script of the page",
        "30 instances, each by one profile; each profile at one public link", "1,000 instances by all",
        "no row of any table changed; by the 8 at most provisional answers, held back; every link works for the "
        "person afterwards",
        "browser/test_scanners.py", "browser/test_choices.py::test_programs_give_no_answer",
        "people/responders/test_pages.py::TestNothingHappens",
    ),
    _proof(
        "T24", "callbacks unsigned, forged, replayed, old, of strangers, with a confirmation address inside", "all",
        "all", "state changes 0, outgoing connections 0; a valid one counts once", "sending/receipts/test_inbound.py",
    ),
    _proof(
        "T25", "line breaks, NUL, separators, endless lines wherever a mail is made of texts", "all", "all",
        "exactly the expected headers and one recipient; crashes 0", "sending/queue/test_injection.py",
        "kit/transport/test_mime.py",
    ),
    _proof(
        "T26", "spellings of addresses: composed, case, IDN, full width, dots, tags", "500 pairs", "10,000 pairs",
        "one normaliser: suppression, caps and sending agree in 100 %; texts come back unchanged",
        "sending/messages/test_address_forms.py",
    ),
    _proof(
        "T27", "injection in every path, parameter, filter, order, cursor, header, and in bodies; a search of the code",
        "some texts, two operations of each family", "29 texts for each operation",
        "result sets changed 0, database errors 0, findings 0",
        "contract/test_injection.py", "contract/test_bad_queries.py::TestQuery::test_injection",
        "contract/test_statements.py",
    ),
    _proof(
        "T28", "markup in every stored text, read on every screen and public page, and in mails and previews; hostile "
        "texts as answers and as texts of a questionnaire",
        "one compound text for each column; 12 of 200 hostile texts", "the same on more pages; all 200",
        "no element, attribute, handler or address comes of it; every page has a policy without `unsafe-inline`",
        "contract/test_markup.py", "browser/test_types.py::TestMarkup",
    ),
    _proof(
        "T29", "answers against every rule: closed, finalized, expired, full, required, of another type; by page, by "
        "API, from other tabs, fifty at once",
        "all", "all", "no rule is passed by any path; completed once", "browser/test_rules.py",
    ),
    _proof(
        "T30", "forms of addresses in private networks; names that change; redirects; endless answers, bombs",
        "all", "all", "bytes at the canaries 0; no redirect; at most 64 KB", "kit/transport/test_ssrf.py",
    ),
    _proof(
        "T32", "throughput on two cores, fsync on; plans over very many due rows", "plans over 20,000 due rows",
        "rates, and plans over 100,000",
        "at least 500 mails, 3,000 moves, 1,500 POSTs a second (p99 50 ms); claim of 100 in 15 ms",
        "run/worker/faults/test_throughput.py", "sending/queue/test_plans.py", "sending/queue/test_plans_of_rules.py",
        "sending/queue/test_plans_on_empty_tables.py", "sending/providers/test_plans_of_rates.py",
    ),
    _proof(
        "T38", "guessed ids of instances and unsubscribe links, short links and references guessed in a row; every bit "
        "of many ids",
        "100 guesses, 2,000 ids", "20,000 guesses, 10,000 ids",
        "hits 0; 429 behind the budget of a source, while good links go on; each bit is a one in half of the ids",
        "browser/test_answering.py::TestRefusals", "test_ids.py::TestSecret",
    ),
    _proof(
        "T43", "the model of all interleavings, virtual days by seed, a random walk over PostgreSQL, each with mutants",
        "model, 50 days, 10 examples", "10,000 days, 2,000 examples of 60 steps, every mutant",
        "violations 0; a seed replays to the byte; every mutant is killed",
        "core/test_sending_model.py", "core/scheduling/test_statuses.py", "sending/queue/test_days.py",
        "sending/queue/test_machine.py",
    ),
    _proof(
        "T44", "SIGTERM while sending, rolling restarts under load, a second signal", "40 in flight, 2 rounds",
        "200 in flight, 20 rounds", "exit within its grace; in flight finished; failed requests 0, lost 0",
        "run/worker/faults/test_stop.py",
    ),
    _proof(
        "T45", "four times the rate that is borne; no connections left; the disk full", None, "60 s",
        "the rest is refused at once; memory at most 1.3 times; nothing lost", "run/worker/faults/test_overload.py",
    ),
    _proof(
        "T46", "old and new code on one schema under load; a migration that meets a lock", "200 items", "5,000 items",
        "5xx 0, lost 0, no lock held for more than 1 s", "run/worker/faults/test_releases.py",
    ),
    _proof(
        "T47", "retention over old items while others are sent", None, "1,000,000 items",
        "claim p99 at most 50 ms; what somebody needs stays", "run/worker/faults/test_volume.py::test_retention",
    ),
    _proof(
        "T49", "workers, web and database die while people start, answer, edit and delete", "5 kills, 60 items",
        "100 kills, 3,000 items", "funnel, kept counts, items and events equal the rows",
        "run/worker/faults/test_figures.py",
    ),
    _proof(
        "T50",
        "backup, restore, move and upgrade of the database, retention and a new secret killed at random moments; "
        "a large database; a past moment", "2 to 5 kills each", "20 kills each, 1.6 GB",
        "repeated to the end, no table differs; no unfinished backup is listed; nobody is left, each row counts once; "
        "each secret opens", "run/backups/faults/test_kills.py", "run/worker/faults/test_forgetting.py",
        "journeys/test_secrets.py", "run/backups/faults/test_volume.py", "run/backups/faults/test_points_in_time.py",
    ),
    _proof(
        "T51", "a worker, a web process and the database restart in turns, by signal and by force, beside orders, "
        "answers, alerts and webhooks", None, "2 hours, 20 orders a second, 60 restarts",
        "memory and files of the processes that live on grow by at most 3 % in the second hour; lost 0; every alert "
        "and call; late p99 at most 5 s",
        "run/worker/faults/test_soak.py::test_soak",
    ),
)  # fmt: skip


@cache
def _numbers_of(test: str) -> tuple[str, ...]:
    whole = f"{test.removeprefix('tests/')}::"
    return tuple(proof.number for proof in PROOFS for each in proof.tests if whole.startswith(f"{each}::"))


def mark(items: Iterable[Any]) -> None:
    """Note on each test which numbers it proves; the note travels with its report."""
    for item in items:
        item.user_properties.extend((NUMBER, number) for number in _numbers_of(test_of(item.nodeid)))


def test_of(nodeid: str) -> str:
    """The test whose case this is."""
    return nodeid.partition("[")[0]


@cache
def costs() -> Mapping[str, float]:
    """The seconds of the costly tests, as a run of all has measured them."""
    lines = COSTS.read_text(encoding="utf-8").splitlines()
    return {test: float(seconds) for seconds, _, test in (line.partition(" ") for line in lines)}


def left_out(tests: AbstractSet[str], by: str, seconds_max: float, first: tuple[str, ...] = ()) -> set[str]:
    """The costly tests that do not fit into the time of a run; others for each commit. `first`: folders to prefer."""
    found = sorted(
        one
        for one in tests & costs().keys()
        if not one.startswith(EVERY_CHANGE) and ALWAYS.isdisjoint(_numbers_of(one))
    )
    random.Random(by).shuffle(found)  # noqa: S311
    found.sort(key=lambda one: not one.startswith(first))
    before = accumulate((costs()[one] for one in found), initial=0.0)
    return {one for one, seconds in zip(found, before, strict=False) if seconds >= seconds_max}


def write_costs(reports: Iterable[Any]) -> None:
    """Keep what the tests of this run have cost, and what is known of others."""
    seconds: Counter[str] = Counter()
    for report in reports:
        seconds[test_of(report.nodeid)] += report.duration
    known = sorted({**costs(), **seconds}.items())
    COSTS.write_text("".join(f"{cost:.1f} {test}\n" for test, cost in known if cost >= COSTLY_FROM_SECONDS))


def lines(reports: Iterable[Any]) -> Iterator[str]:
    """The outcome of each number's tests, with their figures below; last those of tests without a number."""
    outcomes: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    told: defaultdict[tuple[str, str, str], list[Mapping[str, int]]] = defaultdict(list)
    for report in reports:
        properties = getattr(report, "user_properties", ())
        numbers = [str(value) for name, value in properties if name == NUMBER]
        outcome = _outcome(report)
        for number in numbers if outcome else ():
            outcomes[number].add((report.nodeid, outcome))
        for name, value in properties:
            if name == FIGURE and report.when == "call":
                figure, counts = (value, {}) if isinstance(value, str) else value
                named = _NUMBERED.match(figure)
                number, text = (named[1], named[2]) if named else ((numbers or [""])[0], figure)
                path, _, case = report.nodeid.partition("[")  # which may hold anything, "::" too
                test = path.rpartition("::")[2] + ("" if counts or not case else f"[{case}")
                told[number, text, test].append(counts)
    for number in sorted({*outcomes, *(number for number, _, _ in told)}):
        counts = [(outcome, sum(found == outcome for _, found in outcomes[number])) for outcome in WORDS]
        yield f"{number or 'Other'}  {', '.join(f'{count} {WORDS[outcome]}' for outcome, count in counts if count)}"
        for _, text, test in sorted(key for key in told if key[0] == number):
            yield f"     {_figure(text, told[number, text, test])}  [{test}]"


def _figure(text: str, cases: Sequence[Mapping[str, int]]) -> str:
    """The text with what its cases counted, and how many of them there were if those were not all."""
    counted: defaultdict[str, list[int]] = defaultdict(list)
    for name, count in (pair for case in cases for pair in case.items()):
        counted[name].append(count)
    whole = max(counted.pop(WHOLE, [0]))
    shown = {name: OVER_CASES.get(name.partition("_")[0], sum)(counts) for name, counts in counted.items()}
    part = f"in part, {len(cases)} of {whole} cases: " if len(cases) < whole else ""
    return part + (text.format_map(shown) if shown else text)


WHOLE: Final = "whole"
OVER_CASES: Final[Mapping[str, Callable[[Iterable[int]], int]]] = {"most": max, "fewest": min}
WORDS: Final = {"passed": "held", "failed": "FAILED", "skipped": "left out"}


def _outcome(report: Any) -> str:
    """Of a test: setting up and clearing away count only where they fail or leave it out."""
    when, outcome = getattr(report, "when", ""), getattr(report, "outcome", "")
    return outcome if when == "call" or (when in {"setup", "teardown"} and outcome != "passed") else ""
