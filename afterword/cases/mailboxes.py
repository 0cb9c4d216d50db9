"""The mailbox in which answers of customers arrive: its settings, its check, and its reading by IMAP.

A mail is taken once: the number of the last one is stored with what was done about it. If the server numbers its mails
anew, all of the last weeks are read again, and those that are known change nothing. No mail is moved or removed.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import structlog
from msgspec import Meta

from afterword import errors
from afterword.cases import messages
from afterword.cases.settings import only_whole
from afterword.core.messaging import addresses
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.errors import FieldError
from afterword.kit import db as databases, sealing
from afterword.kit.db import Database, Pool
from afterword.kit.db.leases import LeaseLost
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import answer_of, routes_of
from afterword.kit.nouns.declaration import Change, Editable, Given, Hidden, Noun, SettingsRecord, Shown
from afterword.kit.nouns.service import Made
from afterword.kit.transport import imap
from afterword.kit.transport.http import check_host
from afterword.kit.transport.imap import Failed, Login, Security, Session
from afterword.kit.transport.mime import Unreadable
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call
from afterword.sending.channels import bounces
from afterword.sending.channels.bounces import MAIL_BYTES_MAX, Read
from afterword.sending.receipts import service as receipts

PATH: Final = "/alert/mailbox"
CHECK_SECONDS: Final = 7.0
READ_SECONDS: Final = 120.0
TAKE_SECONDS: Final = 60.0  # of a reading; the next one goes on
LEASE_SECONDS: Final = 300
EVER: Final = datetime(9999, 1, 1, tzinfo=UTC)  # by then each is due, and no lease lasts
INTERVAL_SECONDS: Final = 60
PROBLEM_SECONDS: Final = 600  # servers lock accounts after wrong passwords
MAILS_MAX: Final = 100  # of one reading
AGE_DAYS: Final = 30  # older mails are not read
OLD_SECONDS: Final = 3_600  # of a problem that the doctor tells of

assert LEASE_SECONDS > 2 * READ_SECONDS  # noqa: S101  a reading ends long before its lease does

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

PLACE: Final = frozenset({"host", "port", "security", "username", "password", "folder"})
Line320 = Annotated[str, Meta(min_length=1, max_length=320, extra=fields.LINE)]
PROBLEMS: Final = (
    "Null: it can be read. `blocked`: the host is in a network that may not be called. `not_reached`: nobody took the "
    "connection. `not_trusted`: the certificate. `no_tls`: the server offers no STARTTLS. `login_refused`: user name "
    "or password. `no_folder`: there is none of this name. `too_large`: the server sent more than was asked for. "
    "`no_answer`: no complete answer in time. `password_lost`: the stored password cannot be opened any more."
)


class AlertMailbox(SettingsRecord, kw_only=True):
    """The mailbox in which answers of customers arrive, and how its reading goes. Without `host` nobody reads it."""

    address: Annotated[
        fields.Text320 | None,
        Editable(
            "Address of answers", "Customers' answers go to it. Empty: answers by mail are not set up.", holds="account"
        ),
    ] = None
    host: Annotated[
        Annotated[str, Meta(min_length=1, max_length=253, examples=["imap.shop.example"])] | None,
        Editable("IMAP server", "Such as imap.shop.example. Empty: mails come by a pipe.", holds="account"),
    ] = None
    security: Annotated[
        Security,
        Editable("Encryption", "", "choice", (("tls", "TLS (port 993)"), ("starttls", "STARTTLS (port 143)"))),
    ] = "tls"
    port: Annotated[Annotated[int, Meta(ge=1, le=65535)], Editable("Port", "", "number")] = 993
    username: Annotated[Line320 | None, Editable("User name", "Often the whole address.", holds="account")] = None
    password: Annotated[Annotated[str, Meta(min_length=1, max_length=500, extra=fields.LINE)] | None, Given()] = None
    folder: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200, extra=fields.LINE)],
        Editable("Folder", "A folder of its own is best.", holds="account"),
    ] = "INBOX"
    has_password: Annotated[bool, Shown()] = False
    sealed_password: Annotated[bytes | None, Hidden(holds="sealed")] = None
    read_time: datetime | None = None
    mail_count: int | None = None
    problem: Annotated[str | None, Meta(description=PROBLEMS)] = None
    problem_time: datetime | None = None
    server_reply: str | None = None
    answer_count: int = 0
    answer_time: datetime | None = None
    skipped_count: int = 0
    updated_time: datetime


class NotSetUp(errors.Conflict):
    code_default = "not_set_up"


async def _check(change: Change[AlertMailbox]) -> None:
    """A new place begins anew. Whoever moves it to another server gives the password again, so as not to learn it."""
    key, has_password = change.caller.organization_id, change.row.sealed_password is not None
    moved = PLACE & change.columns.keys()
    if "password" in change.columns:
        password = change.columns.pop("password")
        has_password = password is not None
        context = seal_context(key, "")
        sealed = sealing.seal(password, secret=change.site.secret, context=context) if has_password else None
        change.columns["sealed_password"] = sealed
    elif change.after("host") is None:
        change.columns["sealed_password"] = None
    elif moved - {"folder"}:
        has_password = False
    errors.check(list(_wrong(change, has_password=has_password)))
    if moved:
        await _update_to_begin_anew(change.db, organization_id=key, now=change.now)


def _wrong(change: Change[AlertMailbox], *, has_password: bool) -> list[FieldError]:
    wrong = list[FieldError]()
    address, host = change.after("address"), change.after("host")
    if address is not None:
        try:
            change.columns["address"] = addresses.normalise(addresses.CHANNEL_EMAIL, address)
        except addresses.InvalidAddress as error:
            wrong.append(FieldError("invalid_address", error.message, pointer="/address"))
    if host is None:
        return wrong
    if address is None:
        wrong.append(FieldError("required", "Name the address whose mails the mailbox gets.", pointer="/address"))
    if sentence := check_host(host, change.site.networks):
        wrong.append(FieldError("invalid_format", sentence, pointer="/host"))
    if change.after("username") is None:
        wrong.append(FieldError("required", "A mailbox has a user name.", pointer="/username"))
    if not has_password:
        wrong.append(
            FieldError(
                "required",
                "Give the password. It is asked for again where the server or the user changes.",
                pointer="/password",
            )
        )
    return wrong


def seal_context(organization_id: str, _id: str) -> str:
    return f"mailbox:{organization_id}"


async def _show(_call: Call[Any], _db: Database, rows: Sequence[AlertMailbox]) -> Sequence[Mapping[str, Any]]:
    return [{"has_password": one.sealed_password is not None} for one in rows]


MAILBOX = Noun(
    record=AlertMailbox,
    table="alert_mailbox",
    one="alert mailbox",
    many="alert mailboxes",
    tag="Alert Settings",
    path=PATH,
    scope="Alert",
    about_update="Changes of the mailbox. `password` is stored sealed, and shown to nobody.",
    about={
        "update": "Replies to customers have `address` as their Reply-To. With `host` a worker reads the mailbox every "
        "minute: answers go to their cases, bounces to their messages. `host` null ends that. Another server or user "
        "needs the password again."
    },
    summaries={"get": "Get the mailbox of answers", "update": "Update the mailbox of answers"},
    operations=("get", "update"),
    is_single=True,
    filled_later=("sealed_password",),
    check=_check,
    fixed=only_whole,
    show=_show,
)
routes = routes_of(MAILBOX)


@routes.act(
    f"{PATH}/check",
    scope="Alert.Update",
    answer=routes.all[0].answer,
    summary="Check the mailbox of answers",
    refusals=("not_set_up",),
    description="Logs in, opens the folder and counts its mails; `problem` says what failed. No mail is read.",
)
async def check_alert_mailbox(call: Call[None], pool: Pool) -> Answer:
    mailbox = await check(pool, caller=call.caller, site=call.site)
    async with databases.connection(pool) as db:
        return await answer_of(MAILBOX, call, db, Made(mailbox), is_new=False)


async def get(db: Database, *, organization_id: str) -> AlertMailbox:
    found = await nouns.find(MAILBOX, db, organization_id=organization_id, key=organization_id)
    return errors.found(found, MAILBOX.nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Login):
    """A reading of a mailbox, which one worker has until its lease ends. A change of the settings ends it too."""

    organization_id: str
    sealed_password: bytes
    uid_validity: int | None
    last_uid: int
    epoch: int


async def claim_due(  # any tenant, unless it is given: workers serve everyone
    db: Database, *, now: datetime, limit: int, organization_id: str | None = None
) -> list[Reading]:
    """Those that are due and that nobody reads, or the one of this organization."""
    until = now if organization_id is None else EVER
    return await db.records(Reading).fetch(
        """with due as materialized (
             select organization_id from alert_mailbox where host is not null
               and due_time <= $1 and (lease_until is null or lease_until < $1)
               and ($4::text is null or organization_id = $4)
             order by due_time limit $3 for update skip locked)
           update alert_mailbox set lease_until = $2, epoch = epoch + 1
           where organization_id in (select organization_id from due)
           returning organization_id, host, port, security, username, folder, sealed_password, uid_validity, last_uid,
             epoch""",
        *(until, now + timedelta(seconds=LEASE_SECONDS), limit, organization_id),
    )


async def list_problems(  # any tenant: the doctor looks at all
    db: Database, *, now: datetime, limit: int
) -> list[tuple[str, str]]:
    """The domains of organizations whose mailbox cannot be read for long, and why."""
    return await db.fetch_tuples(
        """select o.domain, m.problem from alert_mailbox m join organization o on o.organization_id = m.organization_id
           where m.host is not null and m.problem_time < $1 order by m.problem_time limit $2""",
        *(now - timedelta(seconds=OLD_SECONDS), limit),
    )


async def _update_to_begin_anew(db: Database, *, organization_id: str, now: datetime) -> None:
    await db.execute(
        """update alert_mailbox set due_time = $2, lease_until = null, epoch = epoch + 1, uid_validity = null,
             last_uid = 0, mail_count = null, problem = null, problem_time = null, server_reply = null
           where organization_id = $1""",
        *(organization_id, now),
    )


async def _settle_reading(
    db: Database, *, reading: Reading, failed: Failed | None, count: int | None, now: datetime, wait_seconds: int
) -> None:
    await db.execute(
        """update alert_mailbox
           set due_time = $3::timestamptz + make_interval(secs => $7), lease_until = null, problem = $4,
             problem_time = case when $4::text is not null then coalesce(problem_time, $3) end, server_reply = $5,
             read_time = case when $4::text is null then $3 else read_time end, mail_count = coalesce($6, mail_count)
           where organization_id = $1 and epoch = $2""",
        *(reading.organization_id, reading.epoch, now, failed and failed.problem),
        *((failed and failed.reply) or None, count, wait_seconds),
    )


async def _update_progress(db: Database, *, reading: Reading, uid_validity: int, uid: int, is_skipped: bool) -> None:
    """Raises LeaseLost where the reading is not this worker's any more."""
    count = await db.execute(
        """update alert_mailbox
           set uid_validity = $3, last_uid = $4, skipped_count = skipped_count + $5::boolean::int
           where organization_id = $1 and epoch = $2""",
        *(reading.organization_id, reading.epoch, uid_validity, uid, is_skipped),
    )
    if not count:
        raise LeaseLost


