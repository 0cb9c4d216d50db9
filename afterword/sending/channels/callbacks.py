"""Reads callbacks of providers: our own signed form, and notifications in the form of SNS.

A callback makes us fetch nothing, neither a certificate nor a confirmation. The operator pins the topic and the
certificate, and sees the address of a subscription that asks to be confirmed.
"""

import base64
import binascii
import hmac
import ipaddress
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.hashes import SHA256
from msgspec.structs import replace

from afterword.core.messaging import reply_text
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.core.messaging.refusals import SUPPRESSING, judge
from afterword.core.sources import signatures
from afterword.core.sources.parts import AGE_SECONDS_MAX, NotSigned
from afterword.kit.transport.mime import (
    CODE_CHARACTERS_MAX,
    KINDS,
    REFERENCE_CHARACTERS_MAX,
    REPORTS_MAX,
    Kind,
    Report,
    Unreadable,
    Unsigned,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

NOTIFICATION_HOURS_MAX: Final = 24  # of a notification: SNS tries for hours, and repetitions change nothing
RSA_BITS_MIN: Final = 2048
URL_CHARACTERS_MAX: Final = 2000

_SIGNED: Final[Mapping[str, Sequence[str]]] = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    "UnsubscribeConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
}


class CallbackResult(msgspec.Struct, frozen=True):
    """Result of reading a callback; the operator opens `confirm_url` to confirm a subscription."""

    reports: Sequence[Report] = ()
    confirm_url: str | None = None


class _Entry(msgspec.Struct):
    """A report in our own form; members beyond these are ignored."""

    kind: Literal["accepted", "delivered", "failed", "bounced", "complained"]
    item_id: str | None = None
    provider_reference: str | None = None
    recipient: str | None = None
    is_hard: bool | None = None
    code: str | None = None
    text: str | None = None
    time: str | None = None


_read_entries = msgspec.json.Decoder(list[_Entry]).decode


def read_standard(*, headers: Mapping[str, str], body: bytes, key: str, now: datetime) -> CallbackResult:
    """A JSON list of reports, signed as Standard Webhooks with the endpoint's `whsec_` key.

    Raises Unsigned for another signature or one older than five minutes, Unreadable for another form.
    """
    try:
        signatures.by_standard(key, headers, body, now, "")
    except NotSigned as error:
        raise Unsigned(str(error)) from None
    try:
        entries = _read_entries(body)
    except (msgspec.MsgspecError, RecursionError):
        kinds = ", ".join(KINDS)
        raise Unreadable(f"A list of reports is expected, each with a kind of {kinds}.") from None
    if len(entries) > REPORTS_MAX:
        raise Unreadable(f"At most {REPORTS_MAX} reports may be sent at once.")
    return CallbackResult([_report_of(entry, now) for entry in entries])


def _report_of(entry: _Entry, now: datetime) -> Report:
    code = (entry.code or "")[:CODE_CHARACTERS_MAX]
    is_failure = entry.kind in {"bounced", "failed"}
    is_hard = code in SUPPRESSING if entry.is_hard is None else entry.is_hard
    return Report(
        kind=entry.kind,
        is_hard=is_failure and is_hard,
        item_id=entry.item_id or None,
        provider_reference=_short(entry.provider_reference, REFERENCE_CHARACTERS_MAX),
        recipient=_short(entry.recipient, IDENTIFIER_CHARACTERS_MAX),
        code=code,
        text=entry.text or "",
        time=_time(entry.time, now),
    )


def read_sns(*, body: bytes, topic: str, certificate: str, now: datetime) -> CallbackResult:
    """A notification of this topic, signed with the key of this certificate (SignatureVersion 2).

    Version 1 is refused: it signs with SHA-1, by a key that signs for the topics of all customers. Raises Unsigned,
    Unreadable.
    """
    try:
        envelope: Any = msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        raise Unreadable("A notification in JSON is expected.") from None
    if not isinstance(envelope, dict) or envelope.get("Type") not in _SIGNED:
        raise Unreadable("A notification with a Type is expected.")
    _check_sns(envelope, topic, certificate)
    sent_time = _time(envelope["Timestamp"], None)
    if sent_time is None or not -timedelta(seconds=AGE_SECONDS_MAX) <= now - sent_time <= timedelta(
        hours=NOTIFICATION_HOURS_MAX
    ):
        raise Unsigned("The notification is older than a day, or its clock is wrong.")
    match envelope["Type"]:
        case "Notification":
            return CallbackResult(_notified(envelope["Message"], now))
        case "SubscriptionConfirmation":
            return CallbackResult(confirm_url=_confirm_url(envelope["SubscribeURL"]))
        case _:
            return CallbackResult()


def check_certificate(text: str) -> str | None:
    """A sentence that says why this certificate cannot be pinned; None if it can."""
    try:
        key = _rsa_key(text)
    except ValueError:
        return "This is no certificate in PEM."
    if key is None or key.key_size < RSA_BITS_MIN:
        return f"The certificate has no RSA key of {RSA_BITS_MIN} bits or more."
    return None


def _rsa_key(certificate: str) -> "RSAPublicKey | None":
    """The key of a certificate in PEM; None for one of another kind. Raises ValueError for what is no certificate."""
    from cryptography import x509  # noqa: PLC0415  2 MB, for pinned certificates alone
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415

    key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    return key if isinstance(key, rsa.RSAPublicKey) else None


