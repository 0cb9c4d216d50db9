"""XLSForm (ODK, KoboToolbox): a workbook with the sheets survey, choices and settings.

It is read with our own bounded reader of workbooks. `pyxform` was tried instead: it makes XForms, refuses a form at the
first thing that it does not know, and pins the exact releases of four packages.
"""

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, Final

import msgspec

from afterword.core.foreign import expressions, parts
from afterword.core.foreign.drafting import Draft, Making, Unreadable, condition_of, figure, names_of
from afterword.core.foreign.expressions import Tree
from afterword.core.foreign.parts import NAMES, Condition, Entry, Format, Pipe, Read
from afterword.core.questionnaires.question_types import DECIMALS_MAX, TITLE_CHARACTERS_MAX
from afterword.core.wire import tables
from afterword.errors import Sentence

WORKBOOK_BYTES_MAX: Final = 1_000_000  # of the part that names the sheets
_LANGUAGES: Final[Mapping[str, str]] = NAMES["xlsform"]["languages"]
_CODE: Final = re.compile(r"\(([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)\)\s*\Z")
_NAME: Final = re.compile(r"\$\{\s*([^{}\s]{1,200})\s*\}")
_MARK: Final = re.compile(r"(begin|end)[ _](group|repeat|loop)\Z")
_SELECT: Final = re.compile(
    r"(select[ _]one|select1|select[ _]multiple|select[ _]all[ _]that[ _]apply|rank)(?: from)? +(\S+)( +or[ _]other)?\Z"
)
_NO_QUESTIONS: Final[frozenset[str]] = frozenset(NAMES["xlsform"]["no_questions"])
_LOST: Final = ("media::image", "image", "media::audio", "media::video", "choice_filter", "calculation", "trigger")
_SELECTS: Final[Mapping[str, str]] = {"select_one": "single_choice", "select1": "single_choice", "rank": "ranking"}
_QUOTES: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")  # of word processors
_RANGE: Final = (("start", 1), ("end", 10), ("step", 1))
_TRUE: Final = frozenset(("yes", "true", "true()", "1"))
Row = Mapping[str, str]


def is_of(content: bytes) -> bool:
    """Whether it is a workbook with a sheet called survey; its rows are not read."""
    if content[:4] != tables.BEGINNING:
        return False
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive, archive.open("xl/workbook.xml") as opened:
            return b'name="survey"' in opened.read(WORKBOOK_BYTES_MAX).lower()
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, OSError):
        return False


def read(content: bytes) -> Read:
    """Raises Malformed, TooLarge, Invalid."""
    sheets = {name.strip().lower(): _rows_of(rows) for name, rows in tables.sheets_of(content).items()}
    rows = sheets.get("survey") or []
    if not any(row.get("type") for row in rows):
        raise parts.unreadable(Sentence(parts.NOT_OF, name="XLSForm"))
    settings = next(iter(sheets.get("settings") or []), {})
    return _Reader(rows, sheets.get("choices") or [], settings, Draft(_languages(rows, settings))).read()


def _rows_of(rows: Sequence[Sequence[str]]) -> list[Row]:
    """The rows by the names of their columns, in small letters up to the language: `label::English (en)`."""
    names = [_column(cell) for cell in rows[0]] if rows else []
    return [
        {name: cell.strip() for name, cell in zip(names, row, strict=False) if name and cell.strip()}
        for row in rows[1:]
    ]


def _column(cell: str) -> str:
    """Older forms have one colon, and blanks in place of underlines."""
    first, colon, rest = re.sub(r"\s*::?\s*", "::", cell.strip(), count=1).partition("::")
    first = first.lower().replace(" ", "_")
    media, _, language = rest.partition("::") if first == "media" else ("", "", rest)
    return f"{first}{colon}{media.lower() or language}"


def _languages(rows: Sequence[Row], settings: Row) -> dict[str, str]:
    """Our locales by the languages of the columns; texts without one are of the default language."""
    names = dict.fromkeys(
        name.partition("::")[2] for row in rows for name in row if name.startswith(("label::", "hint::"))
    )
    default = settings.get("default_language", "")
    if default not in names:
        default = next(iter(names), "") if not any("label" in row for row in rows) else default
    first = _locale(default) or "en"
    return {default: first, "": first} | {name: found for name in names if name != default and (found := _locale(name))}


