"""SMS through Twilio, or a provider that speaks its API: Messages.json, Basic authentication, signed callbacks."""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec
from msgspec.structs import replace

from afterword.errors import Sentence
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
    wrong_setting,
)
from afterword.kit.transport.http import PORTS, Answer, Caller
from afterword.kit.transport.mime import Kind, Report, Unreadable, Unsigned, worded
from afterword.sending.channels import calling
from afterword.sending.channels.calling import Terms

API: Final = "https://api.twilio.com"
SECONDS: Final = 15.0
FIELDS_MAX: Final = 200
ITEM: Final = "item"  # the member of the callback's address that names our item; the signature covers it

# Its error codes when it refuses to take a message; others go by their status.
NO_ADDRESS: Final = frozenset({21211, 21217, 21401, 21421, 21614})  # not a number, or not one that takes SMS
REFUSED: Final = frozenset({21408, 21602, 21605, 21612, 21617, 21619, 30007, 30034})
OPTED_OUT: Final = 21610  # they wrote STOP
THROTTLED: Final = frozenset({14107, 20429, 21611, 30001, 63018})
ACCOUNT: Final = frozenset({20003, 20005, 20006, 20008, 20404, 21212, 21603, 21606, 21607, 21608, 21660, 21703, 30002})
# Its error codes when a message did not arrive because the address does not exist.
HARD: Final = frozenset({30005, 30006, 21211, 21614})
KINDS: Final[Mapping[str, Kind]] = {
    "accepted": "accepted", "sent": "accepted", "delivered": "delivered", "read": "delivered",
    "undelivered": "failed", "failed": "failed",
}  # fmt: skip
# Messages of one of these words opt out, by the rules of its carriers; STOP_TYPE is the provider's own verdict.
STOP_WORDS: Final = frozenset({"stop", "stopall", "unsubscribe", "cancel", "end", "quit", "optout", "revoke"})
STOP_TYPE: Final = "STOP"
_SID: Final = re.compile(r"[A-Za-z0-9]{1,64}\Z")

Text = Annotated[str, msgspec.Meta(max_length=500)]


