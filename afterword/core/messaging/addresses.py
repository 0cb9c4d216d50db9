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
from types import MappingProxyType
from typing import Final

import email_validator
import phonenumbers

from afterword import keys
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
_PHONE: Final = re.compile(r"\+?[\d\s().\-/]{3,40}\Z")
_TOKEN: Final = re.compile(r"[^\s<>()\[\],;\"']+")
_AT: Final = re.compile(r"@|\uff20|%40|=40|(?<=\w)=(?=[\w-]+\.\w)", re.IGNORECASE)
# Parameters of a link and names in the words of a resolver: their "=" is no at, unlike that of "ann=example.org".
_PARAMETER: Final = re.compile(
    r"(?:[?&]\w{1,30}|(?<![\w.+-])(?:name|host|domain|ip|mx|helo|client|server))=(?=[^@=%\uff20]*(?:[&;]|\Z))",
    re.IGNORECASE,
)
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
    return hmac.digest(keys.addresses_of(secret), f"{kind}\0{compared}".encode(), hashlib.sha256)


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
    try:
        # `.test` passes: installations try themselves out with it.
        found = email_validator.validate_email(text, check_deliverability=False, strict=True, test_environment=True)
    except email_validator.EmailNotValidError:
        found = None  # the library's sentence may quote the address
    if found is None or "." not in found.ascii_domain:
        raise InvalidAddress("This is not an e-mail address, such as ann@example.com.")
    return f"{found.local_part}@{found.ascii_domain.lower()}"


def _phone(text: str, region: str | None) -> str:
    text = _narrowed(text)
    if not text.startswith(_ZERO_STAYS):
        text = text.replace("(0)", "") if text.startswith("+") else text
    if not _PHONE.match(text):
        raise InvalidAddress("A phone number has digits, and + with the country code in front.")
    if region is None and not text.startswith("+"):
        raise InvalidAddress("A phone number without + and country code needs a locale that names its country.")
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        raise InvalidAddress("This is not a phone number, such as +30 210 123 4567.") from None
    if phonenumbers.is_possible_number_with_reason(number) != phonenumbers.ValidationResult.IS_POSSIBLE:
        raise InvalidAddress("A phone number with these digits does not exist in that country.")
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _narrowed(text: str) -> str:
    """Full-width forms of other keyboards as their plain ones (the width mapping of RFC 8265)."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", "".join(_narrow(character) for character in text)).strip()


def _narrow(character: str) -> str:
    is_variant = unicodedata.decomposition(character).startswith(("<wide>", "<narrow>"))
    return unicodedata.normalize("NFKC", character) if is_variant else character


def _folded(normal: str) -> str:
    """The local part without case and compatibility variants, as in Unicode's NFKC_Casefold."""
    local, _, domain = normal.rpartition("@")
    return f"{unicodedata.normalize('NFKC', unicodedata.normalize('NFKC', local).casefold())}@{domain.lower()}"
