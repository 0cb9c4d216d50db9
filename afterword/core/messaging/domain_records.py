"""Judges the SPF, DKIM and DMARC records of a sender domain (RFC 7208, 6376, 7489), and gives those to set.

Texts of records come in, findings go out; nothing is asked here.
"""

import base64
import binascii
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

import msgspec

from afterword.core.text.locales import Marked

Kind = Literal["spf", "dkim", "dmarc"]
State = Literal["good", "weak", "wrong", "missing", "unknown"]

LOOKUPS_MAX: Final = 10  # RFC 7208, 4.6.4
PARENTS_MAX: Final = 4  # of a domain, that are asked for a DMARC record
KEY_BYTES_MIN: Final = 290  # an RSA key of 2,048 bits has 294 as a public key info, one of 1,024 bits 162
SELECTOR: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?\Z")
SELECTORS: Final = ("default", "dkim", "mail", "s1", "s2", "k1", "selector1", "selector2", "google")
# By the end of a mail server's name: the domain that SPF records include, and the selectors of its keys.
SERVICES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "amazonaws.com": ("amazonses.com", ()), "brevo.com": ("spf.brevo.com", ("brevo1", "brevo2", "mail")),
    "gmail.com": ("_spf.google.com", ("google",)), "google.com": ("_spf.google.com", ("google",)),
    "mailgun.org": ("mailgun.org", ("mailo", "smtp", "pic", "mx", "k1")),
    "mailjet.com": ("spf.mailjet.com", ("mailjet",)),
    "mandrillapp.com": ("spf.mandrillapp.com", ("mandrill", "mte1", "mte2")),
    "messagingengine.com": ("spf.messagingengine.com", ("fm1", "fm2", "fm3")),
    "office365.com": ("spf.protection.outlook.com", ("selector1", "selector2")),
    "outlook.com": ("spf.protection.outlook.com", ("selector1", "selector2")),
    "postmarkapp.com": ("spf.mtasv.net", ("pm",)), "sendgrid.net": ("sendgrid.net", ("s1", "s2")),
    "smtp2go.com": ("spf.smtp2go.com", ()),
}  # fmt: skip
SENTENCES: Final[Mapping[str, tuple[State, Marked]]] = {
    "spf_good": ("good", "The SPF record says who may send from this domain."),
    "spf_missing": ("missing", "There is no SPF record, so receivers cannot tell who may send from this domain."),
    "spf_many": ("wrong", "There are several SPF records, so receivers ignore all of them. Merge them into one."),
    "spf_without_server": ("wrong", "The SPF record does not name your mail server: {include} is missing."),
    "spf_open": ("wrong", "The SPF record lets anyone send from this domain. It should end in ~all."),
    "spf_without_end": (
        "weak",
        "The SPF record does not say what applies to all other senders. It should end in ~all.",
    ),
    "spf_too_long": ("wrong", "The SPF record takes more than 10 look-ups, so receivers refuse it. Shorten it."),
    "dkim_good": ("good", "There is a DKIM key under the selector “{selector}”."),
    "dkim_missing": (
        "missing",
        (
            "There is no DKIM key under these selectors: {selectors}. Your mail provider tells you the record and "
            "its selector."
        ),
    ),
    "dkim_revoked": ("wrong", "The DKIM key of the selector “{selector}” is empty, so it was withdrawn."),
    "dkim_wrong": ("wrong", "The DKIM record of the selector “{selector}” cannot be read."),
    "dkim_weak": ("weak", "The DKIM key of the selector “{selector}” has fewer than 2,048 bits. Ask for a longer one."),
    "dmarc_good": ("good", "The DMARC record tells receivers to set apart or refuse what others send in your name."),
    "dmarc_none": (
        "weak",
        "The DMARC record only watches (p=none). Once all your mails pass SPF or DKIM, change it to p=quarantine.",
    ),
    "dmarc_missing": ("missing", "There is no DMARC record. Large mailbox providers ask for one."),
    "dmarc_wrong": ("wrong", "There are several DMARC records, or the one there has no valid p=."),
    "no_domain": ("missing", "There is no such domain."),
    "not_asked": ("unknown", "The name servers could not be asked. Try again later."),
}
_REDIRECT: Final = re.compile(r"(?:[+?~-]?include:|redirect=)([a-z0-9._-]{1,253})\Z")
_LOOKUP: Final = re.compile(r"[+?~-]?(?:include:|exists:|(?:a|mx|ptr)(?:[:/]|\Z))|redirect=")
_ALL: Final = re.compile(r"[+?~-]?all\Z")


class Finding(msgspec.Struct, frozen=True):
    """A record at `name`: the texts that stand there, and the text to set, None where only the provider knows it.

    `values` fill the sentence of the code.
    """

    kind: Kind
    code: str
    name: str
    found: Sequence[str] = ()
    record: str | None = None
    values: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def state(self) -> State:
        return SENTENCES[self.code][0]

    @property
    def message(self) -> str:
        return SENTENCES[self.code][1].format_map(self.values)


