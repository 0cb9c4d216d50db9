"""`afterword responses import`: responses that people gave elsewhere, from lines of JSON or a file of their system."""

import asyncio
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import cyclopts
import msgspec
from cyclopts import Parameter

from afterword import errors
from afterword.core.organizations.access import installation
from afterword.core.wire.response_columns import Columns
from afterword.kit import db
from afterword.kit.web.paging import RECORD_BYTES_MAX
from afterword.kit.web.parsing import BYTE_ORDER_MARK
from afterword.listening.imports import files, service
from afterword.listening.imports.service import CREATED, ROWS_A_STATEMENT, UNCHANGED, CheckedRow, Outcome, Work
from afterword.run.cli.context import open_pool, opened, organization_of
from afterword.run.cli.organizations import OrganizationDomain

WRONG_SHOWN_MAX = 20
ROWS_A_REPORT = 50_000
UNNAMED = "No column is the external_id: a row is known by the file's name and its number, twice under another name."
PERIODS = {"texts": "Text in answers", "people": "Names, addresses and values of people"}
Line = tuple[int, bytes | errors.Invalid]  # its number in the file
ResponsesFile = Annotated[Path, Parameter(allow_leading_hyphen=True)]  # a lone - is standard input

app = cyclopts.App(name="responses")


class _Tally(msgspec.Struct):
    counts: Counter[str] = msgspec.field(default_factory=Counter[str])
    wrong: list[tuple[int, str]] = msgspec.field(default_factory=list[tuple[int, str]])
    rows: int = 0
    columns: dict[str, str] = msgspec.field(default_factory=dict[str, str])  # their names, by the pointers of errors

    def add(self, batch: Sequence[Line], outcomes: Sequence[Outcome]) -> None:
        for (number, _), outcome in zip(batch, outcomes, strict=True):
            name = {CREATED: "new", UNCHANGED: "there already"}.get(outcome.status, "wrong")
            self.counts[name] += 1
            if (refusal := outcome.refusal) is not None and len(self.wrong) < WRONG_SHOWN_MAX:
                told = [f"{self.columns.get(one.pointer or '', one.place)}: {one.message}" for one in refusal.errors]
                self.wrong.append((number, " ".join(told).removeprefix("the body: ") or refusal.detail))
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
    columns: Annotated[list[str] | None, Parameter(name="--map", negative="")] = None,
    dates: Literal["day", "month"] | None = None,
    check: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Bring in responses that people gave elsewhere. Nothing is sent, and no alert or webhook tells of them.

    Interrupted, it goes on where it stopped when it is called again with the same file.

    Args:
        file: Lines of JSON, a response each, - for standard input; or CSV, XLSX, SPSS or JSON of another system.
        questionnaire: The id of the questionnaire, which is published.
        title: The import's own name in lists.
        columns: What a column means, such as Notes=answer.words; Notes= leaves it out, *= all that are not known.
        dates: Which comes first in dates such as 05/01/2026.
        check: Name every fault, and store nothing.
    """
    tally, fault = _Tally(), None
    async with open_pool() as (context, pool):
        with opened(file) as source:
            said = _said(columns or ())
            digest = None if str(file) == "-" else await asyncio.to_thread(_digest, source, repr([said, dates]))
            kind = files.LINES if digest is None else files.format_of(files.head_of(source))
            async with db.transaction(pool) as database:
                owner = await organization_of(database, organization)
                caller = replace(installation(owner.organization_id), time_zone=owner.time_zone)
                key = {"caller": caller, "questionnaire_id": questionnaire, "now": database.clock.now()}
                work = await service.open_work(database, **key, job=None)
            read = partial(_requests, kind, file, source, work, tally=tally, said=said, dates=dates or "")
            requests = await asyncio.to_thread(read)
            async with db.transaction(pool) as database:
                names = {"title": title, "file_name": None if digest is None else file.name, "digest": digest}
                job = None if check else await service.begin(database, **key, **names, format=kind.name)
            work, lines = msgspec.structs.replace(work, job=job), islice(requests, job.rows_read if job else 0, None)
            if job is not None and job.rows_read:
                print(f"Going on after {job.rows_read:,} rows.", file=sys.stderr)
            try:
                batch, rows = await asyncio.to_thread(_next, work, lines)
                while batch:
                    writing = asyncio.Event()
                    reading = asyncio.create_task(_next_after(writing, work, lines))
                    async with db.transaction(pool) as database:
                        given = {"work": work, "rows": rows, "secret": context.site.secret, "writing": writing}
                        outcomes = await service.add(database, **given, now=database.clock.now())
                    writing.set()
                    tally.add(batch, outcomes)
                    batch, rows = await reading
            except errors.Invalid as refusal:  # the file cannot be read on
                fault = refusal
        if job is not None and (fault is None or job.rows_read + tally.rows):
            async with db.transaction(pool) as database:
                now = database.clock.now()
                await service.update(database, caller=caller, response_import_id=job.response_import_id, now=now)
    return _report(tally, work, fault)


def _report(tally: _Tally, work: Work, fault: errors.Invalid | None) -> int:
    counts = ", ".join(f"{tally.counts[name]:,} {name}" for name in ("new", "there already", "wrong"))
    print(f"{tally.rows:,} rows: {counts}." + ("" if work.job else " Nothing was stored."))
    for number, sentence in tally.wrong:
        print(f"line {number}: {sentence}", file=sys.stderr)
    for name, text in PERIODS.items():
        if name in work.kept_days:
            days = f"{text} are removed after {work.kept_days[name]} days"
            print(f"{days}, of imported responses as of others: they may be older.", file=sys.stderr)
    if fault is not None:
        raise fault
    return 1 if tally.counts["wrong"] else 0


def _said(columns: Sequence[str]) -> dict[str, str]:
    pairs = [one.rpartition("=") for one in columns]
    if any(not sign for _, sign, _ in pairs):
        raise errors.Invalid("--map takes NAME=MEANING.")
    return {name: meaning for name, _, meaning in pairs}


def _requests(
    kind: files.Format, file: Path, source: BinaryIO, work: Work, *, tally: _Tally, said: Mapping[str, str], dates: str
) -> Iterator[Line]:
    """The responses as lines of JSON. Raises Invalid where somebody has to say what a column means."""
    if kind.read is None:
        return _lines(source)
    table, rows = kind.read(file, source)
    known = Columns(work.version.definition, work.declared)
    meanings = known.chosen(table, said)
    orders = known.orders(table, meanings, dates)
    for name, meaning in meanings.items():
        print(f"{name} = {meaning or '(left out)'}", file=sys.stderr)
        place = known.places(meanings)[name]
        tally.columns[place] = ", ".join(filter(None, (tally.columns.get(place), f"“{name}”")))
    if "external_id" not in meanings.values():
        print(UNNAMED, file=sys.stderr)
    return files.requests_of(file.stem, table.names, rows, partial(known.document, meanings=meanings, orders=orders))


def _digest(source: BinaryIO, settings: str) -> str:
    found = hashlib.sha256(settings.encode())
    while piece := source.read(files.HEAD_BYTES):
        found.update(piece)
    source.seek(0)
    return found.hexdigest()


async def _next_after(writing: asyncio.Event, work: Work, lines: Iterator[Line]) -> tuple[list[Line], list[CheckedRow]]:
    await writing.wait()
    return await asyncio.to_thread(_next, work, lines)


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
