"""Composes the SMS of one responder: the authored text with the short link."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from afterword.core.text import placeholders
from afterword.core.text.placeholders import Template
from afterword.kit.transport.base import Message
from afterword.sending.messages import email
from afterword.sending.messages.context import MessageContext

TEXT_CHARACTERS_MAX: Final = 1_600  # ten parts of 160; few gateways accept more
PARSED_MAX: Final = 500
BARE: Final = "{{ organization }}: {{ link }}"  # without an authored text
LINK: Final = "link"


class TooLong(ValueError):
    """The filled text is longer than gateways accept; the sentence quotes nothing of it."""


def compose(context: MessageContext) -> Message:
    """The SMS of one item, in the instance's locale. Raises TooLong."""
    return context.message(sender_name=context.pipeline.sender_name, text=filled(*_filling(context)))


def text_of(context: MessageContext) -> str:
    return shown(*_filling(context))


def _filling(context: MessageContext) -> tuple[Template, Mapping[str, str]]:
    template = parsed(email.authored(context.pipeline, context.instance.locale, context.reminder_number).body)
    return template, context.values(template.names, link=context.pages.short_url(context.instance.short_code))


@lru_cache(maxsize=PARSED_MAX)
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
