"""A person's own words in an answer by mail, without the text that their mail program quoted.

No word of the person is dropped, wherever it stands. The strongest sign of quoted text is that we sent it. Then come
marked lines, and lines by which mail programs introduce a quotation, in many languages. Time grows with the length.
"""

import base64
import hashlib
import hmac
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from itertools import pairwise
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword.core import keys
from afterword.core.messaging.mail_html import BEGUN, CITED


def mentioned(text: str, people: Mapping[str, Iterable[str]]) -> set[str]:
    """The ids of the people whom the text mentions; `people`: the names of each, case ignored."""
    folded = text.casefold()
    return {person_id for person_id, names in people.items() if any(_is_in(folded, name) for name in names)}


def _is_in(folded: str, name: str) -> bool:
    mark = f"@{name.strip().casefold()}"
    place = folded.find(mark) if len(mark) > 1 else -1
    while place >= 0:
        before, end = folded[place - 1 : place], place + len(mark)
        if not before.isalnum() and not folded[end : end + 1].isalnum():
            return True
        place = folded.find(mark, place + 1)
    return False


ITEM_HEADER: Final = "X-Afterword-Item"
PROOF_BYTES: Final = 12  # 96 bits: nobody guesses one in the lifetime of an item


def item_proof(item_id: str, secret: bytes) -> str:
    """The value of `X-Afterword-Item`: `{item_id}.{16 letters, digits, - and _}`, equal in every attempt."""
    return _proof("item", item_id, secret)


def item_of(proof: str, secret: bytes) -> str | None:
    """The item that a header's value proves; None where the proof is not ours."""
    return _proven("item", proof.strip(), secret)


def reply_proof(message_id: str, secret: bytes) -> str:
    """The left part of the Message-ID of a mail whose answer is awaited: `{message_id}.{16 characters}`."""
    return _proof("reply", message_id, secret)


def replied_to(proof: str, secret: bytes) -> str | None:
    """The mail that the left part of a Message-ID proves; None where it is not ours."""
    return _proven("reply", proof, secret)


def _proof(kind: str, key: str, secret: bytes) -> str:
    digest = hmac.digest(secret, f"{kind}\0{key}".encode(), hashlib.sha256)[:PROOF_BYTES]
    return f"{key}.{base64.urlsafe_b64encode(digest).decode('ascii')}"


def _proven(kind: str, proof: str, secret: bytes) -> str | None:
    key = proof.partition(".")[0]
    if not proof.isascii():
        return None
    is_ours = keys.find(secret, lambda one: hmac.compare_digest(_proof(kind, key, one), proof)) is not None
    return key if is_ours else None


LETTERS_SURE: Final = 25  # so many letters in a row, equal to those of our mail, are ours
LETTERS_QUOTED: Final = 8  # the same below the sign of a quotation
SIGN_LINES_MAX: Final = 6
SIGN_CHARACTERS_MAX: Final = 500
TITLE_CHARACTERS_MAX: Final = 50
HEADERS_MAX: Final = 20
GAP_MAX: Final = 2  # lines between two headers of a block: folded or blank

_TABLE: Final = tomllib.loads((resources.files(__package__ or "") / "quotation_words.toml").read_text("utf-8"))
_WORDS: Final = {name: "|".join(words) for name, words in _TABLE.items()}
_NAMES: Final = "|".join(f"(?P<{name}>{_WORDS[name]})" for name in ("author", "sent", "date", "recipient", "subject"))
_HEADER: Final = re.compile(rf"[\s>*|_]*(?:{_NAMES})[\s*_]{{0,5}}[:\uff1a]", re.IGNORECASE)
_WROTE: Final = re.compile(rf"\b(?:{_WORDS['wrote']})\b|{_WORDS['wrote_unspaced']}", re.IGNORECASE)
_TITLE: Final = re.compile(_WORDS["title"], re.IGNORECASE)
_RULES: Final = r"[-_=*\u2013\u2014]"
_ENCLOSED: Final = re.compile(rf"\s*{_RULES}{{2,}}.{{3,120}}?{_RULES}{{2,}}\s*$")
_BEGINS: Final = re.compile(
    r"\W{0,12}(?:[^\s\d]{1,20}\s{1,3}){0,4}[^\s\d]{0,3}\d|[^\s\d][^<>\d]{0,60}<[^<>\s]{1,200}>.{0,40}\d"
)
_COLON: Final = re.compile(r"[:\uff1a]")
_ENDS: Final = re.compile(r"[:\uff1a][\s*]*$")
_DATED: Final = re.compile(_WORDS["dated"])
_ADDRESS: Final = re.compile(r"[<(\[][^<>()\[\]]{0,100}@[^<>()\[\]]{1,200}[>)\]]")
_INTRO: Final = re.compile(rf"\W{{0,12}}(?:{_WORDS['before_date']})\s")
_INLINE: Final = re.compile(
    rf"(.*?\S)(?:\s+|\s*-{{2,}}\s*)((?:{_WORDS['before_date']}) (?:[^\s\d]{{1,12}}\s){{0,3}}\d.*)$"
)
_MARKED: Final = re.compile(r"\s{0,3}>|\x00>")
_LINK: Final = re.compile(r"[<\[](?:https?|mailto|cid|tel):[^<>\[\]]{0,2000}[>\]]")
_RULE: Final = re.compile(rf"(?:\s|{_RULES})*$")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_INVISIBLE: Final = dict.fromkeys(
    (0x200B, 0x200E, 0x200F, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), ""
) | {0xA0: " "}


