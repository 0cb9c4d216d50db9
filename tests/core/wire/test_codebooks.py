"""Columns that stay over versions, and the code book that tells what they hold."""

import json
from collections.abc import Sequence
from typing import Any

from afterword.core.questionnaires.definition import Definition
from afterword.core.wire.exports import ExportTable, codebook
from tests.core.wire.test_exports import CONTACT, MATRIX, NPS, QUESTIONS, SINGLE, TEXT, definition, response

NPS_ASKED, SINGLE_ASKED, MATRIX_ASKED, CONTACT_ASKED, TEXT_ASKED = QUESTIONS


def table_of(versions: Sequence[Definition], **given: Any) -> ExportTable:
    """The versions are the newest first."""
    return ExportTable(versions, "en", is_stable=True, **given)


def columns_of(table: ExportTable) -> dict[str, dict[str, Any]]:
    document = json.loads(codebook(table, questionnaire_id="q", name="Delivery"))
    assert ("q", "Delivery") == (document["questionnaire_id"], document["questionnaire"])
    return {one["column"]: one for one in document["columns"]}


def names_of(table: ExportTable) -> list[str]:
    return [column.header for column in table.columns if column.subject in {NPS, SINGLE, MATRIX, CONTACT, TEXT}]


class TestColumns:
    def test_names_stay(self) -> None:
        """Another title, key or order, and a question between them, change no name."""
        first = definition({**NPS_ASKED, "key": "nps"}, SINGLE_ASKED)
        renamed = {**SINGLE_ASKED, "display_name": "Motive", "key": "motive"}
        newest = definition(renamed, TEXT_ASKED, {**NPS_ASKED, "key": "likely"})
        before, after = names_of(table_of([first])), names_of(table_of([newest, first]))
        assert ["nps", "reason_label", "reason", "reason_other"] == before
        assert [*before, "1_1"] == after

    def test_equal_names(self) -> None:
        """A key that was free again has a number, wherever its question stands."""
        first, second = (definition({**one, "key": "score"}) for one in (NPS_ASKED, TEXT_ASKED))
        assert ["score", "score_2"] == names_of(table_of([second, first]))

    def test_cells(self) -> None:
        """The code and the label have their own names; metadata is text, whatever its type was declared as."""
        table = table_of([definition(SINGLE_ASKED)], questionnaire_names={"sum": "number"})
        answered = response({SINGLE: [2, "Colour"]}, questionnaire_metadata={"sum": "7", "way": "a"})
        row = dict(zip(table.headers, table.cells(answered), strict=True))
        names = ("reason", "reason_label", "reason_other", "questionnaire_sum", "questionnaire_metadata_undeclared")
        assert [2, "Other", "Colour", "7", '{"way":"a"}'] == [row[name] for name in names]
        assert "text" == next(one.kind for one in table.columns if one.header == "questionnaire_sum")


class TestCodebook:
    def test_languages_and_removed_choices(self) -> None:
        choices = [SINGLE_ASKED["choices"][0], {"value": 3, "label": "Service"}]
        newest = definition({**SINGLE_ASKED, "choices": choices})
        column = columns_of(table_of([newest, definition(SINGLE_ASKED)]))["reason"]
        assert {"en": "Why?", "el": "Why?"} == column["question"]
        assert [
            {"value": 1, "label": {"en": "Price", "el": "Τιμή"}},
            {"value": 2, "label": {"en": "Other", "el": "Other"}},
            {"value": 3, "label": {"en": "Service", "el": "Service"}},
        ] == column["choices"]
        assert ("integer", "single_choice", "Reason") == (
            column["type"],
            column["question_type"],
            column["title"],
        )

    def test_one_column_a_choice(self) -> None:
        several = {**SINGLE_ASKED, "type": "multiple_choice"}
        columns = columns_of(table_of([definition(several)], is_split=True))
        assert {"value": 1, "label": {"en": "Price", "el": "Τιμή"}} == columns["reason_1"]["choice"]
        assert "choices" not in columns["reason_1"]

    def test_members(self) -> None:
        column = columns_of(table_of([definition(NPS_ASKED)]))["created_time"]
        assert {"column": "created_time", "title": "created_time", "type": "moment"} == column
