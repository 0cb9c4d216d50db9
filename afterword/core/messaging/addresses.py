"""Addresses of people: one normal form per channel, and the keyed hash by which two of them are compared.

Sending, dedupe, caps and suppression all go through `normalise` and `address_key`, so they cannot disagree. The text
that a client sent is kept and echoed elsewhere, untouched.
"""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

import email_validator
import phonenumbers

from afterword.core import keys
from afterword.core.reading import structs
from afterword.errors import Sentence

CHANNEL_EMAIL: Final = 1
CHANNEL_SMS: Final = 2
CHANNEL_WEBHOOK: Final = 3
CHANNEL_LINK: Final = 4
CHANNEL_OUTBOX: Final = 5

IDENTIFIER_CHARACTERS_MAX: Final = 320
MASKED: Final = "[address]"

# Languages of one country: for them a bare language tag implies the country of a national number. English, German,
# Spanish and the like are missing on purpose, since a guess would send to a stranger.
_REGION_OF_LANGUAGE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bg": "BG", "cs": "CZ", "da": "DK", "el": "GR", "et": "EE", "fi": "FI", "he": "IL", "hr": "HR", "hu": "HU",
        "hy": "AM", "is": "IS", "ja": "JP", "ka": "GE", "lt": "LT", "lv": "LV", "mk": "MK", "nb": "NO", "nn": "NO",
        "no": "NO", "pl": "PL", "sk": "SK", "sl": "SI", "th": "TH", "tr": "TR", "uk": "UA", "vi": "VN",
    }
)  # fmt: skip
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})  # what could end a header line or a log line
# Nearly all addresses match this. The validator, ten times slower, agrees with it and is asked about the others.
_PLAIN_EMAIL: Final = re.compile(
    r"([A-Za-z0-9_+-]{1,32}(?:\.[A-Za-z0-9_+-]{1,30})?)@"
    r"((?:[A-Za-z0-9]{1,30}(?:-[A-Za-z0-9]{1,30})?\.){1,3}(?!(?:arpa|invalid|local|localhost|onion)\Z)[a-z]{2,20})\Z"
)
# Carriers of Japan gave out local parts that RFC 5321 allows between quotation marks alone.
_DOTTED_DOMAINS: Final = re.compile(
    r"(?:(?:docomo|ezweb|softbank|disney|y-?mobile1?|(?:[a-z]\.)?vodafone|(?:[a-z]+\.)?pdx)\.ne\.jp|au\.com|i\.softbank\.jp)\Z",
    re.IGNORECASE,
)
_DOTS: Final = re.compile(r"[A-Za-z0-9!#$%&*+/=?^_`{|}~-][A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{0,61}\Z")
_PHONE: Final = re.compile(r"\+?[\d\s().\-/]{3,40}\Z")
_DECIMALS: Final = re.compile(r"(\+?[1-9]\d{6,})[.,](?:(00?)|\d{1,2}|0+)\Z")
_CODES: Final = frozenset(map(str, phonenumbers.COUNTRY_CODE_TO_REGION_CODE))
_NO_DIGIT: Final = re.compile(r"\D+")
_ROUNDED: Final = re.compile(r"\+?\d(?:[.,]\d*)?[eE]\+?\d{1,2}\Z")
_TORN: Final = re.compile(r"[.]{2}|[.]\d\Z|/\d{1,2}\Z")  # a lost digit, or the last digits of a second number
_TOKEN: Final = re.compile(r"(?:\"[^\s\"]{1,64}\"(?=@))?[^\s<>()\[\],;\"']+")
_AT: Final = re.compile(r"@|\uff20|%40|=40|(?<=\w)=(?=[\w-]+\.\w)", re.IGNORECASE)
# Parameters of a link and names in the words of a resolver: their "=" is no at, unlike that of "ann=example.org".
_PARAMETER: Final = re.compile(
    r"(?:[?&]\w{1,30}|(?<![\w.+-])(?:name|host|domain|ip|mx|helo|client|server))=(?=[^@=%\uff20]*(?:[&;]|\Z))",
    re.IGNORECASE,
)
# Countries whose people leave out the zero before mobile numbers.
_ZERO_OPTIONAL: Final = frozenset({"51", "84", "90", "91", "252", "686", "961", "963", "976", "977", "995"})
_ZERO_STAYS: Final = ("+39", "+378", "+379")  # elsewhere a (0) after the country code is not dialled
_NUMBER: Final = re.compile(r"\+\d[\d ().\-]{5,20}\d(?!\w)|(?<![\w.:\-])\d{9,15}(?![\w.:\-])")