async def check(pool: Pool, *, caller: Caller, site: Site) -> AlertMailbox:
    """Log in, and note what came of it; a reading that is under way ends. Raises Forbidden, Conflict."""
    organization_id = caller.organization_id
    async with databases.transaction(pool, actor=caller.actor) as db:
        only_whole(caller, await get(db, organization_id=organization_id))
        claimed = await claim_due(db, now=db.clock.now(), limit=1, organization_id=organization_id)
    if not claimed:
        raise NotSetUp("The mailbox has no IMAP server.")
    await read(pool, reading=claimed[0], site=site, is_check=True)
    return await databases.load(pool, get, organization_id=organization_id)


async def read(pool: Pool, *, reading: Reading, site: Site, is_check: bool = False) -> None:
    """Take the mails that are new, each in a transaction with its number, and note how it went. A check takes none."""
    failed, count, wait_seconds = None, None, 0
    try:
        async with _opened(reading, site=site, seconds=CHECK_SECONDS if is_check else READ_SECONDS) as session:
            count = session.count
            if not is_check and not await _read(pool, session, reading, site=site):
                wait_seconds = INTERVAL_SECONDS
    except LeaseLost:
        return
    except Failed as error:
        failed, wait_seconds = error, PROBLEM_SECONDS
    async with databases.transaction(pool) as db:
        now = db.clock.now()
        await _settle_reading(db, reading=reading, failed=failed, count=count, now=now, wait_seconds=wait_seconds)


