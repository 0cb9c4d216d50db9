"""Composes a mail with notices for a user: short, plain, without anything confidential."""

from datetime import datetime

from afterword.alerts.mails.store import Mail
from afterword.channels.base import EMAIL, Message
from afterword.channels.mime import one_line
from afterword.core.wire.site import API_PREFIX, Site
from afterword.texts import texts
from afterword.web import html

SUBJECT_CHARACTERS_MAX = 200


def compose(mail: Mail, *, recipient: str, sender: str, site: Site, now: datetime) -> Message:
    """The mail in the user's language. Its subject is the title of a single notice, else their count."""
    words = texts("notices", mail.locale)
    shown = [
        {
            "title": one.title,
            "body": one.body,
            "where": words("Look it up with the API: {request}", request=f"GET {site.public_url}{one.link}")
            if one.link and one.link.startswith(API_PREFIX)
            else "",
        }
        for one in mail.notices
    ]
    several = words.plural("{n} notice", "{n} notices", mail.notices_count)
    rest = mail.notices_count - len(shown)
    more = words.plural("And {n} more.", "And {n} more.", rest) if rest > 0 else ""
    why = words("You get this mail because you follow this in Afterword.")
    settings = words("To choose what is mailed: {request}", request=f"PUT {site.api('/notification/subscription')}")
    subject = one_line(mail.notices[0].title if mail.notices_count == 1 else several)[:SUBJECT_CHARACTERS_MAX]
    lines = ["\n".join(filter(None, (one["title"], one["body"], one["where"]))) for one in shown]
    return Message(
        item_id=mail.mail_id,
        organization_id=mail.organization_id,
        channel_id=EMAIL,
        recipient=recipient,
        sender=sender,
        sender_name=mail.organization_name,
        reply_to=None,
        subject=subject,
        html=html.render(
            "email/notices.html",
            language=words.language,
            direction=words.direction,
            subject=subject,
            notices=shown,
            more=more,
            why=why,
            settings=settings,
        ),
        text="\n\n".join(filter(None, (*lines, more, f"{why} {settings}"))),
        locale=mail.locale,
        composed_time=now,
        headers={"Content-Language": words.language},
    )
