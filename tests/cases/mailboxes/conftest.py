"""The desk with a mailbox of its own on a real server."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from afterword.cases import mailboxes
from afterword.cases.mailboxes import MAILBOX, AlertMailbox, Reading
from afterword.core.messaging.networks import networks_of
from afterword.core.messaging.reply_text import reply_proof
from afterword.core.wire.site import Site
from afterword.kit.nouns import service as nouns
from tests.cases.conftest import Desk
from tests.cases.messages.test_messages import BODY, case_of_ann
from tests.dovecot import (
    PASSWORDS,
    USER,
    Mailserver,
    mailserver as mailserver,  # noqa: PLC0414  a fixture
    started as started,  # noqa: PLC0414  a fixture
)
from tests.sending.channels.conftest import certificate as certificate  # noqa: PLC0414  a fixture

ADDRESS = "answers@shop.example"


@dataclass
class Post:
    """Actions of the tests of the mailbox."""

    desk: Desk
    server: Mailserver
    site: Site
    path: str

    async def set(self, **changes: Any) -> AlertMailbox:
        return await self.desk.run(
            lambda db: nouns.update(
                MAILBOX,
                db,
                caller=self.desk.house.caller,
                key=self.desk.house.organization_id,
                changes=changes,
                site=self.site,
                now=db.clock.now(),
            )
        )

    async def claim(self, *, later: timedelta = timedelta(0)) -> list[Reading]:
        return await self.desk.run(mailboxes.claim_due, now=await self.desk.now() + later, limit=10)

    async def read(self, *, later: timedelta = timedelta(minutes=2)) -> AlertMailbox:
        """Read it as a worker would after this time."""
        for reading in await self.claim(later=later):
            await mailboxes.read(self.desk.pool, reading=reading, site=self.site)
        return await self.get()

    async def get(self) -> AlertMailbox:
        return await self.desk.run(mailboxes.get, organization_id=self.desk.house.organization_id)

    async def answer(self, text: str = "Thank you.", *, message_id: str = "", more: str = "") -> bytes:
        """A mail of Ann's that answers a reply to her, which is sent before unless it is named."""
        if not message_id:
            message_id = (await self.desk.api.ok("POST", f"{self.path}/message", BODY))["message_id"]
        proof = reply_proof(message_id, self.site.secret)
        return (
            f"From: Ann <ann@example.com>\r\nTo: {ADDRESS}\r\nSubject: Re: We are sorry\r\n"
            f"Message-ID: <{message_id}.{len(text)}@example.com>\r\nIn-Reply-To: <{proof}@ask.example>\r\n{more}"
            f"\r\n{text}\r\n"
        ).encode()

    async def taken(self) -> list[str]:
        """The words of the answers that the case has."""
        entries = (await self.desk.api.get(f"{self.path}/history"))["results"]
        return [one["body"] for one in entries if one["kind"] == "message_received"]


@pytest.fixture
async def post(desk: Desk, mailserver: Mailserver) -> Post:
    site = replace(desk.house.site, networks=networks_of("127.0.0.0/8"))
    post = Post(desk, mailserver, site, await case_of_ann(desk))
    await post.set(address=ADDRESS, host="127.0.0.1", port=mailserver.tls, username=USER, password=PASSWORDS[USER])
    return post
