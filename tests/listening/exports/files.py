"""Responses of every kind, and the files of exports with them."""

import itertools
from typing import Any, Final

from afterword.core.questionnaires import definition as core_definition
from afterword.core.wire.exports import FIXED, ExportTable, Response
from afterword.listening.exports.writers import Writer

NPS, LIKED, BRANCH, PARTS, ORDER, NIGHTS, DAY, CLOCK, MOMENT, SOLVED, WHY, WHY_TOO = (
    f"Q{n:02d}".ljust(22, "0") for n in range(12)
)
SPEED: Final = "R1".ljust(22, "0")
LONG: Final = "Ω€😀" * 12_000  # 108,000 bytes in UTF-8, 96,000 in UTF-16
CHOICES: Final = [
    {"value": 1, "label": "Flour, rye"},
    {"value": 2, "label": '"=Tools"'},
    {"value": 4, "label": "Other", "other": True},
]
QUESTIONS: Final[list[dict[str, Any]]] = [
    {"question_id": NPS, "key": "nps", "type": "nps", "title": "Recommend?", "low_label": "No", "high_label": "Yes"},
    {"question_id": LIKED, "key": "liked", "type": "multiple_choice", "title": "What?", "choices": CHOICES},
    {"question_id": BRANCH, "key": "branch", "type": "single_choice", "title": "Where?", "choices": [
        {"value": 1, "label": "Αθήνα" * 30}, {"value": 2, "label": "Köln"}]},
    {"question_id": PARTS, "key": "parts", "type": "matrix", "title": "How?",
     "rows": [{"row_id": SPEED, "key": "speed", "label": "Speed"}], "choices": [
        {"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}]},
    {"question_id": ORDER, "key": "order", "type": "ranking", "title": "What first?", "choices": [
        {"value": 1, "label": "Price"}, {"value": 2, "label": "Quality"}]},
    {"question_id": NIGHTS, "key": "nights", "type": "number", "title": "How many nights?", "decimals": 2},
    {"question_id": DAY, "key": "day", "type": "date", "title": "Which day?"},
    {"question_id": CLOCK, "key": "clock", "type": "time", "title": "At what time?"},
    {"question_id": MOMENT, "key": "moment", "type": "date_time", "title": "When?"},
    {"question_id": SOLVED, "key": "solved", "type": "yes_no", "title": "Found everything?"},
    {"question_id": WHY, "key": "why", "type": "text", "title": "Why?"},
    {"question_id": WHY_TOO, "key": "with", "type": "text", "title": "why?"},
]  # fmt: skip
ANSWERS: Final[dict[str, list[Any]]] = {
    NPS: [9, None], LIKED: [[1, 2], None], BRANCH: [2, None], PARTS: [{SPEED: 2}, None], ORDER: [[2, 1], None],
    NIGHTS: [2.5, None], DAY: ["2026-10-25", None], CLOCK: ["09:30", None], MOMENT: ["2026-10-25T09:30", None],
    SOLVED: [True, None], WHY: ["a\u2028b", None], WHY_TOO: [LONG, None],
}  # fmt: skip
METADATA: Final = {"sum": "1041.50", "paid": "true", "ordered": "2026-10-24", "store": "007"}
UNFIT: Final = {"sum": "12345678901234567", "paid": "perhaps", "ordered": "2026-10-24T10:00:00Z"}


def table_of(*, zone: str = "+02:00", **options: Any) -> tuple[ExportTable, list[Response]]:
    """A table with three responses: one with everything, one of values that do not fit their types, an empty one."""
    definition = core_definition.parse(
        {"default_locale": "en", "groups": [{"group_id": "G".ljust(22, "0"), "questions": QUESTIONS}]}
    )
    types: Any = {"ordered": "date", "paid": "boolean", "store": "text", "sum": "number"}
    table = ExportTable([definition], "en", questionnaire_names=types, has_responder_metadata=False, **options)
    fixed = [*(f"{name}!" for name in FIXED[:4]), True, f"2026-10-25T10:00:00{zone}", *[None] * 5]
    return table, [
        Response(fixed, ANSWERS, METADATA),
        Response(fixed, {LIKED: [[4], "Soap"], SOLVED: [False, None]}, UNFIT),
        Response(fixed, {}),
    ]


def bytes_of(writer: Writer, responses: list[Response]) -> bytes:
    """The file of these responses, each a piece."""
    try:
        pieces = [writer.begin(), *(writer.write([response]) for response in responses)]
        return b"".join(itertools.chain(pieces, writer.end()))
    finally:
        writer.close()
