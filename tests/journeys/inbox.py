"""A mail server that is not ours, aiosmtpd, and what a person sees of the mails that it took."""

import asyncio
import html
import re
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.journeys.processes import until

__all__ = ["Inbox", "Mail", "open_inbox"]


@dataclass(frozen=True)
class Mail:
    """A mail, parsed by the standard library alone."""

    sender: str
    recipients: list[str]
    message: EmailMessage

    def text(self, kind: str) -> str:
        """The body part of this kind, "plain" or "html"."""
        part = self.message.get_body((kind,))
        assert part is not None
        return part.get_content()

    def links(self, beginning: str) -> list[str]:
        """The targets of its links that begin like this, as a mail program opens them."""
        targets = re.findall(r'href="([^"]+)"', self.text("html"))
        return [html.unescape(target) for target in targets if html.unescape(target).startswith(beginning)]


@dataclass
class Inbox:
    """Received messages, in order."""

    port: int = 0
    mails: list[Mail] = field(default_factory=list[Mail])

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    async def one_for(self, address: str, *, seconds: float = 30) -> Mail:
        """The first mail for this person, once it is there."""
        mail = await until(
            lambda: next((mail for mail in self.mails if address in mail.recipients), None),
            seconds=seconds,
            what=f"a mail for {address}",
        )
        assert mail is not None
        return mail

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        assert isinstance(content, bytes)
        message = BytesParser(policy=default).parsebytes(content)
        assert isinstance(message, EmailMessage)
        self.mails.append(Mail(str(envelope.mail_from), list(envelope.rcpt_tos), message))
        return "250 2.0.0 Ok"


@asynccontextmanager
async def open_inbox(tls: ssl.SSLContext | None = None) -> AsyncGenerator[Inbox]:
    """The mail server, on a free port of loopback."""
    inbox = Inbox()
    loop = asyncio.get_running_loop()

    def session() -> Any:
        return SMTP(inbox, hostname="inbox", loop=loop, enable_SMTPUTF8=True, tls_context=tls)

    server = await loop.create_server(session, "127.0.0.1", 0)
    inbox.port = server.sockets[0].getsockname()[1]
    try:
        yield inbox
    finally:
        server.close()
