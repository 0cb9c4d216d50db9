"""Ninety days of a shop with three branches: drawn from a fixed seed, written in one transaction."""

import asyncio
import random
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib import resources
from typing import Any, Final

import msgspec
import yaml

from afterword import ids
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases import recoveries
from afterword.cases.rules import ALERT
from afterword.core.messaging.addresses import CHANNEL_EMAIL, address_key
from afterword.core.organizations.access import installation
from afterword.core.questionnaires.question_types import SCORES, TYPES
from afterword.core.questionnaires.questions import Question
from afterword.core.scheduling.statuses import Item
from afterword.kit import db as databases
from afterword.kit.db import Database, Pool
from afterword.kit.nouns import service as nouns
from afterword.listening.reports.custom_reports import REPORT
from afterword.listening.reports.resources import ReportSpec, document_of
from afterword.listening.responses import rows as responses, themes
from afterword.sending.pipelines import starters
from afterword.tenants.logins import sessions
from afterword.tenants.organizations import service as organizations, users
from afterword.tenants.organizations.applications import get_first_application_id
from afterword.tenants.organizations.service import Organization

Rows = Sequence[Mapping[str, Any]]


async def _claim_organization(db: Database, *, organization_id: str, now: datetime) -> bool:
    """Mark the organization as a demonstration. False if it is one, or if anybody was asked already."""
    return await db.touches(
        """update organization o set demonstration_time = $2
           where o.organization_id = $1 and o.demonstration_time is null and not exists (
             select from questionnaire_instance i where i.organization_id = o.organization_id)""",
        *(organization_id, now),
    )


async def _list_sent(db: Database, *, organization_id: str) -> list[tuple[str, str, str]]:
    """Questionnaire, pipeline and published version, always in the same order."""
    return await db.fetch_tuples(
        """select p.questionnaire_id, p.pipeline_id, q.published_version_id
           from pipeline p join questionnaire q using (organization_id, questionnaire_id)
           where p.organization_id = $1 and q.published_version_id is not null order by q.slug, p.pipeline_id
           limit 10""",
        organization_id,
    )


async def _insert_people(db: Database, *, organization_id: str, people: Rows, channel_id: int) -> None:
    await db.execute(
        """insert into responder (organization_id, responder_id, locale, metadata, created_time, updated_time)
           select $1, p.responder_id, p.locale, p.metadata, p.time, p.time
           from jsonb_to_recordset($2) as p (responder_id text, locale text, metadata jsonb, time timestamptz)""",
        *(organization_id, people),
    )
    await db.execute(
        """insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
             unsubscribe_id, created_time)
           select $1, $3, decode(p.address_key, 'hex'), p.responder_id, p.identifier, p.unsubscribe_id, p.time
           from jsonb_to_recordset($2) as p (responder_id text, address_key text, identifier text,
             unsubscribe_id text, time timestamptz)""",
        *(organization_id, people, channel_id),
    )


async def _insert_messages(db: Database, *, organization_id: str, messages: Rows) -> None:
    """Queue items that were sent, or were not to be, and instances of the sent ones with how far people came."""
    await db.execute(
        """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
             responder_channel_identifier, address_key, responder_id, locale, metadata, send_time, send_offset_minutes,
             due_time, not_after, status, reason, attempts, attempts_max, dispatched_time, questionnaire_instance_id,
             external_reference, created_time, updated_time)
           select $1, m.item_id, m.questionnaire_id, m.pipeline_id, m.identifier, decode(m.address_key, 'hex'),
             m.responder_id, m.locale, jsonb_build_object('questionnaire', m.metadata, 'responder', '{}'::jsonb),
             m.time, 0, m.time, m.time + interval '7 days', m.status, m.reason, m.attempts, 5, m.sent_time,
             m.instance_id, m.external_reference, m.time - interval '2 days', m.time
           from jsonb_to_recordset($2) as m (item_id text, questionnaire_id text, pipeline_id text, identifier text,
             address_key text, responder_id text, locale text, metadata jsonb, time timestamptz, status smallint,
             reason text, attempts smallint, sent_time timestamptz, instance_id text, external_reference text)""",
        *(organization_id, messages),
    )
    await db.execute(
        """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
             item_id, channel_id, pipeline_id, short_code, locale, valid_days, editable, finalized, question_ids,
             metadata, sent_time, delivered_time, bounced_time, viewed_time, submitted_time, completed_time,
             created_time, updated_time, previous_questionnaire_instance_id)
           select $1, m.instance_id, m.questionnaire_id, m.version_id, m.responder_id, m.item_id, m.channel_id,
             m.pipeline_id, m.short_code, m.locale, 14, true, m.completed_time is not null,
             array(select jsonb_array_elements_text(m.question_ids)), m.metadata, m.sent_time, m.delivered_time,
             m.bounced_time, m.viewed_time, m.submitted_time, m.completed_time, m.sent_time,
             coalesce(m.completed_time, m.submitted_time, m.viewed_time, m.sent_time), m.previous_id
           from jsonb_to_recordset($2) as m (instance_id text, questionnaire_id text, version_id text,
             responder_id text, item_id text, channel_id smallint, pipeline_id text, short_code text, locale text,
             question_ids jsonb, metadata jsonb, sent_time timestamptz, delivered_time timestamptz,
             bounced_time timestamptz, viewed_time timestamptz, submitted_time timestamptz, completed_time timestamptz,
             previous_id text)
           where m.instance_id is not null""",
        *(organization_id, messages),
    )