def _opened(reading: Reading, *, site: Site, seconds: float) -> AbstractAsyncContextManager[Session]:
    """Raises Failed."""
    context = seal_context(reading.organization_id, "")
    try:
        password = sealing.unseal(reading.sealed_password, secret=site.secret, context=context)
    except sealing.Unreadable as error:
        raise Failed("password_lost") from error
    return imap.opened(replace(reading, password=password), allowed=site.networks, seconds=seconds)


async def _read(pool: Pool, session: Session, reading: Reading, *, site: Site) -> bool:
    """Whether there may be more mails. Raises Failed, LeaseLost, Unavailable."""
    stop = time.monotonic() + TAKE_SECONDS
    async with databases.connection(pool) as db:
        since = (db.clock.now() - timedelta(days=AGE_DAYS)).date()
    last = reading.last_uid if reading.uid_validity == session.uid_validity else 0
    uids = (await session.uids(after=last, since=since))[:MAILS_MAX]
    sizes = await session.sizes(uids) if uids else {}
    for uid in uids:
        if time.monotonic() > stop:
            return True
        is_large = sizes.get(uid, 0) > MAIL_BYTES_MAX
        content = b"" if is_large else await session.mail(uid, most=MAIL_BYTES_MAX + 1)
        if await _take(pool, content, reading, uid_validity=session.uid_validity, uid=uid, site=site):
            await session.mark_seen(uid)
    return len(uids) == MAILS_MAX