class InvalidAddress(ValueError):
    """Not an address of that channel; the message says why and never repeats it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def normalise(channel_id: int, identifier: str, *, locale: str | None = None) -> str:
    """The normal form of an address on a channel: what is sent to, stored for search and hashed for comparison.

    Channel 1: e-mail, NFC, full-width characters narrowed, domain as lower-case A-labels (RFC 5891), local part as
    written. Channel 2: E.164; a national number takes its country from `locale` (`el`, `en-GB`). Others: trimmed NFC.
    Raises InvalidAddress.
    """
    text = _printable(identifier)
    if channel_id == CHANNEL_EMAIL:
        return _email(text)
    if channel_id == CHANNEL_SMS:
        return _phone(text, region_of(locale))
    return text


def normal_or_none(channel_id: int, identifier: str, *, locale: str | None = None) -> str | None:
    try:
        return normalise(channel_id, identifier, locale=locale)
    except InvalidAddress:
        return None


def domain_of(identifier: str) -> str | None:
    """The domain of an e-mail address as its normal form has it; None for an invalid address."""
    normal = normal_or_none(CHANNEL_EMAIL, identifier)
    return normal and normal.rpartition("@")[2]


def is_among(address: str, senders: Collection[str]) -> bool:
    """True if an e-mail address or its domain is one of `senders`, which are in lower case.

    As written is enough for senders that were taken over from pipelines before there was a normal form of them.
    """
    texts = {address.strip().lower()}
    with suppress(InvalidAddress):
        texts.add(normalise(CHANNEL_EMAIL, address).lower())
    return not texts.union(text.rpartition("@")[2] for text in texts).isdisjoint(senders)


def address_key(secret: bytes, channel_id: int, normal: str) -> bytes:
    """32 bytes that are equal for equal addresses and reveal nothing without the secret (HMAC-SHA256).

    The local part of an e-mail address is case-folded here and only here: hosts may tell `Ann` from `ann`, people never
    do, and a person who unsubscribed as one must not get mail as the other.
    """
    kind = {CHANNEL_EMAIL: "email", CHANNEL_SMS: "phone"}.get(channel_id, f"channel{channel_id}")
    compared = _folded(normal) if channel_id == CHANNEL_EMAIL else normal
    digest = _keyed(keys.addresses_of(secret)).copy()
    digest.update(f"{kind}\0{compared}".encode())
    return digest.digest()


@lru_cache(maxsize=4)
def _keyed(key: bytes) -> hmac.HMAC:
    """`hmac.digest` lets other threads run at each call: for a thousand addresses beside one that computes, seconds."""
    return hmac.new(key, digestmod=hashlib.sha256)


def region_of(locale: str | None) -> str | None:
    """The country that a locale names or, for languages of one country, implies; None when it does neither."""
    language, *rest = (locale or "").replace("_", "-").split("-")
    for part in rest:
        if len(part) == 1:  # extensions and private use follow
            break
        if len(part) == 2 and part.isascii() and part.isalpha():  # noqa: PLR2004  ISO 3166-1 alpha-2
            return part.upper()
    return _REGION_OF_LANGUAGE.get(language.lower())


def mask(text: str, *known: str) -> str:
    """`text` with the `known` addresses and all that looks like one replaced: for the replies of providers."""
    for address in known:
        if address:
            text = text.replace(address, MASKED)
    text = _TOKEN.sub(lambda match: MASKED if _AT.search(_PARAMETER.sub(" ", match[0])) else match[0], text)
    return _NUMBER.sub(MASKED, text)


def _printable(identifier: str) -> str:
    is_plain = identifier.isascii() and identifier.isprintable()  # nearly all are, and this is much quicker
    if not is_plain and any(unicodedata.category(character) in _REFUSED_CATEGORIES for character in identifier):
        raise InvalidAddress("An address has no control characters and no line breaks.")
    text = unicodedata.normalize("NFC", identifier).strip()
    if not text:
        raise InvalidAddress("The address is empty.")
    if len(text) > IDENTIFIER_CHARACTERS_MAX:
        raise InvalidAddress(Sentence("An address has at most {n} characters.", n=IDENTIFIER_CHARACTERS_MAX))
    return text


def _email(text: str) -> str:
    # One dot at the end is the root of the domain: the same domain, spelled out.
    text = _narrowed(text).removesuffix(".")
    if plain := _PLAIN_EMAIL.match(text):
        return f"{plain[1]}@{plain[2].lower()}"
    if text.startswith("'"):  # of a spreadsheet, or of both sides
        text = text[1:].removesuffix("'")
    local, _, domain = text.rpartition("@")
    is_quoted = local[:1] == local[-1:] == '"' and _DOTS.match(local[1:-1]) is not None
    if not is_quoted and _DOTTED_DOMAINS.match(domain) and _DOTS.match(local):
        text, is_quoted = f'"{local}"@{domain}', True  # without need the validator takes the marks away
    try:
        # `.test` passes: installations try themselves out with it.
        found = email_validator.validate_email(
            text, check_deliverability=False, strict=True, test_environment=True, allow_quoted_local=is_quoted
        )
    except email_validator.EmailNotValidError:
        found = None  # the library's sentence may quote the address
    if found is None or "." not in found.ascii_domain or text.startswith("'"):
        if structs.INVISIBLE.search(text):
            raise InvalidAddress("This address has an invisible character inside. Type it anew.")
        raise InvalidAddress("This is not an e-mail address, such as ann@example.com.")
    return f"{found.local_part}@{found.ascii_domain.lower()}"


def phone_text(identifier: str) -> str:
    """A phone number in plain characters, national or international, as it is dialled. Raises InvalidAddress."""
    text = structs.unmarked(structs.plain(_narrowed(identifier)).strip())
    if text.removeprefix("+").isdecimal():
        return text
    if _ROUNDED.match(text):
        raise InvalidAddress("A spreadsheet has rounded this number. Write all of its digits, in a column of texts.")
    if decimals := _DECIMALS.match(text):
        if decimals[2] is None:
            raise InvalidAddress("A phone number has no decimals.")
        text = decimals[1]
    if text.startswith("+") and not text.startswith(_ZERO_STAYS):
        text = text.replace("(0)", "")
    if not _PHONE.match(text) or _TORN.search(text):
        raise InvalidAddress("A phone number has digits, and + with the country code in front.")
    return text


def _phone(text: str, region: str | None) -> str:
    text = phone_text(text)
    if region is None and not text.startswith("+"):
        raise InvalidAddress("A phone number without + and country code needs a locale that names its country.")
    digits = _NO_DIGIT.sub("", text)
    dialled = f"+{digits}" if text.startswith("+") else digits
    code, national = _read_quickly(dialled, region) or _read(dialled, region)
    if dialled[0] not in "+0":
        code, national = _meant(code, national, digits)
    return f"+{code}{national}"


def _read(text: str, region: str | None) -> tuple[str, str]:
    """The country code and national number, without the zeros and prefixes that are dialled before it."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        raise InvalidAddress("This is not a phone number, such as +30 210 123 4567.") from None
    if phonenumbers.is_possible_number_with_reason(number) != phonenumbers.ValidationResult.IS_POSSIBLE:
        raise InvalidAddress("A phone number with these digits does not exist in that country.")
    return str(number.country_code), phonenumbers.national_significant_number(number)


