"""Words of texts in any script, folded for search: stored as a tsvector, found by a tsquery, marked in the text.

The database finds words and knows nothing of languages, so each server finds the same. Case, accents and vowel points
are left out. Scripts without spaces are cut into overlapping pairs of characters.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword.core import toml

# ruff: noqa: RUF001 - letters of many scripts


WORD_CHARACTERS_MAX: Final = 60  # the rest of a longer word is not looked at
WORDS_MAX: Final = 4_000  # of one vector
POSITION_MAX: Final = 16_383  # of PostgreSQL
GAP: Final = 10  # positions between two texts, so that no phrase reaches from one to the next
QUERY_CHARACTERS_MAX: Final = 200
TERMS_MAX: Final = 20
SENTENCE_ENDS: Final = ".!?;:…؟。！？"
WEIGHTS: Final = "ABCD"  # a part of a vector each; a query names those it may find

# Letters that no decomposition leads to their plain form.
_LETTERS: Final = str.maketrans(
    {
        "ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th",
        "ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك", "ـ": None,
    }
)  # fmt: skip
# Combining classes: Hebrew and Arabic points, and all marks above and below. Vowels of Thai or Hindi have others.
_POINTS: Final = range(10, 36)
_MARKS_FROM: Final = 200
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_ARABIC_PREFIX: Final = re.compile("[وف]?(?:[بكل]?ال|لل|[بكل])?(?=[\u0620-\u064a]{3})")
OTHER, SPACED, UNSPACED, MARK, IGNORED = range(5)
_TERM: Final = re.compile(r'(?<!\S)(-?)(?:"([^"]*)"?|(\S+))')


class Word(msgspec.Struct, frozen=True):
    """A folded word and the characters that it stands at, of the text in NFC.

    `stem`: without the Arabic words that are written together with it; `is_pair`: two characters of a script without
    spaces; `is_last`: the last character of such a row, which the pair before it has too.
    """

    text: str
    start: int
    end: int
    stem: str = ""
    is_pair: bool = False
    is_last: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.text, self.stem) if self.stem else (self.text,)


class Term(msgspec.Struct, frozen=True):
    """Words in a row. `is_open`: the last one may go on."""

    words: tuple[Word, ...]
    is_open: bool = True
    is_excluded: bool = False


Query = tuple[Term, ...]


def fold(character: str) -> str:
    """A character without case, accent and width; empty where nothing of it counts."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    kept = "".join(one for one in plain if not _is_dropped(one)).translate(_LETTERS)
    return "".join(_digit(one) for one in unicodedata.normalize("NFC", kept))


def _is_dropped(character: str) -> bool:
    combining = unicodedata.combining(character)
    is_invisible = unicodedata.category(character) == "Cf" or "\ufe00" <= character <= "\ufe0f"
    return is_invisible or combining in _POINTS or combining >= _MARKS_FROM


def _digit(character: str) -> str:
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


def words_of(text: str) -> list[Word]:
    """The words of a text in order; a pair of characters each where the script has no spaces."""
    if text.isascii():
        found = _ASCII_WORD.finditer(text)
        return [Word(one[0][:WORD_CHARACTERS_MAX].lower(), one.start(), one.end()) for one in found]
    return _words_of(unicodedata.normalize("NFC", text))


def _words_of(text: str) -> list[Word]:
    """The words of a text in NFC, of any script."""
    found: list[Word] = []
    for run in _runs(text):
        if _UNSPACED.match(run[0][0]):
            found += _pairs(run)
        else:
            plain = "".join(part for part, _, _ in run)[:WORD_CHARACTERS_MAX]
            found.append(Word(plain, run[0][1], run[-1][2], stem_of(plain)))
    return found


_Run = list[tuple[str, int, int]]  # folded characters with their marks, each with its place and end


def _runs(text: str) -> Iterator[_Run]:
    """Characters in a row that are of words, apart where a script with spaces meets one without."""
    run: _Run = []
    script = OTHER
    for place, (folded, found) in enumerate(map(_read, text)):
        if found in {MARK, IGNORED}:
            if run:
                before, start, _ = run[-1]
                run[-1] = before + folded, start, place + 1
            continue
        if found != script and run:
            yield run
            run = []
        script = found
        if script != OTHER:
            run.append((folded, place, place + 1))
    if run:
        yield run


@lru_cache(maxsize=8_192)
def _read(character: str) -> tuple[str, int]:
    """The folded character, and its script as far as words go by it."""
    folded = fold(character)
    if not folded:
        return folded, IGNORED
    marks = [unicodedata.category(one) in {"Mn", "Mc"} for one in folded]
    if all(marks):
        return folded, MARK
    if not all(is_mark or one.isalnum() for one, is_mark in zip(folded, marks, strict=True)):
        return folded, OTHER
    return folded, UNSPACED if _UNSPACED.match(folded) else SPACED


def _pairs(run: _Run) -> Iterator[Word]:
    """AB, BC and C of ABC: each character begins a word, so one alone is found too."""
    for (character, start, _), (following, _, end) in pairwise(run):
        yield Word(character + following, start, end, is_pair=True)
    character, start, end = run[-1]
    yield Word(character, start, end, is_last=len(run) > 1)


