"""The message of one item on its channel: a mail, an SMS, a call of a webhook, from the context that all share."""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import msgspec

from afterword import ids
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires.store import Version
from afterword.core.messaging.addresses import is_among
from afterword.core.messaging.reply_text import ITEM_HEADER, item_proof
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.visuals import Theme
from afterword.core.text import locales, placeholders
from afterword.core.text.placeholders import Template
from afterword.core.wire import times
from afterword.core.wire.site import PublicPages, Site
from afterword.kit.texts import texts
from afterword.kit.transport.base import LINK, SMS, WEBHOOK, Message
from afterword.kit.transport.mime import one_line
from afterword.sending.messages.invitation import Authored, Invitation, compile_invitation
from afterword.sending.pipelines.store import Pipeline

SAMPLE_ID: Final = "0" * ids.ID_CHARACTERS  # in links that lead nowhere
SAMPLE_CODE: Final = "0" * ids.SHORT_CODE_CHARACTERS


class SampleInstance(msgspec.Struct, frozen=True, kw_only=True):
    """Stands for the instance that a message which is not an item's would have."""

    locale: str
    metadata: Mapping[str, str]
    valid_days: int
    question_ids: Sequence[str] = ()
    instance_id: str = SAMPLE_ID
    short_code: str = SAMPLE_CODE
    sent_time: datetime | None = None


class MessageContext(msgspec.Struct, frozen=True, kw_only=True):
    """The message of one item, before its texts are filled; dates are shown in `time_zone`."""

    item_id: str
    recipient: str
    pipeline: Pipeline
    version: Version
    instance: Instance | SampleInstance
    responder_metadata: Mapping[str, str]
    unsubscribe_id: str | None
    organization_name: str
    postal_address: str | None
    questionnaire_name: str
    sender: str  # the setting; for mail, the pipeline's sender_address takes precedence
    site: Site
    now: datetime
    sender_domains: Collection[str] = ()  # those that the pipeline's sender_address may have
    reminder_number: int | None = None
    external_reference: str | None = None
    send_time: datetime | None = None
    time_zone: str = "UTC"
    theme: Theme = visuals.DEFAULT

    @property
    def pages(self) -> PublicPages:
        return self.site.pages(self.pipeline.organization_id)

    @property
    def unsubscribe_url(self) -> str | None:
        return None if self.unsubscribe_id is None else self.pages.unsubscribe_url(self.unsubscribe_id)

    @property
    def valid_until(self) -> datetime | None:
        """End of the link's validity, counted from the first message if there was one; None: never."""
        if self.instance.valid_days == 0:
            return None
        return (self.instance.sent_time or self.now) + timedelta(days=self.instance.valid_days)

    def message(self, **members: Any) -> Message:
        own: dict[str, Any] = {"sender": self.sender, **members}
        return Message(
            item_id=self.item_id,
            organization_id=self.pipeline.organization_id,
            channel_id=self.pipeline.channel_id,
            recipient=self.recipient,
            locale=self.instance.locale,
            composed_time=self.now,
            **own,
        )

    def values(self, names: Collection[str], *, link: str, **more: str) -> Mapping[str, str]:
        fixed = {
            "organization": one_line(self.organization_name),
            "questionnaire": one_line(self.questionnaire_name),
            "link": link,
            "unsubscribe_link": self.unsubscribe_url or "",
            **more,
            **self._item_values(placeholders.ITEM_NAMES & set(names)),
        }
        return placeholders.values_of(
            fixed=fixed, responder=self.responder_metadata, questionnaire=self.instance.metadata
        )

    def _item_values(self, used: Collection[str]) -> dict[str, str]:
        """Values of the item's variables; only of those in use, since a date in words costs more than all others."""
        if not used:
            return {}
        words = texts("mail", self.instance.locale)
        times = {"item.send_date": self.send_time or self.now, "item.valid_until": self.valid_until}
        dates = {name: time for name, time in times.items() if name in used and time is not None}
        return {
            "item.recipient": self.recipient,
            "item.external_reference": one_line(self.external_reference or ""),
            **{name: words.date(time, time_zone=self.time_zone) for name, time in dates.items()},
        }


SUBJECT_CHARACTERS_MAX = 300  # after filling; authors have 200
COMPILED_MAX = 500


class SenderNotAllowed(ValueError):
    """The organization may not send from the pipeline's `sender_address`; the sentence goes into the item's result."""


