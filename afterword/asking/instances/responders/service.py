"""Reads and changes responders within the rights of a caller."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from afterword import errors
from afterword.asking.instances.responders import store
from afterword.asking.instances.responders.store import Figures, Identifier, ShownResponder
from afterword.asking.questionnaires.metadata import service as metadata_service
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, normal_or_none
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import GLOBAL, Declared
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.people.responders import service as responders
from afterword.people.responders.service import Actor, Change

NO_RESPONDER: Final = "There is no such responder."
_UPPER_TO_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}  # as the index folds: ASCII alone
_PHONE: Final = re.compile(r"\+[\d\s().\-/]+\Z", re.ASCII)
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_WORD: Final = re.compile(r"[^\W_]+")
WORDS_MAX: Final = 5  # of a search text that count
_NO_DIGITS: Final = re.compile(r"[^\d+]", re.ASCII)


@dataclass(frozen=True, slots=True)
class ResponderView:
    responder: ShownResponder
    identifiers: Sequence[Identifier]
    figures: Figures


async def get(db: Database, *, caller: Caller, responder_id: str) -> ShownResponder:
    found = await store.get_responder(db, **caller.reach, responder_id=responder_id)
    return errors.found(found, NO_RESPONDER)


async def find(db: Database, *, caller: Caller, search: str | None, page: Page) -> Rows[ShownResponder]:
    if search is None:
        return await store.list_responders(db, **caller.reach, page=page)
    return await store.list_responders(
        db,
        **caller.reach,
        prefixes=prefixes(search, locale=caller.default_locale),
        words=words(search) if "Responder Value.Read" in caller.scopes else (),
        reference=search.strip() if "Queue.Read" in caller.scopes else None,
        order_key=search.strip() if {"Queue.Read", "Questionnaire Value.Read"} <= caller.scopes else None,
        page=page,
    )


async def count(db: Database, *, caller: Caller, search: str | None, page: Page) -> int:
    counted = replace(page, with_total=True, with_results=False)
    return (await find(db, caller=caller, search=search, page=counted)).total or 0


async def views_of(
    db: Database, *, caller: Caller, responders: Sequence[ShownResponder], now: datetime
) -> dict[str, ResponderView]:
    """Adds addresses and figures to these responders, by id; two statements for any number."""
    responder_ids = [one.responder_id for one in responders]
    if not responder_ids:
        return {}
    identifiers: defaultdict[str, list[Identifier]] = defaultdict(list)
    for one in await store.list_identifiers(
        db, organization_id=caller.organization_id, responder_ids=responder_ids, now=now
    ):
        identifiers[one.responder_id].append(one)
    figures = await store.list_figures(db, **caller.reach, responder_ids=responder_ids)
    by_id = {one.responder_id: one for one in figures}
    return {
        one.responder_id: ResponderView(
            one,
            identifiers[one.responder_id] if one.is_whole else [],
            by_id.get(one.responder_id) or Figures(one.responder_id, 0, None, None, only_tests=False),
        )
        for one in responders
    }


async def change(
    db: Database,
    *,
    caller: Caller,
    responder_id: str,
    change: Change,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> ShownResponder:
    """Change what a PATCH names; raises NotFound, Forbidden, Invalid `too_many`, and what `expect` raises."""
    found = await get(db, caller=caller, responder_id=responder_id)
    if not found.is_whole:
        raise _others_too()
    await responders.update(
        db,
        organization_id=caller.organization_id,
        responder_id=responder_id,
        change=change,
        now=now,
        actor=Actor.of(caller),
        expect=expect,
    )
    return await get(db, caller=caller, responder_id=responder_id)


async def create(
    db: Database, *, caller: Caller, change: Change, now: datetime, secret: bytes
) -> tuple[ShownResponder, bool]:
    """The person with an address of the metadata, changed accordingly, else a new one; and whether it is new.

    Raises Invalid, and Forbidden for limited callers: nobody of theirs asked the person yet.
    """
    caller.require_whole()
    caller.require_real()
    request = responders.ResponderInput(
        organization_id=caller.organization_id, metadata=change.metadata, locale=change.locale
    )
    [found] = await responders.find_or_create(db, inputs=[request], now=now, secret=secret, actor=Actor.of(caller))
    if change.time_zone:
        await responders.update(
            db,
            organization_id=caller.organization_id,
            responder_id=found.responder_id,
            change=Change(has_time_zone=True, time_zone=change.time_zone),
            now=now,
            actor=Actor.of(caller),
        )
    return await get(db, caller=caller, responder_id=found.responder_id), found.created


async def declared(db: Database, *, caller: Caller, responder_id: str) -> Declared:
    """The metadata names of the application that asked this responder last, else the product's."""
    questionnaire_id = await store.get_last_questionnaire_id(db, **caller.part, responder_id=responder_id)
    if questionnaire_id is None:
        return GLOBAL
    return await metadata_service.declared_of(
        db, organization_id=caller.organization_id, questionnaire_id=questionnaire_id
    )


