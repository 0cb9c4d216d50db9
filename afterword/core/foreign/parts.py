"""The parts that all readers of other systems' questionnaires share, and what they give: a document and a report.

A reader takes each thing of the file with an `Entry`, which collects what is said of it and becomes a `Line` of the
report. The sentences are shown in the console too, so they stand in its catalogues.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import unescape
from itertools import count
from typing import Any, Final, Literal

import msgspec

from afterword.core import toml
from afterword.core.questionnaires import question_types as types
from afterword.core.questionnaires.conditions import DEPTH_MAX, IN_VALUES_MAX, LEAVES_MAX
from afterword.core.questionnaires.questions import CHOICE_VALUE_MAX
from afterword.core.reading.documents import is_printable
from afterword.core.text import locales
from afterword.errors import Invalid, Malformed, Sentence

Kind = Literal["question", "condition", "ending", "text", "setting"]
Outcome = Literal["taken", "changed", "left_out"]
Condition = dict[str, Any]
"""A tree as our files have it: `{"all": […]}`, `{"any": […]}`, `{"not": …}`, or a comparison."""
Pipe = Callable[[str], str]
"""Puts our variables in the place of those of a plain text; see `piping`."""

NAMES: Final[Mapping[str, Mapping[str, Any]]] = toml.tables_of(__name__, "names")
BYTES_MAX: Final = 5_000_000
KEY_CHARACTERS_MAX: Final = 64
TITLE_SHOWN_CHARACTERS: Final = 120
VALUES_SHOWN: Final = 12
CODE_SHOWN_CHARACTERS: Final = 60
SENTENCES_MAX: Final = 20
_NO_KEY: Final = re.compile(r"[^a-z0-9]+")

NOT_OF: Final = "This is not a file of {name}."
NO_QUESTION: Final = "Afterword has no question of the type {name}. It became a text without an answer."
NO_LIST: Final = "Its choices are not in the file. It became a text without an answer."
SEVERAL: Final = "It became {n} questions, one for each of its fields."
CUT: Final = "A text is longer than {n} characters and was cut."
NO_CONDITION: Final = "Afterword cannot express this condition, so everybody is asked: “{text}”."
NO_VALUE: Final = "A text shows a value that Afterword does not have, so … stands there: “{name}”."
NO_LANGUAGE: Final = "Afterword does not know this language, or has it already: “{name}”."


class Line(msgspec.Struct, frozen=True):
    """The fate of one thing of the file. `place`: as the other system names it, such as QID5.

    `key`: of the question or ending in the document that it is about. `whole`: nothing of it was lost; of a question
    its type, its choices with their codes, its languages and whether an answer is required.
    """

    kind: Kind
    outcome: Outcome
    place: str
    title: str
    sentences: tuple[Sentence, ...] = ()
    key: str = ""
    whole: bool = True


class Read(msgspec.Struct):
    """A questionnaire as our own files have it, which `files.read` checks, and the report of how it was made."""

    document: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    lines: list[Line] = msgspec.field(default_factory=list[Line])

    def leave_out(self, kind: Kind, place: str, title: str, text: str, /, **values: float | str) -> None:
        self.lines.append(Line(kind, "left_out", place, title, (Sentence(text, **values),), whole=False))


class Format(msgspec.Struct, frozen=True):
    """A form of file. `is_of`: whether these bytes are of it, by their content; `read` raises Invalid."""

    name: str
    label: str
    endings: tuple[str, ...]  # of names of files, such as ".qsf"
    is_of: Callable[[bytes], bool]
    read: Callable[[bytes], Read]


class Entry(msgspec.Struct):
    """Collects what is said of one thing of the file: texts of a Sentence and their values. `line` is the report."""

    kind: Kind
    place: str
    title: str = ""
    key: str = ""
    _outcome: Outcome = "taken"
    _whole: bool = True
    _sentences: dict[str, Sentence] = msgspec.field(default_factory=dict[str, Sentence])

    def said(self, text: str, /, **values: float | str) -> None:
        """It is taken as it was, and this is worth knowing."""
        if len(self._sentences) < SENTENCES_MAX:
            sentence = Sentence(text, **values)
            self._sentences.setdefault(str(sentence), sentence)

    def changed(self, text: str, /, **values: float | str) -> None:
        """It is taken differently, and means the same."""
        self.said(text, **values)
        self._outcome = "changed" if self._outcome == "taken" else self._outcome

    def lost(self, text: str, /, **values: float | str) -> None:
        """It is taken, but a part of it is not."""
        self.changed(text, **values)
        self._whole = False

    def left_out(self, text: str, /, **values: float | str) -> None:
        self.lost(text, **values)
        self._outcome = "left_out"

    def text(self, written: object, characters_max: int, pipe: Pipe | None = None) -> str:
        """A text of the file without its HTML, with our variables in place of theirs, within our limit."""
        found, rest = split(_piped(plain(written), pipe), characters_max)
        if rest:
            self.lost(CUT, n=characters_max)
        return found

    def title_and_help(self, title: object, more: object = "", pipe: Pipe | None = None) -> dict[str, str]:
        """`title` and `description` of a question; what a title has too much of begins the description."""
        first, rest = split(_piped(plain(title), pipe), types.TITLE_CHARACTERS_MAX)
        below = "\n\n".join(filter(None, [rest, _piped(plain(more), pipe)]))
        description, cut = split(below, types.DESCRIPTION_CHARACTERS_MAX)
        if cut:
            self.lost(CUT, n=types.TITLE_CHARACTERS_MAX + types.DESCRIPTION_CHARACTERS_MAX)
        return {"title": first, **({"description": description} if description else {})}

    @property
    def line(self) -> Line:
        shown = split(self.title, TITLE_SHOWN_CHARACTERS)[0]
        sentences = tuple(self._sentences.values())
        return Line(self.kind, self._outcome, self.place, shown, sentences, self.key, self._whole)


class Keys(msgspec.Struct):
    """Gives keys that a questionnaire file accepts: small letters, digits and _, a letter first, no two alike."""

    _given: set[str] = msgspec.field(default_factory=set[str])

    def give(self, name: str, prefix: str = "q") -> str:
        """A key of `name`, the same one whenever the same names are given in the same order."""
        key = _NO_KEY.sub("_", name.lower()).strip("_")[: KEY_CHARACTERS_MAX - 6]
        if not key[:1].isalpha():
            key = f"{prefix}_{key}".strip("_")
        chosen, number = key, 2
        while chosen in self._given:
            chosen, number = f"{key}_{number}", number + 1
        self._given.add(chosen)
        return chosen


def coded(name: str, value: int | str, code: str) -> dict[str, Any]:
    """The member by which something is known here, and its code in the file where that is another one."""
    is_code = (
        str(value) != code and bool(code.strip()) and len(code) <= types.LABEL_CHARACTERS_MAX and is_printable(code)
    )
    return {name: value, **({"code": code} if is_code else {})}


_BLOCKS: Final = frozenset((
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td",
    "th", "tr", "ul",
))  # fmt: skip
_HIDDEN: Final = frozenset(("script", "style", "head", "title", "template", "noscript"))
_SPACES: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r" *\n[ \n]*")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_TAG: Final = re.compile(r"(/?)([A-Za-z][A-Za-z0-9]*|[!?][^>]{0,9})([^>]*)>")
_ALT: Final = re.compile(r"""\balt\s{0,9}=\s{0,9}(["'])([^"'<>]*)\1""")
_BREAKS: Final = ("\n", ". ", "? ", "! ", "; ", ", ", " ")


def _words(written: str) -> str:
    """The words of a piece of HTML; a picture gives its text. Each character is looked at once or twice."""
    first, *pieces = written.split("<")
    found, hidden, is_comment = [first], 0, False
    for piece in pieces:
        if is_comment or piece.startswith("!--"):
            _, mark, rest = piece.partition("-->")
            is_comment = not mark
            found.append("" if hidden else rest)
            continue
        tag = _TAG.match(piece)
        if tag is None:
            found.append("" if hidden else f"<{piece}")
            continue
        name, is_end, rest = tag[2].lower(), bool(tag[1]), piece[tag.end() :]
        if name in _HIDDEN:
            hidden = max(hidden + (-1 if is_end else 1), 0)
        alt = _ALT.search(tag[3]) if name == "img" else None
        said = f" {alt[2]} " if alt else "\n" if name in _BLOCKS else ""
        found.append("" if hidden else f"{said}{rest}")
    return unescape("".join(found))


def plain(written: object) -> str:
    """The words of a text that may be HTML, in lines; empty for what is no text. Double braces are taken apart."""
    text = written if isinstance(written, str) else str(written) if isinstance(written, int | float) else ""
    if "<" in text or "&" in text:
        text = _words(text)
    text = _CONTROL.sub("", text.replace("\xa0", " ").replace("\u2028", "\n"))
    text = _LINES.sub("\n", _SPACES.sub(" ", text)).strip()
    while "{{" in text:
        text = text.replace("{{", "{ {")
    return text if is_printable(text) else ""


def split(text: str, characters_max: int) -> tuple[str, str]:
    """The beginning of a text within the limit, cut behind a line, a sentence or a word, and what is left of it."""
    if len(text) <= characters_max:
        return text, ""
    at = next((found for sign in _BREAKS if (found := text.rfind(sign, characters_max // 3, characters_max)) > 0), -1)
    at = characters_max if at < 0 else at + 1
    opened = text.rfind("{{", 0, at)
    if opened >= 0 and text.find("}}", opened) + 1 >= at:  # never within a variable
        at = opened or characters_max
    return text[:at].strip(), text[at:].strip()


def _piped(text: str, pipe: Pipe | None) -> str:
    return pipe(text) if pipe and text else text


def variable(name: str, fallback: str = "…") -> str:
    """Our variable of an answer (`answer.KEY`), of metadata (`responder.NAME`), or `organization`."""
    return f"{{{{ {name} | {fallback} }}}}"


def piping(pattern: "re.Pattern[str]", name_of: Callable[["re.Match[str]"], str | None], entry: Entry) -> Pipe:
    """Puts our variables in the place of the matches of `pattern`.

    `name_of`: the name of our variable (`answer.KEY`), "" to take the text out, None where there is none here, which
    `entry` says.
    """

    def one(match: "re.Match[str]") -> str:
        name = name_of(match)
        if name is None:
            entry.lost(NO_VALUE, name=split(match[0], TITLE_SHOWN_CHARACTERS)[0])
            return "…"
        return variable(name) if name else ""

    return lambda text: pattern.sub(one, text)


_LOCALES: Final[Mapping[str, str]] = NAMES["all"]["locales"]
_VARIETIES: Final = ("informal", "formal", "easy", "default")


def locale_of(tag: object) -> str | None:
    """Our form of another system's language tag (`de-informal` is `de`, `ZH-S` is `zh-hans`); None if it is none."""
    text = str(tag or "").strip().replace("_", "-").lower()
    text = _LOCALES.get(text, text)
    name, _, variety = text.rpartition("-")
    try:
        return locales.normalise(name if variety in _VARIETIES and name else text)
    except locales.InvalidLocale:
        return None


def values_of(codes: Sequence[str], entry: Entry) -> dict[str, int]:
    """The values of choices by their codes: the numbers themselves, those behind a common letter, or free ones.

    A number that is a code never becomes another choice's, since past answers have it. `entry` says which number
    stands for which code, where they differ.
    """
    kept = [_number(code) for code in codes]
    numbers = kept if _are_values(kept) else [_number(code.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ_")) for code in codes]
    if not _are_values(numbers):
        own = {code: n for code, n in zip(codes, kept, strict=True) if str(n) == code and _are_values([n])}
        free = (number for number in count(1) if number not in own.values())
        numbers = [own.get(code) or next(free) for code in codes]
    by_code = dict(zip(codes, (int(one or 0) for one in numbers), strict=True))
    if any(str(value) != code for code, value in by_code.items()):
        pairs = [f"{split(code, CODE_SHOWN_CHARACTERS)[0]} = {value}" for code, value in by_code.items()]
        more = ["…"] if pairs[VALUES_SHOWN:] else []
        entry.said("Its codes became numbers: {codes}.", codes=", ".join([*pairs[:VALUES_SHOWN], *more]))
    return by_code


def _number(code: str) -> int | None:
    return int(code) if code.isascii() and code.isdigit() and len(code) < len(str(CHOICE_VALUE_MAX)) + 3 else None


def _are_values(numbers: Sequence[int | None]) -> bool:
    are_all = all(number is not None and 1 <= number <= CHOICE_VALUE_MAX for number in numbers)
    return are_all and len(set(numbers)) == len(numbers)


_PAIRS: Final = (("equal", "not_equal"), ("is_empty", "is_not_empty"), ("contains", "not_contains"))
OPPOSITES: Final = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
POSITIVE: Final = frozenset(("equal", "in", "greater", "greater_equal", "less", "less_equal", "contains"))
"""Operators of comparisons that hold only where there is an answer."""


def leaf(subject: str, operator: str, value: object = None) -> Condition:
    """A comparison. `subject`: `question:KEY`, `question:KEY:ROW`, or metadata."""
    return {"subject": subject, "operator": operator, **({} if value is None else {"value": value})}


def negated(condition: Condition) -> Condition:
    if "not" in condition:
        return condition["not"]
    opposite = OPPOSITES.get(condition.get("operator", ""))
    return {**condition, "operator": opposite} if opposite else {"not": condition}


def all_of(conditions: Iterable[Condition]) -> Condition | None:
    """All of them as one tree, without needless levels; None for none."""
    return _joined("all", conditions)


def any_of(conditions: Iterable[Condition]) -> Condition | None:
    """One of them as one tree; comparisons of one subject with several values become one."""
    return _joined("any", conditions)


def is_small(condition: Condition) -> bool:
    """Whether a tree is within the limits of conditions."""
    return _depth(condition) <= DEPTH_MAX and _leaves(condition) <= LEAVES_MAX


def _joined(group: str, conditions: Iterable[Condition]) -> Condition | None:
    flat: list[Condition] = []
    for one in conditions:
        flat += [each for each in one.get(group, [one]) if each not in flat]
    if group == "any":
        flat = _with_lists(flat)
    return flat[0] if len(flat) == 1 else {group: flat} if flat else None


def _with_lists(conditions: list[Condition]) -> list[Condition]:
    """Those that ask whether one subject is one value become one that asks whether it is in a list."""
    values: dict[str, list[object]] = {}
    for one in conditions:
        if one.get("operator") == "equal":
            values.setdefault(one["subject"], []).append(one["value"])
    listed = {subject for subject, found in values.items() if 1 < len(found) <= IN_VALUES_MAX}
    made = [leaf(subject, "in", values[subject]) for subject in listed]
    return [one for one in conditions if one.get("operator") != "equal" or one["subject"] not in listed] + made


def below(condition: Condition) -> list[Condition]:
    return [condition["not"]] if "not" in condition else condition.get("all") or condition.get("any") or []


def _depth(condition: Condition) -> int:
    return 1 + max(map(_depth, below(condition)), default=0)


def _leaves(condition: Condition) -> int:
    return sum(map(_leaves, below(condition))) if below(condition) else 1


def head_of(content: bytes, size: int) -> bytes:
    """The first characters in UTF-8, of a file in UTF-16 too."""
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return content[: 2 * size].decode("utf-16", "ignore").encode()
    return content[:size].removeprefix(b"\xef\xbb\xbf")


def text_of(content: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark. Raises Malformed."""
    is_utf16 = content[:2] in {b"\xff\xfe", b"\xfe\xff"}
    try:
        return content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        message = "The file is not UTF-8. Save it as UTF-8, and send it again."
        raise Malformed(message, "malformed_encoding") from error


def json_of(content: bytes) -> Any:
    """The document of a JSON file, whatever it is. Raises Malformed, Invalid."""
    try:
        return msgspec.json.decode(text_of(content))
    except (msgspec.DecodeError, RecursionError) as error:
        raise unreadable("This is not a complete JSON file.") from error


def of_json(
    name: str,
    label: str,
    survey_of: Callable[[Any], dict[str, Any]],
    read: Callable[[dict[str, Any]], Read],
    ending: str = ".json",
) -> Format:
    """A form of JSON. `survey_of`: the survey in a document, empty where there is none."""

    def is_of(content: bytes) -> bool:
        try:
            return bool(survey_of(json_of(content)))
        except (Invalid, Malformed):
            return False

    def read_file(content: bytes) -> Read:
        survey = survey_of(json_of(content))
        if not survey:
            raise unreadable(Sentence(NOT_OF, name=label))
        return read(survey)

    return Format(name, label, (ending,), is_of, read_file)


def unreadable(message: str) -> Invalid:
    """A refusal of the file as a whole."""
    return Invalid.at("", "invalid_format", message)
