"""Composes the invitation mail of one responder; `invitation.py` compiles the texts."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from afterword.core.messaging.addresses import is_among
from afterword.core.messaging.reply_text import ITEM_HEADER, item_proof
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.question_types import Question
from afterword.core.text import locales, placeholders
from afterword.kit.transport.base import Message
from afterword.kit.transport.mime import one_line
from afterword.sending.messages.context import MessageContext
from afterword.sending.messages.invitation import Authored, Invitation, compile_invitation
from afterword.sending.pipelines.store import Pipeline

SUBJECT_CHARACTERS_MAX = 300  # after filling; authors have 200
COMPILED_MAX = 500


class SenderNotAllowed(ValueError):
    """The organization may not send from the pipeline's `sender_address`; the sentence goes into the item's result."""


def compose(context: MessageContext) -> Message:
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
    return context.message(
        sender=pipeline.sender_address or context.sender,
        sender_name=pipeline.sender_name or context.organization_name,
        reply_to=pipeline.reply_to,
        subject=one_line(invitation.subject.fill(values))[:SUBJECT_CHARACTERS_MAX],
        html=invitation.fill_html(values),
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


def authored_texts(context: MessageContext, *, link: str) -> tuple[str | None, str | None]:
    """The authored subject and body with their values, without the frame of a mail; None where there is none."""
    found = authored(context.pipeline, context.instance.locale, context.reminder_number)
    subject, body = parsed(found.subject or ""), parsed(found.body or "")
    values = context.values(subject.names | body.names, link=link)
    return one_line(subject.fill(values)) if found.subject else None, body.fill(values) if found.body else None


def _texts_in(by_tag: Mapping[str, Mapping[str, str]], locale: str) -> Mapping[str, str]:
    by_locale = {locales.normalise(tag): texts for tag, texts in by_tag.items()}
    return by_locale.get(locales.match(locale, list(by_locale), "")) or {}


def first_question(definition: Definition, question_ids: Sequence[str]) -> Question | None:
    """The first question to answer, if it is on the first page: a link can answer only there.

    None for an anonymous questionnaire: the address of the answer has the person's key, and proxies keep addresses.
    """
    drawn = _drawn(definition, question_ids)
    if not drawn or definition.anonymous:
        return None
    page = definition.group_of(drawn[0].question_id)
    asked = (each for each in drawn if each.is_answered and each.show_if is None)
    return next((each for each in asked if definition.group_of(each.question_id) is page), None)


def _drawn(definition: Definition, question_ids: Sequence[str]) -> list[Question]:
    return [question for question_id in question_ids if (question := definition.question(question_id)) is not None]


def _minutes_of(context: MessageContext) -> int:
    key = (context.version.version_id, tuple(context.instance.question_ids))
    if key not in _minutes:
        if len(_minutes) >= COMPILED_MAX:
            _minutes.clear()
        _minutes[key] = length(context.version.definition, drawn=frozenset(key[1])).minutes
    return _minutes[key]


parsed = lru_cache(maxsize=COMPILED_MAX)(placeholders.parse)
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


def forget() -> None:
    _compiled.clear()
    _minutes.clear()


def _headers(locale: str, unsubscribe_url: str | None) -> dict[str, str]:
    """One-click unsubscription (RFC 2369, 8058)."""
    headers = {"Content-Language": locale}
    if unsubscribe_url:
        headers["List-Unsubscribe"] = f"<{unsubscribe_url}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers
