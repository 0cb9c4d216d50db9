"""The code book of a data set: what each column holds, with the texts of questions and choices in all languages."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.questions import translated
from afterword.core.wire.exports import Column, ExportTable

_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def codebook(table: ExportTable, *, questionnaire_id: str, name: str) -> bytes:
    """As JSON; equal for equal columns and texts, so that it tells whether files have to be written anew."""
    # By question and locale, the newest first.
    asked: defaultdict[str, defaultdict[str, list[Question]]] = defaultdict(lambda: defaultdict(list))
    for definition in table.definitions:
        for question in definition.questions():
            for locale in definition.locales:
                asked[question.question_id][locale].append(translated(question, locale))
    columns = [_described(column, asked.get(column.subject, {}), is_split=table.is_split) for column in table.columns]
    document = {"questionnaire_id": questionnaire_id, "questionnaire": name, "columns": columns}
    return msgspec.json.format(_encode(document), indent=1)


def _described(column: Column, asked: Mapping[str, list[Question]], *, is_split: bool) -> dict[str, Any]:
    document: dict[str, Any] = {"column": column.header, "title": column.title or column.header, "type": column.kind}
    if not asked:
        return document
    labels: dict[int, dict[str, str]] = {}
    for locale, versions in asked.items():
        for choice in (choice for question in versions for choice in question.choices):
            labels.setdefault(choice.value, {}).setdefault(locale, choice.label)
    newest = next(iter(asked.values()))[0]
    document |= {
        "question_id": newest.question_id,
        "question_type": newest.type,
        "question": {locale: versions[0].plain_title for locale, versions in asked.items()},
    }
    if is_split and newest.is_several and column.kind == "integer":  # one of the choices: 1 where it was chosen
        value = int(column.name.rpartition("_")[2])
        return {**document, "choice": {"value": value, "label": labels[value]}}
    return {**document, "choices": [{"value": value, "label": labels[value]} for value in sorted(labels)]}
