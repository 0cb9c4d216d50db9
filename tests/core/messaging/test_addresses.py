"""Addresses: what is refused, what is one and the same, what a provider's reply may keep."""

import random
import string
import tomllib
import unicodedata
from pathlib import Path

import phonenumbers
import pytest
from hypothesis import given, strategies as st

from afterword.core.messaging.addresses import InvalidAddress, address_key, mask, normal_or_none, normalise, region_of

TABLES = tomllib.loads(Path(__file__).with_name("addresses.toml").read_text())
SECRET = b"s" * 32
EMAIL, SMS, WEBHOOK, LINK, OUTBOX = 1, 2, 3, 4, 5


def key(channel_id: int, text: str, locale: str | None = None) -> bytes:
    return address_key(SECRET, channel_id, normalise(channel_id, text, locale=locale))


@pytest.mark.parametrize(
    "text",
    [
        *TABLES["no_email"],
        "a" * 65 + "@example.com",
        "ann@" + "a" * 64 + ".com",
        "a@" + "b." * 160 + "com",
        '"' + "a." * 32 + '"@docomo.ne.jp',
    ],
)
def test_no_email(text: str) -> None:
    with pytest.raises(InvalidAddress):
        normalise(EMAIL, text)


@pytest.mark.parametrize("channel_id", [EMAIL, SMS, WEBHOOK, LINK, OUTBOX])
@pytest.mark.parametrize(
    "break_", ["\r\n", "\r", "\n", "\0", "\u2028", "\u2029", "\x85", "\x0b", "\x1b", "\x7f", "\ud800"]
)
@pytest.mark.parametrize("form", ["{}ann@example.com", "ann@example.com{}", "ann@example.com{}Bcc: bob@example.com"])
def test_no_header_injection(channel_id: int, break_: str, form: str) -> None:
    with pytest.raises(InvalidAddress):
        normalise(channel_id, form.format(break_))


@pytest.mark.parametrize(
    ("text", "locale"),
    [*TABLES["no_phone_number"], ("+" + "3" * 41, None), ("'" * 2 + "+306912345678", None)],
)
def test_no_phone_number(text: str, locale: str) -> None:
    with pytest.raises(InvalidAddress):
        normalise(SMS, text, locale=locale or None)


@pytest.mark.parametrize(
    ("text", "locale"),
    TABLES["of_two_countries"],
)
def test_numbers_of_two_countries(text: str, locale: str) -> None:
    with pytest.raises(InvalidAddress, match="two countries"):
        normalise(SMS, text, locale=locale or None)


@pytest.mark.parametrize(
    ("channel_id", "text", "said"),
    [
        (EMAIL, "an\u200bn@example.com", "invisible character"),
        (EMAIL, "ann@exam\u00adple.com", "invisible character"),
        (SMS, "6.91235E+09", "spreadsheet has rounded"),
        (SMS, "6912345678.5", "no decimals"),
    ],
)
def test_refusal_says_why(channel_id: int, text: str, said: str) -> None:
    with pytest.raises(InvalidAddress, match=said):
        normalise(channel_id, text, locale="el")


@pytest.mark.parametrize("text", ["", "   ", "x" * 321])
@pytest.mark.parametrize("channel_id", [WEBHOOK, LINK, OUTBOX])
def test_no_key(channel_id: int, text: str) -> None:
    with pytest.raises(InvalidAddress):
        normalise(channel_id, text)


@pytest.mark.parametrize("channel_id", [EMAIL, SMS])
def test_refusal_does_not_repeat_the_address(channel_id: int) -> None:
    with pytest.raises(InvalidAddress) as refusal:
        normalise(channel_id, "canary-7421 at nowhere")
    assert "canary" not in str(refusal.value)
    assert "7421" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "normal"),
    TABLES["email"],
)
def test_email(text: str, normal: str) -> None:
    assert normal == normalise(EMAIL, text)


@pytest.mark.parametrize(
    ("text", "locale", "normal"),
    TABLES["phone_number"],
)
def test_phone_number(text: str, locale: str, normal: str) -> None:
    assert normal == normalise(SMS, text, locale=locale or None)


def changed(text: str, draw: random.Random) -> str:
    """The number with other digits at its end."""
    kept = text[: max(6, len(text) - draw.randint(0, 5))]
    return kept + "".join(draw.choices(string.digits, k=len(text) - len(kept)))


