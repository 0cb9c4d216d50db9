"""A small file of each format, by its name, with a condition, a second language and a choice with a code."""

import json
from collections.abc import Mapping
from typing import Final

from tests.core.foreign import forms, qsf
from tests.core.foreign.lss import Q, survey, table

ABC = {"A1": {"en": "Bread", "el": "Ψωμί"}, "A2": {"en": "Cake", "el": "Κέικ"}}
_COLUMNS = ("class", "type/scale", "name", "text", "language", "relevance")
_ROWS = (
    ("S", "", "language", "en"), ("G", "", "Page", "", "en", "1"), ("Q", "L", "a", "Which?", "en", "1"),
    ("A", "0", "A1", "Bread", "en"), ("A", "0", "A2", "Cake", "en"), ("Q", "S", "b", "Why {a}?", "en", "a == 'A2'"),
)  # fmt: skip

SAMPLES: Final[Mapping[str, bytes]] = {
    "limesurvey": survey(
        [Q("a", "L", {"en": "Which?", "el": "Ποιο;"}, answers=ABC)],
        [Q("b", "S", {"en": "Why {a}?", "el": "Γιατί {a};"}, relevance='a == "A2"')],
        languages=("en", "el"),
    ),
    "qualtrics": qsf.survey(
        qsf.q("QID1", "MC", "SAVR", choices=qsf.ABC, Language={"EL": {"QuestionText": "Ποιο;"}}),
        qsf.q("QID2", "TE", "SL", DisplayLogic=qsf.logic([qsf.leaf("q://QID1/SelectableChoice/2")])),
    ),
    "typeform": json.dumps(
        {
            "title": "After delivery",
            "settings": {"language": "en"},
            "fields": [
                {
                    "id": "x",
                    "ref": "a",
                    "type": "multiple_choice",
                    "title": "Which?",
                    "properties": {
                        "choices": [
                            {"id": "i1", "ref": "bread", "label": "Bread"},
                            {"id": "i2", "ref": "cake", "label": "Cake"},
                        ]
                    },
                },
                {"id": "y", "ref": "b", "type": "long_text", "title": "Why {{field:a}}?", "properties": {}},
            ],
            "logic": [
                {
                    "type": "field",
                    "ref": "a",
                    "actions": [
                        {
                            "action": "jump",
                            "details": {"to": {"type": "thankyou", "value": "end"}},
                            "condition": {
                                "op": "is",
                                "vars": [{"type": "field", "value": "a"}, {"type": "choice", "value": "cake"}],
                            },
                        }
                    ],
                }
            ],
            "thankyou_screens": [{"ref": "end", "type": "thankyou_screen", "title": "Thanks", "properties": {}}],
        }
    ).encode(),
    **forms.SAMPLES,
    "limesurvey_table": table(*(dict(zip(_COLUMNS, row, strict=False)) for row in _ROWS)),
}
