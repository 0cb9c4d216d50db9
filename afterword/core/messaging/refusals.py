"""Judges a refusal by its codes (RFC 3463, RFC 5321 4.2) and words: is it certain that the address does not exist.

Words are weighed because hosts put rate limits, full mailboxes and blocklists under 5.1.1, and relays invent codes.
"""

import re
from typing import Final

SAID_CHARACTERS_MAX: Final = 2_000

# The only codes that say "this address does not exist": RFC 3463 3.2 and 3.3, and 5.1.10 of RFC 7505.
SUPPRESSING: Final = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"})
# Codes beside which words count: those that say nothing (not 5.2.0, "the mailbox exists", nor 5.7.0), no route, and
# those of Exchange Online for its directory (5.4.1), for a missing domain and for another host's refusal.
_OPEN_CODE: Final = re.compile(r"(?:5\d\d|5\.[013456]\.0|5\.4\.(?:1|4|310)|5\.1\.351)?\Z")
# After the whole message, or with no address where it belongs: such a reply may be about the content.
_LATE: Final = re.compile(r"\bend of data\b|\bafter (?:the )?(?:data|message)\b|(?:^|\s)5\d\d:? : ", re.IGNORECASE)
_STATUS: Final = re.compile(r"\s*([245]\.\d{1,3}\.\d{1,3})\b")
_ENHANCED: Final = re.compile(r"(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)")  # and not of an IP address
_REPLY: Final = re.compile(r"(?<![\w.:/+-])([45][0-5]\d)(?=[ :<#-]|$)", re.MULTILINE)
_ADDRESS: Final = re.compile(r"\S{1,256}@\S{1,256}|\[\S{1,256}\]")

_WHO: Final = r"(?:user(?:id)?|recipient|mailbox|(?<!ip )address|addressee|account|alias|person|subscriber)(?:es|s)?"
_WHERE: Final = r"(?<!or )(?:host(?! or)|domain)(?: name)?s?"  # Postfix says "Host or domain name not found" of both
_NONE: Final = r"unknown|no such|invalid|illegal|bad|non-?exist[ea]nt|undefined|no valid"
_GONE: Final = re.compile(
    rf"\b(?:{_NONE}) (?:[\w/-]{{1,20}} ){{0,3}}?{_WHO}\b"
    rf"|\b{_WHO}\b.{{0,80}}?\b(?:unknown|invalid"
    r"|(?:not|n't)(?: \w{1,10})? (?:found|exist|known|listed|recogni[sz]ed|valid))"
    rf"|\bno {_WHO}(?: \w{{1,12}})? (?:here|by that|with (?:that|this))"
    r"|(?:not|n't) have an? \S{1,80} account\b|\bnot our (?:user|customer)"
    r"|\b(?:benutzer|empfänger|utilisateur|destinataire|usuario|destinatario|utente)\b.{0,60}"
    r"\b(?:unbekannt|inconnu|invalide|desconocido|inexistente|sconosciuto)",
    re.IGNORECASE,
)
_NO_DOMAIN: Final = re.compile(
    rf"\b(?:{_NONE}) (?:[\w/-]{{1,20}} ){{0,2}}?{_WHERE}\b"
    rf"|\b{_WHERE}\b.{{0,80}}?\b(?:unknown|(?:not|n't) (?:be )?(?:found|exist))|\bnxdomain\b"
    r"|\bno (?:mx|mail exchanger)s?\b.{0,20}\b(?:found|for)|\bfind a mail exchanger or ip|\bindicated no smtp service",
    re.IGNORECASE,
)
_OTHER_REASONS: Final = (
    r"quota|\bfull\b|\bstorage\b|\bspace\b|\bexceed|\blimit(?:s|ed)?\b",
    r"\btoo (?:many|much|large|big|fast)|\brates?\b|\brate-?limit|throttl",
    r"\b(?:this|per|an|last) (?:minute|hour|day)\b",
    r"\btry (?:again )?(?:later|back)|\btemporar|gr[ea]y-?\s?list|\btimed? ?out\b|\bdeferred\b",
    r"(?:black|block|deny)-?\s?list|\bblock(?:s|ed|ing)?\b|(?<!not )\blisted (?:in|by|at|on)\b|\bd?n?s?rbl\b",
    r"\bbanned\b|spam|\bjunk\b|\bbulk\b|reputation|virus|malware|phish|\bcontent\b|\bunsolicited",
    r"polic(?:y|ies)\b|preferences|prohibit|permitted|\bpermission|not allowed|denied|\bauthenticat|\bauthori[sz]",
    r"\brelaying\b|\brelay (?:access|not|den|through)|\bto relay\b",
    r"\bspf\b|\bdkim\b|\bdmarc\b|\breverse (?:dns|lookup)|\bptr\b|\b(?:helo|ehlo)\b|\bclient\b",
    r"\bsender\b|\bmail ?from\b|\benvelope.from\b|\breturn.path\b",
    r"\byour (?:ip|host|server|domain|network|country)",
)
_OTHER: Final = re.compile("|".join(_OTHER_REASONS), re.IGNORECASE)


def judge(status: str, said: str, around: str = "") -> tuple[str, bool]:
    """The code that counts, of a report's `Status` and the host's reply, and if it is certain that nobody is there.

    `around` is the relay's text with that reply, which may tell when it came.
    """
    said = " ".join(said[:SAID_CHARACTERS_MAX].split())
    code = code_of(status, said)
    return code, _is_gone(code, said, around)


def _is_gone(code: str, said: str, around: str) -> bool:
    words = _ADDRESS.sub(" ", said)
    # Exchange Online's answer at its edge, where the directory does not have the recipient.
    if code == "5.4.1" and "recipient address rejected: access denied" in words.lower():
        return True
    first = _REPLY.search(said)
    is_temporary = code.startswith(("2", "4")) or (first is not None and first[1].startswith("4"))
    if is_temporary or _OTHER.search(words):
        return False
    # A relay that got a bare 550 invents 5.1.1 for it (sendmail): then only the words count.
    is_invented = first is not None and enhanced_of(said) is None
    if code in SUPPRESSING and not is_invented:
        return True
    words = words.rpartition("->")[2]  # of the last host in a chain
    is_open = all(one in SUPPRESSING or _OPEN_CODE.match(one) for one in {code, *_ENHANCED.findall(said)})
    if not is_open or "unavailable" in words or _LATE.search(f"{said}\n{around}"):
        return False
    has_no_domain = _NO_DOMAIN.search(words) is not None and "try again" not in words.lower()
    return has_no_domain or _GONE.search(words) is not None


def code_of(status: str, said: str) -> str:
    """The enhanced code: of `Status`, but of the reply where that says nothing (5.x.0) or contradicts it."""
    own = _STATUS.match(status)
    code, host = own[1] if own else "", enhanced_of(said)
    is_contradicted = code in SUPPRESSING and host not in SUPPRESSING
    if host and (not code or code.endswith(".0") or (is_contradicted and not host.endswith(".0"))):
        return host
    if not code and (reply := _REPLY.search(said)):
        return reply[1]
    return code


def enhanced_of(text: str) -> str | None:
    """The enhanced status code in a reply's text, `5.1.1`."""
    found = _ENHANCED.search(text)
    return found.group(1) if found else None


def begins_at(text: str) -> int | None:
    """The place where a host's reason begins in a text: its first code, else its first words that name one."""
    found = _REPLY.search(text) or _ENHANCED.search(text) or _GONE.search(text) or _NO_DOMAIN.search(text)
    return found.start() if found else None