async def _insert_answers(db: Database, *, organization_id: str, answers: Rows) -> None:
    await db.execute(
        """insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value,
             answered_time)
           select $1, a.instance_id, a.question_id, a.questionnaire_id, a.version_id, a.value, a.time
           from jsonb_to_recordset($2) as a (instance_id text, question_id text, questionnaire_id text,
             version_id text, value jsonb, time timestamptz)""",
        *(organization_id, answers),
    )


async def _insert_cases(db: Database, *, organization_id: str, alert_id: str, cases: Rows) -> None:
    """Cases with a comment where there is a `note`; the open ones are counted on their rule."""
    await db.execute(
        """insert into alert_instance (organization_id, alert_instance_id, alert_id, questionnaire_id, instance_id,
             responder_id, status_id, assigned_user_id, severity, due_time, comments_count, resolved_time, resolved_by,
             work_seconds, cause, remedy, recovery_item_id, recovery_instance_id, recovery_time, created_time,
             updated_time)
           select $1, c.alert_instance_id, $3, c.questionnaire_id, c.instance_id, c.responder_id, c.status_id,
             c.user_id, c.severity, c.due_time, (c.note is not null)::integer, c.resolved_time,
             case when c.resolved_time is not null then c.user_id end, c.work_seconds, c.cause, c.remedy,
             c.recovery_item_id, c.recovery_instance_id, c.recovery_time, c.time, coalesce(c.resolved_time, c.time)
           from jsonb_to_recordset($2) as c (alert_instance_id text, questionnaire_id text, instance_id text,
             responder_id text, status_id integer, user_id text, severity text, due_time timestamptz, note text,
             resolved_time timestamptz, work_seconds bigint, cause text, remedy text, recovery_item_id text,
             recovery_instance_id text, recovery_time timestamptz, time timestamptz)""",
        *(organization_id, cases, alert_id),
    )
    await db.execute(
        """insert into alert_comment (organization_id, comment_id, alert_instance_id, author_id, user_id, body,
             created_time, updated_time)
           select $1, c.comment_id, c.alert_instance_id, c.user_id, c.user_id, c.note, c.note_time, c.note_time
           from jsonb_to_recordset($2) as c (comment_id text, alert_instance_id text, user_id text, note text,
             note_time timestamptz)
           where c.note is not null and c.user_id is not null""",
        *(organization_id, cases),
    )
    await db.execute(
        """update alert a set last_triggered_time = $3, open_count = (select count(*) from alert_instance i
             where i.organization_id = $1 and i.alert_id = $2 and i.resolved_time is null)
           where a.organization_id = $1 and a.alert_id = $2""",
        *(organization_id, alert_id, max((case["time"] for case in cases), default=None)),
    )


async def _claim_shared(db: Database) -> bool:  # any tenant: one for the installation
    """Lock the shared shop until the end of the transaction; False: none is asked for, or another worker makes it."""
    return await db.touches("select from demonstration where user_id is null for update skip locked")


async def _update_shared(  # any tenant: one for the installation
    db: Database, *, organization_id: str, user_id: str
) -> None:
    """Name the visitor, and switch the questionnaires off."""
    await db.execute(
        """with made as (
             update demonstration d set organization_id = u.organization_id, user_id = u.user_id
             from organization_user u where u.organization_id = $1 and u.user_id = $2 and d.user_id is null
             returning d.organization_id)
           update questionnaire q set active = false from made where q.organization_id = made.organization_id""",
        *(organization_id, user_id),
    )