def service_of(host: str) -> tuple[str | None, tuple[str, ...]]:
    """The domain that SPF records include for this server, None for an unknown one, and the selectors to ask for."""
    for end, (include, selectors) in SERVICES.items():
        if host.lower().endswith((f".{end}", end)):
            return include, tuple(dict.fromkeys((*selectors, *SELECTORS)))
    return None, SELECTORS


def spf_records(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if text.lower() == "v=spf1" or text.lower().startswith("v=spf1 ")]


def spf_references(record: str) -> list[str]:
    return [match[1] for term in record.lower().split() if (match := _REDIRECT.match(term))]


def spf_lookups(record: str) -> int:
    return sum(1 for term in record.lower().split() if _LOOKUP.match(term))


def judge_spf(
    domain: str, texts: Sequence[str], *, host: str | None, reached: Collection[str], lookups: int
) -> Finding:
    """`host`: of the mail server; `reached`: the domains that the record includes, directly or not."""
    records = spf_records(texts)
    include = None if host is None else service_of(host)[0]
    if len(records) != 1:
        sender = f"include:{include} " if include else f"a:{host} " if host else None
        missing = None if sender is None or records else f"v=spf1 {sender}~all"
        return Finding("spf", "spf_many" if records else "spf_missing", domain, records, missing)
    [record] = records
    ends = [term for term in record.split() if _ALL.match(term.lower())]
    others = [term for term in record.split() if term not in ends]
    if ends and ends[0].lower() in {"all", "+all"}:
        code, changed = "spf_open", [*others, "~all"]
    elif include is not None and include not in reached:
        code, changed = "spf_without_server", [*others[:1], f"include:{include}", *others[1:], *(ends or ["~all"])]
    elif lookups > LOOKUPS_MAX:
        code, changed = "spf_too_long", []
    elif not ends and "redirect=" not in record.lower():
        code, changed = "spf_without_end", [*others, "~all"]
    else:
        code, changed = "spf_good", []
    return Finding("spf", code, domain, records, " ".join(changed) or None, {"include": include or ""})


def dkim_name(domain: str, selector: str) -> str:
    return f"{selector}._domainkey.{domain}"


def judge_dkim(domain: str, found: Mapping[str, Sequence[str]]) -> list[Finding]:
    """`found`: the texts under each selector that was asked for. One finding for each that has a record."""
    judged = [_judge_key(domain, selector, texts) for selector, texts in found.items() if texts]
    if judged:
        return judged
    selectors = ", ".join(found)
    name = dkim_name(domain, next(iter(found), "selector"))
    return [Finding("dkim", "dkim_missing", name, values={"selectors": selectors})]


def dmarc_names(domain: str) -> list[str]:
    """The names that may have a DMARC record of the domain: its own, then its parents', but no single label's."""
    labels = domain.split(".")
    return [f"_dmarc.{'.'.join(labels[start:])}" for start in range(max(1, len(labels) - 1))][:PARENTS_MAX]


def judge_dmarc(domain: str, name: str, texts: Sequence[str]) -> Finding:
    """The record that stands at `name`, the first of `dmarc_names` that has one."""
    records = [text for text in texts if text.lower().replace(" ", "").startswith("v=dmarc1")]
    if not records:
        return Finding(
            "dmarc", "dmarc_missing", f"_dmarc.{domain}", record=f"v=DMARC1; p=none; rua=mailto:dmarc@{domain}"
        )
    tags = _tags(records[0])
    policy = tags.get("p", "").lower()
    if name != f"_dmarc.{domain}":
        policy = tags.get("sp", policy).lower()
    if len(records) > 1 or policy not in {"none", "quarantine", "reject"}:
        return Finding("dmarc", "dmarc_wrong", name, records)
    if policy == "none":
        changed = re.sub(r"(?i)\b(s?p\s*=\s*)none", r"\1quarantine", records[0])
        return Finding("dmarc", "dmarc_none", name, records, changed)
    return Finding("dmarc", "dmarc_good", name, records)


def is_dmarc(texts: Sequence[str]) -> bool:
    return any(text.lower().replace(" ", "").startswith("v=dmarc1") for text in texts)


def _judge_key(domain: str, selector: str, texts: Sequence[str]) -> Finding:
    name, values = dkim_name(domain, selector), {"selector": selector}
    tags = _tags(texts[0])
    key = tags.get("p", "?").replace(" ", "")
    if not key:
        return Finding("dkim", "dkim_revoked", name, texts, values=values)
    try:
        length = len(base64.b64decode(key, validate=True))
    except (binascii.Error, ValueError):
        return Finding("dkim", "dkim_wrong", name, texts, values=values)
    is_short = tags.get("k", "rsa").lower() == "rsa" and length < KEY_BYTES_MIN
    return Finding("dkim", "dkim_weak" if is_short else "dkim_good", name, texts, values=values)


def _tags(record: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in record.split(";")]
    return {name.strip().lower(): value.strip() for name, _, value in pairs if name.strip()}
