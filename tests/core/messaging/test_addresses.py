"""Addresses: what is refused, what is one and the same, what a provider's reply may keep."""

import random
import string
import unicodedata

import phonenumbers
import pytest
from hypothesis import given, strategies as st

from afterword.core.messaging.addresses import InvalidAddress, address_key, mask, normal_or_none, normalise, region_of

SECRET = b"s" * 32
EMAIL, SMS, WEBHOOK, LINK, OUTBOX = 1, 2, 3, 4, 5


def key(channel_id: int, text: str, locale: str | None = None) -> bytes:
    return address_key(SECRET, channel_id, normalise(channel_id, text, locale=locale))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "ann",
        "ann@",
        "@example.com",
        "ann@@example.com",
        "ann@example@com",
        "ann@localhost",
        "ann@test",
        "ann@1.2.3.4",
        "ann@[127.0.0.1]",
        "ann@example..com",
        "ann@example.com..",
        "ann@.example.com",
        "ann@-example.com",
        "ann@ex_ample.com",
        ".ann@example.com",
        "ann.@example.com",
        "an..n@example.com",
        "an n@example.com",
        '"an n"@example.com',
        "Ann <ann@example.com>",
        "ann@example.com, bob@example.com",
        "ann@example.com;bob@example.com",
        "ann(comment)@example.com",
        "a" * 65 + "@example.com",
        "ann@" + "a" * 64 + ".com",
        "a@" + "b." * 160 + "com",
        "an\u200dn@example.com",
        "an\u200bn@example.com",
        "ann@exa\u200dmple.com",
        "''ann@example.com",
        "'ann@example.com''",
        '"an n"@docomo.ne.jp',
        '"an\\"n"@docomo.ne.jp',
        '""@docomo.ne.jp',
        ".ann@docomo.ne.jp",
        "an..n@notdocomo.ne.jp",
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
    [
        ("", None),
        ("+", None),
        ("abc", "el"),
        ("+1-800-FLOWERS", None),
        ("tel:+306900000000", None),
        ("+49 170 1234567 ext 3", None),
        ("6900000000", None),
        ("6900000000", "en"),  # of a language that many countries speak, no country is guessed
        ("6900000000", "de"),
        ("00306900000000", None),
        ("+12", None),
        ("+999123456789", None),
        ("+30690000000000000000", None),
        ("+30 690", None),
        ("690", "el"),
        ("+" + "3" * 41, None),
        ("6900000000", "el-ZZ"),
        ("'" * 2 + "+306912345678", None),
        ("+30691234567\u00b78", None),
        ("6912345678,6987654321", "el"),
        ("3331234567.5", "it-IT"),  # a digit more would be possible there
        ("333.1234567.0", "it-IT"),
        ("3331234567..0", "it-IT"),
        ("3331234567.000", "it-IT"),
        ("0331234567.0", "it-IT"),  # no spreadsheet keeps the zero in front of a number
        ("+39 06 1234 567/8", None),
        ("6.91235E+09", "el"),
        ("6,91E+09", "el"),
        ("4.915112345678e12", "de"),
    ],
)
def test_no_phone_number(text: str, locale: str | None) -> None:
    with pytest.raises(InvalidAddress):
        normalise(SMS, text, locale=locale)


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("491511234567", "de-DE"),
        ("436641234567", "de-DE"),  # a mobile number of Austria, or a landline of Germany
        ("306912345678,0", "de-DE"),
        ("12015550123", "de-DE"),
        ("15712345678", "de-DE"),  # the zero of Germany or the plus of the United States is lost
        ("358401234567", "sv-SE"),
    ],
)
def test_numbers_of_two_countries(text: str, locale: str) -> None:
    with pytest.raises(InvalidAddress, match="two countries"):
        normalise(SMS, text, locale=locale)


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
    [
        ("ann@example.com", "ann@example.com"),
        ("  ann@example.com ", "ann@example.com"),
        ("Ann@Example.COM", "Ann@example.com"),
        ("ann@example.com.", "ann@example.com"),
        ("ann+shop@example.com", "ann+shop@example.com"),
        ("o'neil_{x}@example.co.uk", "o'neil_{x}@example.co.uk"),
        ("ann@münchen.de", "ann@xn--mnchen-3ya.de"),
        ("ann@MÜNCHEN.de", "ann@xn--mnchen-3ya.de"),
        ("ann@mu\u0308nchen.de", "ann@xn--mnchen-3ya.de"),
        ("ann@XN--MNCHEN-3YA.de", "ann@xn--mnchen-3ya.de"),
        ("ann@straße.de", "ann@xn--strae-oqa.de"),
        ("jose\u0301@example.com", "jos\u00e9@example.com"),
        ("άννα@παράδειγμα.ελ", "άννα@xn--hxajbheg2az3al.xn--qxam"),
        (
            "\uff41\uff4e\uff4e\uff20\uff45\uff58\uff41\uff4d\uff50\uff4c\uff45\uff0e\uff43\uff4f\uff4d",
            "ann@example.com",
        ),
        ("ann@example\u3002com", "ann@example.com"),
        ("ann@shop.test", "ann@shop.test"),
        ("'ann@example.com", "ann@example.com"),  # by spreadsheets, shops and our own CSV
        ("'ann@example.com'", "ann@example.com"),
        ("'=ann@example.com", "=ann@example.com"),
        ("'+ann@example.com", "+ann@example.com"),
        ("'o'neil@example.com", "o'neil@example.com"),
        ("ann@example.com\u200b", "ann@example.com"),
        ("\u202aann@example.com\u202c", "ann@example.com"),
        ("\ufeffann@example.com \u200e", "ann@example.com"),
        ("\u2068 '+ann@example.com\u2069", "+ann@example.com"),
        ("ann\u2011lee@my\u2011shop.example", "ann-lee@my-shop.example"),
        ("ann..shop@docomo.ne.jp", '"ann..shop"@docomo.ne.jp'),
        ("bar.@DoCoMo.ne.jp", '"bar."@docomo.ne.jp'),
        ("bar.@t.vodafone.ne.jp", '"bar."@t.vodafone.ne.jp'),
        ('"ann..shop"@docomo.ne.jp', '"ann..shop"@docomo.ne.jp'),
        ('"ann.shop"@docomo.ne.jp', "ann.shop@docomo.ne.jp"),
        ('"ann..shop"@example.com', '"ann..shop"@example.com'),
        ("ann.shop@docomo.ne.jp", "ann.shop@docomo.ne.jp"),
    ],
)
def test_email(text: str, normal: str) -> None:
    assert normal == normalise(EMAIL, text)


