"""Digests: a user has a report, or the overview, mailed every week or month, until somebody stops it.

Another address than the user's gets one mail that asks; the digest goes there from the click on its link on.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString
from zoneinfo import ZoneInfo

import structlog
from msgspec import Meta

from afterword import errors
from afterword.cases import chats
from afterword.core.answers import suspicion
from afterword.core.figures import periods
from afterword.core.figures.periods import Frequency
from afterword.core.messaging import addresses
from afterword.core.organizations.access import ROLE_SCOPES, Caller, limit_of
from afterword.core.wire import times
from afterword.core.wire.lists import Page
from afterword.kit.db import Database, savepoint
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import route_of
from afterword.kit.nouns.declaration import Change, Editable, Hidden, Noun, OwnRecord
from afterword.kit.nouns.structs import listing_of, resource_of
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports import custom_reports
from afterword.tenants import mails
from afterword.tenants.organizations import service as organizations, users
from afterword.tenants.organizations.service import Organization

DIGESTS_MAX: Final = 50  # of a user
AGAIN_SECONDS: Final = 60  # between two mails that the user asks for
CONSENT_DAYS: Final = 7  # then a digest that nobody has agreed to is removed
ASKED_MAX: Final = 20  # addresses that a user asks within a day
PURPOSE: Final = "report digest"
CONSENT_PURPOSE: Final = "report digest consent"
Content = Mapping[str, Any]
Write = Callable[[Database, Caller, "ReportDigest"], Awaitable[Content]]
Day = Annotated[
    int, Meta(ge=1, le=periods.MONTH_DAYS_MAX, description="Of the week, from Monday 1 to 7, or of the month, to 28.")
]
Hour = Annotated[int, Meta(ge=0, le=23, description="In the organization's time zone.")]
MailLocale = Annotated[Literal["en", "de", "el", "es", "fr", "it"], Meta(description="The language of the mail.")]
Recipient = Annotated[
    fields.Text320 | None, Meta(description="Another address. It is asked first by a mail; null: the user's own.")
]
HasComments = Annotated[bool, Meta(description="With the best and the worst comment; of the overview alone.")]
ChatId = Annotated[fields.Id | None, Meta(description="The chat that gets it, in place of a mail.")]
ReportId = Annotated[fields.Id | None, Meta(description="The saved report; null: the overview.")]

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class ReportDigest(OwnRecord, kw_only=True):
    """A report that is mailed to the token's user, or sent to a chat, with the figures that the user may see then."""

    digest_id: fields.Id
    user_id: Annotated[str, Hidden()]
    report_id: Annotated[ReportId, Editable(shown=ReportId)] = None
    frequency: Annotated[Frequency, Editable(holds="fixed")]
    day: Annotated[Day, Editable(shown=Day)]
    hour: Annotated[Hour, Editable(shown=Hour)] = 8
    locale: Annotated[str, Editable(wire=MailLocale, shown=str, holds="fixed")] = "en"
    recipient: Annotated[Recipient, Editable(holds="account")] = None
    chat_id: Annotated[ChatId, Editable(shown=ChatId)] = None
    comments: Annotated[HasComments, Editable(shown=HasComments)] = False
    confirmed_time: datetime | None
    due_time: datetime
    sent_time: datetime | None

    @property
    def is_asked(self) -> bool:
        """Whether its address has not agreed yet."""
        return self.recipient is not None and self.confirmed_time is None


async def _check(change: Change[ReportDigest]) -> None:
    """Raise Forbidden for a token for tests or without a user, Invalid for a report, a day and one too many."""
    db, caller, columns = change.db, change.caller, change.columns
    caller.require_real()
    if caller.user_id is None:
        raise errors.Forbidden("Only a user has digests: use a token of a user.")
    if columns["frequency"] == "weekly" and columns["day"] > periods.WEEK_DAYS:
        raise errors.Invalid.at("/day", "out_of_range", "A week has the days 1 (Monday) to 7.")
    if columns["report_id"] is not None:
        try:
            report = await custom_reports.get(db, caller=caller, report_id=columns["report_id"])
        except errors.NotFound as refusal:
            raise errors.Invalid.at("/report_id", "unknown_id", refusal.detail) from None
        if report.has_texts:
            message = "It shows words of comments, and a mail has figures alone."
            raise errors.Invalid.at("/report_id", "unknown_value", message)
    if len(await digests_of(db, caller=caller)) >= DIGESTS_MAX:
        raise errors.Invalid.at("", "too_many", f"A user has {DIGESTS_MAX} digests at most.")
    if columns["comments"]:
        caller.require("Questionnaire Instance.Read")
        if columns["report_id"] is not None:
            raise errors.Invalid.at("/comments", "unknown_value", "Only the overview is mailed with comments.")
    if columns.get("chat_id") is not None:
        await _check_chat(change)
    recipient = await _recipient(change, caller.user_id)
    when = {name: columns[name] for name in ("frequency", "day", "hour")}
    due_time = periods.next_due(change.now, **when, zone=times.zone_of(caller.time_zone))
    columns |= {"user_id": caller.user_id, "recipient": recipient, "due_time": change.now if recipient else due_time}