async def find_or_create(
    db: Database,
    *,
    caller: Caller,
    responder_id: str | None,
    metadata: Mapping[str, str | None],
    locale: str | None,
    now: datetime,
    secret: bytes,
) -> str:
    """The responder given, else a new one; metadata are merged into an existing one.

    A caller limited to some applications or to tests changes no responder whom others ask too. Raises Invalid.
    """
    if responder_id is not None:
        await require_seen(db, caller=caller, responder_id=responder_id)
    request = responders.ResponderInput(
        organization_id=caller.organization_id,
        responder_id=responder_id,
        metadata=metadata,
        locale=locale,
        is_limited=caller.is_limited,
    )
    [found] = await responders.find_or_create(db, inputs=[request], now=now, secret=secret, actor=Actor.of(caller))
    if caller.is_limited and not found.created and await _is_whole(db, caller=caller, responder_id=found.responder_id):
        await responders.update(
            db,
            organization_id=caller.organization_id,
            responder_id=found.responder_id,
            change=Change(metadata=metadata),
            now=now,
            actor=Actor.of(caller),
        )
    return found.responder_id


async def require_seen(db: Database, *, caller: Caller, responder_id: str) -> None:
    """Raise Invalid `unknown_id` for a responder that the caller does not see."""
    try:
        await get(db, caller=caller, responder_id=responder_id)
    except errors.NotFound:
        raise errors.Invalid.at("/responder_id", "unknown_id", "There is no such responder.") from None


async def require_whole(db: Database, *, caller: Caller, responder_id: str) -> None:
    """Raise Forbidden if a limited caller would change a responder whom others ask too."""
    if caller.is_limited and not await _is_whole(db, caller=caller, responder_id=responder_id):
        raise _others_too()


def prefixes(search: str, *, locale: str | None = None) -> list[str]:
    """The prefixes of normalized addresses that a search text matches.

    As written; a telephone number without its spaces; and the whole of an address in its normal form.
    """
    text = unicodedata.normalize("NFC", search).strip()
    found = {text}
    if _PHONE.match(text):
        found.add(_NO_DIGITS.sub("", text))
    found |= {normal_or_none(channel_id, text, locale=locale) or text for channel_id in (CHANNEL_EMAIL, CHANNEL_SMS)}
    return sorted(one.translate(_UPPER_TO_LOWER) for one in found)


def words(search: str) -> list[str]:
    """The words of a search text as `responder_words` has them: in lower case, without accents, with one sigma."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", search)).lower().replace("\u03c2", "\u03c3")
    return _WORD.findall(plain)[:WORDS_MAX]


async def _is_whole(db: Database, *, caller: Caller, responder_id: str) -> bool:
    return await store.get_is_whole(db, **caller.reach, responder_id=responder_id)


def _others_too() -> errors.Forbidden:
    return errors.Forbidden("This person is asked by others too, whom you do not see.")