@pytest.mark.parametrize(
    ("text", "locale", "normal"),
    [
        ("+306900000000", None, "+306900000000"),
        ("+30 690-000.0000", "en-US", "+306900000000"),
        ("6900000000", "el", "+306900000000"),
        ("6900000000", "el_GR", "+306900000000"),
        ("6900000000", "en-GR", "+306900000000"),
        ("0030 690 000 0000", "el", "+306900000000"),
        ("(0170) 1234567", "de-DE", "+491701234567"),
        ("+49 (0)170 1234567", None, "+491701234567"),
        ("+39 06 1234 5678", None, "+390612345678"),
        ("\uff0b\uff13\uff10\uff16\uff19\uff10\uff10\uff10\uff10\uff10\uff10\uff10\uff10", None, "+306900000000"),
        ("+\u0663\u0660\u0666\u0669\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660", None, "+306900000000"),
        ("6912345678.0", "el", "+306912345678"),
        ("6912345678,0", "el", "+306912345678"),
        ("6912345678.00", "el", "+306912345678"),
        ("3331234567.0", "it-IT", "+393331234567"),
        ("436641234567.0", "de-AT", "+436641234567"),
        ("+306912345674.0", None, "+306912345674"),
        ("4915112345678", "de-DE", "+4915112345678"),
        ("4915112345678.0", "de-DE", "+4915112345678"),
        ("493012345678", "de-DE", "+493012345678"),
        ("447911123456", "en-GB", "+447911123456"),
        ("15012345678", "zh-CN", "+8615012345678"),  # no zero is missing there
        ("6590123456", "en-IN", "+916590123456"),
        ("16502530000", "en-US", "+16502530000"),
        ("'+306912345678", None, "+306912345678"),
        ("'6912345678", "el", "+306912345678"),
        ("\u202a+30 691 234 5678\u202c", None, "+306912345678"),
        ("+30\u00a0691\u202f234\u20115678", None, "+306912345678"),
        ("+30 691\u2013234\u20125678\u200b", None, "+306912345678"),
        ("+30\u2060691\u00ad2345678", None, "+306912345678"),
    ],
)
def test_phone_number(text: str, locale: str | None, normal: str) -> None:
    assert normal == normalise(SMS, text, locale=locale)


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
    [
        ("ann@example.com", "ANN@EXAMPLE.COM"),
        ("ann@example.com", "ann@example.com."),
        ("ann@example.com", "\uff21\uff2e\uff2e@example.com"),
        ("jos\u00e9@example.com", "JOSE\u0301@example.com"),
        ("ann@m\u00fcnchen.de", "ann@xn--mnchen-3ya.DE"),
        ("stra\u00dfe@example.com", "STRASSE@example.com"),
        ("\u03b1\u03c3@example.com", "\u0391\u03a3@example.com"),
        ("\u03b1\u03c2@example.com", "\u0391\u03a3@example.com"),  # final sigma
        ("o\ufb03ce@example.com", "office@example.com"),  # a ligature
        ("ann..shop@docomo.ne.jp", '"Ann..Shop"@docomo.ne.jp'),
        ("'ann@example.com", "ann@example.com\u200b"),
    ],
)
def test_one_person(one: str, other: str) -> None:
    assert key(EMAIL, one) == key(EMAIL, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann@example.com", "ann+shop@example.com"),
        ("ann@example.com", "a.nn@example.com"),
        ("ann@example.com", "ann@example.org"),
        ("ann@example.com", "ann@mail.example.com"),
        ("jose@example.com", "jos\u00e9@example.com"),
        ("ann@stra\u00dfe.de", "ann@strasse.de"),
        ("ann@example.com", "\u0430nn@example.com"),  # begins with a Cyrillic letter
    ],
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
    [
        ("550 5.1.1 <ann@example.com>: rejected", "550 5.1.1 <[address]>: rejected"),
        ('550 5.1.1 <"ann..shop"@docomo.ne.jp>: rejected', "550 5.1.1 <[address]>: rejected"),
        ("550 5.1.1 ann@example.com... User unknown", "550 5.1.1 [address] User unknown"),
        ("bounce to b+ann=example.com@mail.shop.com", "bounce to [address]"),
        ("see https://x.example/r?rcpt=ann%40example.com", "see [address]"),
        ("see https://lists.example/query?ip=192.0.2.1", "see https://lists.example/query?ip=192.0.2.1"),
        ("see https://x.example/q?a=b.c&rcpt=ann@example.com", "see [address]"),
        ("error for name=nx.example type=A", "error for name=nx.example type=A"),
        ("name=ann=example.com unknown", "[address] unknown"),
        ("no such number +30 690 000 0000 today", "no such number [address] today"),
        ("no such number 306900000000.", "no such number 306900000000."),
        ("no such number 306900000000 today", "no such number [address] today"),
        ("\u00e1nn\uff20example.com unknown", "[address] unknown"),
        ("250 2.0.0 Ok: queued as 4XqP2g0Z1bz", "250 2.0.0 Ok: queued as 4XqP2g0Z1bz"),
        ("421 4.7.0 [192.0.2.1] busy, 2026-07-30T10:20:30", "421 4.7.0 [192.0.2.1] busy, 2026-07-30T10:20:30"),
    ],
)
def test_mask(reply: str, masked: str) -> None:
    assert masked == mask(reply)


def test_mask_known() -> None:
    assert "customer [address] is unknown" == mask("customer 42-A is unknown", "42-A", "")


def test_mask_is_quick() -> None:
    assert mask("a" * 100_000) == "a" * 100_000
    assert "[address]" == mask("@" * 100_000)
    assert mask("?a=" * 10_000) == "?a=" * 10_000
