"""Responses of all questionnaires: how they are searched."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from afterword import errors
from afterword.asking.links.public_links import LINK
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases import outcomes
from afterword.core.organizations.access import Caller, Part
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Node
from afterword.core.reading.findings import Findings
from afterword.core.text import words
from afterword.core.text.words import Query
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.listening.responses import store
from afterword.listening.responses.rows import ANSWERED, PERSON, REFERENCE, VALUES
from afterword.listening.responses.store import Filter, ResponseRow
from afterword.tenants.organizations import checks

EPOCH: Final = datetime.fromtimestamp(0, UTC)
MICROS_DIGITS: Final = 17
CONDITION_SCANNED_MAX: Final = 1_000  # responses that a condition is evaluated for at once, and those of a page
CONDITION_BATCH: Final = 250  # the first ones of a page
CONDITION_GROWTH: Final = 4  # of the next batch, where few match
CONDITION_LISTED_MAX: Final = (
    10_000  # responses that it is evaluated for where many things are done with those it meets
)
LOOKED_IN: Final = (  # by the scope that opens it
    (ANSWERED, "Questionnaire Instance.Read"),
    (REFERENCE, "Questionnaire Instance.Read"),
    (VALUES, "Questionnaire Value.Read"),
    (PERSON, "Responder Value.Read"),
)


def reach_of(caller: Caller, application_id: str | None) -> Part:
    """The part of one application, or all that the caller has; of an application out of reach none."""
    part = caller.part
    if application_id:
        among = part["application_ids"]
        part["application_ids"] = [application_id if not among or application_id in among else ""]
    return part


async def check_named(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str | None,
    application_id: str | None,
    link_id: str | None = None,
    instance_ids: Sequence[str] = (),
    at: str = "",
    is_query: bool = False,
) -> None:
    """Raise Invalid `unknown_id` for what is not there or out of the caller's reach, as a filter of a client names it.

    `at`: where the body has the filter. An instance without a response is known: it is among none that match.
    """
    wrong: list[FieldError] = []
    if questionnaire_id is not None and not await questionnaires_store.list_owners(
        db, **caller.part, questionnaire_ids=[questionnaire_id], limit=1
    ):
        wrong.append(FieldError("unknown_id", "There is no such questionnaire.", pointer=f"{at}/questionnaire_id"))
    if application_id is not None:
        place = f"{at}/application_id"
        wrong += await checks.reach_errors(db, caller=caller, application_id=application_id, pointer=place)
    if link_id is not None and not await nouns.find(LINK, db, **caller.part, key=link_id):
        wrong.append(FieldError("unknown_id", "There is no such public link.", pointer=f"{at}/link_id"))
    if instance_ids:
        known = await store.list_known_ids(db, **caller.part, instance_ids=instance_ids)
        wrong += [
            FieldError("unknown_id", "There is no such instance.", pointer=f"/instance_ids/{index}")
            for index, instance_id in enumerate(instance_ids)
            if instance_id not in known
        ]
    if is_query:
        wrong = [FieldError(each.code, each.message, parameter=str(each.pointer).strip("/")) for each in wrong]
    errors.check(wrong)


def search_of(caller: Caller, query: Query, word: str = "") -> str | None:
    """The tsquery for the parts of responses that are open to the caller; None where nothing is searched for.

    `word`: a whole one of the person's own words.
    """
    whole = words.whole_word(word)
    if not query and not whole:
        return None
    weights = "".join(weight for weight, scope in LOOKED_IN if scope in caller.scopes)
    return words.tsquery(query, tenant=caller.organization_id, weights=weights, whole=whole, whole_weights=ANSWERED)


def read_condition(caller: Caller, document: object, *, path: str) -> Node | None:
    """The condition over answers, metadata and tags. Raises Invalid, or InsufficientScope for values out of reach."""
    findings = Findings()
    node = conditions.read(document, path, findings, conditions.ANY_QUESTION)
    findings.check()
    caller.require_values(leaf.subject for leaf in conditions.leaves_of(node))
    return node


@dataclass(frozen=True, slots=True)
class Found:
    """A page of responses. `last`: the time and id to go on behind, None at the end; `is_full`: as many as asked."""

    rows: Sequence[ResponseRow]
    last: tuple[datetime, str] | None
    is_full: bool


async def find(
    db: Database,
    *,
    caller: Caller,
    application_id: str | None,
    chosen: Filter,
    condition: Node | None,
    after: str,
    limit: int,
) -> Found:
    """The newest responses before `chosen.to_time` that meet the filter and the condition.

    Only so many are looked at; a page that is not full may still have others behind `last`.
    """
    reach = reach_of(caller, application_id)
    if condition is None:
        rows = await store.list_responses(db, **reach, chosen=chosen, after=after, limit=limit + 1)
        if len(rows) > limit:
            return Found(rows[:limit], _place(rows[limit - 1]), is_full=True)
        last = None if chosen.is_unfiltered else await store.get_last_scanned(db, **reach, chosen=chosen, after=after)
        return Found(rows, last, is_full=False)
    met: list[ResponseRow] = []
    looked_at, size = 0, CONDITION_BATCH
    while looked_at < CONDITION_SCANNED_MAX:
        size = min(size, CONDITION_SCANNED_MAX - looked_at)
        batch = await find(
            db, caller=caller, application_id=application_id, chosen=chosen, condition=None, after=after, limit=size
        )
        known = await outcomes.list_facts(
            db,
            organization_id=caller.organization_id,
            instance_ids=[row.instance_id for row in batch.rows],
            condition=condition,
        )
        for row in batch.rows:
            if row.instance_id in known and conditions.matches(condition, known[row.instance_id]):
                met.append(row)
                if len(met) == limit:
                    return Found(met, _place(row), is_full=True)
        if batch.last is None:
            return Found(met, None, is_full=False)
        moment, after = batch.last
        chosen = replace(chosen, to_time=moment)
        looked_at, size = looked_at + size, CONDITION_GROWTH * size
    return Found(met, (chosen.to_time, after), is_full=False)


async def select(
    db: Database,
    *,
    caller: Caller,
    application_id: str | None,
    chosen: Filter,
    condition: Node | None,
    among: Sequence[str] | None = None,
    limit: int,
) -> list[tuple[str, str]]:
    """The ids of all responses that match, each with its questionnaire's, the newest first.

    Raises Invalid where more than `limit` match, or more would have to be looked at: nothing is left out.
    """
    reach = reach_of(caller, application_id)
    most = limit if condition is None else CONDITION_LISTED_MAX
    found = await store.list_ids(db, **reach, chosen=chosen, among=among, limit=most + 1)
    if len(found) > most or (
        len(found) < most
        and among is None
        and not chosen.is_unfiltered
        and await store.get_last_scanned(db, **reach, chosen=chosen, after="", scanned=store.LISTED_MAX)
    ):
        message = (
            f"More than {most:,} responses would have to be gone through: choose a shorter period or more filters."
        )
        raise errors.Invalid.at("/filter", "too_many", message)
    if condition is None:
        return found
    met: list[tuple[str, str]] = []
    for begin in range(0, len(found), CONDITION_SCANNED_MAX):
        batch = found[begin : begin + CONDITION_SCANNED_MAX]
        known = await outcomes.list_facts(
            db,
            organization_id=caller.organization_id,
            instance_ids=[instance_id for instance_id, _ in batch],
            condition=condition,
        )
        met += [one for one in batch if one[0] in known and conditions.matches(condition, known[one[0]])]
    if len(met) > limit:
        raise errors.Invalid.at("/filter", "too_many", f"More than {limit:,} responses match: choose a shorter period.")
    return met


def _place(row: ResponseRow) -> tuple[datetime, str]:
    return row.submitted_time, row.instance_id


def key_of(submitted_time: datetime, instance_id: str) -> str:
    """The key behind which a page begins."""
    return f"{(submitted_time - EPOCH) // timedelta(microseconds=1)}_{instance_id}"


def read_key(text: str) -> tuple[datetime, str] | None:
    time, _, instance_id = text.partition("_")
    if not time.isascii() or not time.isdigit() or len(time) > MICROS_DIGITS:
        return None
    return EPOCH + timedelta(microseconds=int(time)), instance_id
