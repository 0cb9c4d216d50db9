"""Questionnaires of other systems: which file is of which, and what becomes of it here."""

from collections.abc import Sequence
from typing import Final

import msgspec

from afterword.core.foreign import formbricks, limesurvey, qualtrics, surveyjs, typeform, xlsform
from afterword.core.foreign.parts import BYTES_MAX, Format, Line, Read, unreadable
from afterword.core.foreign.settling import settle
from afterword.core.wire import tables
from afterword.errors import Sentence, TooLarge

DIRECTORY_BYTES: Final = 10_000  # at the end of an archive, with the names of its files
FORMATS: Final[tuple[Format, ...]] = (
    limesurvey.STRUCTURE,
    limesurvey.TABLE,
    qualtrics.FORMAT,
    typeform.FORMAT,
    formbricks.FORMAT,
    surveyjs.FORMAT,
    xlsform.FORMAT,
)


class Summary(msgspec.Struct, frozen=True):
    """The share of a file that was taken: its questions, those of which nothing is lost, and so its conditions.

    `left_out_count`: other things, such as settings, that Afterword does not have.
    """

    questions_count: int
    whole_questions_count: int
    conditions_count: int
    whole_conditions_count: int
    left_out_count: int

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "Summary":
        asked = [one.whole for one in lines if one.kind == "question"]
        held = [one.whole for one in lines if one.kind == "condition"]
        others = [one for one in lines if one.kind not in {"question", "condition"} and one.outcome == "left_out"]
        return cls(len(asked), sum(asked), len(held), sum(held), len(others))


def format_of(content: bytes) -> Format | None:
    """The format of a file, by its content; None where it is of no other system. Raises TooLarge, Invalid."""
    if len(content) > BYTES_MAX:
        raise TooLarge(Sentence("The file is larger than {n} bytes.", n=BYTES_MAX))
    if content.startswith(tables.BEGINNING) and b".lss" in content[-DIRECTORY_BYTES:]:
        raise unreadable("This is an archive of LimeSurvey. Open it as a ZIP file, and bring the .lss that is in it.")
    found = [one for one in FORMATS if one.is_of(content)]
    if found[1:]:
        names = " + ".join(one.label for one in found)
        raise unreadable(Sentence("This file could be of several systems, so nothing is read: “{names}”.", names=names))
    return found[0] if found else None


def read(content: bytes) -> tuple[Format, Read]:
    """A document made of a file of a known format, which passes the check, with its report.

    Takes seconds for a large file: for a thread of its own. Raises TooLarge, Malformed, Invalid.
    """
    found = format_of(content)
    if found is None:
        raise unreadable(Sentence("Afterword cannot read this file. It reads {names}.", names=known()))
    made = found.read(content)
    settle(made)
    return found, made


def known() -> str:
    """The names of the systems with the endings of their files, for a sentence."""
    endings: dict[str, list[str]] = {}
    for one in FORMATS:
        endings.setdefault(one.label, []).extend(one.endings)
    return ", ".join(f"{label} ({', '.join(found)})" for label, found in endings.items())