async def _check_chat(change: Change[ReportDigest]) -> None:
    """Raise Invalid beside an address, and for a caller with a part of the data: a chat is of all who read it."""
    if change.columns["recipient"] is not None:
        raise errors.Invalid.at("/chat_id", "unknown_value", "Name either a chat or an address.")
    caller, chat_id = change.caller, change.columns["chat_id"]
    if caller.is_limited or await chats.check_ids(
        change.db, organization_id=caller.organization_id, chat_ids=[chat_id]
    ):
        raise errors.Invalid.at("/chat_id", "unknown_id", "There is no such chat.")


async def _recipient(change: Change[ReportDigest], user_id: str) -> str | None:
    """The other address; None for the user's own. Raises Invalid for no address, TooMany."""
    db, organization_id, given = change.db, change.caller.organization_id, change.columns["recipient"]
    if given is None:
        return None
    address = addresses.normal_or_none(addresses.CHANNEL_EMAIL, given)
    if address is None:
        raise errors.Invalid.at("/recipient", "invalid_format", "This is not an e-mail address.")
    user = await users.get_user(db, organization_id=organization_id, user_id=user_id)
    if user is not None and (user.email or "").casefold() == address.casefold():
        return None
    asked = await mails.count_link_mails(
        db, organization_id=organization_id, user_id=user_id, purpose="consent", since=change.now - timedelta(days=1)
    )
    if asked >= ASKED_MAX:
        message = errors.Sentence("At most {n} addresses are asked in a day.", n=ASKED_MAX)
        raise errors.TooMany(message, headers={"Retry-After": "3600"})
    return address


DIGEST = Noun(
    record=ReportDigest,
    table="report_digest",
    one="digest",
    many="digests",
    tag="Reports",
    path="/report/digest",
    scope="Report",
    about_create="A report to be mailed regularly.",
    about={
        "create": "Mails the report, or the overview, to the token's user or another address every week or month, "
        "until it is deleted. Another address gets one mail that asks, and is mailed once somebody there has agreed.",
    },
    names={"create": "create_report_digest", "delete": "delete_report_digest"},
    summaries={"create": "Create a digest", "delete": "Stop a digest"},
    rights={"create": "Read", "delete": "Read"},
    operations=("list", "create", "get", "delete"),
    order=(("created_time", "asc"),),
    visible="t.user_id = $2",
    is_personal=True,
    filled=("user_id", "due_time"),
    check=_check,
)
RESOURCE: Final = resource_of(DIGEST)
routes = Routes(tag=DIGEST.tag, scope=DIGEST.scope)


@routes.get(
    DIGEST.path,
    answer=RESOURCE,
    shape="array",
    summary="Get all digests",
    description="Those of the token's user; a token of the organization has none.",
)
async def list_report_digests(call: Call[None], db: Database) -> Answer:
    return Answer([RESOURCE.of(one, call.zone) for one in await digests_of(db, caller=call.caller)])


routes.all.append(route_of(DIGEST, "create"))


@routes.post(
    f"{DIGEST.path}/{{digest_id}}/mail",
    scope="Report.Read",
    answer=RESOURCE,
    summary="Send a digest now",
    description="Sends one more mail within some seconds. The days of the others stay.",
    status=200,
)
async def send_report_digest(call: Call[None], db: Database) -> ReportDigest:
    return await send_now(db, caller=call.caller, **call.ids, now=call.now)


routes.all.append(route_of(DIGEST, "delete"))


async def digests_of(db: Database, *, caller: Caller) -> list[ReportDigest]:
    page = Page.first(listing_of(DIGEST), limit=DIGESTS_MAX)
    return (await nouns.rows(DIGEST, db, **caller.reach, user_id=caller.user_id, page=page)).items


async def send_now(db: Database, *, caller: Caller, digest_id: str, now: datetime) -> ReportDigest:
    """Have a worker send one more mail; the days of the others stay. Raises Forbidden, NotFound, Conflict, TooMany."""
    caller.require_real()
    found = await nouns.get(DIGEST, db, caller=caller, key=digest_id)
    if found.is_asked:
        raise errors.Conflict("Nobody at this address has agreed to the mail yet.")
    if found.sent_time is not None and now - found.sent_time < timedelta(seconds=AGAIN_SECONDS):
        raise errors.TooMany("One was sent a moment ago.", headers={"Retry-After": str(AGAIN_SECONDS)})
    await _update_due_time(db, organization_id=caller.organization_id, digest_id=digest_id, due_time=now)
    return found


def link_token(organization_id: str, digest_id: str, *, secret: bytes, purpose: str = PURPOSE) -> str:
    """The secret of an address in a digest's mails, by which it is stopped, or agreed to, without a login."""
    return suspicion.token_of(secret, purpose, f"{organization_id}/{digest_id}")