def own_words(text: str, *, sent: Sequence[str] = (), received: Sequence[str] = ()) -> str:
    """The person's words; all of the text where nothing else is left.

    Args:
        text: Plain text, or that of `mail_html.text_of`.
        sent: Texts of ours that the mail may quote.
        received: The person's earlier words, which it may quote below ours.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    return _Reply(lines, sent, received).words() or readable(text)


def readable(text: str) -> str:
    """All of the text, with the marks of `mail_html` as a reader knows them."""
    return text.replace(CITED, "> ").replace(BEGUN, "_" * 30).strip()


class _Sign(msgspec.Struct, frozen=True):
    """Lines that introduce a quotation, to `end`; `before` are words of the person in the first ones.

    A weak one may be a sentence of the person.
    """

    end: int
    is_strong: bool
    before: str = ""


class _Reply:
    def __init__(self, lines: Sequence[str], sent: Sequence[str], received: Sequence[str]) -> None:
        self._lines = lines
        self._plain = [*(_plain(line) for line in lines), ""]
        letters = [_letters(line) for line in lines] if sent else []
        self._is_known = bool(sent)
        self._ours = _equal(letters, sent, LETTERS_SURE)
        self._quotable = self._ours | _equal(letters, [*sent, *received], LETTERS_QUOTED)
        self._signs = self._found_signs()
        self._kept: list[str] = []

    def words(self) -> str:
        at, is_quoting, has_marks, last = 0, False, self._has_marks(), max(self._quotable, default=-1)
        while at < len(self._lines):
            line, sign = self._lines[at], self._signs.get(at)
            is_ours = at in (self._quotable if is_quoting else self._ours)
            if is_ours or line.startswith(CITED) or (has_marks and self._is_marked(at)):
                at += 1
            elif sign and (sign.is_strong or not self._is_known or last >= sign.end or self._is_followed(sign)):
                self._drop_rules(sign)
                at = sign.end
                if not self._is_followed(sign):  # all below is quoted, but for words around our text
                    at, is_quoting = (at if last >= at else len(self._lines)), True
            else:
                self._kept.append(line)
                at += 1
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._kept)).strip()

    def _is_marked(self, at: int) -> bool:
        return at < len(self._lines) and _MARKED.match(self._lines[at]) is not None

    def _is_followed(self, sign: _Sign) -> bool:
        """Whether the next line with text is marked."""
        at = next((at for at in range(sign.end, len(self._lines)) if self._plain[at]), sign.end)
        return self._is_marked(at)

    def _has_marks(self) -> bool:
        """Whether `>` marks quoted text: the person may write "> 5 cups"."""
        if self._signs or not self._is_known:
            return bool(self._signs) or (True, True) in pairwise(map(self._is_marked, range(len(self._lines))))
        return any(map(self._is_marked, self._quotable))

    def _drop_rules(self, sign: _Sign) -> None:
        """Drop blank lines, rules and titles directly above the sign of a quotation."""
        self._kept.append(sign.before)
        while self._kept and (_RULE.match(self._kept[-1]) or _title(self._kept[-1])):
            self._kept.pop()
        self._kept.append("")

    def _found_signs(self) -> dict[int, _Sign]:
        signs: dict[int, _Sign] = {}
        end = 0
        for at, line in enumerate(self._plain):
            if at < end or not line or len(line) > SIGN_CHARACTERS_MAX:
                continue
            sign = _title(line) or (_COLON.search(line) and self._headers(at)) or self._attribution(at)
            if sign:
                signs[at] = replace(sign, end=sign.end or at + 1)
                end = signs[at].end
        return signs

    def _headers(self, start: int) -> _Sign | None:
        """Headers of the quoted mail, of kinds that a person's own list does not have together."""
        kinds: set[str | None] = set()
        end = at = start
        while at < min(len(self._plain), start + HEADERS_MAX) and at - end <= GAP_MAX * bool(kinds):
            if found := _HEADER.match(self._plain[at]):
                kinds.add(found.lastgroup)
                end = at + 1
            at += 1
        has_address = any("@" in line for line in self._plain[start:end])
        is_block = (
            ("author" in kinds and ("sent" in kinds or (len(kinds) > 1 and has_address)))
            or {"author", "subject", "recipient"} <= kinds
            or ("recipient" in kinds and bool(kinds & {"sent", "date"}) and has_address)
        )
        return _Sign(end, is_strong=True) if is_block else None

    def _attribution(self, start: int) -> _Sign | None:
        """A line such as "On 5 Jan 2021, Ben <ben@shop.example> wrote:" in any language, perhaps over several lines."""
        text = self._plain[start]
        if not _BEGINS.match(text) and not _ENDS.search(text):
            return None
        inline = None if _INTRO.match(text) else _INLINE.match(text)
        before, text = (inline[1], inline[2]) if inline else ("", text)
        has_date = _BEGINS.match(text) is not None
        for end in range(start + 1, start + SIGN_LINES_MAX + 1):
            is_marked = self._is_followed(_Sign(end, is_strong=True))
            if not (has_date or is_marked) or len(text) > SIGN_CHARACTERS_MAX:
                return None
            has_address, is_dated = _ADDRESS.search(text) is not None, has_date and bool(_DATED.search(text))
            is_written = _WROTE.search(text) is not None
            if (
                _ENDS.search(text)
                or (has_date and not self._plain[end] and _WROTE.search(text[-20:]))
                or (is_dated and is_marked and text.endswith(">"))
            ):
                if has_address + is_written + is_dated < 2:  # noqa: PLR2004  of three
                    return None
                own = _Sign(end, is_strong=has_address and (not before or is_marked), before=before)
                return self._inner(start, end) or own
            if not has_date or not self._plain[end]:
                return None
            text = f"{text} {self._plain[end].strip()}"
        return None

    def _inner(self, start: int, end: int) -> _Sign | None:
        """The sign that begins behind `start`, where that is a line of the person."""
        is_sentence = not _DATED.search(self._plain[start])
        for at in range(start + 1, end):
            line = self._plain[at]
            if _INTRO.match(line) or ((is_sentence or self._plain[at - 1][-1] in ".!?") and _BEGINS.match(line)):
                sign = self._attribution(at)
                if sign and sign.end == end:
                    return replace(sign, before="\n".join((*self._lines[start:at], sign.before)))
        return None


