"""Chats: a card as each kind of chat takes it, the hosts of its addresses, and the consequence of its answer.

A kind is one entry of KINDS. Texts of a card may hold words of customers: each kind escapes them, so that they neither
format the message nor call anybody (`<!channel>`, `@all`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from afterword.core.text.locales import Marked

TITLE_CHARACTERS_MAX: Final = 150  # a header of Slack
LABEL_CHARACTERS_MAX: Final = 75  # a button of Slack
VALUE_CHARACTERS_MAX: Final = 300
QUOTE_CHARACTERS_MAX: Final = 1_000
FACTS_MAX: Final = 10  # a section of Slack
LINKS_MAX: Final = 5
SLACK_TEXT_CHARACTERS_MAX: Final = 3_000
MATTERMOST_TEXT_CHARACTERS_MAX: Final = 16_383
GONE: Final = frozenset({404, 410})  # the address does not exist, or not any more
_NOT_AT: Final = "@\u200b"  # a space without width ends what would be a mention
_SLACK: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MARKDOWN: Final = frozenset("\\`*_[]#|~<>")
_COLORS: Final[Mapping[str, str]] = {"critical": "#b3261e", "high": "#c2410c", "normal": "#005d69", "low": "#5f6b6d"}


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a chat. `text`: a sentence; `facts`: pairs of label and value; `quote`: a customer's words.

    `links`: pairs of text and address. `about`: the type of the event, and the id of its case; for programs.
    """

    title: str
    text: str = ""
    facts: Sequence[tuple[str, str]] = ()
    quote: str = ""
    links: Sequence[tuple[str, str]] = ()
    severity: str = "normal"
    about: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class Kind(msgspec.Struct, frozen=True):
    """`hosts`: the ends that the host of an address has; none: any. `build`: the message of a card, to send as JSON."""

    name: str
    label: Marked
    steps: Marked  # there, until one has the address
    build: Callable[[Card], dict[str, Any]]
    hosts: tuple[str, ...] = ()

    def is_host(self, host: str) -> bool:
        name = host.lower().rstrip(".")
        return not self.hosts or any(name == one or name.endswith(f".{one}") for one in self.hosts)


def cut(text: str, most: int, escape: Callable[[str], str] = str) -> str:
    """The escaped text in at most so many characters; what is cut is cut between characters, not in an escape."""
    if len(whole := escape(text)) <= most:
        return whole
    parts, size = list[str](), 1  # of the dots
    for character in text:
        size += len(part := escape(character))
        if size > most:
            break
        parts.append(part)
    return f"{''.join(parts)}…"


def limited(card: Card) -> Card:
    """The card with texts that every kind can show. All of them in four bytes a character are below 28 KB."""
    facts = [(cut(label, LABEL_CHARACTERS_MAX), cut(value, VALUE_CHARACTERS_MAX)) for label, value in card.facts]
    return Card(
        title=cut(card.title, TITLE_CHARACTERS_MAX),
        text=cut(card.text, VALUE_CHARACTERS_MAX),
        facts=[(label, value) for label, value in facts if value][:FACTS_MAX],
        quote=cut(card.quote, QUOTE_CHARACTERS_MAX),
        links=[(cut(text, LABEL_CHARACTERS_MAX), url) for text, url in card.links][:LINKS_MAX],
        severity=card.severity,
        about=card.about,
    )


