"""`afterword suppression import`: addresses that are not written to, from a CSV file."""

import csv
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import cyclopts

from afterword import db, errors
from afterword.cli.context import CHANNELS, ChannelName, OrganizationDomain, open_pool, organization_of
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.responders.suppressions import service
from afterword.responders.suppressions.service import REASONS, Reason, SuppressionInput

ROWS_A_TRANSACTION = 1_000
WRONG_SHOWN_MAX = 20
NOTE_CHARACTERS_MAX = 500

Line = tuple[int, SuppressionInput | str]  # its number, and its input or its fault

app = cyclopts.App(name="suppression")


@app.command(name="import")
async def import_file(
    file: Path,
    /,
    *,
    organization: OrganizationDomain = None,
    channel: ChannelName = "email",
    reason: Reason = "blocked",
) -> int:
    """Suppress the addresses of a CSV file; a repetition changes nothing.

    Args:
        file: CSV in UTF-8 with a column identifier, email or phone_number, and perhaps reason and note. Without any of
            these names in its first line the first column is taken.
        reason: For rows without one.
    """
    count = written = line = 0
    wrong: list[tuple[int, str]] = []
    async with open_pool() as (context, pool):
        async with db.connection(pool) as database:
            owner = await organization_of(database, organization)
        try:
            with file.open(encoding="utf-8-sig", newline="") as opened:
                lines = _lines(csv.reader(opened), CHANNELS[channel], reason, owner.default_locale)
                while batch := list(islice(lines, ROWS_A_TRANSACTION)):
                    line = batch[-1][0]
                    count += len(batch)
                    wrong += [(line, fault) for line, fault in batch if isinstance(fault, str)]
                    good = [(line, request) for line, request in batch if not isinstance(request, str)]
                    async with db.transaction(pool) as database:
                        new, faults = await service.add_many(
                            database,
                            organization_id=owner.organization_id,
                            requests=[request for _, request in good],
                            secret=context.site.secret,
                            now=database.clock.now(),
                        )
                    written += new
                    wrong += [(good[index][0], sentence) for index, sentence in faults]
        except OSError as error:
            raise errors.Invalid(f"{file} cannot be read: {error.strerror}.") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise errors.Invalid(f"{file} is no CSV in UTF-8, behind line {line}.") from error
    print(f"{count:,} rows: {written:,} addresses newly suppressed, {len(wrong):,} rows wrong.")
    for number, sentence in sorted(wrong)[:WRONG_SHOWN_MAX]:
        print(f"line {number}: {sentence}", file=sys.stderr)
    return 1 if wrong else 0  # the addresses of wrong rows would be written to


def _lines(reader: Iterator[list[str]], channel_id: int, reason: Reason, locale: str) -> Iterator[Line]:
    columns: dict[str, int] = {}
    for number, row in enumerate(reader, 1):
        if number == 1:
            columns = _columns(row)
            if columns:
                continue
            columns = {"identifier": 0}
        cells = {name: row[index].strip() for name, index in columns.items() if index < len(row)}
        text, own = cells.get("identifier"), cells.get("reason")
        known: Reason | None = next((each for each in REASONS if each == own), None) if own else reason
        if not text:
            continue
        if known is None:
            yield number, f"There are the reasons {', '.join(REASONS)}."
        elif len(text) > IDENTIFIER_CHARACTERS_MAX:
            yield number, f"An address has at most {IDENTIFIER_CHARACTERS_MAX} characters."
        else:
            note = cells.get("note", "")[:NOTE_CHARACTERS_MAX] or None
            yield (
                number,
                SuppressionInput(channel_id=channel_id, identifier=text, reason=known, note=note, locale=locale),
            )


def _columns(row: Sequence[str]) -> dict[str, int]:
    """The index of each known name in a header; empty for a row of data."""
    names = [cell.strip().lower() for cell in row]
    found = {name: names.index(name) for name in ("reason", "note") if name in names}
    for name in ("identifier", "email", "phone_number"):
        if name in names:
            return {**found, "identifier": names.index(name)}
    return {}