async def _take(pool: Pool, content: bytes, reading: Reading, *, uid_validity: int, uid: int, site: Site) -> bool:
    """Whether it was an answer or a report. One that cannot be taken is counted, and does not hold up others."""
    progress = {"reading": reading, "uid_validity": uid_validity, "uid": uid}
    try:
        mail = await asyncio.to_thread(bounces.read, content, secret=site.secret)
        async with databases.transaction(pool) as db:
            own = {"organization_id": reading.organization_id, "secret": site.secret}
            await take(db, mail=mail, now=db.clock.now(), **own)
            await _update_progress(db, **progress, is_skipped=not content)
        return bool(mail.reports or mail.answer)
    except (errors.Unavailable, LeaseLost):
        raise
    except Unreadable:
        pass
    except Exception:
        logger.exception("a mail was not taken", organization_id=reading.organization_id, uid=uid)
    await databases.change(pool, _update_progress, **progress, is_skipped=True)
    return False


async def take(db: Database, *, mail: Read, now: datetime, secret: bytes, organization_id: str | None = None) -> int:
    """Act on a mail: an answer goes to its case, reports to their messages. The number of those that are new.

    `organization_id`: the one whose mailbox it was in, and which alone it is about; None: any.
    """
    if mail.answer is not None:
        return await messages.receive(db, answer=mail.answer, now=now, organization_id=organization_id)
    if not mail.reports:
        return 0
    return await receipts.take_mail(db, reports=mail.reports, now=now, secret=secret, organization_id=organization_id)