def _plain(line: str) -> str:
    line = line.removeprefix(CITED)
    return line.rstrip() if line.isascii() else line.translate(_INVISIBLE).rstrip()


def _title(line: str) -> _Sign | None:
    """A title such as "-----Original Message-----", strong, or "Begin forwarded message:"."""
    if line == BEGUN or (_ENCLOSED.match(line) and (_TITLE.search(line) or _WROTE.search(line))):
        return _Sign(0, is_strong=True)
    is_title = len(line) < TITLE_CHARACTERS_MAX and _ENDS.search(line) and _TITLE.search(line)
    return _Sign(0, is_strong=False) if is_title else None


def _letters(line: str) -> str:
    return _NO_LETTERS.sub("", _LINK.sub("", line)).casefold()


def _equal(lines: Sequence[str], texts: Sequence[str], least: int) -> set[int]:
    """The lines, given as letters, that are lines of these texts, however they are wrapped.

    A run of lines counts from `least` letters on, or if it ends the text.
    """
    equal: set[int] = set()
    places = [at for at, line in enumerate(lines) if line]
    for text in filter(None, map(_letters, texts)):
        cursor, n = 0, 0
        while n < len(places):
            line = lines[places[n]]
            far = text.find(line) if len(line) >= LETTERS_SURE else -1
            for begin in (cursor, 0, far):
                end, run = begin, n
                while end >= 0 and run < len(places) and text.startswith(lines[places[run]], end):
                    end += len(lines[places[run]])
                    run += 1
                if end - begin >= least or (run > n and begin == cursor > 0 and end == len(text)):
                    equal.update(places[n:run])
                    cursor, n = end, run - 1
                    break
            n += 1
    return equal