async def delete_request(db: Database) -> None:  # any tenant: one for the installation
    """So that somebody may ask again for the shared shop, which could not be made."""
    await db.execute("delete from demonstration where user_id is null")


async def _settle_statistics(db: Database) -> None:
    """So that the first screens are planned by what is there now."""
    await db.execute(
        "analyze responder, responder_address, queue_item, questionnaire_instance, answer, alert_instance, response"
    )


QUESTIONNAIRES: Final = ("after_delivery", "relationship", "store_visit", "support_case")
VISITOR: Final = "visitor@demo.example"
SECONDS_MAX: Final = 300  # in one transaction, idle while answers are drawn: a busy machine takes long
DAYS: Final = 90
MESSAGES_A_DAY: Final = 145  # fewer on Sundays
PEOPLE: Final = 3_000
SEED: Final = 20_260_905
BRANCHES: Final[Mapping[str, tuple[float, float]]] = {  # share of a good experience at the start and at the end
    "Harbour Street": (0.78, 0.9),
    "Old Town": (0.72, 0.58),
    "Online": (0.55, 0.86),
}
LOCALES: Final[Mapping[str, int]] = {"en": 60, "el": 18, "de": 17, "ar": 5}
CASE_HOURS: Final = 48
ASKED_AGAIN, ASKED_DAYS, WON_BACK = 0.5, 3, 0.7  # share of the closed cases; days after closing; share of the answers
CASE_DAYS_MAX: Final = 4  # older cases are closed, younger ones the sooner the older they are
NEW, IN_PROGRESS, CLOSED = 1, 2, 3
SUNDAY: Final = 6
MINUTES_MAX: Final = 600  # from the message to the last answer
CAPPED, DELIVERED, OPENED, ANSWERED, COMPLETED = 0.04, 0.94, 0.6, 0.38, 0.35  # shares of the messages
MOODS: Final = ("happy", "neutral", "unhappy")
COMMENTED: Final[Mapping[str, float]] = {"happy": 0.45, "neutral": 0.5, "unhappy": 0.8}
ORDER_FIRST: Final = 104_200
AGENTS: Final = (("maria@demo.example", "Maria Agathou"), ("ben@demo.example", "Ben Otieno"))


async def open_pool(database_url: str) -> Pool:
    """A connection on which a shop may take long to fill."""
    limits = dict.fromkeys(("idle_in_transaction_session_timeout", "statement_timeout"), f"{SECONDS_MAX}s")
    return await databases.open_pool(
        database_url, size_max=1, server_settings=limits, transaction_seconds=SECONDS_MAX, command_seconds=SECONDS_MAX
    )


class _Shop(msgspec.Struct):
    agents: Sequence[str]
    words: Mapping[str, Any]
    chance: random.Random
    now: datetime
    people: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    messages: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    answers: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    cases: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])


async def fill(db: Database, *, organization_id: str, application_id: str, secret: bytes, now: datetime) -> int:
    """Make up the last DAYS days of an organization that asked nobody yet; the number of responses, else 0."""
    if not await _claim_organization(db, organization_id=organization_id, now=now):
        return 0
    agents = [
        await users.create_user(
            db, organization_id=organization_id, email=email, role="agent", display_name=name, now=now
        )
        for email, name in AGENTS
    ]
    sent = await _sent(db, organization_id=organization_id)
    made: dict[str, Any] = {"organization_id": organization_id, "now": now, "by": None}
    columns = {**_RULE, "application_id": application_id, **_conditions(sent)}
    rule = await nouns.insert(ALERT, db, key=ids.ordered(now), columns=columns, **made)
    await themes.add_ready(db, caller=installation(organization_id), language="en", now=now)
    shop = _Shop([agent.user_id for agent in agents], _words(), random.Random(SEED), now)  # noqa: S311  no secret
    await asyncio.to_thread(_draw, shop, sent, secret=secret)
    await _insert_people(db, organization_id=organization_id, people=shop.people, channel_id=CHANNEL_EMAIL)
    await _insert_messages(db, organization_id=organization_id, messages=shop.messages)
    await _insert_answers(db, organization_id=organization_id, answers=shop.answers)
    await _insert_cases(db, organization_id=organization_id, alert_id=rule.alert_id, cases=shop.cases)
    answered = [message["instance_id"] for message in shop.messages if message["submitted_time"] is not None]
    await responses.write(db, keys=[(organization_id, instance_id) for instance_id in answered])
    again = [case["recovery_instance_id"] for case in shop.cases if case["recovery_instance_id"] is not None]
    await recoveries.record_recovery_answers(
        db, keys=[(organization_id, instance_id) for instance_id in again], now=now
    )
    await _settle_statistics(db)
    spec = _report(sent)
    columns = {"title": "NPS of our stores", "spec": spec, "questionnaire_ids": spec["questionnaire_ids"]}
    await nouns.insert(REPORT, db, key=ids.ordered(now), columns=columns, **made)
    return len(answered)


