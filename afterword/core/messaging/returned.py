"""Reads the words of returned mail: the fields of reports, the addresses that failed, and the reasons beside them."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from afterword.core.messaging import refusals

Fields = Mapping[str, str]

ADDRESSES_MAX: Final = 200
GROUPS_MAX: Final = 200
REASON_CHARACTERS_MAX: Final = 1_500  # of the text behind an address
RUN_FIELDS_MIN: Final = 3  # fields in a row that begin the headers of a quoted mail

_FIELD: Final = re.compile(r"[> \t]{0,20}([A-Za-z][A-Za-z0-9-]{0,60})[ \t]{0,9}:[ \t]{0,9}(.*)\Z")
_LABEL: Final = re.compile(r"[ \t]{1,20}[A-Za-z]{1,20} [A-Za-z ]{1,20}:")
_HEADERS: Final = frozenset(
    {"return-path", "received", "message-id", "from", "to", "cc", "subject", "date", "mime-version", "content-type"}
    | {"reply-to", "sender", "dkim-signature", "delivered-to", "content-transfer-encoding"}
)
RECIPIENT_FIELDS: Final = ("original-recipient", "final-recipient")
_ADDRESS: Final = re.compile(r"[^\s<>()\[\]\"',;:|=]{1,64}(?:=[^\s<>()\[\]\"',;:|]{1,64})?@[\w.-]{1,255}")
_OTHER_BEFORE: Final = re.compile(
    r"(?:(?:mail )?from|sender|reply-to|contact|support|help|(?:expanded|generated|forwarded) by)\s*:?[\s<]*\Z",
    re.IGNORECASE,
)
_LINE_BEFORE: Final = re.compile(
    r"(?:^|\n)[\s<>*\"-]*(?:[45]\d\d[ -]<?)?\Z"
    r"|\b(?:recipients?|(?:rcpt|delivered|mail) to|address|user)\s*:?[\s<]*\Z",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"(?<![\w.])([245]\d\d)[ -]")
_NEXT: Final = re.compile(r"\W{0,9}(?:while talking|[^\s@]{1,64}@[^\s:>]{1,255}>?:)|>>>|-{3}", re.IGNORECASE)
_WAITING: Final = re.compile(
    r"\bwarning (?:message )?only|\b(?:will (?:keep|be) (?:trying|retried)|still (?:undelivered|trying))"
    r"|\bnot yet been delivered|\bno action is required|\bdo not need to re-?send|\btemporary failure report",
    re.IGNORECASE,
)
_FINAL: Final = re.compile(r"\bperman|\bgiv(?:en|ing) up\b|\bgave up\b|\breturned to (?:the )?sender", re.IGNORECASE)
_FAILED: Final = re.compile(
    r"\b(?:un|non-?)deliver(?:able|ed)\b|\bdelivery (?:status|has failed|fail|error)|\b(?:could|was|can) ?not (?:be )?"
    r"(?:\w{1,12} )?(?:delivered|sent)|\bfailure notice|\breturned (?:mail|to sender)|\bmail (?:system )?error"
    r"|\bfailed (?:permanently|to deliver)|\berror (?:sending|delivering)|\bunable to deliver",
    re.IGNORECASE,
)
_XTEXT: Final = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")


def groups_of(text: str) -> list[Fields]:
    """Groups of fields with names in lower case (RFC 3464 2.1), also with blanks before colons and unfolded lines."""
    groups: list[dict[str, str]] = [{}]
    last = ""
    for line in text.split("\n"):
        if not line.strip(" \t>"):
            last = ""
            if groups[-1] and len(groups) < GROUPS_MAX:
                groups.append({})
        elif (found := _FIELD.match(line)) and not line.startswith((" ", "\t")):
            last = found[1].lower()
            if last == "final-recipient" and last in groups[-1] and len(groups) < GROUPS_MAX:
                groups.append({})
            groups[-1].setdefault(last, found[2].strip())
        elif last:
            groups[-1][last] += " " + line.strip(" \t>")
    return [group for group in groups if group]


def typed(field: str) -> str:
    """The address in `rfc822; ann@example.com`, also without type, and that of RFC 6533 with its own escapes."""
    kind, mark, address = field.partition(";")
    address = (address if mark else kind).strip()
    return _XTEXT.sub(_character, address) if kind.strip().lower() == "utf-8" else address


def parted(text: str) -> tuple[str, str]:
    """The words of the host, and the mail that they quote below."""
    run = start = place = 0
    for line in text.split("\n"):
        found = _FIELD.match(line)
        if found and (found[1].lower() in _HEADERS or found[1].lower().startswith("x-")):
            start, run = (start, run + 1) if run else (place, 1)
        elif not (run and line.lstrip(">")[:1] in {" ", "\t"} and line.strip()) or _LABEL.match(line):
            run = 0
        place += len(line) + 1
        if run == RUN_FIELDS_MIN:
            return text[:start], text[start:]
    return text, ""


def is_waiting(words: str) -> bool:
    """True for a warning that a host goes on trying."""
    is_final = _FINAL.search(words) or refusals.code_of("", words).startswith("5")
    return bool(_WAITING.search(words)) and not is_final


def is_failure(words: str) -> bool:
    return bool(_FAILED.search(words)) or refusals.begins_at(words) is not None


def failed_in(words: str, *, written: Collection[str], ours: Collection[str]) -> dict[str, str]:
    """The addresses that failed by the words of a host, and its reason for each.

    `written` are the recipients of the quoted mail, `ours` its senders; both in lower case.
    """
    places, lead = _places_of(words, ours)
    borders = sorted((place, one) for one, found in places.items() for place in found)
    said = {one: _reason(words, one, borders) for one in places}
    likely = [one for one in places if one in written or one in lead]
    chosen = [one for one in likely if is_failure(said[one])] or [one for one in likely if one in written]
    chosen = chosen or likely or list(places)[:1]
    whole = reason_in(words) if len(likely) <= 1 else ""
    return {one: said[one] if refusals.begins_at(said[one]) is not None else whole or said[one] for one in chosen}


def reason_in(words: str) -> str:
    """A host's reason in a text: the line of its first code or telling words, and those that go on with it."""
    place = refusals.begins_at(words)
    if place is None:
        return ""
    start = words.rfind("\n", 0, place) + 1
    first, *others = words[start : start + REASON_CHARACTERS_MAX].split("\n")
    before = words[:start].rstrip("\n").rpartition("\n")[2]
    lines = [before, first] if before.endswith(":") else [first]  # "SMTP error after end of data:"
    code = _CODE.search(first)
    for line in others:
        other = _CODE.match(line.lstrip(" \t<>"))
        if not line.strip() or _NEXT.match(line) or (other and other[1] != (code and code[1])):
            break
        lines.append(line)
    return "\n".join(lines)


