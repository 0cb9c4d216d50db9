"""SMS through any HTTP gateway, by its operator's description; this file knows no provider."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

from afterword.core.messaging import segments
from afterword.kit.transport.base import (
    Begin,
    Connectionless,
    Message,
    Outcome,
    Refused,
    Retry,
    Sent,
    Unknown,
    read_settings,
)
from afterword.kit.transport.http import URL_CHARACTERS_MAX, Answer, Caller
from afterword.kit.transport.mime import REFERENCE_CHARACTERS_MAX, REPORTS_MAX, Report, Unreadable, Unsigned, worded
from afterword.sending.channels import calling
from afterword.sending.channels.calling import Terms
from afterword.sending.channels.sms import description
from afterword.sending.channels.sms.description import (
    Gateway,
    Meaning,
    ReceiptForm,
    Signature,
    State,
    filled,
    found,
    reached,
)


class GatewayChannel(Connectionless):
    """One gateway. After a lost answer it is tried again if it is idempotent; else the outcome is unknown."""

    def __init__(self, gateway: Gateway, *, caller: Caller) -> None:
        self._gateway = gateway
        self._caller = caller
        self._terms = Terms(is_ours=True, may_repeat=gateway.idempotent, seconds=gateway.seconds)

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        gateway = self._gateway
        values = _values(gateway, message)
        content, content_type = _content(gateway, values)
        headers = {name: filled(value, values) for name, value in gateway.headers.items()}
        if content_type and "content-type" not in {name.lower() for name in headers}:
            headers["Content-Type"] = content_type
        url = filled(gateway.url, values, is_url=True)
        if len(url) > URL_CHARACTERS_MAX:  # the text is too long; the account is not at fault
            return Refused(f"The text is too long for an address of {URL_CHARACTERS_MAX:,} characters.")
        return await calling.call(
            self._caller,
            method=gateway.method,
            url=url,
            headers=headers,
            content=content,
            terms=self._terms,
            begin=begin,
            judge=lambda answer: judged(gateway, answer, self._terms, message.recipient),
        )


def judged(gateway: Gateway, answer: Answer, terms: Terms, recipient: str = "") -> Outcome:
    form = gateway.answer
    meaning = form.statuses.get(str(answer.status))
    document = calling.json_of(answer)
    if meaning is None:
        by_status = calling.outcome_of(answer, terms)
        value = found(document, form.status)
        meaning = form.meanings.get(value) if value is not None else None
        if meaning is None and isinstance(by_status, Sent) and form.meanings:
            return Unknown(f"HTTP {answer.status}, in words that the gateway's description does not know")
        if meaning is None and not isinstance(by_status, Sent):
            return by_status
    words = worded(found(document, form.reason) or "", recipient)
    reason = f"HTTP {answer.status}{': ' + words if words else ''}"
    reference = found(document, form.reference)
    return _outcome(meaning or "sent", answer, reason, reference and reference[:REFERENCE_CHARACTERS_MAX])


def parse_callback(
    headers: Mapping[str, str], query: str, body: bytes, url: str, settings: Gateway
) -> list[Report]:  # the url is what other providers sign
    """The receipts in a callback; raises Unsigned, and Unreadable when it is no receipt. Header names in lower case."""
    del url
    form = settings.receipt
    if form is None:
        raise Unreadable("This gateway's receipts are not described.")
    _check_signature(form.signature, headers, query, body)
    document = _receipt_document(form, query, body)
    items: Any = document if form.list is None else reached(document, form.list)
    several: Sequence[Any] = items if isinstance(items, list) else [items]
    return [report for one in several[:REPORTS_MAX] if (report := _report(form, one)) is not None]


def _values(gateway: Gateway, message: Message) -> dict[str, str]:
    length = segments.measure(message.text)
    return {
        "to": message.recipient,
        "to_digits": message.recipient.removeprefix("+"),
        "from": gateway.sender,
        "text": message.text,
        "id": message.item_id,
        "status_url": gateway.status_url,
        "encoding": gateway.encodings.get(length.encoding, length.encoding),
        "segments": str(length.segments),
    }


def _content(gateway: Gateway, values: Mapping[str, str]) -> tuple[bytes, str]:
    match gateway.form:
        case "json":
            return msgspec.json.encode(filled(gateway.body, values)), "application/json"
        case "form":
            fields = {name: str(value) for name, value in filled(gateway.body, values).items()}
            return urlencode(fields).encode(), "application/x-www-form-urlencoded"
        case "none":
            return b"", ""


def _outcome(meaning: Meaning, answer: Answer, reason: str, reference: str | None) -> Outcome:
    match meaning:
        case "sent":
            return Sent(reference, answer.status, reason)
        case "retry" | "throttle":
            return calling.of_cause("recipient" if meaning == "retry" else meaning, reason, answer)
        case "account":
            return Retry("account", reason, answer.status)
        case "refused" | "no_address":
            return Refused(reason, answer.status, suppress=meaning == "no_address")
        case "unknown":
            return Unknown(reason)


def _check_signature(signature: Signature, headers: Mapping[str, str], query: str, body: bytes) -> None:
    if signature.header is not None:
        name, given = f"header {signature.header}", headers.get(signature.header.lower())
    else:
        try:
            name, given = f"parameter {signature.parameter}", _fields(query).get(signature.parameter or "")
        except ValueError:
            raise Unsigned("The query has too many parameters.") from None
    if given is None:
        raise Unsigned(f"The {name} is missing.")
    if signature.hmac is None:
        if not hmac.compare_digest(given.encode(), f"{signature.prefix}{signature.secret}".encode()):
            raise Unsigned("The secret is another one.")
        return
    digest = hmac.digest(signature.secret.encode(), body, getattr(hashlib, signature.hmac))
    text = given.removeprefix(signature.prefix)
    try:
        told = bytes.fromhex(text) if signature.encoding == "hex" else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        raise Unsigned("The signature cannot be read.") from None
    if not hmac.compare_digest(told, digest):
        raise Unsigned("The signature is wrong.")


def _receipt_document(form: ReceiptForm, query: str, body: bytes) -> Any:
    try:
        if form.form == "json":
            return msgspec.json.decode(body)
        return _fields(query if form.form == "query" else body.decode())
    except (ValueError, msgspec.DecodeError, RecursionError):
        raise Unreadable("The receipt cannot be read.") from None


def _fields(text: str) -> dict[str, str]:
    return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200))


def _report(form: ReceiptForm, document: Any) -> Report | None:
    """The report of a receipt; None for a state that the description leaves out."""
    state: State | None = form.states.get(found(document, form.status) or "")
    if state is None:
        return None
    return Report(
        kind="failed" if state == "no_address" else state,
        is_hard=state == "no_address",
        item_id=found(document, form.id),
        provider_reference=found(document, form.reference),
        recipient=found(document, form.recipient),
        code=worded(found(document, form.code) or "")[:40],
        text=worded(found(document, form.text) or ""),
    )


def sample_url(gateway: Gateway) -> str:
    return filled(gateway.url, dict.fromkeys(description.PLACEHOLDERS, "x"), is_url=True)


def settings_of(document: Mapping[str, Any]) -> Gateway:
    """The description, checked. Raises ValueError with a sentence that names what is wrong and no value."""
    gateway = read_settings(document, Gateway)
    wrong = description.check(gateway)
    if wrong is not None:
        raise ValueError(wrong)
    return gateway
