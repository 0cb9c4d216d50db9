"""The share of other systems' questionnaires that is read whole: `python -m tests.core.foreign.shares FILES…`.

Each file becomes a draft that must pass the check of our own files. `docs/questionnaires-of-others.md` has the figures.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from afterword import errors
from afterword.core import foreign
from tests.core.foreign.forms import Taken

NAMES: Final = foreign.Summary.__struct_fields__


def main(paths: list[str]) -> str:
    """A line for each file, and the last one for all; why a file was refused."""
    counts, lines = Counter[str](), list[str]()
    for path in paths:
        try:
            found = foreign.Summary.of(Taken(Path(path).read_bytes()).lines)
        except errors.Refusal as refused:
            lines.append(f"{path}: refused: {refused.detail}")
            counts["refused"] += 1
        else:
            lines.append(f"{path}: {said(found)}")
            counts.update(msgspec.structs.asdict(found))
    total = foreign.Summary(*(counts[name] for name in NAMES))
    return "\n".join([*lines, f"{len(paths)} files, {counts['refused']} refused: {said(total)}"])


def said(found: foreign.Summary) -> str:
    pairs = {
        "questions": (found.whole_questions_count, found.questions_count),
        "conditions": (found.whole_conditions_count, found.conditions_count),
    }
    shares = [f"{whole} of {every} {name} ({whole / every:.1%})" for name, (whole, every) in pairs.items() if every]
    return ", ".join(shares)


if __name__ == "__main__":
    sys.stdout.write(f"{main(sys.argv[1:])}\n")
