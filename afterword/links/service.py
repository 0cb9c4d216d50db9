"""Makes, changes and removes public links, and mails visitors the link that confirms their address."""

import base64
import binascii
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors, ids, keys, sealing
from afterword.alerts.mails import service as mails
from afterword.core.answers.form_tokens import token_of
from afterword.core.messaging.addresses import CHANNEL_EMAIL, address_key, normal_or_none
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.db import Database
from afterword.errors import FieldError
from afterword.instances.answers.service import Closed
from afterword.links import store
from afterword.links.store import Link
from afterword.questionnaires import access
from afterword.responders import store as responders_store

PIN_PURPOSE: Final = "kiosk"
LINKS_MAX: Final = 2_000  # of an organization
CONFIRMED_FOR: Final = timedelta(hours=24)
MAILS_PER_HOUR: Final = 3  # to one address: a stranger must not fill somebody's mailbox
HOUR: Final = timedelta(hours=1)


class LinkInUse(errors.Conflict):
    code_default = "in_use"


async def get(db: Database, *, caller: Caller, link_id: str, is_locked: bool = False) -> Link:
    found = await store.get_link(db, **caller.part, link_id=link_id, is_locked=is_locked)
    return errors.found(found, "There is no such public link.")


async def create(
    db: Database, *, caller: Caller, questionnaire_id: str, columns: Mapping[str, Any], secret: bytes, now: datetime
) -> Link:
    """Raises NotFound (questionnaire), Invalid. `columns` may have the `kiosk_pin`, of which a hash is kept."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    _check(columns)
    if await store.count_links_locked(db, organization_id=caller.organization_id) >= LINKS_MAX:
        raise errors.Invalid.at("", "too_many", f"An organization has at most {LINKS_MAX:,} public links.")
    link_id = ids.ordered(now)
    return await store.insert_link(
        db,
        organization_id=caller.organization_id,
        link_id=link_id,
        questionnaire_id=questionnaire.questionnaire_id,
        key=ids.short_code(),
        columns=_hashed(columns, link_id=link_id, secret=secret),
        now=now,
        by=caller.actor_id or None,
    )


async def change(
    db: Database,
    *,
    caller: Caller,
    link_id: str,
    changes: Mapping[str, Any],
    expect: errors.Expect = errors.ANY,
    secret: bytes,
    now: datetime,
) -> Link:
    """Set these columns, and the hash of `kiosk_pin`. Raises NotFound, Invalid, and what `expect` raises."""
    before = await get(db, caller=caller, link_id=link_id, is_locked=True)
    expect(before.version)
    _check({name: changes.get(name, getattr(before, name)) for name in _CHECKED})
    after = await store.update_link(
        db,
        organization_id=before.organization_id,
        link_id=link_id,
        changes=_hashed(changes, link_id=link_id, secret=secret),
        now=now,
        by=caller.actor_id or None,
    )
    return after or before


async def delete(db: Database, *, caller: Caller, link_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Raises NotFound, LinkInUse for a link with responses, and what `expect` raises."""
    link = await get(db, caller=caller, link_id=link_id, is_locked=True)
    expect(link.version)
    if await store.get_has_instances(db, organization_id=link.organization_id, link_id=link_id):
        raise LinkInUse("Responses came by this link. Switch it off instead, so that they can still be told apart.")
    await store.delete_link(db, organization_id=link.organization_id, link_id=link_id)


def require_allowed(link: Link, *, is_anonymous: bool) -> None:
    """Raise Closed where an anonymous questionnaire would learn the confirmed address."""
    if is_anonymous and link.one_response_per == "address":
        raise Closed("An anonymous questionnaire takes no confirmed addresses.")


async def require_capacity(db: Database, *, link: Link, is_locked: bool = False) -> None:
    """Raise Closed where the link has as many responses as it may have; `is_locked`: the count holds until the end."""
    if link.responses_max is None:
        return
    key = {"organization_id": link.organization_id}
    if is_locked:
        await store.claim_responses(db, **key, link_id=link.link_id)
    counts = await store.count_answered(db, **key, link_ids=[link.link_id], limit=link.responses_max)
    if counts[link.link_id] >= link.responses_max:
        raise Closed("This link takes no more responses.")


