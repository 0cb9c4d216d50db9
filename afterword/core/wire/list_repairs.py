"""One repair for all rows of a list that have the same problem in a column. No I/O."""

import csv
import io
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from afterword import errors
from afterword.core.messaging.addresses import CHANNEL_SMS, normal_or_none
from afterword.core.wire import imports
from afterword.core.wire.imports import RECORD_BYTES_MAX, Fault
from afterword.errors import Sentence

VALUE_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Repair:
    """`values`: the right ones by the wrong ones. `every`: for all others; `country`: for phone numbers without one."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    every: str = ""
    country: str = ""

    def of(self, cell: str) -> str:
        """The cell as it becomes; as it was where no part of the repair fits."""
        if right := self.values.get(cell.strip()) or self.every:
            return right
        if self.country and not cell.strip().startswith("+"):
            return normal_or_none(CHANNEL_SMS, cell, locale=f"und-{self.country}") or cell
        return cell


def wrong_values(text: str, separator: str, *, column: str, numbers: Collection[int]) -> Counter[str]:
    """The values of the column in the rows with these numbers, from 1, each with the number of its rows."""
    names, records = imports.read(text, separator)
    place = names.index(column)
    return Counter(
        record.cells[place].strip()
        for number, record in enumerate(records, start=1)
        if number in numbers and not isinstance(record.cells, Fault) and place < len(record.cells)
    )


def repaired(text: str, separator: str, *, column: str, numbers: Collection[int], repair: Repair) -> tuple[str, int]:
    """The file with the column repaired in the rows with these numbers, and in how many. Raises Invalid.

    All other rows stay as they are and where they are, the broken ones too.
    """
    names, records = imports.read(text, separator)
    place = names.index(column)
    whole = io.StringIO(newline="")
    writer = csv.writer(whole, delimiter=separator, lineterminator="\n")
    writer.writerow(names)
    count = 0
    for number, record in enumerate(records, start=1):
        cells = record.cells
        if isinstance(cells, Fault):
            if len(record.text) == RECORD_BYTES_MAX or cells.code == "too_long":
                text = "Row {row} is too long to be kept. Correct it alone first, by the download."
                raise errors.Invalid.at("", "too_long", Sentence(text, row=number))
            whole.write(record.text if record.text.endswith("\n") else f"{record.text}\n")
            continue
        if number in numbers and place < len(cells):
            right = repair.of(cells[place])
            count += right != cells[place]
            cells = [*cells[:place], right, *cells[place + 1 :]]
        writer.writerow(cells)
    return whole.getvalue(), count