def _check_sns(envelope: Mapping[str, Any], topic: str, certificate: str) -> None:
    names = [name for name in _SIGNED[envelope["Type"]] if name != "Subject" or envelope.get("Subject") is not None]
    wanted = [*names, "Signature", "SignatureVersion"]
    if not all(isinstance(envelope.get(name), str) for name in wanted):
        raise Unsigned("The notification lacks what is signed.")
    if not hmac.compare_digest(envelope["TopicArn"].encode("utf-8", "replace"), topic.encode()):
        raise Unsigned("The notification is of another topic.")
    if envelope["SignatureVersion"] != "2":
        raise Unsigned("SignatureVersion 2 is expected: set it on the topic.")
    signed = "".join(f"{name}\n{envelope[name]}\n" for name in names).encode("utf-8", "replace")
    key = _rsa_key(certificate)
    try:
        signature = base64.b64decode(envelope["Signature"], validate=True)
        if key is None:
            raise Unsigned("The pinned certificate has no RSA key.")
        key.verify(signature, signed, padding.PKCS1v15(), SHA256())
    except (binascii.Error, ValueError, InvalidSignature):
        raise Unsigned("The signature is not made with the pinned certificate.") from None


def _confirm_url(url: str) -> str | None:
    """The address if it may be shown to a person: https and a host name, no IP address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    try:
        ipaddress.ip_address(host)
    except ValueError:
        is_name = "." in host and not host.rpartition(".")[2].isdecimal()
    else:
        is_name = False
    is_good = parts.scheme == "https" and is_name and "@" not in parts.netloc and url.isascii() and url.isprintable()
    return url if is_good and len(url) <= URL_CHARACTERS_MAX else None


def _notified(message: str, now: datetime) -> list[Report]:
    """The reports of a mail service's notification: bounce, complaint, delivery; other kinds have none."""
    try:
        notice: Any = msgspec.json.decode(message)
    except (msgspec.MsgspecError, RecursionError):
        return []  # SNS greets a new topic with a sentence
    if not isinstance(notice, dict):
        return []
    mail = _map(notice.get("mail"))
    about = {"item_id": _item_id(mail), "provider_reference": _short(mail.get("messageId"), REFERENCE_CHARACTERS_MAX)}
    match notice.get("notificationType") or notice.get("eventType"):
        case "Bounce":
            return _bounced(_map(notice.get("bounce")), about, now)
        case "Complaint":
            complaint = _map(notice.get("complaint"))
            people = _people(complaint.get("complainedRecipients"))
            kind, code = "complained", str(complaint.get("complaintFeedbackType") or "")
            return [_noticed(kind, each, about, code=code, time=complaint.get("timestamp"), now=now) for each in people]
        case "Delivery":
            delivery = _map(notice.get("delivery"))
            text, time = str(delivery.get("smtpResponse") or ""), delivery.get("timestamp")
            addresses = delivery.get("recipients")
            people = [{"emailAddress": each} for each in (addresses if isinstance(addresses, list) else [])]
            return [_noticed("delivered", each, about, text=text, time=time, now=now) for each in people[:REPORTS_MAX]]
        case _:
            return []


def _bounced(bounce: Mapping[str, Any], about: Mapping[str, str | None], now: datetime) -> list[Report]:
    is_permanent = bounce.get("bounceType") == "Permanent"
    found: list[Report] = []
    for each in _people(bounce.get("bouncedRecipients")):
        text = str(each.get("diagnosticCode") or bounce.get("bounceSubType") or "")
        status = str(each.get("status") or "").strip()
        code, is_gone = judge(status, text)
        one = _noticed("bounced", each, about, code=code, text=text, time=bounce.get("timestamp"), now=now)
        found.append(replace(one, is_hard=is_permanent and is_gone))
    return found


def _noticed(
    kind: Kind,
    person: Mapping[str, Any],
    about: Mapping[str, str | None],
    *,
    now: datetime,
    time: object,
    code: str = "",
    text: str = "",
) -> Report:
    return Report(
        kind=kind,
        item_id=about["item_id"],
        provider_reference=about["provider_reference"],
        recipient=_short(person.get("emailAddress"), IDENTIFIER_CHARACTERS_MAX),
        code=code[:CODE_CHARACTERS_MAX],
        text=text,
        time=_time(time, now),
    )


def _item_id(mail: Mapping[str, Any]) -> str | None:
    headers = mail.get("headers")
    for header in headers if isinstance(headers, list) else ():
        if str(_map(header).get("name")).lower() == reply_text.ITEM_HEADER.lower():
            return str(_map(header).get("value")).strip().partition(".")[0]
    return None


def _people(value: object) -> list[Mapping[str, Any]]:
    return [_map(each) for each in value[:REPORTS_MAX]] if isinstance(value, list) else []


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _short(value: object, characters_max: int) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= characters_max else None


def _time(value: object, now: datetime | None) -> datetime | None:
    """A time of RFC 3339, `now` at the latest; None for anything else."""
    try:
        time = datetime.fromisoformat(str(value or ""))
    except ValueError:
        return None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return time if now is None else min(time, now)
