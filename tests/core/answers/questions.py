"""Questions of each type for the tests of answers."""

from collections.abc import Sequence
from typing import Any

from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.question_types import Choice, Question, Row

CHOICES = (
    Choice(1, "One"),
    Choice(2, "Two"),
    Choice(3, "Three"),
    Choice(8, "Other", other=True),
    Choice(9, "None of them", exclusive=True),
)


def question(type_name: str, question_id: str = "Q", **fields: Any) -> Question:
    defaults: dict[str, dict[str, Any]] = {
        "rating": {"scale_min": 0, "scale_max": 10, "style": "numbers"},
        "smileys": {"scale_min": 1, "scale_max": 3},
        "single_choice": {"choices": CHOICES},
        "multiple_choice": {"choices": CHOICES, "choices_min": 0},
        "matrix": {"choices": CHOICES[:3], "rows": (Row("r1", "Speed"), Row("r2", "Price"))},
        "ranking": {"choices": CHOICES[:3]},
        "text": {"length_max": 10, "multiline": True},
        "number": {"decimals": 2, "number_min": 0, "number_max": 1000},
        "date": {"date_min": "2026-01-01", "date_max": "2026-12-31"},
        "date_time": {"date_min": "2026-01-01", "date_max": "2026-12-31"},
        "contact": {"contact_fields": ("name", "email", "phone")},
        "address": {"contact_fields": ("street", "city")},
        "file": {"file_types": ("picture", "pdf"), "files_max": 2, "bytes_max": 10_000},
    }
    values: dict[str, Any] = {"title": "?", **defaults.get(type_name, {}), **fields}
    return Question(question_id=question_id, type=type_name, **values)


def pages_of(*pages: Sequence[Question]) -> Definition:
    groups = tuple(Group(group_id=f"G{number}", questions=tuple(page)) for number, page in enumerate(pages, 1))
    return Definition(default_locale="en", locales=("en",), groups=groups)