def compose_mail(context: MessageContext) -> Message:
    """The mail of one item, in the instance's locale. Compiles the first of its kind (some ms), then only fills.

    Raises SenderNotAllowed.
    """
    pipeline, instance = context.pipeline, context.instance
    if pipeline.sender_address is not None and not is_among(pipeline.sender_address, context.sender_domains):
        raise SenderNotAllowed("sender_address: the organization may not send from this domain.")
    invitation = _invitation(context)
    values = context.values(
        invitation.names,
        link=context.pages.collection_url(instance.instance_id),
        postal_address="\n".join((context.postal_address or "").splitlines()),
    )
    html, html_quoted = invitation.fill_html(values)
    return context.message(
        sender=pipeline.sender_address or context.sender,
        sender_name=pipeline.sender_name or context.organization_name,
        reply_to=pipeline.reply_to,
        subject=one_line(invitation.subject.fill(values))[:SUBJECT_CHARACTERS_MAX],
        html=html,
        html_quoted=html_quoted,
        text=invitation.text.fill(values),
        headers={
            **_headers(instance.locale, context.unsubscribe_url),
            # A bounce that quotes it is proved to be of this item. Gmail reports complaints by Feedback-ID.
            ITEM_HEADER: item_proof(context.item_id, context.site.secret),
            "Feedback-ID": f"{pipeline.pipeline_id}:{pipeline.organization_id}:invitation:afterword",
        },
    )


def authored(pipeline: Pipeline, locale: str, reminder_number: int | None = None) -> Authored:
    """The texts in `locale`: those of `messages` in that language, else the pipeline's own.

    A reminder's own texts in that language take precedence.
    """
    found = [_texts_in(pipeline.messages, locale)]
    if reminder_number is not None and reminder_number <= len(pipeline.reminders):
        found.insert(0, _texts_in(pipeline.reminders[reminder_number - 1].get("messages") or {}, locale))
    return Authored(
        *(
            next((text for texts in found if (text := texts.get(member))), getattr(pipeline, f"message_{member}"))
            for member in Authored._fields
        )
    )


def authored_mail(context: MessageContext, *, link: str) -> tuple[str | None, str | None]:
    """The authored subject and body with their values, without the frame of a mail; None where there is none."""
    found = authored(context.pipeline, context.instance.locale, context.reminder_number)
    subject, body = parsed_mail(found.subject or ""), parsed_mail(found.body or "")
    values = context.values(subject.names | body.names, link=link)
    return one_line(subject.fill(values)) if found.subject else None, body.fill(values) if found.body else None


def _texts_in(by_tag: Mapping[str, Mapping[str, str]], locale: str) -> Mapping[str, str]:
    by_locale = {locales.normalise(tag): texts for tag, texts in by_tag.items()}
    return by_locale.get(locales.match(locale, list(by_locale), "")) or {}


def first_question(definition: Definition, question_ids: Sequence[str]) -> Question | None:
    """The first question to answer, if it is on the first page: a link can answer only there.

    None for an anonymous questionnaire: the address of the answer has the person's key, and proxies keep addresses.
    """
    drawn = [question for question_id in question_ids if (question := definition.question(question_id)) is not None]
    if not drawn or definition.anonymous:
        return None
    page = definition.group_of(drawn[0].question_id)
    asked = (each for each in drawn if each.is_answered and each.show_if is None)
    return next((each for each in asked if definition.group_of(each.question_id) is page), None)


def _minutes_of(context: MessageContext) -> int:
    key = (context.version.version_id, tuple(context.instance.question_ids))
    if key not in _minutes:
        if len(_minutes) >= COMPILED_MAX:
            _minutes.clear()
        _minutes[key] = length(context.version.definition, drawn=frozenset(key[1])).minutes
    return _minutes[key]


parsed_mail = lru_cache(maxsize=COMPILED_MAX)(placeholders.parse)
_minutes: dict[tuple[str, tuple[str, ...]], int] = {}
_compiled: OrderedDict[tuple[object, ...], Invitation] = OrderedDict()  # least recently used first


def _invitation(context: MessageContext) -> Invitation:
    pipeline, locale = context.pipeline, context.instance.locale
    definition, question_ids = context.version.definition, context.instance.question_ids
    question = first_question(definition, question_ids)
    minutes = _minutes_of(context)
    with_address, public_url = bool(context.postal_address), context.pages.public_url
    key = (
        pipeline.organization_id,
        pipeline.pipeline_id,
        pipeline.version,
        context.version.version_id,
        locale,
        question.question_id if question is not None else None,
        minutes,
        with_address,
        context.reminder_number,
        context.theme,
        public_url,
    )
    invitation = _compiled.get(key)
    if invitation is None:
        invitation = compile_invitation(
            authored(pipeline, locale, context.reminder_number),
            question=question,
            minutes=minutes,
            locale=locale,
            with_address=with_address,
            theme=context.theme,
            public_url=public_url,
        )
        _compiled[key] = invitation
        if len(_compiled) > COMPILED_MAX:
            _compiled.popitem(last=False)
    else:
        _compiled.move_to_end(key)
    return invitation


