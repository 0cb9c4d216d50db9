"""The score that a click in a mail chose: an answer at a person's first sign, provisional while somebody only looks.

A GET writes nothing. The script of the page posts that it opened (`opened`), that the page was in front of somebody for
some seconds (`seen`), and that a person moved, touched, scrolled or typed (`person`).
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import msgspec
from starlette.requests import Request

from afterword.asking.instances import answers, spam, store
from afterword.asking.instances.answer_page import AnswerPage, Marked
from afterword.asking.instances.answers import Saved
from afterword.asking.instances.store import Instance
from afterword.core.answers.suspicion import Flag, token_of
from afterword.core.answers.values import Given, label
from afterword.core.organizations.access import installation
from afterword.core.questionnaires.question_types import YES_NO, Question
from afterword.kit.db import Database
from afterword.kit.web.limits import network_key

Sign = Literal["opened", "seen", "person"]
SIGNS: Final[dict[str, Sign]] = {"opened": "opened", "seen": "seen", "person": "person"}
CHOICE_PURPOSE: Final = "choice"
SEEN_SECONDS: Final = 5  # that a page is in front of somebody; the organization's settings name it
JUDGED_AFTER: Final = timedelta(minutes=10)  # a scanner has opened the other links by then
NEAR: Final = timedelta(seconds=30)  # between two people of one network who would not both open their mail
JUDGED_MAX: Final = 50  # at once: each that is accepted is read whole, for its event
OPENINGS_MAX: Final = 12  # of an instance: a mail has at most 11 keys
LINKS_MIN: Final = 3  # opened by someone who does not only correct a choice
KEPT: Final = timedelta(days=2)
_PROGRAM: Final = re.compile(r"headless|phantom|(?<!cu)bot\b|crawl|spider|scan|preview|python|curl", re.IGNORECASE)


class Opening(msgspec.Struct, frozen=True):
    """A page that a score in a mail opened. `is_automated`: its script or its name tells that a program drives it."""

    sign: Sign
    network: str
    is_automated: bool


def opening_of(request: Request, instance: Instance, sign: Sign, *, says_automated: bool) -> Opening:
    network = network_key(request.client.host if request.client else "")
    key = token_of(request.state.site.secret, "network", f"{instance.organization_id}\n{network}")
    return Opening(sign, key, says_automated or bool(_PROGRAM.search(request.headers.get("user-agent", ""))))


def takes_choice(answer_page: AnswerPage, marked: Marked | None) -> bool:
    """Whether the script of the page records this choice: of a question that a mail can ask, of a known person."""
    instance = answer_page.instance
    if marked is None or instance is None or not answer_page.head.questionnaire.click_answers:
        return False
    is_known = instance.anonymity is None and answer_page.head.placement is None and not instance.is_over
    return is_known and _question(answer_page, marked.question_id).shape in {"scale", "yes_no", "choice"}


async def record(
    db: Database, *, answer_page: AnswerPage, marked: Marked, opening: Opening, now: datetime
) -> Saved | None:
    """Record what the page tells; None unless an answer came of it. The instance is locked.

    Raises what `save_answers` raises.
    """
    instance = answer_page.issued
    row: dict[str, Any] = {**instance.key, "question_id": marked.question_id, "value": _value_of(marked.given)}
    if opening.sign != "person":  # who may have changed the choice on the page
        await _insert_opening(db, **row, network=opening.network, now=now)
    if opening.sign == "opened":
        return None
    count = await _count_openings(db, **instance.key)
    given = {marked.question_id: marked.given}
    is_seen = opening.sign == "seen"
    found: dict[Flag, bool] = {
        "many_links": count > 1 if is_seen else _opens_most(_question(answer_page, marked.question_id), count),
        "automated": opening.is_automated,
    }
    signs: list[Flag] = [flag for flag, is_there in found.items() if is_there]
    if not is_seen and not signs:
        saved = await answers.save_answers(db, context=answer_page.context, answers=given, complete=False, now=now)
        await _settle_judge_time(db, **instance.key)
        return saved
    accepts = answer_page.head.questionnaire.accepts_provisional and not instance.test
    if accepts and instance.answered_time is None:
        start = answers.Start(signs=["provisional", *signs])
        await answers.save_answers(db, context=answer_page.context, answers=given, complete=False, now=now, start=start)
        await _update_judge_time(db, **row, judge_time=now + JUDGED_AFTER)
    return None


async def judge_due(db: Database, *, now: datetime, limit: int) -> int:
    """Accept the next provisional answers that nothing speaks against; the others stay held back, with the signs."""
    due = await _list_due(db, now=now, limit=limit)
    for organization_id, instance_id in sorted(due):  # in this order, so that two who judge do not wait in turn
        key = {"organization_id": organization_id, "instance_id": instance_id}
        sight = installation(organization_id).sight
        instance = await store.get_instance(db, **sight, instance_id=instance_id, is_locked=True)
        is_due = await _settle_judge_time(db, **key)
        if not is_due or instance is None or not (instance.is_provisional and instance.judgement == "held"):
            continue
        flags = await _list_signs(db, **instance.key)
        if flags or instance.flags != ["provisional"]:
            await _update_flags(db, **instance.key, flags=flags)
        else:
            await spam.accept(db, caller=installation(organization_id), before=instance, now=now)
    return len(due)


def said(answer_page: AnswerPage, question_id: str, given: Given) -> str:
    question, t = _question(answer_page, question_id), answer_page.texts
    shown = label(question, given.value, answer_page.head.locale)
    if shown is None:
        value = _value_of(given)
        shown = t(YES_NO[value]) if question.shape == "yes_no" else t.number(value)
    return t("Recorded: {answer}", answer=shown)


def _question(answer_page: AnswerPage, question_id: str) -> Question:
    question = answer_page.sequence.definition.question(question_id)
    assert question is not None  # noqa: S101  it was asked
    return question


def _value_of(given: Given) -> int:
    assert isinstance(given.value, int)  # noqa: S101  of the shapes that a mail can ask
    return int(given.value)


def _opens_most(question: Question, count: int) -> bool:
    keys = len(question.scale or question.choices) or len(YES_NO)
    return count >= LINKS_MIN and 2 * count > keys


async def _insert_opening(
    db: Database, *, organization_id: str, instance_id: str, question_id: str, value: int, network: str, now: datetime
) -> None:
    await db.execute(
        """insert into link_opening (organization_id, instance_id, question_id, value, network, opened_time)
           select $1, $2, $3, $4, $5, $6
           where (select count(*) from link_opening where organization_id = $1 and instance_id = $2) < $7
           on conflict do nothing""",
        *(organization_id, instance_id, question_id, value, network, now, OPENINGS_MAX),
    )


async def _count_openings(db: Database, *, organization_id: str, instance_id: str) -> int:
    """The number of scores of one mail whose pages opened."""
    return await db.fetch_value(
        "select count(*) from link_opening where organization_id = $1 and instance_id = $2",
        *(organization_id, instance_id),
    )


async def _update_judge_time(
    db: Database, *, organization_id: str, instance_id: str, question_id: str, value: int, judge_time: datetime
) -> None:
    await db.execute(
        """update link_opening set judge_time = $5
           where organization_id = $1 and instance_id = $2 and question_id = $3 and value = $4""",
        *(organization_id, instance_id, question_id, value, judge_time),
    )


async def _settle_judge_time(db: Database, *, organization_id: str, instance_id: str) -> int:
    """Nothing waits to be judged any more; the number of provisional answers that did."""
    return await db.execute(
        """update link_opening set judge_time = null
           where organization_id = $1 and instance_id = $2 and judge_time is not null""",
        *(organization_id, instance_id),
    )


async def _list_due(db: Database, *, now: datetime, limit: int) -> Sequence[tuple[str, str]]:
    # any tenant: the job is the installation's
    return await db.fetch_tuples(
        """with due as materialized (
             select l.organization_id, l.instance_id, l.question_id, l.value, o.accepts_provisional as is_wanted
             from link_opening l join organization o using (organization_id)
             where l.judge_time <= $1 order by l.judge_time limit $2),
           later as ( -- the organization may want it again
             update link_opening l set judge_time = $1 + interval '1 hour' from due d
             where l.organization_id = d.organization_id and l.instance_id = d.instance_id
               and l.question_id = d.question_id and l.value = d.value and not d.is_wanted)
           select organization_id, instance_id from due where is_wanted""",
        *(now, limit),
    )


async def _list_signs(db: Database, *, organization_id: str, instance_id: str) -> list[Flag]:
    row = await db.fetch_row(
        """select (select count(*) > 1 from link_opening l
               where l.organization_id = $1 and l.instance_id = $2) as many_links,
             exists (select from link_opening l join link_opening x on x.organization_id = $1
                 and x.network = l.network and x.instance_id <> $2
                 and x.opened_time between l.opened_time - $3::interval and l.opened_time + $3::interval
               where l.organization_id = $1 and l.instance_id = $2) as one_network""",
        *(organization_id, instance_id, NEAR),
    )
    flags: tuple[Flag, ...] = ("many_links", "one_network")
    return [flag for flag in flags if row and row[flag]]


async def _update_flags(db: Database, *, organization_id: str, instance_id: str, flags: Sequence[Flag]) -> None:
    await db.execute(
        """update questionnaire_instance
           set flags = array(select distinct f from unnest(flags || $3::text[]) f order by f)
           where organization_id = $1 and instance_id = $2""",
        *(organization_id, instance_id, list(flags)),
    )
