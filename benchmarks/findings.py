"""Findings of a measurement as rows of the table, and the text of results.md."""

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

HEAD = "| What | Against | Ratio | Floor | Reached | Absolute, a side note |\n|---|---|---|---|---|---|"
LIMITS_HEAD = "| What | Value | Limit | Reached |\n|---|---|---|---|"

NOTHING = "\N{EN DASH}"
HEADING = """# Speed

Written by `make bench`; one part alone: `.venv/bin/python -m benchmarks post`. Each subject is measured in turn with
its ceiling in the same run (A B A B …); the ratio of the median round counts, the lowest and highest stand beside it.
"""
EXPLANATION = """\
- **pgbench, the same SQL**: `pgbench -M prepared`, as many clients, the very statements that one such request
  sends, in a transaction of its own (POST) or without one (list, instance). POSTs that wait at the same moment share a
  transaction, so their ratio may pass 1; reads by id share a statement.
- **a bare server**: uvicorn with httptools and uvloop, an ASGI function that reads the body and answers a constant of
  the same size and status.
- **fused batches**: one statement that completes the former batch and claims the next (`update … from (select … for
  update skip locked) … returning …`), on as many connections as ours: 2 row writes an item, and one commit a batch.
  With **short rows** it is the design's own claim, with tenants, lanes, epochs and leases, but nothing else in the row:
  what the floor is held against. With **four columns** the key is a number, and there are no tenants, leases and lists.
  On **the queue's own table** it shows what the schema costs.
  Ours decide by the pipeline's rules, issue an instance and write an attempt and two events: 9 row writes an item, 12
  where the person is new, and three commits a batch. 50 is the worker's default number of slots, 200 the most.
- **procrastinate, pgqueuer**: queues in PostgreSQL, one process with an async task that does nothing, on the same
  server in the same run; ours is one worker process on the channel without a wire, which renders no text. Ours decides,
  issues an instance, records the intent before and the outcome after it, fences whoever was too slow, and tells two
  events; pgqueuer deletes a job in batches and writes a log row, records no attempts and fences nothing.
- **alone**: the same worker and the same blast before the other organization has anything due.
- **`copy` of the same rows**: binary, from memory, over one connection, into the queue's own table with its keys and
  indexes. A batch comes as JSON over HTTP; each row is checked, its address normalised and hashed, its time decided,
  and an event written with it.
- **`copy` of the imported rows**: the same, of the four tables that an import writes: people, instances, ten answers
  each, and rows of the search. The import reads lines of JSON, checks each answer, finds or makes the person, and marks
  the days that are counted again, a thousand responses in a transaction.
- **aiosmtplib, a ready message**: the client library alone, the same bytes over as many connections to the same
  server, which takes everything and keeps nothing.
- **raw SQL over the same rows**: promoters, detractors and answers of each local day of a year, in one statement as
  somebody who knows the tables would write it, with parallel workers and no time limit. Ours is the answer to an HTTP
  request, with intervals, from kept counts and the days that are not kept; both must give the same numbers.
- **First byte of the answer page**: from the moment a request is due at that rate to the first byte of its answer, of
  one web process; a server that falls behind gets the next request all the same. Beside it a bare server of that size.
- **this part alone**: by the same `afterword serve` before the other parts begin. Shops, people and users send their
  next request when the last one is answered, and users look at each page for a second. The process that plays all of
  them takes its part of the same cores.
- All share the machine's cores, and one embedded PostgreSQL that writes through to the disk (`fsync` on).
"""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Rates of the subject and of its ceiling, one pair a round, measured in turn; the median round counts."""

    what: str
    against: str
    unit: str
    rounds: Sequence[tuple[float, float]]
    floor: float | None = None  # None: for information
    note: str = ""

    @property
    def value(self) -> float:
        """The ratio of the median round."""
        return statistics.median(subject / ceiling for subject, ceiling in self.rounds)

    @property
    def is_reached(self) -> bool:
        """Whether it holds its floor."""
        return self.floor is None or self.value >= self.floor

    def as_row(self) -> str:
        """A line of the table."""
        subject, ceiling = (statistics.median(rates) for rates in zip(*self.rounds, strict=True))
        ratios = [subject / ceiling for subject, ceiling in self.rounds]
        floor = NOTHING if self.floor is None else f"≥ {self.floor:.2f}"
        absolute = f"{subject:,.0f} of {ceiling:,.0f} {self.unit}{self.note}"
        spread = f"**{self.value:.2f}** ({min(ratios):.2f} … {max(ratios):.2f})"
        return f"| {self.what} | {self.against} | {spread} | {floor} | {_mark(self)} | {absolute} |"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that has a limit of its own, without a ceiling beside it."""

    what: str
    value: float
    limit: float
    unit: str

    @property
    def is_reached(self) -> bool:
        """Whether it stays below its limit."""
        return self.value < self.limit

    def as_row(self) -> str:
        """A line of the table."""
        return f"| {self.what} | {self.value:.1f} {self.unit} | < {self.limit:g} {self.unit} | {_mark(self)} |"


Finding = Ratio | Figure


def table(findings: Sequence[Finding]) -> str:
    """The findings as two tables in Markdown, which a terminal shows well enough."""
    ratios = [finding.as_row() for finding in findings if isinstance(finding, Ratio)]
    return _tables(ratios, [finding.as_row() for finding in findings if isinstance(finding, Figure)])


def results(
    ratios: Sequence[str],
    figures: Sequence[str],
    missed: Sequence[str],
    *,
    rounds: int,
    seconds: float,
    postgres: int,
    busy: float,
) -> str:
    """The text of results.md, of rows of both tables."""
    verdict = f"Missed: {', '.join(missed)}." if missed else "Every floor and limit is reached."
    busy_note = (
        f" Others used the machine at the same time (load average {busy:.1f}): trust the ratios." if busy > 1 else ""
    )
    return f"""{HEADING}
{machine()}, PostgreSQL {postgres}.{busy_note} {rounds} rounds of {seconds:g} s. {verdict}

{_tables(ratios, figures)}

{EXPLANATION}"""


def _tables(ratios: Sequence[str], figures: Sequence[str]) -> str:
    parts = ["\n".join((HEAD, *ratios))] if ratios else []
    return "\n\n".join([*parts, "\n".join((LIMITS_HEAD, *figures))] if figures else parts)


def machine() -> str:
    """The class of this machine in general words; nothing that names it."""
    system = f"{platform.system()} on {platform.machine()}"
    return f"{os.cpu_count()} cores, {_memory_gb()} GB, {system}, Python {platform.python_version()}"


def load_average() -> float:
    """The machine's load in the last minute."""
    return os.getloadavg()[0]


def _memory_gb() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9)


def _mark(finding: Finding) -> str:
    if isinstance(finding, Ratio) and finding.floor is None:
        return NOTHING
    return "yes" if finding.is_reached else "**no**"
