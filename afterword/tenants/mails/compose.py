"""Composes a mail for a user: short and plain, with notices or with a link that works once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.core.wire.site import API_PREFIX, Site
from afterword.kit import sealing
from afterword.kit.texts import Texts, texts
from afterword.kit.transport.base import EMAIL, Message
from afterword.kit.transport.mime import one_line
from afterword.kit.web import html
from afterword.tenants.mails.service import link_context
from afterword.tenants.mails.store import Mail

SUBJECT_CHARACTERS_MAX = 200
SETTINGS: Final = "/console/settings/notifications"
CASE: Final = re.compile(rf"{re.escape(API_PREFIX)}/alert/instance/([0-9A-Za-z]{{22}})")
# Subject and sentence by purpose.
LINKS: Final[Mapping[str, tuple[str, str]]] = {
    "invitation": (
        "{organization} invites you to Afterword",
        "Open this page and choose a password. The link works once, for three days.",
    ),
    "reset": (
        "A new password for Afterword",
        "Open this page and choose a new password. The link works once, for an hour.",
    ),
    "address": (
        "Your new address for Afterword",
        "Open this page to log in with this address from now on. The link works once, for an hour.",
    ),
    "answer": (
        "Your link to the questions of {organization}",
        "Open this page to answer. The link is for you alone, and opens the questions for a day.",
    ),
}


@dataclass(frozen=True, slots=True)
class _Content:
    subject: str
    template: str
    lines: Sequence[str]  # of the plain text, a paragraph each
    language: str
    locale: str
    values: Mapping[str, Any]  # of the template
    stop_url: str = ""


def compose(mail: Mail, *, recipient: str, sender: str, site: Site, now: datetime) -> Message:
    """The mail in the user's language."""
    words = texts("notices", mail.locale)
    if mail.content is not None:
        content = _of_digest(mail.content, site)
    elif mail.purpose:
        content = _of_link(mail, words, site)
    else:
        content = _of_notices(mail, words, site)
    subject = one_line(content.subject)[:SUBJECT_CHARACTERS_MAX]
    headers = {"Content-Language": content.language}
    if content.stop_url:
        headers["List-Unsubscribe"] = f"<{content.stop_url}>"
    return Message(
        item_id=mail.mail_id,
        organization_id=mail.organization_id,
        channel_id=EMAIL,
        recipient=recipient,
        sender=sender,
        sender_name=mail.organization_name,
        reply_to=None,
        subject=subject,
        html=html.render(f"email/{content.template}.html", subject=subject, **content.values),
        text="\n\n".join(filter(None, content.lines)),
        locale=content.locale,
        composed_time=now,
        headers=headers,
        to_user=True,
    )


def _of_notices(mail: Mail, words: Texts, site: Site) -> _Content:
    """The subject is the title of a single one, else their count."""
    shown = [
        {"title": one.title, "body": one.body, "where": _url_of(page_of_case(one.link), site)} for one in mail.notices
    ]
    several = words.plural("{n} notice", "{n} notices", mail.notices_count)
    rest = mail.notices_count - len(shown)
    return _listed(
        mail,
        words,
        subject=mail.notices[0].title if mail.notices_count == 1 else several,
        notices=shown,
        why=words("You get this mail because you follow this in Afterword."),
        more=words.plural("And {n} more.", "And {n} more.", rest) if rest > 0 else "",
        settings_url=f"{site.public_url}{SETTINGS}",
    )


def _of_link(mail: Mail, words: Texts, site: Site) -> _Content:
    """Raises sealing.Unreadable where the installation's secret has changed since."""
    title, body = LINKS[mail.purpose or ""]
    url = sealing.unseal(mail.link or b"", secret=site.secret, context=link_context(mail.mail_id))
    subject = one_line(words(title, organization=mail.organization_name))
    return _listed(
        mail,
        words,
        subject=subject,
        notices=[{"title": subject, "body": words(body), "where": url}],
        why=words("If you did not expect this mail, do nothing: without the link nothing changes."),
    )


def _listed(
    mail: Mail,
    words: Texts,
    *,
    subject: str,
    notices: Sequence[Mapping[str, str]],
    why: str,
    more: str = "",
    settings_url: str = "",
) -> _Content:
    """`settings_url`: where the user chooses what is mailed."""
    # Without the marks of direction around it, which mail programs would take for a part of the address.
    choosing = words("To choose what is mailed: {url}").split("{url}") if settings_url else []
    lines = ["\n".join(filter(None, (one["title"], one["body"], one["where"]))) for one in notices]
    values = {"language": words.language, "direction": words.direction, "notices": notices, "more": more, "why": why}
    return _Content(
        subject,
        "notices",
        [*lines, more, why, settings_url.join(choosing)],
        words.language,
        mail.locale,
        {**values, "choosing": choosing, "settings_url": settings_url},
    )


def _of_digest(content: Mapping[str, Any], site: Site) -> _Content:
    """Figures in words and tables. `content` has the texts in their language, and addresses without the site's own."""
    url, stop_url = (f"{site.public_url}{content[name]}" for name in ("url", "stop_url"))
    lines: list[str] = [content["period"]]
    for section in content["sections"]:
        lines.append("\n".join(filter(None, (section["title"], *section["sentences"]))))
        heads = section["head"]
        lines += [
            f"{row[0]}: {', '.join(f'{head} {cell}' for head, cell in zip(heads[1:], row[1:], strict=False) if cell)}"
            for row in section["rows"]
        ]
    lines += [f"{content['open']}: {url}", f"{content['why']} {content['stop']}: {stop_url}"]
    values = {"content": content, "url": url, "stop_url": stop_url}
    return _Content(content["subject"], "digest", lines, content["language"], content["language"], values, stop_url)


def page_of_case(link: str | None) -> str:
    """The path of the console's page of a case, by a notice's link; empty for what has none."""
    case = CASE.fullmatch(link or "")
    return f"/console/cases/{case[1]}" if case else ""


def _url_of(path: str, site: Site) -> str:
    return f"{site.public_url}{path}" if path else ""
