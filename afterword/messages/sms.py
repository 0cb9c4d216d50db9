"""Composes the SMS that asks one person: the authored text, filled, with the short link. Nothing else costs units."""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from afterword.channels.base import Message
from afterword.channels.mime import one_line
from afterword.core.messaging import placeholders
from afterword.core.messaging.placeholders import Template
from afterword.core.wire.site import Site
from afterword.messages import email
from afterword.messages.email import Instance, Occasion, Pipeline
from afterword.questionnaires.store import Version

TEXT_CHARACTERS_MAX: Final = 1_600  # ten parts of the longest kind; a gateway takes hardly more
PARSED_MAX: Final = 500
BARE: Final = "{{ organization }}: {{ link }}"  # where nobody wrote a text
LINK: Final = "link"


class TooLong(ValueError):
    """The filled text is longer than any gateway takes; the sentence quotes nothing of it."""


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
    sender: str,
    site: Site,
    now: datetime,
    occasion: Occasion,
) -> Message:
    """The SMS of one item, in the instance's locale; its members are those of a mail. Raises TooLong."""
    del version, postal_address
    template = _template(pipeline, instance.locale, occasion.reminder_number)
    values = placeholders.values_of(
        fixed={
            "organization": one_line(organization_name),
            "questionnaire": one_line(questionnaire_name),
            LINK: site.short_url(instance.short_code),
            "unsubscribe_link": "" if unsubscribe_id is None else site.unsubscribe_url(unsubscribe_id),
            **email.item_values(
                template.names,
                occasion=occasion,
                recipient=recipient,
                locale=instance.locale,
                valid_until=email.valid_until(instance, now),
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
        sender=sender,
        sender_name=pipeline.sender_name,
        reply_to=None,
        subject="",
        html="",
        text=filled(template, values),
        locale=instance.locale,
        composed_time=now,
    )


def parsed(body: str | None) -> Template:
    """An authored text taken apart; the link follows where its author left it out."""
    template = placeholders.parse(body or BARE)
    return template if LINK in template.names else placeholders.parse(f"{body} {{{{ {LINK} }}}}")


def filled(template: Template, values: Mapping[str, str]) -> str:
    """The text as a phone shows it. Raises TooLong."""
    text = shown(template, values)
    if len(text) > TEXT_CHARACTERS_MAX:
        raise TooLong(f"The text has {len(text)} characters, and an SMS at most {TEXT_CHARACTERS_MAX}.")
    return text


def shown(template: Template, values: Mapping[str, str]) -> str:
    """The text, however long it is: no control characters but the end of a line."""
    lines = template.fill(values).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join("".join(c for c in line if c.isprintable() or c == "\u200d") for line in lines).strip()


_parsed: OrderedDict[tuple[str, str, int, str, int | None], Template] = OrderedDict()  # the latest used last


def _template(pipeline: Pipeline, locale: str, reminder_number: int | None) -> Template:
    key = (pipeline.organization_id, pipeline.pipeline_id, pipeline.version, locale, reminder_number)
    template = _parsed.get(key)
    if template is None:
        _, body = email.authored(pipeline, locale, reminder_number)
        template = _parsed[key] = parsed(body)
        if len(_parsed) > PARSED_MAX:
            _parsed.popitem(last=False)
    else:
        _parsed.move_to_end(key)
    return template
