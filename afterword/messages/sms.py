"""Composes the SMS of one responder: the authored text with the short link."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from afterword.channels.base import Message
from afterword.core.messaging import placeholders
from afterword.core.messaging.placeholders import Template
from afterword.messages import email
from afterword.messages.context import MessageContext
from afterword.pipelines.store import Pipeline

TEXT_CHARACTERS_MAX: Final = 1_600  # ten parts of 160; gateways hardly accept more
PARSED_MAX: Final = 500
BARE: Final = "{{ organization }}: {{ link }}"  # without an authored text
LINK: Final = "link"


class TooLong(ValueError):
    """The filled text is longer than any gateway accepts; the message quotes nothing of it."""


def compose(context: MessageContext) -> Message:
    """The SMS of one item, in the instance's locale. Raises TooLong."""
    pipeline, instance = context.pipeline, context.instance
    template = _template(pipeline, instance.locale, context.reminder_number)
    values = context.values(template.names, link=context.site.short_url(instance.short_code))
    return Message(
        item_id=context.item_id,
        organization_id=pipeline.organization_id,
        channel_id=pipeline.channel_id,
        recipient=context.recipient,
        sender=context.sender,
        sender_name=pipeline.sender_name,
        reply_to=None,
        subject="",
        html="",
        text=filled(template, values),
        locale=instance.locale,
        composed_time=context.now,
    )


def parsed(body: str | None) -> Template:
    """Parse an authored text; the link is appended where the text lacks it."""
    template = placeholders.parse(body or BARE)
    return template if LINK in template.names else placeholders.parse(f"{body} {{{{ {LINK} }}}}")


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


_parsed: OrderedDict[tuple[str, str, int, str, int | None], Template] = OrderedDict()  # least recently used first


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