def _read_quickly(text: str, region: str | None) -> tuple[str, str] | None:
    """As `_read` in a fifth of its time, where digits are an international number or a mobile one of the region."""
    if text.startswith("+"):
        code, national = _split(text[1:])
    else:
        code, national = str(phonenumbers.country_code_for_region(region or "")), text
        if _country(code).prefix.pattern == "0|0":
            national = text.removeprefix("0")
        if phonenumbers.region_code_for_country_code(int(code)) != region or not _is_mobile(code, national):
            return None
    return (
        None
        if len(national) not in _country(code).lengths or _country(code).prefix.match(national)
        else (code, national)
    )


def _split(digits: str) -> tuple[str, str]:
    """The country code that digits begin with, and the rest; an empty code where they begin with none."""
    length = next((n for n in (2, 1, 3) if digits[:n] in _CODES), 0)
    return digits[:length], digits[length:]


def _meant(code: str, national: str, digits: str) -> tuple[str, str]:
    """The country code and national number of digits that may have lost their plus, or the zero in front.

    Raises InvalidAddress where both can be: an SMS would go to a stranger.
    """
    abroad = _split(digits)
    if abroad == (code, national) or len(abroad[1]) not in _country(abroad[0]).lengths:
        return code, national
    is_home, is_abroad, is_own = _is_mobile(code, national), _is_mobile(*abroad), abroad[0] == code
    if is_own and is_abroad and not is_home:
        return abroad
    lacks_zero = digits == national and _country(code).prefix.pattern == "0|0" and code not in _ZERO_OPTIONAL
    is_doubtful = is_own or not is_home or lacks_zero
    if is_doubtful and (is_abroad or (is_own and not is_home)):
        raise InvalidAddress("These digits are a number of two countries. Write it with + and the country code.")
    return code, national