def _locale(language: str) -> str | None:
    code = _CODE.search(language)
    return _LANGUAGES.get(language.strip().lower()) or (parts.locale_of(code[1]) if code else _short(language))


def _short(language: str) -> str | None:
    return parts.locale_of(language) if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z]{2,4})?", language.strip()) else None


class _Reader(msgspec.Struct):
    """`frames`: the open groups, with the kind of each, and the conditions under which its questions are asked."""

    rows: Sequence[Row]
    choices: Sequence[Row]
    settings: Row
    draft: Draft
    frames: list[tuple[str, list[Condition]]] = msgspec.field(default_factory=list[tuple[str, list[Condition]]])
    is_new_page: bool = True

    def read(self) -> Read:
        draft = self.draft
        draft.pipe_of = self._pipe
        for row in self.rows:
            kind = " ".join(row.get("type", "").split())
            mark = _MARK.match(kind.lower())
            if row.get("disabled", "").lower() in _TRUE or not kind:
                continue
            if mark and mark[1] == "begin":
                self._begin(mark[2], row)
            elif mark:
                self.frames = self.frames[:-1]
                self.is_new_page = not self.frames
            elif any(frame != "group" for frame, _ in self.frames):
                draft.leave_out("question", row.get("name", kind), _localized(row, "label"), "repeat")
            else:
                self._ask(kind, row)
        return draft.finish(title=self.settings.get("form_title", "")[:TITLE_CHARACTERS_MAX])

    def _begin(self, kind: str, row: Row) -> None:
        name, label = row.get("name", kind), _localized(row, "label")
        above = self.frames[-1][1] if self.frames else []
        self.frames.append((kind, [*above, *self._condition(name, row.get("relevant"))]))
        if kind != "group":
            self.draft.leave_out("question", name, label, kind)
        elif len(self.frames) == 1:
            self.is_new_page = False
            group, one = self.draft.group(name), self.draft.begin("text", name, label)
            one.item = group
            one.put("title", label, TITLE_CHARACTERS_MAX)
            one.end()
        elif label:
            self._ask("note", {**row, "relevant": ""})

    def _ask(self, kind: str, row: Row) -> None:
        name, first = row.get("name") or kind, kind.split(" ", maxsplit=1)[0].lower()
        if first.rpartition(":")[2] in _NO_QUESTIONS:
            self.draft.leave_out("setting", name, "", kind)
            return
        if self.is_new_page:
            self.draft.group(name)
            self.is_new_page = False
        own = self._condition(name, row.get("relevant"))
        one = self.draft.begin("question", name, _localized(row, "label"), row)
        one.item |= {"type": "statement", "required": row.get("required", "").lower() in _TRUE}
        one.put_title(_localized(row, "label"), _localized(row, "hint"))
        one.lose(names_of(row, _LOST))
        if (show_if := parts.all_of([*(self.frames[-1][1] if self.frames else []), *own])) is not None:
            one.item["show_if"] = show_if
        select, make = _SELECT.match(kind), _MAKERS.get(first)
        if make is not None:
            make(one)
        elif select is None:
            one.entry.lost(parts.NO_QUESTION, name=kind[:60])
        one.ask(codes=self._select(one, select) if select else {})

    def _select(self, one: Making, select: re.Match[str]) -> Mapping[str, Any]:
        kind, name, is_other = _SELECTS.get(select[1].replace(" ", "_"), "multiple_choice"), select[2], bool(select[3])
        found = [each for each in self.choices if (each.get("list_name") or each.get("list")) == name]
        labels: list[tuple[str, object]] = [
            (each.get("name") or each.get("value", ""), _localized(each, "label")) for each in found
        ]
        if not labels:
            one.entry.lost(parts.NO_LIST)
            return {}
        if is_other:
            labels.append(("other", "Other"))
            if len(set(self.draft.languages.values())) > 1:
                one.entry.said("The label of its field for another answer is in English in all languages.")
        codes = one.put_choices(kind, labels)
        one.mark(codes, {"other"} if is_other else ())
        is_random = "randomize=true" in one.source.get("parameters", "").replace(" ", "")
        one.put_list(is_dropdown="minimal" in one.source.get("appearance", ""), is_random=is_random)
        return codes

    def _pipe(self, entry: Entry) -> Pipe:
        def name_of(match: re.Match[str]) -> str | None:
            asked = self.draft.asked.get(match[1])
            return f"answer.{asked.key}" if asked and asked.type != "statement" else None

        return parts.piping(_NAME, name_of, entry)

    def _condition(self, place: str, text: str | None) -> list[Condition]:
        if not text or text.strip().lower() in _TRUE:
            return []
        found = self.draft.condition(
            Entry("condition", place, text),
            lambda: condition_of(
                expressions.read(text.translate(_QUOTES), expressions.XLSFORM), self._compared, self._called
            ),
        )
        return [found] if isinstance(found, dict) else []

    def _compared(self, name: str, operator: str, value: object) -> Condition:
        asked = self.draft.answered(name)
        return asked.compared(operator, True if asked.type == "consent" and value == "OK" else value)

    def _called(self, name: str, operands: Sequence[Tree]) -> Condition:
        """`selected`, and the functions that ask whether there is an answer."""
        function, _, operator = name.partition(" ")
        is_count = function in {"string-length", "count-selected"}
        match (operator, operands):
            case ("", [("name", asked), ("value", value)]) if function == "selected":
                return self._compared(asked, "contains", value)
            case ("greater" | "not_equal", [("name", asked), ("value", 0)]) if is_count:
                return self._compared(asked, "is_not_empty", None)
            case ("greater_equal", [("name", asked), ("value", 1)]) if is_count:
                return self._compared(asked, "is_not_empty", None)
            case ("equal", [("name", asked), ("value", 0)]) if is_count:
                return self._compared(asked, "is_empty", None)
            case _:
                raise Unreadable