def _headers(locale: str, unsubscribe_url: str | None) -> dict[str, str]:
    """One-click unsubscription (RFC 2369, 8058)."""
    headers = {"Content-Language": locale}
    if unsubscribe_url:
        headers["List-Unsubscribe"] = f"<{unsubscribe_url}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


TEXT_CHARACTERS_MAX: Final = 1_600  # ten parts of 160; few gateways accept more
PARSED_MAX: Final = 500
LINK_VARIABLE: Final = "link"


class TooLong(ValueError):
    """The filled text is longer than gateways accept; the sentence quotes nothing of it."""


def compose_sms(context: MessageContext) -> Message:
    """The SMS of one item, in the instance's locale. Raises TooLong."""
    return context.message(sender_name=context.pipeline.sender_name, text=filled(*_filling(context)))


def _filling(context: MessageContext) -> tuple[Template, Mapping[str, str]]:
    template = parsed_sms(authored(context.pipeline, context.instance.locale, context.reminder_number).body)
    return template, context.values(template.names, link=context.pages.short_url(context.instance.short_code))


@lru_cache(maxsize=PARSED_MAX)
def parsed_sms(body: str | None) -> Template:
    """Parse an authored text; the link is appended where the text lacks it."""
    template = placeholders.parse(body or "{{ organization }}: {{ link }}")
    return template if LINK_VARIABLE in template.names else placeholders.parse(f"{body} {{{{ {LINK_VARIABLE} }}}}")


def filled(template: Template, values: Mapping[str, str]) -> str:
    """Raises TooLong."""
    text = shown(template, values)
    if len(text) > TEXT_CHARACTERS_MAX:
        raise TooLong(f"The text has {len(text)} characters, and an SMS at most {TEXT_CHARACTERS_MAX}.")
    return text


def shown(template: Template, values: Mapping[str, str]) -> str:
    """Fill a text of any length; control characters are removed except line ends."""
    lines = template.fill(values).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join("".join(c for c in line if c.isprintable() or c == "\u200d") for line in lines).strip()


TYPE: Final = "queue_item.dispatch"


def compose_webhook(context: MessageContext) -> Message:
    """The webhook message of one item, in the instance's locale.

    Equal in every attempt except `timestamp`; receivers recognize a repetition by `item_id`, also sent as webhook-id.
    """
    pipeline, instance, pages = context.pipeline, context.instance, context.pages
    link = pages.collection_url(instance.instance_id)
    subject, body = authored_mail(context, link=link)
    data = {
        "item_id": context.item_id,
        "pipeline_id": pipeline.pipeline_id,
        "questionnaire_id": pipeline.questionnaire_id,
        "questionnaire_instance_id": instance.instance_id,
        "external_reference": context.external_reference,
        "send_time": times.format_optional(context.send_time),
        "responder_channel_identifier": context.recipient,
        "locale": instance.locale,
        "valid_until": times.format_optional(context.valid_until),
        "collection_url": link,
        "collection_url_short": pages.short_url(instance.short_code),
        "unsubscribe_url": context.unsubscribe_url,
        "organization": context.organization_name,
        "postal_address": context.postal_address,
        "questionnaire": context.questionnaire_name,
        "subject": subject or None,
        "body": body or None,
        "metadata": {"responder": dict(context.responder_metadata), "questionnaire": dict(instance.metadata)},
    }
    return context.message(
        sender_name=pipeline.sender_name,
        reply_to=pipeline.reply_to,
        subject=subject or "",
        text=msgspec.json.encode({"type": TYPE, "timestamp": times.format_time(context.now), "data": data}).decode(),
        target_url=pipeline.target_url,
    )


_COMPOSERS = {SMS: compose_sms, WEBHOOK: compose_webhook, LINK: MessageContext.message}


def authored_texts(context: MessageContext) -> tuple[str | None, str | None]:
    """The authored subject and text with their values, without the channel's frame; None where there is none."""
    is_sms, pages, instance = context.pipeline.channel_id == SMS, context.pages, context.instance
    link = pages.short_url(instance.short_code) if is_sms else pages.collection_url(instance.instance_id)
    subject, body = authored_mail(context, link=link)
    return subject, shown(*_filling(context)) if is_sms else body


def compose(context: MessageContext) -> Message:
    return _COMPOSERS.get(context.pipeline.channel_id, compose_mail)(context)
