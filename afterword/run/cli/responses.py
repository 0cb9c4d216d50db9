"""`afterword responses import`: responses that people gave elsewhere, from lines of JSON."""

import asyncio
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO

import cyclopts
from cyclopts import Parameter

from afterword import errors
from afterword.core.organizations.access import installation
from afterword.kit import db
from afterword.kit.web.paging import RECORD_BYTES_MAX
from afterword.kit.web.parsing import BYTE_ORDER_MARK
from afterword.listening.imports import service
from afterword.listening.imports.service import CREATED, ROWS_A_STATEMENT, UNCHANGED, CheckedRow, Outcome, Work
from afterword.run.cli.context import open_pool, organization_of
from afterword.run.cli.organizations import OrganizationDomain

WRONG_SHOWN_MAX = 20
ROWS_A_REPORT = 50_000
PIECE_BYTES = 1_048_576
STDIN = "-"
PERIODS = {"texts": "Text in answers", "people": "Names, addresses and values of people"}
Line = tuple[int, bytes]  # its number in the file
ResponsesFile = Annotated[Path, Parameter(allow_leading_hyphen=True)]  # a lone - is standard input

app = cyclopts.App(name="responses")


@dataclass(slots=True)
class _Tally:
    counts: Counter[str] = field(default_factory=Counter[str])
    wrong: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    rows: int = 0

    def add(self, batch: Sequence[Line], outcomes: Sequence[Outcome]) -> None:
        for (number, _), outcome in zip(batch, outcomes, strict=True):
            name = {CREATED: "new", UNCHANGED: "there already"}.get(outcome.status, "wrong")
            self.counts[name] += 1
            if outcome.refusal is not None and len(self.wrong) < WRONG_SHOWN_MAX:
                self.wrong.append((number, outcome.refusal.detail))
        before, self.rows = self.rows, self.rows + len(batch)
        if before // ROWS_A_REPORT != self.rows // ROWS_A_REPORT:
            print(f"{self.rows:,} rows …", file=sys.stderr)


@app.command(name="import")
async def import_file(
    file: ResponsesFile,
    /,
    *,
    organization: OrganizationDomain = None,
    questionnaire: str,
    title: str | None = None,
    check: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Bring in responses that people gave elsewhere. Nothing is sent, and no alert or webhook tells of them.

    Interrupted, it goes on where it stopped when it is called again with the same file.

    Args:
        file: Lines of JSON, a response each; - reads standard input.
        questionnaire: The id of the questionnaire, which is published.
        title: The import's own name in lists.
        check: Name every fault, and store nothing.
    """
    tally = _Tally()
    async with open_pool() as (context, pool):
        with _opened(file) as source:
            digest = None if str(file) == STDIN else await asyncio.to_thread(_digest, source)
            async with db.transaction(pool) as database:
                owner = await organization_of(database, organization)
                caller = replace(installation(owner.organization_id), time_zone=owner.time_zone)
                key = {"caller": caller, "questionnaire_id": questionnaire, "now": database.clock.now()}
                name = None if digest is None else file.name
                job = (
                    None if check else await service.begin(database, **key, title=title, file_name=name, digest=digest)
                )
                work = await service.open_work(database, **key, job=job)
            lines = islice(_lines(source), job.rows_read if job else 0, None)
            if job is not None and job.rows_read:
                print(f"Going on after {job.rows_read:,} rows.", file=sys.stderr)
            batch, rows = await asyncio.to_thread(_next, work, lines)
            while batch:
                reading = asyncio.create_task(asyncio.to_thread(_next, work, lines))  # while the database writes
                async with db.transaction(pool) as database:
                    now, secret = database.clock.now(), context.site.secret
                    outcomes = await service.add(database, work=work, rows=rows, secret=secret, now=now)
                tally.add(batch, outcomes)
                batch, rows = await reading
        if job is not None:
            async with db.transaction(pool) as database:
                now = database.clock.now()
                await service.update(database, caller=caller, response_import_id=job.response_import_id, now=now)
    return _report(tally, work)


def _report(tally: _Tally, work: Work) -> int:
    counts = ", ".join(f"{tally.counts[name]:,} {name}" for name in ("new", "there already", "wrong"))
    print(f"{tally.rows:,} rows: {counts}." + ("" if work.job else " Nothing was stored."))
    for number, sentence in tally.wrong:
        print(f"line {number}: {sentence}", file=sys.stderr)
    for name, text in PERIODS.items():
        if name in work.kept_days:
            days = f"{text} are removed after {work.kept_days[name]} days"
            print(f"{days}, of imported responses as of others: they may be older.", file=sys.stderr)
    return 1 if tally.counts["wrong"] else 0


def _opened(file: Path) -> nullcontext[BinaryIO] | BinaryIO:
    try:
        return nullcontext(sys.stdin.buffer) if str(file) == STDIN else file.open("rb")
    except OSError as error:
        raise errors.Invalid(f"{file} cannot be read: {error.strerror}.") from error


def _digest(source: BinaryIO) -> str:
    found = hashlib.sha256()
    while piece := source.read(PIECE_BYTES):
        found.update(piece)
    source.seek(0)
    return found.hexdigest()


def _next(work: Work, lines: Iterator[Line]) -> tuple[list[Line], list[CheckedRow]]:
    batch = list(islice(lines, ROWS_A_STATEMENT))
    return batch, service.check(work, service.read_lines(work, [line for _, line in batch]))


def _lines(source: BinaryIO) -> Iterator[Line]:
    """The lines that are not blank; of one that is too long the beginning, and one byte more than is allowed."""
    number = 0
    while line := source.readline(RECORD_BYTES_MAX + 2):
        number += 1
        text = line.removeprefix(BYTE_ORDER_MARK).strip() if number == 1 else line.strip()
        if text:
            yield number, text
        while line and not line.endswith(b"\n"):
            line = source.readline(RECORD_BYTES_MAX)
