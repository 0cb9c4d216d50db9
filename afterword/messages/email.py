"""Composes the mail that asks one person: the compiled invitation, filled, with a sender's duties in the headers.

How an invitation is compiled, and looks, is in `invitation.py`; what a channel does with it in `channels/`.
"""

import math
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from afterword import ids
from afterword.channels.base import Message
from afterword.channels.mime import one_line
from afterword.core.messaging import placeholders as messages
from afterword.core.messaging.proofs import ITEM_HEADER, item_proof
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.questions import Question, Shape
from afterword.core.text import locales
from afterword.core.wire.site import Site
from afterword.messages.invitation import Invitation, compile_invitation
from afterword.questionnaires.store import Version
from afterword.texts import texts

SAMPLE_ID: Final = "0" * ids.ID_CHARACTERS  # stands in links for what a real message would have
SAMPLE_CODE: Final = "0" * ids.SHORT_CODE_CHARACTERS
SUBJECT_CHARACTERS_MAX = 300  # a filled one; an authored one has 200
COMPILED_MAX = 500
ANSWER_SECONDS: Final[Mapping[Shape, int]] = {
    "scale": 7,
    "choice": 9,
    "choices": 14,
    "matrix": 30,
    "ranking": 30,
    "text": 30,
    "number": 12,
    "date": 12,
    "consent": 8,
    "contact": 30,
    "none": 5,
}


class Instance(Protocol):
    """What a mail needs of an instance; a test message has none."""

    @property
    def instance_id(self) -> str: ...
    @property
    def short_code(self) -> str: ...
    @property
    def locale(self) -> str: ...
    @property
    def question_ids(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, str]: ...
    @property
    def valid_days(self) -> int: ...
    @property
    def sent_time(self) -> datetime | None: ...


