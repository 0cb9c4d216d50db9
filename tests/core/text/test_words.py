"""Words for search: folded in each script, found as beginnings and phrases, highlighted where they were found."""
# ruff: noqa: RUF001 - letters of many scripts

import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from afterword.core.text import words
from afterword.core.text.words import STOP_WORDS

SAMPLES = (
    "Η ΠΑΡΆΔΟΣΗ άργησε· ο οδηγός δεν ήξερε την πόλις.",
    "Die Straße war gesperrt, verspätet, schöne Grüße.",
    "التَّوْصِيلُ كان سريعًا والتوصيل للمدينة ٢٤ ساعة",
    "İstanbul ISPARTA'dan ısıtıcı gelmedi",
    "Zażółć gęślą jaźń. ŁÓDŹ jest daleko",
    "送货很慢，不过客服很好 ok",
    "配達が遅いです。ﾊｿｺﾝも壊れた",
    "จัดส่งช้ามาก น้ำแตก",
    "don't e-mail A-1234 \u2764\ufe0f",
)


def forms(text: str) -> list[str]:
    return [form for word in words.words_of(text) for form in word.forms]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("… — \u2764\ufe0f \u200b", []),
        ("Η ΠΑΡΆΔΟΣΗ, πόλις", ["η", "παραδοση", "πολισ"]),
        ("Straße GRÜSSE Grüße", ["strasse", "grusse", "grusse"]),
        ("التَّوْصِيلُ", ["التوصيل", "توصيل"]),
        ("وبالتوصيل للمدينة", ["وبالتوصيل", "توصيل", "للمدينه", "مدينه"]),
        ("ولد أحمد", ["ولد", "احمد"]),
        ("می\u200cخواهم", ["ميخواهم"]),
        ("İstanbul ISPARTA ısı", ["istanbul", "isparta", "isi"]),
        ("Łódź Zażółć", ["lodz", "zazolc"]),
        ("送货很", ["送货", "货很", "很"]),
        ("慢", ["慢"]),
        ("น้ำ", ["น้ํา", "ํา"]),
        ("がﾊ", ["がハ", "ハ"]),
        ("ช้าok", ["ช้า", "า", "ok"]),
        ("हिन्दी", ["हिन्दी"]),
        ("don't ٣٤ A_1", ["don", "t", "34", "a", "1"]),
        ("x" * 99, ["x" * words.WORD_CHARACTERS_MAX]),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert found == forms(text)


@settings(max_examples=200)
@given(text=st.text(st.characters(codec="ascii")))
def test_words_of_plain_english(text: str) -> None:
    """They are found faster, and are the same as by the way for all scripts."""
    assert words._words_of(text) == words.words_of(text)


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("", "'=o'"),
        ("-", "'=o'"),
        ("Λάθος", "'=o' & ('λαθοσ':*AB)"),
        ('"zu spät" -Geld', "'=o' & ('zu':AB <-> 'spat':AB) & !('geld':*AB)"),
        ("e-mail", "'=o' & ('e':AB <-> 'mail':*AB)"),
        ("送货很", "'=o' & ('送货':AB <-> '货很':AB)"),
        ("慢", "'=o' & ('慢':*AB)"),
        ('"慢"', "'=o' & ('慢':*AB)"),
        ("والتوصيل", "'=o' & (('والتوصيل':*AB | 'توصيل':*AB))"),
        ('"open', "'=o' & ('open':AB)"),
        ("'=x' | !a:*", "'=o' & ('x':*AB) & ('a':*AB)"),
    ],
)
def test_query(typed: str, asked: str) -> None:
    assert asked == words.tsquery(words.read_query(typed), tenant="o", weights="AB")


def test_vector() -> None:
    assert r"'=o\\''' 'zu':1A 'spat':2A 'b':13B" == words.vector([("Zu spät", "A"), ("b", "B")], tenant="o\\'")
    assert words.WORDS_MAX + 1 == len(words.vector([("a " * 9_999, "A")], tenant="o").split())


def test_written() -> None:
    """As most write it; in lower case what always begins a sentence."""
    texts = [
        "Slow. Support was kind",
        "SLOW Lieferung",
        "Die Lieferung kam",
        "η ΠΑΡΆΔΟΣΗ, η παράδοση, η παράδοση",
        "والتوصيل",
    ]
    wanted = {"slow", "support", "lieferung", "παραδοση", "توصيل", "absent"}
    found = words.written(texts, wanted)
    expected = {
        "slow": "slow",
        "support": "support",
        "lieferung": "Lieferung",
        "παραδοση": "παράδοση",
        "توصيل": "توصيل",
    }
    assert expected == found


@pytest.mark.parametrize(
    ("text", "typed", "marked"),
    [
        ("Η ΠΑΡΆΔΟΣΗ άργησε", "παραδ", ["ΠΑΡΆΔΟΣΗ"]),
        ("Viel zu spät, zu teuer", '"zu spät"', ["zu spät"]),
        ("والتَّوصيل سريع", "التوصيل", ["والتَّوصيل"]),
        ("送货很慢", "货很", ["货很"]),
        ("送货很慢", "慢", ["慢"]),
        ("Straße und Geld", "strass -geld", ["Straße"]),
        ("cafe\u0301", "CAFÉ", ["café"]),
        ("Nothing here", "delivery", []),
    ],
)
def test_highlighted(text: str, typed: str, marked: list[str]) -> None:
    assert marked == [piece for piece, is_marked in words.highlighted(text, words.read_query(typed)) if is_marked]


@settings(max_examples=60)
@given(st.text(max_size=20) | st.sampled_from(SAMPLES))
def test_folding_is_stable_and_pieces_are_the_text(text: str) -> None:
    written = words.words_of(text)
    assert written == words.words_of(unicodedata.normalize("NFD", text))
    assert "".join(piece for piece, _ in words.highlighted(text, words.read_query(text))) == unicodedata.normalize(
        "NFC", text
    )
    assert [word.text for word in written if not word.is_pair and not word.is_last] == [
        again.text for word in written if not word.is_pair and not word.is_last for again in words.words_of(word.text)
    ]


@settings(max_examples=60)
@given(st.sampled_from(SAMPLES), st.data())
def test_a_part_of_a_text_is_highlighted_in_it(text: str, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(words.words_of(text)))
    typed = unicodedata.normalize("NFC", text)[word.start : word.end]
    for asked in (typed, typed.upper(), f'"{typed}"'):
        pieces = words.highlighted(text, words.read_query(asked))
        assert any(is_marked and typed in piece for piece, is_marked in pieces), asked


def test_folded() -> None:
    assert {"en", "de", "el", "ar", "es", "fr", "it"} == set(STOP_WORDS)
    for language, text in (
        ("fr", "Merci"),
        ("es", "gracias"),
        ("it", "Grazie"),
        ("en", "Thanks"),
        ("de", "Für"),
        ("el", "ΚΑΘΏΣ"),
        ("ar", "إلى"),
        ("en", "THE"),
    ):
        [word] = words.words_of(text)
        assert word.text in STOP_WORDS[language]
    assert all(word == words.words_of(word)[0].text for found in STOP_WORDS.values() for word in found)