async def furnish(
    db: Database, *, domain: str, now: datetime
) -> tuple[Organization, str, Mapping[str, starters.Started]]:
    """The shop of this domain with an application and the questionnaires of QUESTIONNAIRES; what is there stays."""
    organization = await organizations.get_organization_by_domain(
        db, domain=domain
    ) or await organizations.create_organization(
        db, domain=domain, display_name="Demo Shop", postal_address="1 Harbour Street, 12345 Sampletown", now=now
    )
    key = organization.organization_id
    application_id = await get_first_application_id(db, organization_id=key)
    if application_id is None:
        application = await organizations.create_application(db, organization_id=key, display_name="Demo Shop", now=now)
        application_id = application.application_id
    placed = {
        name: await starters.start(db, organization_id=key, application_id=application_id, name=name, now=now)
        for name in QUESTIONNAIRES
    }
    return organization, application_id, placed


async def make_shared(db: Database, *, secret: bytes, now: datetime) -> bool:
    """Make the shop that all logins of the installation may look at, if somebody asked and nobody else makes it.

    Its questionnaires are switched off, so that it neither sends nor takes answers.
    """
    if not await _claim_shared(db):
        return False
    organization, application_id, _ = await furnish(db, domain=f"demo-{secrets.token_hex(6)}", now=now)
    key = organization.organization_id
    visitor = await users.create_user(
        db, organization_id=key, email=VISITOR, role="reporting", display_name="Visitor", now=now
    )
    await fill(db, organization_id=key, application_id=application_id, secret=secret, now=now)
    await _update_shared(db, organization_id=key, user_id=visitor.user_id)
    return True


async def make_next(pool: Pool, *, database_url: str, secret: bytes) -> bool:
    """Make the shop if it is asked for; where that fails, somebody must ask again."""
    if await databases.load(pool, sessions.get_is_demonstration_made) is not False:
        return False
    try:
        async with await open_pool(database_url) as own, databases.transaction(own) as db:
            await make_shared(db, secret=secret, now=db.clock.now())
    except Exception:
        await databases.change(pool, delete_request)
        raise
    return False


_RULE: Final[Mapping[str, Any]] = {
    "title": "An unhappy customer", "description": "Somebody gave a low score: answer within two days.",
    "trigger": "completed", "severity": "normal", "active": True, "status_id": NEW, "assigned_user_id": None,
    "due_hours": CASE_HOURS, "fold_hours": 0, "subscriber_user_ids": [], "chat_ids": [],
}  # fmt: skip


class _Sent(msgspec.Struct, frozen=True):
    questionnaire_id: str
    pipeline_id: str
    version_id: str
    questions: Sequence[Question]

    @property
    def score(self) -> Question:
        return next(question for question in self.questions if question.type in SCORES)

    @property
    def is_of_stores(self) -> bool:
        return any(question.rows for question in self.questions)


def _report(sent: Sequence[_Sent]) -> dict[str, Any]:
    asked = list(dict.fromkeys(one.questionnaire_id for one in sent))
    group = "questionnaire_metadata:store_id"
    spec = ReportSpec(asked, template_id="by_metadata", metric="nps", metadata=group, last_days=DAYS, compare="rest")
    return document_of(spec)


async def _sent(db: Database, *, organization_id: str) -> list[_Sent]:
    found: list[_Sent] = []
    for questionnaire_id, pipeline_id, version_id in await _list_sent(db, organization_id=organization_id):
        version = await questionnaires_store.get_version(db, organization_id=organization_id, version_id=version_id)
        found.append(_Sent(questionnaire_id, pipeline_id, version_id, version.definition.questions()))
    return found