class _Country(NamedTuple):
    """Of the main country of a code, but `mobile` of all. `prefix`: what may have to go from a national number."""

    lengths: Collection[int]
    mobile: re.Pattern[str]
    prefix: re.Pattern[str]


@lru_cache(maxsize=512)
def _country(code: str) -> _Country:
    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(int(code or 0), ())
    found = list(filter(None, map(phonenumbers.PhoneMetadata.metadata_for_region, regions)))
    mobiles = [one.mobile.national_number_pattern or "(?!)" for one in found if one.mobile]
    lengths = next((one.general_desc.possible_length for one in found if one.general_desc), ())
    prefix = next((one.national_prefix_for_parsing for one in found), None)
    mobile = re.compile(f"(?:{'|'.join(mobiles) or '(?!)'})\\Z")
    return _Country(lengths, mobile, re.compile(f"0|{prefix}" if prefix else "0"))


def _is_mobile(code: str, national: str) -> bool:
    return _country(code).mobile.match(national) is not None


def _narrowed(text: str) -> str:
    """Full-width forms of other keyboards as their plain ones (the width mapping of RFC 8265)."""
    if text.isascii():
        return text
    narrow = "".join(map(_narrow, structs.trimmed(text)))
    return structs.trimmed(unicodedata.normalize("NFC", narrow))


def _narrow(character: str) -> str:
    if character in "\u2010\u2011":  # a hyphen that does not break the line
        return "-"
    is_variant = unicodedata.decomposition(character).startswith(("<wide>", "<narrow>"))
    return unicodedata.normalize("NFKC", character) if is_variant else character


def _folded(normal: str) -> str:
    """The local part without case and compatibility variants, as in Unicode's NFKC_Casefold."""
    local, _, domain = normal.rpartition("@")
    return f"{unicodedata.normalize('NFKC', unicodedata.normalize('NFKC', local).casefold())}@{domain.lower()}"