async def ask_to_confirm(
    db: Database, *, link: Link, address: str, language: str, query: str, site: Site, now: datetime
) -> None:
    """Mail the link that opens the questions once for this address. Raises Invalid `invalid_address`.

    Nothing is sent to an address that is suppressed or got MAILS_PER_HOUR such mails, and the visitor is not told.
    """
    normal = normal_or_none(CHANNEL_EMAIL, address)
    if normal is None:
        raise errors.Invalid.at("/email", "invalid_address", "This is no e-mail address.")
    organization_id = link.organization_id
    key = address_key(site.secret, CHANNEL_EMAIL, normal)
    suppressed = await responders_store.list_suppressions_for(
        db, addresses=[(organization_id, CHANNEL_EMAIL, key)], now=now
    )
    sent = await store.count_confirmations(db, organization_id=organization_id, address_key=key, since=now - HOUR)
    if suppressed or sent >= MAILS_PER_HOUR:
        return
    proof = _sealed(link, normal, secret=site.secret, until=now + CONFIRMED_FOR)
    await mails.schedule_link(
        db,
        organization_id=organization_id,
        user_id=None,
        purpose="answer",
        url=f"{site.pages(link.organization_id).link_url(link.key)}?{query}{'&' if query else ''}by={proof}",
        recipient=normal,
        locale=language,
        address_key=key,
        secret=site.secret,
        now=now,
    )


def confirmed_address(link: Link, *, proof: str, secret: bytes, now: datetime) -> str | None:
    """The address that the mailed link proves; None where it is not ours, or its time is over."""
    try:
        sealed = base64.urlsafe_b64decode(proof.encode("ascii") + b"=" * (-len(proof) % 4))
        until, _, address = sealing.unseal(sealed, secret=secret, context=_context(link)).partition(" ")
    except (binascii.Error, ValueError, sealing.Unreadable):
        return None
    return address if now.timestamp() < int(until) else None


def _sealed(link: Link, address: str, *, secret: bytes, until: datetime) -> str:
    sealed = sealing.seal(f"{int(until.timestamp())} {address}", secret=secret, context=_context(link))
    return base64.urlsafe_b64encode(sealed).decode("ascii").rstrip("=")


def _context(link: Link) -> str:
    return f"link:{link.organization_id}:{link.link_id}"


def is_pin(link: Link, pin: str, *, secret: bytes) -> bool:
    """Whether the PIN ends kiosk mode; any does where none is set."""
    subject = f"{link.link_id}\n{pin}"
    return link.kiosk_pin_hash is None or hmac.compare_digest(
        link.kiosk_pin_hash, token_of(keys.addresses_of(secret), PIN_PURPOSE, subject)
    )


def _hashed(columns: Mapping[str, Any], *, link_id: str, secret: bytes) -> dict[str, Any]:
    hashed = dict(columns)
    if "kiosk_pin" in hashed:
        pin = hashed.pop("kiosk_pin")
        hashed["kiosk_pin_hash"] = (
            None if pin is None else token_of(keys.addresses_of(secret), PIN_PURPOSE, f"{link_id}\n{pin}")
        )
    return hashed


_CHECKED: Final = ("opens_time", "closes_time", "takes_reference", "one_response_per", "kiosk")


def _check(columns: Mapping[str, Any]) -> None:
    wrong: list[FieldError] = []
    opens, closes = columns["opens_time"], columns["closes_time"]
    if opens is not None and closes is not None and closes <= opens:
        wrong.append(FieldError("out_of_range", "A link closes after it opens.", pointer="/closes_time"))
    if columns["takes_reference"] and columns["one_response_per"] is not None:
        message = "A reference has one response already; choose one of the two."
        wrong.append(FieldError("exclusive", message, pointer="/one_response_per"))
    if columns.get("kiosk") is not None and columns["one_response_per"] is not None:
        message = "A kiosk has a new response for each person; leave out the limit."
        wrong.append(FieldError("exclusive", message, pointer="/one_response_per"))
    errors.check(wrong)