def _conditions(sent: Sequence[_Sent]) -> dict[str, Any]:
    low = [
        {
            "subject": f"question:{one.score.question_id}",
            "operator": "less_equal",
            "value": max(_ratings(one.score, "unhappy")),
        }
        for one in sent
    ]
    return {"questionnaire_ids": sorted(one.questionnaire_id for one in sent), "conditions": {"any": low}}


def _words() -> Mapping[str, Any]:
    return yaml.safe_load((resources.files("afterword.run.demonstration") / "words.yaml").read_text(encoding="utf-8"))


def _draw(shop: _Shop, sent: Sequence[_Sent], *, secret: bytes) -> None:
    chance, begin = shop.chance, shop.now - timedelta(days=DAYS)
    shop.people += [_person(shop, number, secret=secret, time=begin) for number in range(PEOPLE)]
    for day in range(DAYS):
        start = begin + timedelta(days=day)
        count = round(MESSAGES_A_DAY * (0.5 if start.weekday() == SUNDAY else chance.uniform(0.8, 1.2)))
        for _ in range(count):
            one = chance.choice(sent)
            time = start + timedelta(seconds=chance.randrange(86_400 - MINUTES_MAX * 60))
            message = _message(shop, one, time=time)
            shop.messages.append(message)
            if message["submitted_time"] is not None:
                _respond(shop, one, message, mood=_mood(shop, message, part=day / DAYS))


def _person(shop: _Shop, number: int, *, secret: bytes, time: datetime) -> dict[str, Any]:
    chance, words = shop.chance, shop.words
    first, last = chance.choice(words["first"]), chance.choice(words["last"])
    identifier = f"{first}.{last}{number}@example.com".lower()
    return {
        "responder_id": ids.ordered(time),
        "locale": chance.choices([*LOCALES], [*LOCALES.values()])[0],
        "metadata": {"first_name": first, "last_name": last},
        "identifier": identifier,
        "address_key": address_key(secret, CHANNEL_EMAIL, identifier).hex(),
        "unsubscribe_id": ids.secret(),
        "time": time,
    }


def _message(shop: _Shop, one: _Sent, *, time: datetime) -> dict[str, Any]:
    """A message to anybody: most are sent, half of those opened, and most of these answered."""
    chance, person = shop.chance, shop.chance.choice(shop.people)
    stage = chance.random()
    is_capped = stage > 1 - CAPPED
    later = [time + timedelta(minutes=minutes) for minutes in sorted(chance.sample(range(1, MINUTES_MAX), 3))]
    given: list[datetime | None] = [
        moment if stage < share else None for moment, share in zip(later, (OPENED, ANSWERED, COMPLETED), strict=True)
    ]
    return {
        "item_id": ids.ordered(time),
        "questionnaire_id": one.questionnaire_id,
        "pipeline_id": one.pipeline_id,
        "version_id": one.version_id,
        **{name: person[name] for name in ("identifier", "address_key", "responder_id", "locale")},
        "metadata": {"store_id": chance.choices([*BRANCHES], (3, 2, 0 if one.is_of_stores else 4))[0]},
        "external_reference": f"{ORDER_FIRST + len(shop.messages)}",
        "time": time,
        "status": Item.IGNORED if is_capped else Item.SENT,
        "reason": "frequency_cap" if is_capped else None,
        "attempts": 0 if is_capped else 1,
        "sent_time": None if is_capped else time,
        "instance_id": None if is_capped else ids.secret(),
        "previous_id": None,
        "channel_id": CHANNEL_EMAIL,
        "short_code": ids.short_code(),
        "question_ids": [question.question_id for question in one.questions],
        "delivered_time": None if is_capped or stage > DELIVERED else time + timedelta(seconds=40),
        "bounced_time": time + timedelta(seconds=40) if not is_capped and stage > DELIVERED else None,
        **dict(zip(("viewed_time", "submitted_time", "completed_time"), given, strict=True)),
    }


def _mood(shop: _Shop, message: Mapping[str, Any], *, part: float) -> str:
    """The mood that the branch decides; `part` of the days have passed."""
    first, last = BRANCHES[message["metadata"]["store_id"]]
    happy = first + (last - first) * part
    return shop.chance.choices(MOODS, (happy, (1 - happy) * 0.4, (1 - happy) * 0.6))[0]