async def open_link(
    db: Database, *, organization_id: str, digest_id: str, token: str, secret: bytes, purpose: str = PURPOSE
) -> ReportDigest | None:
    """The digest of a link; None where it is stopped. Raises NotFound for another token."""
    subject = f"{organization_id}/{digest_id}"
    if not suspicion.is_token(token, secret=secret, purpose=purpose, subject=subject):
        raise errors.NotFound("There is no such page.")
    return await _get_digest(db, organization_id=organization_id, digest_id=digest_id)


async def agree(db: Database, *, digest: ReportDigest, now: datetime) -> None:
    """Mail it to its address from now on."""
    organization = await organizations.get_organization(db, organization_id=digest.organization_id)
    zone = times.zone_of(organization.time_zone if organization else "UTC")
    due_time = periods.next_due(now, frequency=digest.frequency, day=digest.day, hour=digest.hour, zone=zone)
    await _update_confirmed_time(db, digest, due_time=due_time, now=now)


async def mail_due(db: Database, *, write: Write, now: datetime, limit: int) -> int:
    """Mail the digests that are due, each once a period; return their count, `limit` where more may wait.

    The mail is queued in the transaction that moves the digest to its next day. One that fails is logged and waits for
    that day, too: it must not block others.
    """
    due = await _claim_digests(db, now=now, limit=limit)
    for number, digest in enumerate(due):
        organization = await organizations.get_organization(db, organization_id=digest.organization_id)
        assert organization is not None  # noqa: S101  a key says so
        if digest.is_asked and digest.sent_time is not None:  # nobody agreed
            await delete_digest(db, digest)
            continue
        try:
            async with savepoint(db):
                if (caller := await _reader(db, digest, organization)) is not None:
                    await mails.insert_mail(
                        db,
                        organization_id=digest.organization_id,
                        user_id=digest.user_id,
                        content=await write(db, caller, digest),
                        recipient=digest.recipient,
                        purpose="consent" if digest.is_asked else "digest",
                        chat_id=digest.chat_id,
                        now=now + timedelta(microseconds=number),  # one mail of a user at a time
                    )
        except Exception:  # of one digest
            logger.exception("a digest was passed over", digest_id=digest.digest_id)
        await _settle_digest(db, digest, zone=times.zone_of(organization.time_zone), now=now)
    return len(due)


async def _reader(db: Database, digest: ReportDigest, organization: Organization) -> Caller | None:
    """The user with the rights and the limit of this moment; None for one without an address or reports."""
    user = await users.get_user(db, organization_id=digest.organization_id, user_id=digest.user_id)
    is_reached = user is not None and (user.email is not None or digest.chat_id is not None)
    if user is None or not user.active or not is_reached or "Report.Read" not in ROLE_SCOPES[user.role]:
        return None
    return Caller(
        organization_id=digest.organization_id,
        token_id="",
        user_id=user.user_id,
        scopes=ROLE_SCOPES[user.role],
        application_ids=tuple(user.application_ids),
        domain=organization.domain,
        time_zone=organization.time_zone,
        default_locale=organization.default_locale,
        role=user.role,
        limit=limit_of(user.only_where, user.only_values),
    )


async def _get_digest(db: Database, *, organization_id: str, digest_id: str) -> ReportDigest | None:
    return await db.records(ReportDigest).fetch_row(
        f"select {_COLUMNS} from report_digest where organization_id = $1 and digest_id = $2",
        *(organization_id, digest_id),
    )


async def _update_confirmed_time(db: Database, digest: ReportDigest, *, due_time: datetime, now: datetime) -> None:
    await db.execute(
        """update report_digest set due_time = $3, confirmed_time = $4, sent_time = null
           where organization_id = $1 and digest_id = $2 and confirmed_time is null""",
        *(digest.organization_id, digest.digest_id, due_time, now),
    )


async def _update_due_time(db: Database, *, organization_id: str, digest_id: str, due_time: datetime) -> None:
    await db.execute(
        "update report_digest set due_time = $3 where organization_id = $1 and digest_id = $2",
        *(organization_id, digest_id, due_time),
    )


async def delete_digest(db: Database, digest: ReportDigest) -> int:
    return await db.execute(
        "delete from report_digest where organization_id = $1 and digest_id = $2",
        *(digest.organization_id, digest.digest_id),
    )


_COLUMNS: Final[LiteralString] = columns_of(ReportDigest)


async def _claim_digests(  # any tenant: one job for all
    db: Database, *, now: datetime, limit: int
) -> Sequence[ReportDigest]:
    """Lock due digests until the transaction ends."""
    return await db.records(ReportDigest).fetch(
        f"select {_COLUMNS} from report_digest where due_time <= $1 order by due_time limit $2 for update skip locked",
        *(now, limit),
    )


async def _settle_digest(db: Database, digest: ReportDigest, *, zone: ZoneInfo, now: datetime) -> None:
    due_time = periods.next_due(now, frequency=digest.frequency, day=digest.day, hour=digest.hour, zone=zone)
    if digest.is_asked:
        due_time = now + timedelta(days=CONSENT_DAYS)
    await db.execute(
        "update report_digest set due_time = $3, sent_time = $4 where organization_id = $1 and digest_id = $2",
        *(digest.organization_id, digest.digest_id, due_time, now),
    )