class Pipeline(Protocol):
    """What a mail needs of a pipeline; the whole record will do."""

    @property
    def organization_id(self) -> str: ...
    @property
    def pipeline_id(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def channel_id(self) -> int: ...
    @property
    def message_subject(self) -> str | None: ...
    @property
    def message_body(self) -> str | None: ...
    @property
    def messages(self) -> Mapping[str, Mapping[str, str]]: ...  # locale -> {"subject", "body"}
    @property
    def reminders(self) -> Sequence[Mapping[str, Any]]: ...  # each with `messages`, as above
    @property
    def sender_name(self) -> str | None: ...
    @property
    def sender_address(self) -> str | None: ...
    @property
    def reply_to(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What a text may say of the item itself; times are told as people of `time_zone` count days."""

    reminder_number: int | None = None
    external_reference: str | None = None
    send_time: datetime | None = None
    time_zone: str = "UTC"


def compose(
    *,
    item_id: str,
    recipient: str,
    pipeline: Pipeline,
    version: Version,
    instance: Instance,
    responder_metadata: Mapping[str, str],
    unsubscribe_id: str | None,
    organization_name: str,
    postal_address: str | None,
    questionnaire_name: str,
    sender: str,  # the setting; the pipeline's sender_address wins
    site: Site,
    now: datetime,
    occasion: Occasion = Occasion(),
) -> Message:
    """The message of one item, in the instance's locale. Compiles the first of its kind (some ms), then only fills."""
    invitation = _invitation(
        pipeline,
        version,
        instance,
        with_address=bool(postal_address),
        reminder_number=occasion.reminder_number,
    )
    unsubscribe_url = site.unsubscribe_url(unsubscribe_id) if unsubscribe_id is not None else ""
    values = messages.values_of(
        fixed={
            "organization": one_line(organization_name),
            "questionnaire": one_line(questionnaire_name),
            "link": site.collection_url(instance.instance_id),
            "unsubscribe_link": unsubscribe_url,
            "postal_address": "\n".join((postal_address or "").splitlines()),
            **item_values(
                invitation.names,
                occasion=occasion,
                recipient=recipient,
                locale=instance.locale,
                valid_until=valid_until(instance, now),
                now=now,
            ),
        },
        responder=responder_metadata,
        questionnaire=instance.metadata,
    )
    return Message(
        item_id=item_id,
        organization_id=pipeline.organization_id,
        channel_id=pipeline.channel_id,
        recipient=recipient,
        sender=pipeline.sender_address or sender,
        sender_name=pipeline.sender_name or organization_name,
        reply_to=pipeline.reply_to,
        subject=one_line(invitation.subject.fill(values))[:SUBJECT_CHARACTERS_MAX],
        html=invitation.fill_html(values),
        text=invitation.text.fill(values),
        locale=instance.locale,
        composed_time=now,
        headers={
            **_headers(instance.locale, unsubscribe_url),
            # What a bounce quotes of it proves whose it is; what Gmail's senders see complaints by.
            ITEM_HEADER: item_proof(item_id, site.secret),
            "Feedback-ID": f"{pipeline.pipeline_id}:{pipeline.organization_id}:invitation:afterword",
        },
    )


def item_values(
    names: Collection[str],
    *,
    occasion: Occasion,
    recipient: str,
    locale: str,
    valid_until: datetime | None,
    now: datetime,
) -> dict[str, str]:
    """The values of the item's variables that `names` asks for: a date in words costs more than all other values."""
    wanted = messages.ITEM_NAMES & set(names)
    if not wanted:
        return {}
    words = texts("mail", locale)
    values = {"item.recipient": recipient, "item.external_reference": one_line(occasion.external_reference or "")}
    times = {"item.send_date": occasion.send_time or now, "item.valid_until": valid_until}
    values |= {
        name: words.date(time, time_zone=occasion.time_zone)
        for name, time in times.items()
        if name in wanted and time is not None
    }
    return values


def authored(pipeline: Pipeline, locale: str, reminder_number: int | None = None) -> tuple[str | None, str | None]:
    """Subject and body for a reader of `locale`: those of `messages` in that language, else the pipeline's own.

    A reminder has its own texts before these, where it has any in that language.
    """
    found = _texts_in(pipeline.messages, locale)
    subject, body = found.get("subject") or pipeline.message_subject, found.get("body") or pipeline.message_body
    if reminder_number is not None and reminder_number <= len(pipeline.reminders):
        own = _texts_in(pipeline.reminders[reminder_number - 1].get("messages") or {}, locale)
        return own.get("subject") or subject, own.get("body") or body
    return subject, body


def _texts_in(by_tag: Mapping[str, Mapping[str, str]], locale: str) -> Mapping[str, str]:
    by_locale = {locales.normalise(tag): texts for tag, texts in by_tag.items()}
    return by_locale.get(locales.match(locale, list(by_locale), "")) or {}


def first_question(definition: Definition, question_ids: Sequence[str]) -> Question | None:
    """The first one dealt that asks something, if it stands on the first page: only there can a link mark it."""
    dealt = [question for question_id in question_ids if (question := definition.question(question_id)) is not None]
    if not dealt:
        return None
    page = definition.group_of(dealt[0].question_id)
    return next(
        (one for one in dealt if one.is_answered and definition.group_of(one.question_id) is page),
        None,
    )


def minutes_of(definition: Definition, question_ids: Sequence[str]) -> int:
    """How long it takes, in whole minutes from 1."""
    dealt = [question for question_id in question_ids if (question := definition.question(question_id)) is not None]
    return max(1, math.ceil(sum(ANSWER_SECONDS[question.shape] for question in dealt) / 60))


_compiled: OrderedDict[tuple[object, ...], Invitation] = OrderedDict()  # the latest used last


def _invitation(
    pipeline: Pipeline, version: Version, instance: Instance, *, with_address: bool, reminder_number: int | None
) -> Invitation:
    """The compiled invitation, from the cache if it is there."""
    definition, locale = version.definition, instance.locale
    question = first_question(definition, instance.question_ids)
    minutes = minutes_of(definition, instance.question_ids)
    key = (
        pipeline.organization_id,
        pipeline.pipeline_id,
        pipeline.version,
        version.version_id,
        locale,
        question.question_id if question is not None else None,
        minutes,
        with_address,
        reminder_number,
    )
    invitation = _compiled.get(key)
    if invitation is None:
        subject, body = authored(pipeline, locale, reminder_number)
        invitation = compile_invitation(
            subject=subject, body=body, question=question, minutes=minutes, locale=locale, with_address=with_address
        )
        _compiled[key] = invitation
        if len(_compiled) > COMPILED_MAX:
            _compiled.popitem(last=False)
    else:
        _compiled.move_to_end(key)
    return invitation


def forget() -> None:
    """Empty the cache of compiled mails; for tests, and after a change of the templates."""
    _compiled.clear()


def valid_until(instance: Instance, now: datetime) -> datetime | None:
    """Until when the link opens, if it leaves now; a reminder's from the first message on. None: for ever."""
    if instance.valid_days == 0:
        return None
    return (instance.sent_time or now) + timedelta(days=instance.valid_days)


def _headers(locale: str, unsubscribe_url: str) -> dict[str, str]:
    """RFC 2369 and 8058: one click unsubscribes, without a login and without a page between."""
    headers = {"Content-Language": locale}
    if unsubscribe_url:
        headers["List-Unsubscribe"] = f"<{unsubscribe_url}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers
