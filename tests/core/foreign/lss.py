"""Surveys of LimeSurvey in both shapes of its files: a row for each language, or texts in tables of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

Texts = str | Mapping[str, str]


@dataclass
class Q:
    """`rows` and `answers`: texts by code, of a grid's columns and second answers in `more_rows`, `more_answers`."""

    code: str
    type: str
    text: Texts = "Text"
    rows: Mapping[str, Texts] = field(default_factory=dict)
    answers: Mapping[str, Texts] = field(default_factory=dict)
    more_rows: Mapping[str, Texts] = field(default_factory=dict)
    more_answers: Mapping[str, Texts] = field(default_factory=dict)
    relevance: str = "1"
    mandatory: str = "N"
    other: str = "N"
    help: Texts = ""
    preg: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


def survey(
    *groups: Sequence[Q],
    languages: Sequence[str] = ("en",),
    is_old: bool = False,
    relevances: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    texts: Mapping[str, Texts] | None = None,
    extra: str = "",
) -> bytes:
    """An `.lss`; `is_old`: of 2.x. Questions are numbered from 11, groups from 1; the survey is 7."""
    tables: dict[str, list[dict[str, Any]]] = {}

    def add(table: str, row: Mapping[str, Any], words: Mapping[str, Texts], links: str, words_table: str) -> None:
        each = [(one, {name: _in(text, one) for name, text in words.items()}) for one in languages]
        if is_old:
            for language, said in each:
                tables.setdefault(table, []).append({**row, **said, "language": language})
        else:
            tables.setdefault(table, []).append(dict(row))
            for language, said in each:
                tables.setdefault(words_table, []).append({links: row[links], **said, "language": language})

    number, part = 10, 100
    for place, group in enumerate(groups):
        relevance = relevances[place] if relevances[place:] else "1"
        row = {"gid": place + 1, "group_order": place, "grelevance": relevance}
        add("groups", row, {"group_name": f"Page {place + 1}", "description": ""}, "gid", "group_l10ns")
        for order, one in enumerate(group):
            number += 1
            row = {"qid": number, "parent_qid": 0, "gid": place + 1, "type": one.type, "title": one.code,
                "other": one.other, "mandatory": one.mandatory, "question_order": order, "relevance": one.relevance,
                "preg": one.preg}  # fmt: skip
            add("questions", row, {"question": one.text, "help": one.help}, "qid", "question_l10ns")
            for scale, code, text in _by_scale(one.rows, one.more_rows):
                part += 1
                row = {"qid": part, "parent_qid": number, "title": code, "question_order": part, "scale_id": scale}
                add("subquestions", row, {"question": text}, "qid", "question_l10ns")
            for scale, code, text in _by_scale(one.answers, one.more_answers):
                part += 1
                row = {"qid": number, "code": code, "sortorder": part, "scale_id": scale}
                row |= {} if is_old else {"aid": part}
                add("answers", row, {"answer": text}, "aid", "answer_l10ns")
            attributes = tables.setdefault("question_attributes", [])
            attributes += [{"qid": number, "attribute": name, "value": text} for name, text in one.attributes.items()]
    tables["surveys"] = [{"sid": 7, "language": languages[0], "additional_languages": " ".join(languages[1:]),
        **(settings or {})}]  # fmt: skip
    for language in languages:
        row = {
            f"surveyls_{name}": _in(text, language) for name, text in {"title": "My survey", **(texts or {})}.items()
        }
        tables.setdefault("surveys_languagesettings", []).append({"surveyls_language": language, **row})
    body = "".join(
        f"<{name}><rows>{''.join(f'<row>{_columns(row)}</row>' for row in rows)}</rows></{name}>\n"
        for name, rows in tables.items()
    )
    version = 155 if is_old else 700
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<document><LimeSurveyDocType>Survey</LimeSurveyDocType>'
        f"<DBVersion>{version}</DBVersion>\n{body}{extra}</document>"
    ).encode()


def _by_scale(*parts: Mapping[str, Texts]) -> list[tuple[int, str, Texts]]:
    return [(scale, code, text) for scale, each in enumerate(parts) for code, text in each.items()]


def _in(text: Texts, language: str) -> str:
    return text if isinstance(text, str) else text.get(language, "")


def _columns(row: Mapping[str, Any]) -> str:
    return "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in row.items())


def table(*rows: Mapping[str, str], separator: str = "\t") -> bytes:
    """A `.txt`."""
    names = ["id", "class", "type/scale", "name", "relevance", "text", "help", "language", "validation", "mandatory",
        "other", "default", "same_default", "array_filter"]  # fmt: skip
    lines = [separator.join(names), *(separator.join(row.get(name, "") for name in names) for row in rows)]
    return ("\ufeff" + "\r\n".join(lines) + "\r\n").encode()