def stem_of(word: str) -> str:
    """The word without the Arabic words that are written together with it; empty where there are none."""
    prefix = _ARABIC_PREFIX.match(word)
    return word[prefix.end() :] if prefix and prefix.end() else ""


def vector(parts: Sequence[tuple[str, str]], *, tenant: str) -> str:
    """The literal of a tsvector: texts, each with its weight (one of WEIGHTS), and the word of the tenant."""
    entries = [quoted(tenant_word(tenant))]
    position = 0
    for text, weight in parts:
        for word in words_of(text):
            position += 1
            if position > POSITION_MAX or len(entries) > WORDS_MAX:
                return " ".join(entries)
            entries += [f"{quoted(form)}:{position}{weight}" for form in word.forms]
        position += GAP
    return " ".join(entries)


def tenant_word(tenant: str) -> str:
    """No text has it, and none of its words begins it."""
    return f"={tenant}"


def quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def read_query(text: str) -> Query:
    """The terms that a person typed: beginnings of words, "phrases", -excluded ones. All of them must be met."""
    terms: list[Term] = []
    for minus, phrase, plain in _TERM.findall(text[:QUERY_CHARACTERS_MAX]):
        words = tuple(words_of(phrase or plain))
        if words and words[-1].is_last:
            words = words[:-1]
        if words:
            terms.append(Term(words, is_open=not phrase, is_excluded=bool(minus)))
    return tuple(terms[:TERMS_MAX])


def tsquery(
    query: Query,
    *,
    tenant: str,
    weights: str,
    whole: Query = (),
    whole_weights: str = "",
    either: Query | None = None,
) -> str:
    """The literal of a tsquery that finds the tenant's texts of these weights.

    `whole`: terms of other weights; `either`: terms of these, one of which is enough. Without any it finds no text.
    """
    clauses = [*(_clause(term, weights) for term in query), *(_clause(term, whole_weights) for term in whole)]
    if either is not None:
        found = [_clause(term, whole_weights) for term in either] or [quoted(tenant_word(""))]
        clauses.append(f"({' | '.join(found)})")
    return " & ".join([quoted(tenant_word(tenant)), *clauses])


def beginnings(texts: Iterable[str]) -> Query:
    """Words that may go on, or in quotes do not; of several in a row the last one."""
    return tuple(
        replace(term, is_open=not text.startswith('"'))
        for text in texts
        for term in read_query('"{}"'.format(text.replace('"', " ")))
    )


def whole_word(text: str) -> Query:
    """The first word of a text, which nothing follows."""
    return tuple(Term((word,), is_open=False) for word in words_of(text)[:1])


def written(texts: Iterable[str], wanted: Collection[str]) -> Mapping[str, str]:
    """Folded words as they are written most often in these texts; those that are in none are left out.

    A word that always begins a sentence is in lower case.
    """
    found: dict[str, Counter[str]] = {}
    for text in texts:
        plain = unicodedata.normalize("NFC", text)
        for word in words_of(plain):
            for form in (one for one in word.forms if one in wanted):
                before = plain[: word.start].rstrip()
                is_first = not before or before[-1] in SENTENCE_ENDS
                shown = plain[word.start : word.end] if form == word.text else form
                counter = found.setdefault(form, Counter())
                counter[shown.lower() if is_first else shown] += 0 if is_first else 1
    return {form: counter.most_common(1)[0][0] for form, counter in found.items()}


def _clause(term: Term, weights: str) -> str:
    last = len(term.words) - 1
    row = " <-> ".join(
        _either(word, f"{'*' if index == last and _is_open(term) else ''}{weights}")
        for index, word in enumerate(term.words)
    )
    return f"!({row})" if term.is_excluded else f"({row})"


def _is_open(term: Term) -> bool:
    """One character of a script without spaces always begins pairs; a pair is whole."""
    last = term.words[-1]
    return not last.is_pair and (term.is_open or _UNSPACED.match(last.text) is not None)


def _either(word: Word, suffix: str) -> str:
    forms = [f"{quoted(form)}:{suffix}" for form in word.forms]
    return forms[0] if len(forms) == 1 else f"({' | '.join(forms)})"


def highlighted(text: str, query: Query) -> list[tuple[str, bool]]:
    """The text in NFC in pieces, each with whether it was searched for; together they are the whole text."""
    text = unicodedata.normalize("NFC", text)
    if all(term.is_excluded for term in query):  # a list without a search, whose texts need not be read
        return [(text, False)] if text else []
    words = words_of(text)
    marked = bytearray(len(text))
    for term in query:
        if term.is_excluded:
            continue
        for index in range(len(words) - len(term.words) + 1):
            row = words[index : index + len(term.words)]
            if _is_met(term, row):
                marked[row[0].start : row[-1].end] = b"\1" * (row[-1].end - row[0].start)
    pieces: list[tuple[str, bool]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or marked[end] != marked[start]:
            pieces.append((text[start:end], bool(marked[start])))
            start = end
    return pieces


def _is_met(term: Term, row: Sequence[Word]) -> bool:
    last = len(term.words) - 1
    return all(
        any(
            form.startswith(asked) if index == last and _is_open(term) else form == asked
            for asked in term.words[index].forms
            for form in word.forms
        )
        for index, word in enumerate(row)
    )


STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(form for word in words_of(text) for form in word.forms)
    for language, text in toml.tables_of(__name__, "stop_words").items()
}
