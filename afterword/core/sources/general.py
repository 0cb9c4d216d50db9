"""Any other system: its JSON is read by paths that the source's settings have, one text for each."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, get_args

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import Happening, SourceKind, What
from afterword.core.text.locales import Marked
from afterword.errors import FieldError, Sentence

LABEL: Final[Marked] = "Another system"
SETTINGS: Final[Mapping[str, Marked]] = {
    "signature": "Header of the signature",
    "event": "Path of the event’s name",  # noqa: RUF001
    "events": "Names of its events, and ours",
    "event_id": "Path of the event’s id",  # noqa: RUF001
    "time": "Path of the time",
    "subject": "Path of the order number",
    "object_id": "Path of the order’s id",  # noqa: RUF001
    "email": "Path of the e-mail address",
    "phone": "Path of the phone number",
    "first_name": "Path of the first name",
    "last_name": "Path of the last name",
    "locale": "Path of the language",
    "values": "Paths of further values",
}
NUMBERS: Final = {"total", "refunded", "items"}  # as other kinds have them: never a text
PATH_CHARACTERS_MAX: Final = 500
LINES_MAX: Final = 50
_MEMBER: Final = r"[^.\[\]|\s][^.\[\]|]*"
_PATH: Final = re.compile(rf"header:\s*[\w-]+|(?!header:)(?:{_MEMBER}|\[\d{{0,4}}\])(?:\.{_MEMBER}|\[\d{{0,4}}\])*")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_SIGNATURE: Final = re.compile(r"([\w-]{1,100})(?: (sha1|sha256|sha512) (hex|base64)(?: (\S{1,50}))?)?\Z", re.ASCII)


def configure(settings: Mapping[str, str]) -> SourceKind:
    """Raises Invalid, with the place of each wrong setting."""
    given = {name: text.strip() for name, text in settings.items() if text.strip()}
    wrong = [_error(name, "unknown_member", "There is no such field here.") for name in given if name not in SETTINGS]
    wrong += [_error("event", "required", "This is required.")] if "event" not in given else []
    single = {
        name: text for name, text in given.items() if name in SETTINGS and name not in {"signature", "events", "values"}
    }
    wrong += [error for name, text in single.items() for error in _wrong(name, text)]
    events = _lines("events", given.get("events", ""), wrong)
    values = _lines("values", given.get("values", ""), wrong)
    known = Sentence("One of {values} is expected.", values=", ".join(get_args(What)))
    wrong += [_error("events", "unknown_value", known) for ours in events.values() if ours not in get_args(What)]
    named = "A name has small letters, digits and _, a letter first."
    wrong += [_error("values", "invalid_format", named) for name in values if not _NAME.match(name)]
    wrong += [error for path in values.values() for error in _wrong("values", path)]
    signed = _SIGNATURE.match(given.get("signature", ""))
    if "signature" in given and not signed:
        message = "A header is expected, such as X-Api-Key, or X-Signature sha256 hex."
        wrong.append(_error("signature", "invalid_format", message))
    errors.check(wrong)
    return replace(
        KIND,
        verify=_verify(signed),
        read=_reader(single, events, values),
        values={name: name for name in values},
    )


def _reader(
    single: Mapping[str, str], events: Mapping[str, str], values: Mapping[str, str]
) -> Callable[[Mapping[str, str], bytes], Sequence[Happening]]:
    numbers = {name: path for name, path in values.items() if name in NUMBERS}
    rest = {name: path for name, path in values.items() if name not in NUMBERS}
    chosen = msgspec.convert({**single, "numbers": numbers}, paths.Paths)

    def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
        given = paths.document_of(headers, body)
        name = given.text(single["event"], is_required=True)
        event_id = given.text(single["event_id"], is_required=True) if "event_id" in single else paths.digest_of(body)
        found = {each: given.value(path) for each, path in rest.items()}
        wanted = events.get(name, name)
        what: What = next((one for one in get_args(What) if one == wanted), "other")
        about = "customer" if what == "customer.created" else ""
        return [given.happening(chosen, event_id=event_id, what=what, name=name, about=about, values=found)]

    return read


def _verify(signed: re.Match[str] | None) -> signatures.Verify:
    if signed is None:
        return signatures.by_standard
    if signed[2] is None:
        return signatures.by_header(signed[1])
    return signatures.by_hmac(signed[1], algorithm=signed[2], encoding=signed[3], prefix=signed[4] or "")


def _lines(name: str, text: str, wrong: list[FieldError]) -> dict[str, str]:
    """The entries `left = right` of a setting, one a line or with `;` between."""
    lines = [line.partition("=") for line in re.split(r"[;\n]", text) if line.strip()]
    if len(lines) > LINES_MAX:
        wrong.append(_error(name, "too_many", Sentence("At most {n} entries are allowed.", n=LINES_MAX)))
    if not all(left.strip() and right.strip() for left, _, right in lines):
        wrong.append(_error(name, "invalid_format", "Each line has a name, = and what it stands for."))
        return {}
    return {left.strip(): right.strip() for left, _, right in lines[:LINES_MAX]}


def _wrong(name: str, path: str) -> list[FieldError]:
    if len(path) <= PATH_CHARACTERS_MAX and all(_PATH.fullmatch(one.strip()) for one in path.split("|")):
        return []
    return [_error(name, "invalid_format", "A path is expected, such as customer.phone or items[0].name.")]


def _error(name: str, code: str, message: str) -> FieldError:
    return FieldError(code, message, pointer=f"/settings/{name}")


KIND: Final = SourceKind(
    name="general",
    label=LABEL,
    secret_label="Secret",  # noqa: S106  a label
    verify=signatures.by_standard,
    read=_reader({"event": "event"}, {}, {}),
    whats=get_args(What),
    steps=(
        "Let your system POST its events as JSON to this URL.",
        "Sign them as Standard Webhooks, or name the header with the secret or with its HMAC.",
        "Write where the name of the event, the e-mail address and the order number stand in the JSON.",
    ),
    settings=SETTINGS,
    configure=configure,
)
