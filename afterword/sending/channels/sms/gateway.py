"""SMS through any HTTP gateway, by its operator's description; this file knows no provider."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, get_args
from urllib.parse import parse_qsl, quote, urlencode

import msgspec

from afterword.core.messaging import segments
from afterword.errors import FieldError
from afterword.kit.transport.base import (
    Begin,
    Connectionless,
    Message,
    Outcome,
    Refused,
    Retry,
    Sent,
    Unknown,
    WrongSettings,
    read_settings,
    wrong_setting,
)
from afterword.kit.transport.http import URL_CHARACTERS_MAX, Answer, Caller
from afterword.kit.transport.mime import REFERENCE_CHARACTERS_MAX, REPORTS_MAX, Report, Unreadable, Unsigned, worded
from afterword.sending.channels import calling
from afterword.sending.channels.calling import Terms

PLACEHOLDERS: Final = ("to", "to_digits", "from", "text", "id", "status_url", "encoding", "segments")
_STATUS: Final = re.compile(r"[1-5][0-9]{2}\Z")
VALUES_MAX: Final = 100
DEPTH_MAX: Final = 8
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]{1,32})\}")

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
Short = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Meaning = Literal["sent", "retry", "throttle", "refused", "no_address", "account", "unknown"]
State = Literal["accepted", "delivered", "failed", "no_address"]


class AnswerForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Meaning of a response besides its status. Paths address JSON: `messages.0.id`."""

    reference: Short | None = None
    status: Short | None = None
    meanings: Annotated[dict[Short, Meaning], msgspec.Meta(max_length=VALUES_MAX)] = {}
    statuses: Annotated[dict[str, Meaning], msgspec.Meta(max_length=VALUES_MAX)] = {}
    reason: Short | None = None


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Authentication of a receipt: a secret in a header or parameter, or an HMAC of the body in a header."""

    header: Short | None = None
    parameter: Short | None = None
    secret: Annotated[str, msgspec.Meta(min_length=8, max_length=500)]
    hmac: Literal["sha1", "sha256", "sha512"] | None = None
    encoding: Literal["hex", "base64"] = "hex"
    prefix: Annotated[str, msgspec.Meta(max_length=100)] = ""


class ReceiptForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Paths in a delivery receipt. `list` leads to a list of receipts; the other paths start in each of them."""

    form: Literal["json", "form", "query"] = "json"
    list: Short | None = None
    status: Short
    states: Annotated[dict[Short, State], msgspec.Meta(min_length=1, max_length=VALUES_MAX)]
    id: Short | None = None
    reference: Short | None = None
    recipient: Short | None = None
    code: Short | None = None
    text: Short | None = None
    signature: Signature


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A gateway as its operator describes it; `check` says what msgspec cannot."""

    url: Text
    method: Literal["POST", "PUT", "GET"] = "POST"
    sender: Annotated[str, msgspec.Meta(max_length=20)] = ""
    headers: Annotated[dict[Short, Text], msgspec.Meta(max_length=30)] = {}
    form: Literal["json", "form", "none"] = "json"
    body: dict[str, Any] = {}
    encodings: dict[segments.Encoding, Short] = {}
    seconds: Annotated[float, msgspec.Meta(ge=1, le=120)] = 15.0
    idempotent: bool = False
    status_url: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    answer: AnswerForm = AnswerForm()
    receipt: ReceiptForm | None = None


def _wrong(gateway: Gateway) -> Iterator[tuple[str, str]]:
    """The setting that is wrong, and why."""
    yield from _wrong_headers(gateway)
    used: set[str] = set()
    for name, texts in (("url", gateway.url), ("headers", gateway.headers), ("body", gateway.body)):
        found = {one for text in _texts(texts) if isinstance(text, str) for one in _PLACEHOLDER.findall(text)}
        for unknown in sorted(found - set(PLACEHOLDERS)):
            yield name, f"There is no placeholder {{{unknown}}}. There are: {', '.join(PLACEHOLDERS)}."
        used |= found
    if "{" in gateway.url.partition("://")[2].partition("/")[0]:
        yield "url", "The host of the url is fixed: placeholders stand behind it."
    if "text" not in used or not used & {"to", "to_digits"}:
        yield "body", "The request must carry {text}, and {to} or {to_digits}."
    if (gateway.form == "none") != (not gateway.body):
        yield "body", 'A gateway has a body, or form = "none" and everything in its url.'
    if gateway.form == "form" and any(isinstance(value, dict | list) for value in gateway.body.values()):
        yield "body", "The fields of a form are plain values."
    if gateway.idempotent and "id" not in used:
        yield "idempotent", "A gateway that is idempotent must be told the {id}."
    yield from _wrong_answers(gateway)


def _wrong_headers(gateway: Gateway) -> Iterator[tuple[str, str]]:
    if not all(_HEADER_NAME.match(name) for name in gateway.headers):
        yield "headers", "The name of a header has letters, digits and - alone."
    texts = [text.replace("{from}", gateway.sender) for text in gateway.headers.values()]
    if not all(text.isascii() and text.isprintable() for text in texts):
        yield "headers", "A header has characters that cannot be sent."
    if any("{text}" in text for text in texts):
        yield "headers", "The {text} stands in the url or the body; a header does not take every character."


def _wrong_answers(gateway: Gateway) -> Iterator[tuple[str, str]]:
    if gateway.answer.meanings and gateway.answer.status is None:
        yield "answer/meanings", "They need answer.status, the path of what they are meanings of."
    if any(not _STATUS.match(status) for status in gateway.answer.statuses):
        yield "answer/statuses", "They are numbers of three digits."
    if gateway.receipt is not None and gateway.receipt.id is None and gateway.receipt.reference is None:
        yield "receipt", "It must tell its message by id or reference."
    if gateway.encodings and len(gateway.encodings) < len(get_args(segments.Encoding)):
        yield "encodings", "It has a value for each of gsm7 and ucs2."
    if gateway.receipt is not None:
        yield from _wrong_signature(gateway.receipt)


def _wrong_signature(receipt: ReceiptForm) -> Iterator[tuple[str, str]]:
    if (receipt.signature.header is None) == (receipt.signature.parameter is None):
        yield "receipt/signature", "It needs header or parameter, one of them."
    if receipt.form != "query" and receipt.signature.parameter is not None:
        yield "receipt/signature/parameter", 'It carries the secret in the query alone: form = "query".'
    if receipt.form == "query" and receipt.signature.hmac is not None:
        yield "receipt/signature/hmac", "A receipt in the query has no body for an HMAC to sign: leave it out."


def filled(value: Any, values: Mapping[str, str], *, is_url: bool = False) -> Any:
    """A template with its placeholders; in one pass, so that what was filled in is never read again."""
    match value:
        case str():
            escaped = {name: quote(one, safe="") for name, one in values.items()} if is_url else values
            return _PLACEHOLDER.sub(lambda match: escaped[match[1]], value)
        case dict():
            return {name: filled(one, values) for name, one in value.items()}
        case list():
            return [filled(one, values) for one in value]
        case _:
            return value


def found(document: Any, path: str | None) -> str | None:
    """The scalar at a path such as `messages.0.id`, as a text; None for anything else."""
    value = reached(document, path)
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
        case _:
            return None


def reached(document: Any, path: str | None) -> Any:
    """The value at a path, of any kind; null where it leads nowhere."""
    if path is None:
        return None
    value: Any = document
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, Sequence) and not isinstance(value, str) and step.isdecimal() and len(step) < 6:  # noqa: PLR2004
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return value


def _texts(value: Any, depth: int = 0) -> Iterator[Any]:
    if depth > DEPTH_MAX:
        raise wrong_setting("body", f"The body is nested deeper than {DEPTH_MAX}.")
    match value:
        case dict():
            for one in value.values():
                yield from _texts(one, depth + 1)
        case list():
            for one in value:
                yield from _texts(one, depth + 1)
        case _:
            yield value


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


def settings_of(document: Mapping[str, Any]) -> Gateway:
    """The description, checked. Raises WrongSettings."""
    gateway = read_settings(document, Gateway)
    wrong = [FieldError("invalid_format", sentence, pointer=f"/{name}") for name, sentence in _wrong(gateway)]
    if wrong:
        raise WrongSettings(*wrong)
    return gateway