def _places_of(words: str, ours: Collection[str]) -> tuple[dict[str, list[int]], set[str]]:
    """The places of each address but `ours` and those that others were expanded from; the ones that lead a line."""
    places: dict[str, list[int]] = {}
    lead: set[str] = set()
    for count, found in enumerate(_ADDRESS.finditer(words)):
        if count >= ADDRESSES_MAX:
            break
        address, before = found[0].strip(".*`").lower(), words[max(0, found.start() - 40) : found.start()]
        if address.startswith(tuple(ours)) or _OTHER_BEFORE.search(before) or not address.rpartition("@")[2]:
            continue
        places.setdefault(address, []).append(found.start())
        if _LINE_BEFORE.search(before):
            lead.add(address)
    return places, lead


def _reason(words: str, address: str, borders: Sequence[tuple[int, str]]) -> str:
    """The reason for one address: in its line, or behind it and before the next address."""
    behind = ""
    for number, (place, one) in enumerate(borders):
        if one != address:
            continue
        last = max((start + len(other) for start, other in borders[:number] if other != address), default=0)
        end = next((start for start, other in borders[number + 1 :] if other != address), len(words))
        piece = words[max(last, words.rfind("\n", 0, place) + 1) : min(end, place + REASON_CHARACTERS_MAX)]
        if text := reason_in(piece):
            return text
        behind = behind or words[place + len(address) : min(end, place + REASON_CHARACTERS_MAX)].lstrip(" >:*-\n")
    return behind


def _character(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else found[0]  # noqa: PLR2004
