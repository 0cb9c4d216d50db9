"""A person's own words in answers, by kind of quotation and language."""

import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, strategies as st

from afterword.core.messaging import mail_html, reply_text
from afterword.core.messaging.reply_text import item_of, item_proof, mentioned

OURS: Final = (
    "Hello Ann,\n\nwe are sorry that the parcel came late and wet. What went wrong, and may we send you a new one?\n\n"
    "Kind regards\nBen"
)
WRAPPED: Final = (
    "Hello Ann,\n\nwe are sorry that the parcel came late and wet.\n"
    "What went wrong, and may we send you\na new one?\n\n"
    "Kind regards\nBen"
)
MARKED: Final = "\n".join(f"> {line}".rstrip() for line in WRAPPED.split("\n"))
NEW: Final = "The box was wet."
OUTLOOK: Final = (
    "From: Ben <ben@shop.example>\nSent: Tuesday, January 5, 2027 3:04 PM\nTo: Ann\nSubject: Re: Your parcel"
)

EACH: Final = pytest.mark.parametrize("sent", [(), (OURS,)], ids=["", "known"])
ATTRIBUTION: Final = "On Tue, Jan 5, 2027 at 3:04 PM Ben Harbour <ben@shop.example> wrote:"


class TestWordsOfThePerson:
    """No word is lost, with our text at hand or without."""

    @pytest.mark.parametrize(
        "words",
        [
            "Order 1001\n______________________________\nMissing: the blue cup.",
            "The driver rang twice.\nOn Tuesday your colleague at the desk also wrote:\nplease wait. I waited.",
            "> 5 cups were broken",
            "From: Athens\nTo: Berlin\nDate: 5 May\nIt never arrived.",
            "Name: Ann\nDate: 5.1.2027 15:04\nSubject: cups\nWhere are they?",
            "-- the lid\n-- the cup\n\nBoth are missing.",
            "I paid on 5 January:\n20 euros.",
            "My number is 5 and I <3 it",
        ],
    )
    @EACH
    def test_nothing_is_quoted(self, words: str, sent: tuple[str, ...]) -> None:
        assert words == reply_text.own_words(words, sent=sent)

    @pytest.mark.parametrize(
        "words",
        [
            "On 5 January 2027 I wrote:\n\nwhere is it? Nobody answered.",
            "> 5 cups\n> 3 plates\nwere broken",
            "Original message:\nsee my first mail.",
            "We\nare sorry\nis no answer. Kind regards",
        ],
    )
    def test_our_text_is_not_there(self, words: str) -> None:
        assert words == reply_text.own_words(words, sent=[OURS])

    @pytest.mark.parametrize("above", ["5 cups were broken", "See order 1001!", "2 x cup, 1 x plate."])
    def test_directly_above_a_wrapped_attribution(self, above: str) -> None:
        sign = "On Tue, Jan 5, 2027 at 3:04 PM Ben Harbour <\nben@shop.example> wrote:"
        assert above == reply_text.own_words(f"{above}\n{sign}\n\n{MARKED}")

    def test_in_the_line_of_the_attribution(self) -> None:
        sign = "On Tue, Jan 5, 2027 at 3:04 PM, ben@shop.example wrote:"
        assert NEW == reply_text.own_words(f"{NEW} {sign}\n{MARKED}")


@EACH
class TestQuotedTextGoes:
    def test_between_marked_lines(self, sent: tuple[str, ...]) -> None:
        marked = MARKED.replace("> What", f"{NEW}\n> What").replace("> Kind", "Yes, please\n> Kind")
        assert f"{NEW}\n\nYes, please".split() == reply_text.own_words(f"{ATTRIBUTION}\n{marked}", sent=sent).split()

    def test_all_of_it_where_nothing_else_is_there(self, sent: tuple[str, ...]) -> None:
        assert MARKED == reply_text.own_words(MARKED, sent=sent)


class TestOurText:
    """Needs no sign and no language."""

    @pytest.mark.parametrize("sign", ["", "Bohren und Sägen 5", OUTLOOK])
    @pytest.mark.parametrize("quoted", [OURS, WRAPPED, WRAPPED.replace("late", "*late*").replace("\n", "\n    ")])
    def test_goes(self, sign: str, quoted: str) -> None:
        left = "" if sign == OUTLOOK else sign
        assert f"{NEW}\n\n{left}".strip() == reply_text.own_words(f"{NEW}\n\n{sign}\n\n{quoted}", sent=[OURS])

    def test_words_below_and_between(self) -> None:
        quoted = WRAPPED.replace("What", f"\n{NEW}\n\nWhat")
        found = reply_text.own_words(f"{OUTLOOK}\n\n{quoted}\n\nPlease send a new one.", sent=[OURS])
        assert f"{NEW}\n\nPlease send a new one." == found

    def test_earlier_words_of_the_person(self) -> None:
        """Quoted below ours they go; written again they stay."""
        earlier = "Where is my parcel? I ordered it on Monday."
        thread = f"{OUTLOOK}\n\n{OURS}\n\n{OUTLOOK.replace('Ben', 'Ann')}\n\n{earlier}"
        assert NEW == reply_text.own_words(f"{NEW}\n\n{thread}", sent=[OURS], received=[earlier])
        again = f"I ask again.\n{earlier}"
        assert again == reply_text.own_words(f"{again}\n\n{thread}", sent=[OURS], received=[earlier])


