"""What all readers of other systems' questionnaires give: a document as our own files have it, and a report."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from afterword.errors import Sentence

Kind = Literal["question", "condition", "ending", "text", "setting"]
Outcome = Literal["taken", "changed", "left_out"]

KEY_CHARACTERS_MAX: Final = 64
_NO_KEY: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Line:
    """What became of one thing of the file. `place`: as the other system names it, such as QID5."""

    kind: Kind
    outcome: Outcome
    place: str
    title: str
    sentences: tuple[Sentence, ...] = ()


@dataclass(slots=True)
class Read:
    """A questionnaire as our own files have it, which `files.read` checks, and the report of how it was made."""

    document: dict[str, Any] = field(default_factory=dict[str, Any])
    lines: list[Line] = field(default_factory=list[Line])


@dataclass(frozen=True, slots=True)
class Format:
    """A form of file. `is_of`: whether these bytes are of it, by their content; `read` raises Invalid."""

    name: str
    label: str
    endings: tuple[str, ...]  # of names of files, such as ".qsf"
    is_of: Callable[[bytes], bool]
    read: Callable[[bytes], Read]


@dataclass(slots=True)
class Keys:
    """Gives keys that a questionnaire file accepts: small letters, digits and _, a letter first, no two alike."""

    _given: set[str] = field(default_factory=set[str])

    def give(self, name: str, prefix: str = "q") -> str:
        """A key of `name`, the same one whenever the same names are given in the same order."""
        key = _NO_KEY.sub("_", name.lower()).strip("_")[: KEY_CHARACTERS_MAX - 6]
        if not key[:1].isalpha():
            key = f"{prefix}_{key}".strip("_")
        chosen, number = key, 2
        while chosen in self._given:
            chosen, number = f"{key}_{number}", number + 1
        self._given.add(chosen)
        return chosen
