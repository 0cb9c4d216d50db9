"""`afterword suppression import`: addresses that are not written to, from a file."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import cyclopts
from msgspec.structs import replace

from afterword import errors
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.wire import list_columns, tables
from afterword.core.wire.tables import ADDRESS, Fault, Reading
from afterword.kit import db
from afterword.kit.web.fields import ChannelId
from afterword.people.responders import suppressions
from afterword.people.responders.suppressions import REASONS, Reason, SuppressionRequest
from afterword.run.cli.context import CHANNELS, ChannelName, open_pool, opened, organization_of
from afterword.run.cli.organizations import OrganizationDomain
from afterword.sending.intake import lists

ROWS_A_TRANSACTION = 1_000
WRONG_SHOWN_MAX = 20
NOTE_CHARACTERS_MAX = 500

Line = tuple[int, SuppressionRequest | str]  # its number, and its input or its fault

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
    """Suppress the addresses of a file; a repetition changes nothing.

    Args:
        file: CSV or an XLSX workbook with a column identifier, email or phone_number, and perhaps reason and note. Of
            other names the column of the channel's addresses is taken.
        reason: For rows without one.
    """
    count = written = 0
    wrong: list[tuple[int, str]] = []
    async with open_pool() as (context, pool):
        owner = await db.load(pool, organization_of, organization)
        with opened(file) as source:
            content = await asyncio.to_thread(source.read)
        read = await asyncio.to_thread(lists.read_file, content)
        lines = _lines(read, CHANNELS[channel], reason, owner.default_locale)
        while batch := list(islice(lines, ROWS_A_TRANSACTION)):
            count += len(batch)
            wrong += [(line, fault) for line, fault in batch if isinstance(fault, str)]
            good = [(line, request) for line, request in batch if not isinstance(request, str)]
            async with db.transaction(pool) as database:
                new, faults = await suppressions.add_many(
                    database,
                    organization_id=owner.organization_id,
                    requests=[request for _, request in good],
                    locale=owner.default_locale,
                    secret=context.site.secret,
                    now=database.clock.now(),
                )
            written += new
            wrong += [(good[index][0], sentence) for index, sentence in faults]
    print(f"{count:,} rows: {written:,} addresses newly suppressed, {len(wrong):,} rows wrong.")
    for number, sentence in sorted(wrong)[:WRONG_SHOWN_MAX]:
        print(f"line {number}: {sentence}", file=sys.stderr)
    return 1 if wrong else 0  # the addresses of wrong rows would be written to


def _lines(read: lists.Read, channel_id: ChannelId, reason: Reason, locale: str) -> Iterator[Line]:
    text = tables.text_of(read.content, replace(read.reading, rows_below=0))
    names, records = tables.read(text, read.reading.separator)
    columns = _columns(names, text, read.reading, channel_id, locale)
    for record in records:
        if isinstance(record.cells, Fault):
            yield record.line, record.cells.message
            continue
        cells = {name: record.cells[index].strip() for name, index in columns.items() if index < len(record.cells)}
        address, own = cells.get("identifier"), cells.get("reason")
        known: Reason | None = next((each for each in REASONS if each == own), None) if own else reason
        if not address:
            continue
        if known is None:
            yield record.line, f"There are the reasons {', '.join(REASONS)}."
        elif len(address) > IDENTIFIER_CHARACTERS_MAX:
            yield record.line, f"An address has at most {IDENTIFIER_CHARACTERS_MAX} characters."
        else:
            note = cells.get("note", "")[:NOTE_CHARACTERS_MAX] or None
            request = SuppressionRequest(channel_id=channel_id, identifier=address, reason=known, note=note)
            yield record.line, request


def _columns(names: Sequence[str], text: str, reading: Reading, channel_id: int, locale: str) -> dict[str, int]:
    """The place of each column that counts. Raises Invalid where none has addresses."""
    lower = [name.lower() for name in names]
    found = {name: lower.index(name) for name in ("reason", "note") if name in lower}
    named = next((lower.index(name) for name in ("identifier", "email", "phone_number") if name in lower), None)
    if named is None:
        _, rows = tables.sample_of(text, reading.separator)
        given = list_columns.List(names, rows, (), GLOBAL, channel_id, locale, datetime.now(UTC))
        guessed = list_columns.guess(given, {})
        named = next((place for place, name in enumerate(names) if guessed[name] == ADDRESS), None)
    if named is None and len(names) > 1:
        raise errors.Invalid("No column is named identifier, email or phone_number, and none has addresses.")
    return {**found, "identifier": named or 0}