class Account(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A login (the account and its token, or a key of it), and the sender of its messages."""

    account_sid: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    auth_token: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    api_key: Text = ""
    api_secret: Text = ""
    sender: Text = ""
    messaging_service_sid: Text = ""
    url: Text = API
    status_url: Annotated[str, msgspec.Meta(max_length=1000)] = ""


class TwilioChannel(Connectionless):
    """One login. Its API knows no identity of ours, so nothing is repeated after an unknown outcome."""

    def __init__(self, account: Account, *, caller: Caller) -> None:
        self._account = account
        self._caller = caller
        self._terms = Terms(is_ours=True, may_repeat=False, seconds=SECONDS)
        user, password = (account.api_key or account.account_sid), (account.api_secret or account.auth_token)
        self._authorization = f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        account = self._account
        return await calling.call(
            self._caller,
            method="POST",
            url=f"{account.url.rstrip('/')}/2010-04-01/Accounts/{account.account_sid}/Messages.json",
            headers={"Authorization": self._authorization, "Content-Type": "application/x-www-form-urlencoded"},
            content=urlencode(_fields(account, message)).encode(),
            terms=self._terms,
            begin=begin,
            judge=lambda answer: judged(answer, self._terms, message.recipient),
        )


def judged(answer: Answer, terms: Terms, recipient: str = "") -> Outcome:
    found = calling.json_of(answer)
    document: Mapping[str, Any] = found if isinstance(found, dict) else {}
    code = document.get("code") or document.get("error_code")
    words = worded(str(document.get("message") or document.get("error_message") or ""), recipient)
    reason = f"HTTP {answer.status}" + (f", {code}" if code else "") + (f": {words}" if words else "")
    is_taken = answer.status // 100 == 2 and document.get("status") not in {"failed", "undelivered"}  # noqa: PLR2004
    if not is_taken:
        by_status = calling.outcome_of(answer, terms)
        if isinstance(by_status, Sent):
            by_status = Refused(reason, answer.status)
        return _of_code(code, reason, answer) or replace(by_status, reason=reason)
    sid = document.get("sid")
    if not isinstance(sid, str):
        return Unknown(f"HTTP {answer.status}, without the name of a message")
    return Sent(sid[:64], answer.status, reason)


def _of_code(code: Any, reason: str, answer: Answer) -> Outcome | None:
    match code:
        case int() if code in NO_ADDRESS or code in REFUSED:
            return Refused(reason, answer.status, suppress=code in NO_ADDRESS)
        case int() if code == OPTED_OUT:
            return Refused(reason, answer.status, is_opt_out=True)
        case int() if code in THROTTLED:
            return calling.of_cause("throttle", reason, answer)
        case int() if code in ACCOUNT:
            return Retry("account", reason, answer.status)
        case _:
            return None


def parse_callback(headers: Mapping[str, str], query: str, body: bytes, url: str, settings: Account) -> list[Report]:
    """Read a status callback to `url`; raises Unsigned and Unreadable. Header names in lower case.

    `url` is the address as the provider calls it, with its query.
    """
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError:
        raise Unreadable("The callback cannot be read.") from None
    _check_signature(headers.get("x-twilio-signature"), url, pairs, settings.auth_token)
    fields = dict(pairs)
    status = fields.get("MessageStatus") or fields.get("SmsStatus") or ""
    if status == "received":
        return [Report(kind="unsubscribed", recipient=fields.get("From"))] if _is_stop(fields) else []
    kind = KINDS.get(status)
    if kind is None:
        return []  # on its way
    code = fields.get("ErrorCode", "")
    sid = fields.get("MessageSid") or fields.get("SmsSid") or ""
    requests = [Report(kind="unsubscribed", recipient=fields.get("To"))] if code == str(OPTED_OUT) else []
    return [
        *requests,
        Report(
            kind=kind,
            is_hard=kind == "failed" and code.isascii() and code.isdecimal() and int(code[:9]) in HARD,
            item_id=next(iter(parse_qs(query, max_num_fields=FIELDS_MAX).get(ITEM, [])), None),
            provider_reference=sid if _SID.match(sid) else None,
            recipient=fields.get("To"),
            code=worded(code)[:40],
            text=worded(fields.get("ErrorMessage", "") or status),
        ),
    ]


def settings_of(document: Mapping[str, Any]) -> Account:
    """The login, checked. Raises WrongSettings."""
    account = read_settings(document, Account)
    if bool(account.sender) == bool(account.messaging_service_sid):
        raise wrong_setting("sender", Sentence("Give a sender or a messaging service, one of them."))
    if bool(account.api_key) != bool(account.api_secret):
        raise wrong_setting("api_key", Sentence("An API key and its secret go together."))
    if "?" in account.status_url or "#" in account.status_url:
        raise wrong_setting("status_url", Sentence("This address has no query; ours is added to it."))
    if not _SID.match(account.account_sid):
        raise wrong_setting("account_sid", Sentence("An account SID has letters and digits alone."))
    return account


def sign(url: str, pairs: "list[tuple[str, str]]", token: str) -> str:
    """Base64 of HMAC-SHA1 over the address and the sorted fields, each name before its value."""
    text = url + "".join(f"{name}{value}" for name, value in sorted(set(pairs)))
    return base64.b64encode(hmac.digest(token.encode(), text.encode(), hashlib.sha1)).decode()


def _fields(account: Account, message: Message) -> dict[str, str]:
    fields = {"To": message.recipient, "Body": message.text}
    if account.messaging_service_sid:
        fields["MessagingServiceSid"] = account.messaging_service_sid
    else:
        fields["From"] = account.sender
    if account.status_url:
        fields["StatusCallback"] = f"{account.status_url}?{urlencode({ITEM: message.item_id})}"
    return fields


def _check_signature(given: str | None, url: str, pairs: "list[tuple[str, str]]", token: str) -> None:
    if given is None:
        raise Unsigned("The header X-Twilio-Signature is missing.")
    # Some of its servers sign the address with the implied port, others without.
    if not any(hmac.compare_digest(sign(one, pairs, token).encode(), given.encode()) for one in _spellings(url)):
        raise Unsigned("The signature is wrong.")


def _is_stop(fields: Mapping[str, str]) -> bool:
    """True for an opt-out: by the message's only word, or by the provider's own classification."""
    word = fields.get("Body", "").strip().rstrip(".!").casefold()
    return fields.get("OptOutType", "").upper() == STOP_TYPE or word in STOP_WORDS


def _spellings(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    if parts.port is None and parts.scheme in PORTS:
        return url, urlunsplit(parts._replace(netloc=f"{host}:{PORTS[parts.scheme]}"))
    return url, urlunsplit(parts._replace(netloc=host))
