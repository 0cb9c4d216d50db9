"""Files of translations, out and in: CSV, and XLIFF 1.2 (OASIS), which tools of translators read."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal
from xml.sax.saxutils import escape, quoteattr

import msgspec

from afterword import errors
from afterword.core.reading import elements
from afterword.core.wire.tables import UTF8, csv_text, decode
from afterword.errors import Sentence

Format = Literal["csv", "xliff"]
MEDIA_TYPES: Final[Mapping[Format, str]] = {"csv": "text/csv", "xliff": "application/xliff+xml"}
COLUMNS: Final = ("key", "source", "target", "state")
SEPARATORS: Final = ",;\t"
KEY_CHARACTERS_MAX: Final = 100
CELL_CHARACTERS_MAX: Final = 100_000
ROWS_MAX: Final = 10_000
VERSION: Final = "1.2"
NAMESPACE: Final = "urn:oasis:names:tc:xliff:document:1.2"
STATES: Final[Mapping[str, str]] = {
    "missing": "needs-translation",
    "source_changed": "needs-review-translation",
    "translated": "translated",
}
APPROVED: Final = ' approved="yes"'
_UNTRANSLATED: Final = frozenset({"new", "needs-translation"})  # of a target that equals its source
_UTF16: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_VERSION: Final = re.compile(r"\d\.\d\Z", re.ASCII)
_FORMULA: Final = frozenset("=+-@\t\r'")  # a spreadsheet reads a formula, or eats an apostrophe
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Row(msgspec.Struct, frozen=True):
    """A text with its translation. `source`: None where a file does not say it. `note`: for translators.

    `state`: one of STATES on the way out; on the way in `source_changed` where a translator wants a review.
    """

    key: str
    source: str | None
    target: str | None
    state: str = ""
    note: str = ""


def written(rows: Iterable[Row], *, file_format: Format, name: str, source: str, target: str) -> bytes:
    """The file; `source` and `target` are the languages, `name` is the questionnaire's id."""
    if file_format == "csv":
        cells = ((row.key, row.source or "", row.target or "", row.state) for row in rows)
        lines = ([f"'{cell}" if cell[:1] in _FORMULA else cell for cell in line] for line in cells)
        return csv_text([COLUMNS, *lines], is_quoted=True).encode("utf-8-sig")
    units = "\n".join(
        f"<trans-unit id={quoteattr(row.key)}{APPROVED if row.state == 'translated' else ''}>"
        f'<source>{_xml(row.source)}</source><target state="{STATES[row.state]}">{_xml(row.target)}</target>'
        f"{f'<note>{_xml(row.note)}</note>' if row.note else ''}</trans-unit>"
        for row in rows
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="{NAMESPACE}" xml:space="preserve">\n'
        f'<file original={quoteattr(name)} datatype="plaintext" source-language={quoteattr(source)} '
        f"target-language={quoteattr(target)}><body>\n{units}\n</body></file>\n</xliff>\n"
    ).encode()


def read(content: bytes, *, target: str | None) -> list[Row]:
    """The rows of a file, which is XLIFF where it begins with `<`. Raises Malformed for other encodings, Invalid."""
    is_xliff = content.lstrip()[:1] == b"<"
    try:
        text = decode(content, _UTF16.get(content[:2]) or (UTF8 if is_xliff else None))
    except errors.Malformed:
        if not is_xliff:
            raise
        raise errors.Malformed(
            "The file is not UTF-8. Save it as UTF-8, and send it again.", "malformed_encoding"
        ) from None
    rows = _read_xliff(text, target) if text.lstrip()[:1] == "<" else _read_csv(text)
    again = next((key for key, count in Counter(row.key for row in rows if row.key).items() if count > 1), None)
    if again is not None:
        raise _unreadable(
            Sentence("The text {key} is there twice. Remove one of them.", key=again[:KEY_CHARACTERS_MAX])
        )
    return rows


def _unguarded(text: str) -> str:
    return text[1:] if text[:1] == "'" and text[1:2] in _FORMULA else text


def _read_csv(text: str) -> list[Row]:
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    rows: list[Row] = []
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
        if not {"key", "target"} <= set(reader.fieldnames or ()):
            raise _unreadable("The columns `key` and `target` are expected.")
        for record in reader:
            key, source, target = (
                None if (cell := record.get(name)) is None else _unguarded(cell) for name in COLUMNS[:3]
            )
            _check_count(len(rows), max(len(cell or "") for cell in (key, source, target)))
            rows.append(Row(key or "", source, target))
    except csv.Error as error:
        raise _unreadable("This is not a CSV file.") from error
    return rows


def _check_count(count: int, characters: int) -> None:
    if count >= ROWS_MAX or characters > CELL_CHARACTERS_MAX:
        message = f"At most {ROWS_MAX:,} texts of {CELL_CHARACTERS_MAX:,} characters are possible."
        raise _unreadable(message)


def _read_xliff(text: str, target: str | None) -> list[Row]:
    reader = _Reader(target)
    elements.parse(text, reader, message="This is not an XLIFF file.")
    if _VERSION.match(reader.version) and reader.version != VERSION:
        raise _unreadable(Sentence("This is XLIFF {version}. Save it as XLIFF 1.2.", version=reader.version))
    if reader.version != VERSION:
        raise _unreadable("This is not an XLIFF file.")
    return reader.rows


class _Reader(msgspec.Struct):
    """Takes the direct `source` and `target` of each `trans-unit`, with the text of their inline elements."""

    language: str | None
    rows: list[Row] = msgspec.field(default_factory=list[Row])
    version: str = ""
    _open: list[str] = msgspec.field(default_factory=list[str])
    _key: str = ""
    _texts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    _part: str = ""
    _state: str = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._open:
            self.version = attributes.get("version", "") if name == "xliff" else ""
        if name == "file":
            self._check_language(attributes.get("target-language"))
        if name == "trans-unit":
            self._key, self._texts, self._state = attributes.get("id", ""), {}, ""
        if name in {"source", "target"} and self._open[-1:] == ["trans-unit"]:
            self._part, self._texts[name] = name, ""
            self._state = attributes.get("state", "") if name == "target" else self._state
        self._open.append(name)

    def end(self, name: str) -> None:
        self._open.pop()
        if name == self._part and self._open[-1:] == ["trans-unit"]:
            self._part = ""
        if name == "trans-unit":
            _check_count(len(self.rows), max(map(len, self._texts.values()), default=0))
            self.rows.append(self._row(self._texts.get("source"), self._texts.get("target")))

    def _row(self, source: str | None, target: str | None) -> Row:
        # Tools copy the source for a start, and make blanks of its line breaks.
        if self._state in _UNTRANSLATED and (source or "").split() == (target or "").split():
            target = None
        needs_review = self._state.startswith("needs-") and self._state not in _UNTRANSLATED
        return Row(self._key, source, target, "source_changed" if needs_review else "")

    def data(self, text: str) -> None:
        if self._part:
            self._texts[self._part] += text

    def _check_language(self, written_language: str | None) -> None:
        # Tools of translators write `el-GR` where they were given `el`.
        if written_language and self.language and _plain(written_language) != _plain(self.language):
            message = f"The file is written in another language than {self.language}."
            raise errors.Invalid.in_query("locale", "unknown_value", message)


def _unreadable(message: str) -> errors.Invalid:
    return errors.Invalid.at("", "invalid_format", message)


def _plain(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()


def _xml(text: str | None) -> str:
    return escape(_NO_XML.sub("", text or ""))