def _localized(row: Row, name: str) -> dict[str, str]:
    return {key.partition("::")[2]: cell for key, cell in row.items() if key.partition("::")[0] == name}


def _bounds(row: Row) -> dict[str, Any]:
    """Least and greatest number of a constraint such as `. >= 1 and . <= 10`."""
    found: dict[str, Any] = {}
    try:
        tree = expressions.read(row.get("constraint", ""), expressions.XLSFORM)
    except Unreadable:
        return found
    for one in tree[1] if tree[0] == "and" else [tree]:
        match one:
            case ("is", "greater_equal", [("name", "."), ("value", int() | float() as number)]):
                found["number_min"] = number
            case ("is", "less_equal", [("name", "."), ("value", int() | float() as number)]):
                found["number_max"] = number
            case _:
                return {}
    return found


def _range(one: Making) -> None:
    """Stars and short ranges are ratings, others a slider."""
    row = one.source
    given = dict(each.split("=", 1) for each in row.get("parameters", "").replace(";", " ").split() if "=" in each)
    low, high, step = (figure(given.get(name, default)) or 0 for name, default in _RANGE)
    if step == 1 and low in {0, 1} and high in range(3, 11):
        style = "stars" if "rating" in row.get("appearance", "") else "numbers"
        one.item |= {"type": "rating", "scale_min": low, "scale_max": high, "style": style}
        return
    decimals = max(len(str(each).partition(".")[2]) for each in (low, high, step))
    one.item |= {"type": "number", "decimals": min(decimals, DECIMALS_MAX), "number_min": low, "number_max": high}
    one.item["style"] = "slider"


def _text(one: Making) -> None:
    one.item |= {"type": "text", "multiline": "multiline" in one.source.get("appearance", "")}


def _figure(one: Making) -> None:
    is_whole = one.source["type"].strip().lower() in {"integer", "int"}
    one.item |= {"type": "number", "decimals": 0 if is_whole else DECIMALS_MAX, **_bounds(one.source)}


def _of(kind: str) -> Callable[[Making], None]:
    return lambda one: one.item.update(type=kind)


_MAKERS: Final[Mapping[str, Callable[[Making], None]]] = {
    "text": _text, "string": _text, "integer": _figure, "int": _figure, "decimal": _figure, "range": _range,
    "date": _of("date"), "time": _of("time"), "datetime": _of("date_time"), "note": _of("statement"),
    "acknowledge": _of("consent"), "trigger": _of("consent"), "image": lambda one: one.put_files(["image"]),
    "file": lambda one: one.put_files(()),
}  # fmt: skip

FORMAT: Final = Format("xlsform", "XLSForm", (".xlsx",), is_of, read)