def _slack(card: Card) -> dict[str, Any]:
    """Block Kit, https://docs.slack.dev/reference/block-kit/blocks."""
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(card.title, TITLE_CHARACTERS_MAX)}]
    if card.text:
        blocks.append({"type": "section", "text": _mrkdwn(_slack_text(card.text))})
    if card.facts:
        texts = [f"*{_slack_text(label)}*\n{_slack_text(value)}" for label, value in card.facts]
        blocks.append({"type": "section", "fields": [_mrkdwn(text) for text in texts]})
    if card.quote:
        words = cut(card.quote, SLACK_TEXT_CHARACTERS_MAX // 2, _slack_text)
        quoted = "\n".join(f"> {line}" for line in words.splitlines())
        blocks.append({"type": "section", "text": _mrkdwn(quoted[:SLACK_TEXT_CHARACTERS_MAX])})
    if card.links:
        buttons = [
            {"type": "button", "action_id": f"open_{place}", "text": _plain(text, LABEL_CHARACTERS_MAX), "url": url}
            for place, (text, url) in enumerate(card.links)
        ]
        blocks.append({"type": "actions", "elements": buttons})
    return {"text": cut(card.title, SLACK_TEXT_CHARACTERS_MAX, _slack_text), "blocks": blocks, "unfurl_links": False}


def _plain(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": cut(text, most, _slack_text), "emoji": False}


def _mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}  # names of channels and users are left alone


def _slack_text(text: str) -> str:
    return "".join(_SLACK.get(one, one) for one in text)


def _teams(card: Card) -> dict[str, Any]:
    """An Adaptive Card of version 1.4. Its rich text knows no Markdown, and without entities nobody is mentioned."""
    body: list[dict[str, Any]] = [_runs({"text": card.title, "weight": "Bolder", "size": "Medium"})]
    if card.text:
        body.append(_runs({"text": card.text, "isSubtle": True}))
    body += [_runs({"text": f"{label}: ", "weight": "Bolder"}, {"text": value}) for label, value in card.facts]
    if card.quote:
        body.append({"type": "Container", "style": "emphasis", "items": [_runs({"text": card.quote, "italic": True})]})
    content = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": [{"type": "Action.OpenUrl", "title": text, "url": url} for text, url in card.links],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "contentUrl": None, "content": content}]}


def _runs(*runs: dict[str, Any]) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", **run} for run in runs]}


def _google_chat(card: Card) -> dict[str, Any]:
    """Cards v2, https://developers.google.com/workspace/chat/api/reference/rest/v1/cards."""
    widgets: list[dict[str, Any]] = []
    if card.text:
        widgets.append({"textParagraph": {"text": _slack_text(card.text)}})
    widgets += [
        {"decoratedText": {"topLabel": _slack_text(label), "text": _slack_text(value), "wrapText": True}}
        for label, value in card.facts
    ]
    if card.quote:
        widgets.append({"textParagraph": {"text": f"<i>{_slack_text(card.quote)}</i>"}})
    if card.links:
        buttons = [{"text": text, "onClick": {"openLink": {"url": url}}} for text, url in card.links]
        widgets.append({"buttonList": {"buttons": buttons}})
    sections = [{"widgets": widgets}] if widgets else []
    return {"cardsV2": [{"cardId": "card", "card": {"header": {"title": card.title}, "sections": sections}}]}


def _mattermost(card: Card) -> dict[str, Any]:
    """A message attachment, in which Mattermost reads Markdown and mentions."""
    quoted = "\n".join(f"> {line}" for line in _markdown(card.quote).splitlines())
    links = " · ".join(f"[{_markdown(text)}]({url})" for text, url in card.links)
    attachment: dict[str, Any] = {
        "fallback": card.title.replace("@", _NOT_AT),
        "color": _COLORS.get(card.severity, _COLORS["normal"]),
        "title": _markdown(card.title),
        "text": "\n\n".join(filter(None, (_markdown(card.text), quoted, links)))[:MATTERMOST_TEXT_CHARACTERS_MAX],
        "fields": [
            {"short": True, "title": _markdown(label), "value": _markdown(value)} for label, value in card.facts
        ],
    }
    if card.links:
        attachment["title_link"] = card.links[0][1]
    return {"attachments": [attachment]}


def _markdown(text: str) -> str:
    return "".join(_NOT_AT if one == "@" else f"\\{one}" if one in _MARKDOWN else one for one in text)


def _webhook(card: Card) -> dict[str, Any]:
    """Our own form, for programs: nothing is escaped in it."""
    return {
        **card.about,
        "title": card.title,
        "text": card.text,
        "severity": card.severity,
        "facts": [{"label": label, "value": value} for label, value in card.facts],
        "quote": card.quote,
        "links": [{"text": text, "url": url} for text, url in card.links],
    }


KINDS: Final[Mapping[str, Kind]] = {
    one.name: one
    for one in (
        Kind(
            "slack",
            "Slack",
            "In Slack, make an app with Incoming Webhooks, add it to a channel, and copy its webhook URL.",
            _slack,
            ("hooks.slack.com", "hooks.slack-gov.com"),
        ),
        Kind(
            "teams",
            "Microsoft Teams",
            "In Teams, open Workflows of a channel, choose the template for webhook requests, and copy its URL.",
            _teams,
            ("logic.azure.com", "api.powerplatform.com", "logic.azure.us", "api.powerplatform.us"),
        ),
        Kind(
            "google_chat",
            "Google Chat",
            "In the space, open Apps and integrations, add a webhook, and copy its link.",
            _google_chat,
            ("chat.googleapis.com",),
        ),
        Kind(
            "mattermost",
            "Mattermost",
            "In Mattermost, open Integrations, add an incoming webhook for a channel, and copy its URL.",
            _mattermost,
        ),
        Kind("webhook", "Your own program", "Each card arrives as JSON, by POST.", _webhook),
    )
}
