"""The length of an SMS, against the tables and boundaries of 3GPP TS 23.038."""

import pytest
from hypothesis import given, strategies as st

from afterword.core.messaging import segments
from afterword.core.messaging.segments import BASIC, EXTENSION, encode, measure, split
from tests.extras.septets import decode_gsm7

GSM7 = st.text(st.sampled_from([c for c in BASIC if c != "\x1b"] + list(EXTENSION)), max_size=700)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)


def test_the_table() -> None:
    assert 128 == len(BASIC) == len(set(BASIC))
    # Places that every reading of the table knows: TS 23.038, 6.2.1.
    places = {"@": 0, "\n": 10, "\r": 13, "Δ": 16, "_": 17, "Æ": 28, "É": 31, " ": 32, "¤": 36, "0": 48, "¡": 64}
    places |= {"A": 65, "Z": 90, "Ä": 91, "§": 95, "¿": 96, "a": 97, "z": 122, "ä": 123, "à": 127}
    assert places == {character: BASIC.index(character) for character in places}


@pytest.mark.parametrize("character", [c for c in BASIC if c != "\x1b"])
def test_every_basic_character_is_one_unit(character: str) -> None:
    assert segments.Length("gsm7", 1) == measure(character)
    assert (bytes([BASIC.index(character)]), "gsm7") == encode(character)


@pytest.mark.parametrize("character", EXTENSION)
def test_every_character_of_the_extension_is_two(character: str) -> None:
    assert segments.Length("gsm7", 1) == measure(character)
    assert (bytes([27, EXTENSION[character]]), "gsm7") == encode(character)


@pytest.mark.parametrize("character", ["ç", "ά", "\u0391", "“", "\u2019", "\u2013", "\xa0", "\t", "`", "\x1b"])
def test_others_force_ucs2(character: str) -> None:
    assert segments.Length("ucs2", 1) == measure("a" + character)


@pytest.mark.parametrize(
    ("text", "units", "parts"),
    [
        ("", 0, 1), ("a" * 160, 160, 1), ("a" * 161, 161, 2), ("a" * 306, 306, 2), ("a" * 307, 307, 3),
        ("a" * 459, 459, 3),
        ("a" * 158 + "€", 160, 1), ("a" * 159 + "€", 161, 2), ("a" * 152 + "€" + "a" * 151, 305, 2),
        ("a" * 152 + "€" + "a" * 152, 306, 3),  # the pair does not fit into the first part, so all moves on
        ("ά" * 70, 70, 1), ("ά" * 71, 71, 2), ("ά" * 134, 134, 2), ("ά" * 135, 135, 3),
        ("😀" * 35, 70, 1), ("😀" * 36, 72, 2), ("😀" * 66, 132, 2), ("😀" * 67, 134, 3),  # 33 a part: no half one
    ],
)  # fmt: skip
def test_boundaries(text: str, units: int, parts: int) -> None:
    octets, encoding = encode(text)
    assert (units, parts) == (len(octets) // (2 if encoding == "ucs2" else 1), measure(text).segments)


@given(GSM7 | ANY)
def test_parts_make_the_text_and_each_fits(text: str) -> None:
    length, parts = measure(text), split(text)
    assert text == "".join(parts)
    assert len(parts) == length.segments
    limit = segments.UNITS_MAX if len(parts) == 1 else segments.PART_UNITS_MAX
    width = {"gsm7": lambda part: len(encode(part)[0]), "ucs2": lambda part: len(part.encode("utf-16-be")) // 2}
    assert all(width[length.encoding](part) <= limit[length.encoding] for part in parts)


@given(GSM7)
def test_septets_read_back(text: str) -> None:
    octets, encoding = encode(text)
    assert ("gsm7", text) == (encoding, decode_gsm7(octets))