def test_as_the_library_reads() -> None:
    draw = random.Random(20261128)  # noqa: S311  reproducible
    examples = [phonenumbers.example_number_for_type(one, 1) for one in sorted(phonenumbers.SUPPORTED_REGIONS)]
    for example in filter(None, examples):
        for _ in range(5):
            text = changed(phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164), draw)
            number = phonenumbers.parse(text)
            if phonenumbers.is_possible_number(number):
                expected = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
                assert expected == normalise(SMS, text)


def test_lost_plus_never_gives_another_number() -> None:
    """Mobile numbers in a list of their country, without plus and as a spreadsheet writes them: read or refused."""
    draw = random.Random(20261128)  # noqa: S311  reproducible
    read = refused = 0
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        example = phonenumbers.example_number_for_type(region, 1)
        if example is None:
            continue
        for damage in ("{}", "{}.0", "{},0"):
            text = changed(phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164), draw)
            number = phonenumbers.parse(text)
            if phonenumbers.number_type(number) not in {1, 2}:
                continue
            right = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
            found = normal_or_none(SMS, damage.format(right[1:]), locale=f"und-{region}")
            assert found in {right, None}
            read, refused = read + (found == right), refused + (found is None)
    assert read > 100 * refused


@pytest.mark.parametrize("channel_id", [WEBHOOK, LINK, OUTBOX])
def test_key_of_the_caller(channel_id: int) -> None:
    assert "Customer 42 \u00e9" == normalise(channel_id, " Customer 42 e\u0301 ")


@pytest.mark.parametrize(
    ("one", "other"),
    TABLES["one_person"],
)
def test_one_person(one: str, other: str) -> None:
    assert key(EMAIL, one) == key(EMAIL, other)


@pytest.mark.parametrize(
    ("one", "other"),
    TABLES["two_people"],
)
def test_two_people(one: str, other: str) -> None:
    assert key(EMAIL, one) != key(EMAIL, other)


def test_key_depends_on_secret_and_channel() -> None:
    normal = normalise(OUTBOX, "ann@example.com")
    keys = {address_key(secret, channel, normal) for secret in (SECRET, b"t" * 32) for channel in range(1, 6)}
    assert 10 == len(keys)
    assert all(32 == len(one) for one in keys)


def test_text_of_other_channels_keeps_its_case() -> None:
    assert key(WEBHOOK, "Ann") != key(WEBHOOK, "ann")


@pytest.mark.parametrize(
    ("locale", "region"),
    [
        (None, None),
        ("", None),
        ("el", "GR"),
        ("en", None),
        ("en-gb", "GB"),
        ("zh-Hant-TW", "TW"),
        ("sr_Latn_RS", "RS"),
        ("en-x-gb", None),
        ("es-419", None),
    ],
)
def test_region(locale: str | None, region: str | None) -> None:
    assert region == region_of(locale)


LOCALS = st.text(st.characters(categories=["L", "N", "M"]), min_size=1, max_size=20)


@given(LOCALS, st.sampled_from(["example.com", "m\u00fcnchen.de", "\u4f8b\u3048.jp"]))
def test_normal_form_is_stable(local: str, domain: str) -> None:
    try:
        normal = normalise(EMAIL, f"{local}@{domain}")
    except InvalidAddress:
        return
    assert normal == normalise(EMAIL, normal)
    assert normal == unicodedata.normalize("NFC", normal)
    assert normal.rpartition("@")[2].isascii()


@given(LOCALS)
def test_forms_of_unicode_are_one_person(local: str) -> None:
    keys: set[bytes] = set()
    for form in ("NFC", "NFD"):
        try:
            keys.add(key(EMAIL, unicodedata.normalize(form, f"{local}@example.com")))
        except InvalidAddress:
            keys.add(b"")
    assert 1 == len(keys)


@given(st.text(max_size=40))
def test_any_text_is_answered(text: str) -> None:
    for channel_id in (EMAIL, SMS, WEBHOOK):
        try:
            normal = normalise(channel_id, text, locale="el")
        except InvalidAddress:
            continue
        assert 1 <= len(normal) <= 320
        assert not any(unicodedata.category(one) in {"Cc", "Zl", "Zp"} for one in normal)


@pytest.mark.parametrize(
    ("reply", "masked"),
    TABLES["mask"],
)
def test_mask(reply: str, masked: str) -> None:
    assert masked == mask(reply)


def test_mask_known() -> None:
    assert "customer [address] is unknown" == mask("customer 42-A is unknown", "42-A", "")


def test_mask_is_quick() -> None:
    assert mask("a" * 100_000) == "a" * 100_000
    assert "[address]" == mask("@" * 100_000)
    assert mask("?a=" * 10_000) == "?a=" * 10_000
