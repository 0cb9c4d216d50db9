"""`afterword suppression import`: addresses that are not written to, from a CSV file."""

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import cyclopts

from afterword import db, errors
from afterword.cli import tokens
from afterword.cli.context import Context, OrganizationDomain, open_pool
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.responders.suppressions import service
from afterword.responders.suppressions.service import REASONS, Reason, SuppressionInput

CHANNELS = {"email": 1, "sms": 2, "webhook": 3}
ROWS_A_TRANSACTION = 1_000
WRONG_SHOWN_MAX = 20
NOTE_CHARACTERS_MAX = 500


app = cyclopts.App(name="suppression")


@app.command(name="import")
async def import_command(
    file: Path, /, *, organization: OrganizationDomain = None, channel: str = "email", reason: str = "blocked"
) -> int:
    """Suppress the addresses of a CSV file; a repetition changes nothing.

    Args:
        file: CSV in UTF-8 with a column identifier, email or phone_number, and perhaps reason and note.
        channel: email, sms or webhook.
        reason: For rows without one: blocked, hard_bounce, unsubscribed, complaint or erased.
    """
    async with open_pool() as (context, pool):
        done = await import_file(context, pool, file=file, domain=organization, channel=channel, reason=reason)
    print(f"{done.rows:,} rows: {done.written:,} addresses newly suppressed, {done.wrong:,} rows wrong.")
    for line in done.shown:
        print(line, file=sys.stderr)
    return 1 if done.wrong else 0  # the addresses of wrong rows would be written to


@dataclass(slots=True)
class Imported:
    """The result of a file: rows read, addresses newly suppressed, and the faults by line."""

    rows: int = 0
    written: int = 0
    wrong: int = 0
    lines: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def blame(self, line: int, sentence: str) -> None:
        """One more line that is wrong."""
        self.wrong += 1
        if len(self.faults) < WRONG_SHOWN_MAX:
            self.faults.append((line, sentence))

    @property
    def shown(self) -> list[str]:
        """The first wrong lines, a sentence each."""
        return [f"line {line}: {sentence}" for line, sentence in sorted(self.faults)]


async def import_file(
    context: Context, pool: db.Pool, *, file: Path, domain: str | None, channel: str, reason: str
) -> Imported:
    """Suppress every address of the file; doing it again changes nothing.

    Its columns, by name in the first line: `identifier` (or `email`, `phone_number`), and, if there, `reason` and
    `note`. Without any of these names the first column is taken, from the first line on. Raises Invalid, NotFound.
    """
    if channel not in CHANNELS or reason not in REASONS:
        raise errors.Invalid(f"There are the channels {', '.join(CHANNELS)} and the reasons {', '.join(REASONS)}.")
    done = Imported()
    async with db.connection(pool) as database:
        organization = await tokens.organization_of(database, domain)
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = _rows(csv.reader(opened), channel, _reason(reason), organization.default_locale, done)
            while batch := list(islice(rows, ROWS_A_TRANSACTION)):
                await _suppress(context, pool, organization.organization_id, batch, done)
    except OSError as error:
        raise errors.Invalid(f"{file} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise errors.Invalid(f"{file} is no CSV in UTF-8, behind line {done.lines}.") from error
    return done


async def _suppress(
    context: Context, pool: db.Pool, organization_id: str, batch: Sequence[tuple[int, SuppressionInput]], done: Imported
) -> None:
    async with db.transaction(pool) as database:
        written, wrong = await service.add_many(
            database,
            organization_id=organization_id,
            requests=[request for _, request in batch],
            secret=context.site.secret,
            now=database.clock.now(),
        )
    done.written += written
    for place, sentence in wrong:
        done.blame(batch[place][0], sentence)


def _rows(
    reader: Iterator[list[str]], channel: str, reason: Reason, locale: str, done: Imported
) -> Iterator[tuple[int, SuppressionInput]]:
    """Line number and input of each row that has an address."""
    columns: dict[str, int] | None = None
    for line, row in enumerate(reader, 1):
        done.lines = line
        if columns is None:
            columns = _columns(row)
            if columns:
                continue
            columns = {"identifier": 0}
        text = _cell(row, columns, "identifier")
        own = _cell(row, columns, "reason")
        if not text:
            continue
        done.rows += 1
        if own and own not in REASONS:
            done.blame(line, f"There are the reasons {', '.join(REASONS)}.")
        elif len(text) > IDENTIFIER_CHARACTERS_MAX:
            done.blame(line, f"An address has at most {IDENTIFIER_CHARACTERS_MAX} characters.")
        else:
            note = _cell(row, columns, "note")[:NOTE_CHARACTERS_MAX] or None
            chosen = _reason(own) if own else reason
            yield (
                line,
                SuppressionInput(
                    channel_id=CHANNELS[channel], identifier=text, reason=chosen, note=note, locale=locale
                ),
            )


def _columns(row: Sequence[str]) -> dict[str, int]:
    """The index of each known name in a header; empty for a row of data."""
    names = [cell.strip().lower() for cell in row]
    found = {name: names.index(name) for name in ("reason", "note") if name in names}
    for name in ("identifier", "email", "phone_number"):
        if name in names:
            return {**found, "identifier": names.index(name)}
    return {}


def _cell(row: Sequence[str], columns: dict[str, int], name: str) -> str:
    place = columns.get(name)
    return row[place].strip() if place is not None and place < len(row) else ""


def _reason(text: str) -> Reason:
    return next(each for each in REASONS if each == text)
