"""The parts that all readers share."""

import re
import time

import pytest

from afterword import errors
from afterword.core.foreign import parts
from afterword.core.foreign.parts import (
    Entry,
    Keys,
    all_of,
    any_of,
    is_small,
    leaf,
    locale_of,
    negated,
    plain,
    split,
    values_of,
)

A, B, C = (leaf(f"question:{one}", "equal", 1) for one in "abc")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (None, ""),
        (7, "7"),
        ("as it is", "as it is"),
        ("<p>One&nbsp;<b>two</b></p><p>three<br>four</p>", "One two\nthree\nfour"),
        ("a<script>alert(1)</script><style>p{}</style>b", "ab"),
        ('<img src="x" alt="A cat"> sits', "A cat sits"),
        ("3 < 4 &amp; 5", "3 < 4 & 5"),
        ("{{ x }} {{{y}}}", "{ { x }} { { {y}}}"),
        ("a\x00b\x07c", "abc"),
        ("<ul><li>one</li>\n\n<li>two</li></ul>", "one\ntwo"),
        ("<" * 1_000, "<" * 1_000),
        ("a<!-- <p>not</p> -->b<!DOCTYPE x>c<!--[if mso]>d", "abc"),
        ("&lt;b&gt; &eacute;", "<b> é"),
    ],
)
def test_words_of_html(written: object, expected: str) -> None:
    assert expected == plain(written)


@pytest.mark.parametrize("piece", ["<a ", "<!--", "<![", "&", "<p>", "<script>", "<a b='", " ", "{{"])
def test_words_of_hostile_html_come_soon(piece: str) -> None:
    begun = time.process_time()
    plain(piece * 50_000)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("short", 10, ("short", "")),
        ("One line.\nAnother one.", 15, ("One line.", "Another one.")),
        ("One. Two. Three.", 10, ("One. Two.", "Three.")),
        ("word word word", 10, ("word word", "word")),
        ("x" * 12, 10, ("x" * 10, "xx")),
        ("Hello {{ answer.name | … }} there", 20, ("Hello", "{{ answer.name | … }} there")),
    ],
)
def test_cut(text: str, most: int, expected: tuple[str, str]) -> None:
    assert expected == split(text, most)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("en", "en"), ("EN", "en"), ("pt_BR", "pt-br"), ("de-informal", "de"), ("ZH-S", "zh-hans"), ("GR", "el"),
        ("", None), (None, None), ("no such language", None), ("x" * 40, None)],
)  # fmt: skip
def test_locale(tag: object, expected: str | None) -> None:
    assert expected == locale_of(tag)


@pytest.mark.parametrize(
    ("codes", "expected", "is_told"),
    [
        (["1", "2", "5"], [1, 2, 5], False),
        (["A1", "A2", "A10"], [1, 2, 10], True),
        (["F", "M"], [1, 2], True),
        (["0", "1"], [2, 1], True),
        (["1", "01"], [1, 2], True),
        (["A1", "B1"], [1, 2], True),
        (["5000", "1"], [2, 1], True),
        (["x", "1", "-3"], [2, 1, 3], True),
        (["²", "1"], [2, 1], True),
    ],
)
def test_values_of_codes(codes: list[str], expected: list[int], *, is_told: bool) -> None:
    entry = Entry("question", "q")
    assert dict(zip(codes, expected, strict=True)) == values_of(codes, entry)
    assert (is_told, "taken") == (bool(entry.line.sentences), entry.line.outcome)


def test_keys() -> None:
    keys = Keys()
    given = [keys.give(name) for name in ("Name", "name", "1", "Ά", "", "x" * 99)]
    assert ["name", "name_2", "q_1", "q", "q_2", "x" * 58] == given


class TestConditions:
    def test_trees_are_flat(self) -> None:
        assert (None, A) == (all_of([]), all_of([A]))
        assert {"all": [A, B, C]} == all_of([A, {"all": [B, C]}, A])
        assert {"any": [A, B]} == any_of([A, {"any": [B]}])

    def test_values_of_one_subject_become_a_list(self) -> None:
        other = leaf("question:a", "equal", 2)
        assert leaf("question:a", "in", [1, 2]) == any_of([A, other])
        assert {"any": [B, leaf("question:a", "in", [1, 2])]} == any_of([A, other, B])

    def test_opposites(self) -> None:
        assert leaf("question:a", "not_equal", 1) == negated(A)
        assert A == negated(negated(A))
        more = leaf("question:a", "greater", 1)
        assert ({"not": more}, more) == (negated(more), negated(negated(more)))

    def test_limits(self) -> None:
        assert is_small({"all": [A] * 50})
        assert not is_small({"all": [A] * 51})
        deep = {"not": {"any": [{"not": {"any": [{"not": A}]}}]}}
        assert not is_small(deep)


class TestEntry:
    def test_worst_counts(self) -> None:
        entry = Entry("question", "q", "Title " * 100)
        entry.said("It is so.")
        assert ("taken", True) == (entry.line.outcome, entry.line.whole)
        entry.changed("It is different.")
        assert ("changed", True) == (entry.line.outcome, entry.line.whole)
        entry.lost("A part is lost.")
        entry.left_out("It is left out.")
        entry.changed("It is different.")
        assert ("left_out", False, 4) == (entry.line.outcome, entry.line.whole, len(entry.line.sentences))
        assert len(entry.line.title) <= parts.TITLE_SHOWN_CHARACTERS

    def test_piping(self) -> None:
        entry = Entry("text", "q")
        pipe = parts.piping(re.compile(r"#(\w+)"), lambda match: {"a": "answer.a", "b": ""}.get(match[1]), entry)
        assert "{{ answer.a | … }} and  and …" == entry.text("#a and #b and #c", 100, pipe)
        assert ("changed", True) == (entry.line.outcome, "#c" in entry.line.sentences[0])


class TestFiles:
    @pytest.mark.parametrize("content", ["Ά".encode(), b"\xef\xbb\xbf" + "Ά".encode(), "Ά".encode("utf-16")])
    def test_text(self, content: bytes) -> None:
        assert "Ά" == parts.text_of(content)

    @pytest.mark.parametrize("content", [b"\xff", b"{", b"[" * 100_000, b'{"a": 1,}'])
    def test_refused(self, content: bytes) -> None:
        with pytest.raises((errors.Malformed, errors.Invalid)):
            parts.json_of(content)
