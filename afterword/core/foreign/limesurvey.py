"""LimeSurvey: the structure of a survey as XML (`.lss`, 2.x to 7), and as a table (`.txt`)."""

from typing import Final

from afterword.core.foreign.parts import Format, Read, text_of, unreadable


def _is_structure(content: bytes) -> bool:
    return b"<LimeSurveyDocType>" in content[:4_000]


def _is_table(content: bytes) -> bool:
    return content.startswith((b"\xef\xbb\xbfid\t", b"id\t"))


def _read(content: bytes) -> Read:
    raise unreadable(f"This is not a survey of LimeSurvey: {text_of(content)[:20]}")


STRUCTURE: Final = Format("limesurvey", "LimeSurvey", (".lss",), _is_structure, _read)
TABLE: Final = Format("limesurvey_table", "LimeSurvey", (".txt",), _is_table, _read)