def test_html() -> None:
    source = f'<p>{NEW}</p><div class="gmail_attr">Tir 5</div><blockquote class="gmail_quote">Hi<br>Ann</blockquote>Ann'
    text = mail_html.text_of(source)
    assert f"{NEW}\nAnn" == reply_text.own_words(text)
    assert f"{NEW}\n> Tir 5\n> Hi\n> Ann\nAnn" == reply_text.readable(text)


def test_own_indent_of_the_person() -> None:
    source = f"Hi<blockquote>{NEW}</blockquote>{ATTRIBUTION.replace('<', '&lt;')}<blockquote>{OURS}</blockquote>Ann"
    assert f"Hi\n{NEW}\n\nAnn" == reply_text.own_words(mail_html.text_of(source), sent=[OURS])


def steps(text: str) -> int:
    count = 0

    def count_one(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(count_one)
    try:
        reply_text.own_words(mail_html.text_of(text), sent=[OURS, text[:2_000]])
        reply_text.own_words(text, sent=[OURS, text[:2_000]])
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        "> ", "On 5 ", "On 5 Jan 2027\n", "From:\n", "From: a@b\n\n", "<http:", "(a@", "-----", " ", "\n", "\n\n>a\n",
        "<p>", "<!--", "<b ", '<a b="', "<blockquote>\n", "</div>", "<pre>a\n", "<style>", OURS + "\n", "Hello\n",
    ],
)  # fmt: skip
def test_steps_grow_with_the_length(piece: str) -> None:
    short = steps((piece * 4_000)[:8_000])
    assert steps((piece * 8_000)[:16_000]) <= 2.5 * short + 1_000


SIGNS: Final = tomllib.loads(Path(__file__).with_name("signs_of_quotations.toml").read_text())


@EACH
@pytest.mark.parametrize("sign", SIGNS["attributions"])
def test_attributions(sign: str, sent: tuple[str, ...]) -> None:
    assert NEW == reply_text.own_words(f"{NEW}\n\n{sign}\n\n{MARKED}", sent=sent)
    assert f"Hello,\n\n{NEW}" == reply_text.own_words(f"Hello,\n\n{sign}\n{MARKED}\n\n{NEW}", sent=sent)
    assert NEW == reply_text.own_words(f"{NEW}\n\n{sign}\n\n{WRAPPED}", sent=sent)


@EACH
@pytest.mark.parametrize("names", SIGNS["headers"], ids=lambda names: names[0])
def test_headers(names: tuple[str, ...], sent: tuple[str, ...]) -> None:
    values = ("Ben <ben@shop.example>", "5 January 2027 15:04", "Ann", "Re: Your parcel")
    block = "\n".join(
        f"{name if ':' in name else f'{name}:'} {value}" for name, value in zip(names, values, strict=True)
    )
    assert NEW == reply_text.own_words(f"{NEW}\n\n{'_' * 32}\n{block}\n\n{WRAPPED}", sent=sent)


@EACH
@pytest.mark.parametrize("title", SIGNS["titles"])
def test_titles(title: str, sent: tuple[str, ...]) -> None:
    assert NEW == reply_text.own_words(f"{NEW}\n\n{title}\n\n{WRAPPED}", sent=sent)
    block = "Von: Ben <ben@shop.example>\nDatum: 05.01.27 15:04 (GMT+01:00)\nAn: Ann\nBetreff: Re: Your parcel"
    assert NEW == reply_text.own_words(f"{NEW}\n\n{title}\n{block}\n\n{WRAPPED}", sent=sent)


PEOPLE = {"anna": ["anna@demo.example", "Anna"], "maria": ["maria@demo.example", "Anna Maria"], "eleni": ["Ελένη", ""]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set[str]()),
        ("@ nobody", set[str]()),
        ("@anna@demo.example please", {"anna"}),
        ("Please, @anna.", {"anna"}),
        ("(@ANNA)", {"anna"}),
        ("@Annabel", set[str]()),
        ("anna@anna", set[str]()),  # an address, no mention
        ("mail@anna, but @anna too", {"anna"}),
        ("@Anna Maria knows", {"anna", "maria"}),
        ("@ελένη!", {"eleni"}),
    ],
)
def test_mentioned(text: str, expected: set[str]) -> None:
    assert expected == mentioned(text, PEOPLE)


SECRET, OTHER = b"k" * 32, b"l" * 32
ITEM = "0ITEM7Hq3kLmN9pRsTuVwX"


def test_ok() -> None:
    proof = item_proof(ITEM, SECRET)
    assert ITEM == item_of(proof, SECRET)
    assert ITEM == item_of(f" {proof}\r\n", SECRET)  # as a bounce quotes it
    assert len(proof) == len(ITEM) + 17
    assert len(f"X-Afterword-Item: {proof}") <= 76


@pytest.mark.parametrize(
    "proof",
    ["", ".", ITEM, f"{ITEM}.", f"{ITEM}.{'A' * 16}", item_proof(ITEM, OTHER), item_proof(ITEM, SECRET)[:-1],
     item_proof(ITEM, SECRET) + "A", item_proof(ITEM, SECRET).replace("0", "1", 1), "é.é",
     f".{item_proof(ITEM, SECRET)}"],
)  # fmt: skip
def test_forged(proof: str) -> None:
    assert item_of(proof, SECRET) is None


@given(st.text())
def test_any_text(text: str) -> None:
    assert item_of(text, SECRET) is None or text.strip() == item_proof(text.strip().partition(".")[0], SECRET)