def _ratings(question: Question, mood: str) -> Sequence[int]:
    """The ratings of a mood: a segment; one of several of the happy ones misses the top by one."""
    place = MOODS[::-1].index(mood)
    _, low, high = TYPES[question.type].segments[place]
    values = range(low, high + 1)
    return [low - 1, *values, *values] if mood == "happy" else values


def _words_of(shop: _Shop, one: _Sent) -> Mapping[str, Any]:
    return shop.words["stores"] if one.is_of_stores else shop.words


def _part(chance: random.Random, mood: str, place: int) -> int:
    """The column, 1 to 5, that a part of the visit gets: the first ones follow the mood, the last ones hardly."""
    follows = chance.random() < 0.8 - place * 0.15
    return chance.choice({"happy": (4, 5), "neutral": (3, 4), "unhappy": (1, 2)}[mood] if follows else range(2, 6))


def _respond(shop: _Shop, one: _Sent, message: Mapping[str, Any], *, mood: str) -> None:
    chance = shop.chance
    note = chance.choice(_words_of(shop, one)[message["locale"]][mood])
    for question in one.questions:
        if question.type in SCORES:
            value: Any = chance.choice(_ratings(question, mood))
        elif question.shape == "text":
            value = note if chance.random() < COMMENTED[mood] else None
        elif question.rows:
            value = {row.row_id: _part(chance, mood, place) for place, row in enumerate(question.rows)}
        elif question.shape == "choices":
            value = sorted(chance.sample(range(1, 7), chance.choice((1, 1, 2))))
        else:
            value = {"happy": 1, "neutral": 2, "unhappy": 3}[mood]
        if value is not None:
            key = {name: message[name] for name in ("instance_id", "questionnaire_id", "version_id")}
            answered = {"question_id": question.question_id, "value": value, "time": message["submitted_time"]}
            shop.answers.append({**key, **answered})
    if mood == "unhappy" and message["completed_time"] is not None and message["previous_id"] is None:
        shop.cases.append(_case(shop, one, message))


def _case(shop: _Shop, one: _Sent, message: Mapping[str, Any]) -> dict[str, Any]:
    chance, words, time = shop.chance, _words_of(shop, one), message["completed_time"]
    age = (shop.now - time) / timedelta(days=CASE_DAYS_MAX)
    is_closed = chance.random() < age
    status = CLOSED if is_closed else chance.choice((NEW, NEW, IN_PROGRESS))
    hours = chance.uniform(1, CASE_HOURS * min(age, 1.1))
    resolved_time = time + timedelta(hours=hours) if is_closed else None
    again = _ask_again(shop, one, message, resolved_time) if resolved_time and chance.random() < ASKED_AGAIN else {}
    return {
        "alert_instance_id": ids.ordered(time),
        "comment_id": ids.ordered(time),
        **{name: message[name] for name in ("questionnaire_id", "instance_id", "responder_id")},
        "status_id": status,
        "user_id": None if status == NEW else chance.choice(shop.agents),
        "severity": chance.choice(("normal", "normal", "normal", "high")),
        "due_time": time + timedelta(hours=CASE_HOURS),
        "resolved_time": resolved_time,
        "work_seconds": round(hours * 3_600) if is_closed else None,
        **{name: chance.choice(words[name]) if is_closed else None for name in ("cause", "remedy")},
        "recovery_item_id": again.get("item_id"),
        "recovery_instance_id": again["instance_id"] if again.get("submitted_time") else None,
        "recovery_time": again.get("submitted_time"),
        "note": chance.choice(words["notes"]) if status != NEW else None,
        "note_time": time + timedelta(hours=1),
        "time": time,
    }


def _ask_again(shop: _Shop, one: _Sent, message: Mapping[str, Any], resolved_time: datetime) -> Mapping[str, Any]:
    """The message that asks the customer of a closed case how it is now; nothing where its time has not come."""
    time = resolved_time + timedelta(days=ASKED_DAYS)
    if time + timedelta(minutes=MINUTES_MAX) > shop.now:
        return {}
    same = ("identifier", "address_key", "responder_id", "locale", "metadata")
    again = _message(shop, one, time=time) | {name: message[name] for name in same}
    again["previous_id"] = message["instance_id"]
    shop.messages.append(again)
    if again["submitted_time"] is not None:
        _respond(shop, one, again, mood=shop.chance.choices(MOODS, (WON_BACK, 0, 1 - WON_BACK))[0])
    return again
