"""Cards as each kind of chat takes them: within its limits, and with the words of customers escaped."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from afterword.core.messaging import chats
from afterword.core.messaging.chats import KINDS, Card

EVIL = "<!channel> @all @channel <at>all</at> *b* [x](https://evil.example) & </i> 100% \\ `code`\n# Head"
SMALL = Card(
    title="New alert: Late",
    text="Orders · Severity: high",
    facts=[("Score", "2 / 5"), ("Order", "A-1")],
    quote="Too late.\nTwice.",
    links=[("Open the case", "https://shop.example/console/cases/1"), ("Assign to me", "https://shop.example/2")],
    severity="high",
    about={"type": "alert_instance.created", "alert_instance_id": "1"},
)
LARGE = chats.limited(
    Card(
        title="🦉" * 999,
        text="&" * 9_999,
        facts=[("<" * 999, "&" * 9_999)] * 99,
        quote="\n".join("&" * 9_999),
        links=[("&" * 999, f"https://shop.example/{'a' * 100}")] * 99,
    )
)
WIDE = chats.limited(Card(title="🦉" * 999, text="🦉" * 999, facts=[("🦉" * 99, "🦉" * 999)] * 99, quote="🦉" * 9_999))


def texts_of(message: Any) -> Iterator[str]:
    if isinstance(message, dict):
        for value in message.values():
            yield from texts_of(value)
    elif isinstance(message, list):
        for value in message:
            yield from texts_of(value)
    elif isinstance(message, str):
        yield message


class TestHosts:
    @pytest.mark.parametrize(
        ("kind", "host", "expected"),
        [
            ("slack", "hooks.slack.com", True),
            ("slack", "HOOKS.slack.com.", True),
            ("slack", "slack.com", False),
            ("slack", "hooks.slack.com.evil.example", False),
            ("slack", "evilhooks.slack.com.example", False),
            ("teams", "prod-12.westeurope.logic.azure.com", True),
            ("teams", "default1.ab.environment.api.powerplatform.com", True),
            ("teams", "evillogic.azure.com", False),
            ("google_chat", "chat.googleapis.com", True),
            ("google_chat", "storage.googleapis.com", False),
            ("mattermost", "chat.shop.example", True),
            ("webhook", "shop.example", True),
        ],
    )
    def test_table(self, kind: str, host: str, *, expected: bool) -> None:
        assert expected == KINDS[kind].is_host(host)


class TestCut:
    def test_short(self) -> None:
        assert "abc" == chats.cut("abc", 3)

    def test_long(self) -> None:
        assert "ab…" == chats.cut("abcd", 3)

    def test_no_escape_is_cut(self) -> None:
        assert "a…" == chats.cut("a&&", 6, lambda text: text.replace("&", "&amp;"))


class TestSlack:
    """The limits of https://docs.slack.dev/reference/block-kit/blocks."""

    @pytest.mark.parametrize("card", [SMALL, LARGE, WIDE])
    def test_limits(self, card: Card) -> None:
        message = KINDS["slack"].build(card)
        assert len(message["blocks"]) <= 50
        for block in message["blocks"]:
            match block["type"]:
                case "header":
                    assert 1 <= len(block["text"]["text"]) <= 150
                case "section":
                    assert ("text" in block) != ("fields" in block)
                    assert all(1 <= len(one["text"]) <= 2_000 for one in block.get("fields", ()))
                    assert len(block.get("fields", ())) <= 10
                    assert len(block.get("text", {}).get("text", "")) <= 3_000
                case kind:
                    assert "actions" == kind
                    assert 1 <= len(block["elements"]) <= 25
                    assert all(len(one["text"]["text"]) <= 75 for one in block["elements"])
                    assert len({one["action_id"] for one in block["elements"]}) == len(block["elements"])

    def test_words(self) -> None:
        message = KINDS["slack"].build(SMALL)
        header, text, facts, quote, links = message["blocks"]
        assert "New alert: Late" == header["text"]["text"] == message["text"]
        assert "Orders · Severity: high" == text["text"]["text"]
        assert ["*Score*\n2 / 5", "*Order*\nA-1"] == [one["text"] for one in facts["fields"]]
        assert "> Too late.\n> Twice." == quote["text"]["text"]
        assert ["Open the case", "Assign to me"] == [one["text"]["text"] for one in links["elements"]]

    def test_nobody_is_called(self) -> None:
        message = KINDS["slack"].build(Card(title=EVIL, text=EVIL, facts=[(EVIL, EVIL)], quote=EVIL))
        assert not [text for text in texts_of(message) if "<" in text]
        assert "&lt;!channel&gt;" in message["text"]
        assert all(one["text"]["verbatim"] for one in message["blocks"] if "text" in one and one["type"] == "section")


class TestTeams:
    @pytest.mark.parametrize("card", [SMALL, LARGE, WIDE])
    def test_limits(self, card: Card) -> None:
        message = KINDS["teams"].build(card)
        assert len(json.dumps(message, ensure_ascii=False).encode()) < 28 * 1024
        assert "message" == message["type"]
        (attachment,) = message["attachments"]
        assert "application/vnd.microsoft.card.adaptive" == attachment["contentType"]
        assert ("AdaptiveCard", "1.4") == (attachment["content"]["type"], attachment["content"]["version"])
        assert len(attachment["content"]["actions"]) <= 6

    def test_nobody_is_called(self) -> None:
        """Text runs know no Markdown; a mention needs an entity."""
        content = KINDS["teams"].build(Card(title=EVIL, quote=EVIL, facts=[(EVIL, EVIL)]))["attachments"][0]["content"]
        assert "msteams" not in content
        kinds = {one["type"] for one in content["body"]}
        assert {"RichTextBlock", "Container"} == kinds
        assert EVIL == content["body"][-1]["items"][0]["inlines"][0]["text"]

    def test_words(self) -> None:
        content = KINDS["teams"].build(SMALL)["attachments"][0]["content"]
        assert "New alert: Late" == content["body"][0]["inlines"][0]["text"]
        assert ["Score: ", "2 / 5"] == [one["text"] for one in content["body"][2]["inlines"]]
        assert ["Action.OpenUrl"] * 2 == [one["type"] for one in content["actions"]]


class TestGoogleChat:
    @pytest.mark.parametrize("card", [SMALL, LARGE, WIDE])
    def test_limits(self, card: Card) -> None:
        message = KINDS["google_chat"].build(card)
        assert len(json.dumps(message, ensure_ascii=False).encode()) < 32_000
        (one,) = message["cardsV2"]
        assert one["cardId"]
        assert all(len(section["widgets"]) <= 100 for section in one["card"]["sections"])

    def test_words_are_no_html(self) -> None:
        message = KINDS["google_chat"].build(Card(title="T", text=EVIL, facts=[(EVIL, EVIL)], quote=EVIL))
        widgets = message["cardsV2"][0]["card"]["sections"][0]["widgets"]
        assert "text" not in message  # in which <users/all> would call everybody
        texts = [text.removeprefix("<i>").removesuffix("</i>") for text in texts_of(widgets)]
        assert not [text for text in texts if "<" in text]

    def test_title_alone(self) -> None:
        assert [] == KINDS["google_chat"].build(Card(title="T"))["cardsV2"][0]["card"]["sections"]

    def test_words(self) -> None:
        text, score, _, quote, links = KINDS["google_chat"].build(SMALL)["cardsV2"][0]["card"]["sections"][0]["widgets"]
        assert "Orders · Severity: high" == text["textParagraph"]["text"]
        assert ("Score", "2 / 5") == (score["decoratedText"]["topLabel"], score["decoratedText"]["text"])
        assert "<i>Too late.\nTwice.</i>" == quote["textParagraph"]["text"]
        assert "https://shop.example/2" == links["buttonList"]["buttons"][1]["onClick"]["openLink"]["url"]


class TestMattermost:
    @pytest.mark.parametrize("card", [SMALL, LARGE, WIDE])
    def test_limits(self, card: Card) -> None:
        (attachment,) = KINDS["mattermost"].build(card)["attachments"]
        assert len(attachment["text"]) <= 16_383
        assert attachment["fallback"]

    def test_nobody_is_called(self) -> None:
        message = KINDS["mattermost"].build(Card(title=EVIL, text=EVIL, facts=[(EVIL, EVIL)], quote=EVIL))
        for text in texts_of(message):
            assert "@all" not in text
            assert "@channel" not in text
        (attachment,) = message["attachments"]
        assert "@\u200ball" in attachment["title"]
        assert "\\*b\\* \\[x\\](" in attachment["text"]

    def test_words(self) -> None:
        (attachment,) = KINDS["mattermost"].build(SMALL)["attachments"]
        assert "https://shop.example/console/cases/1" == attachment["title_link"]
        assert "> Too late.\n> Twice." in attachment["text"]
        assert "[Open the case](https://shop.example/console/cases/1)" in attachment["text"]
        assert {"short": True, "title": "Score", "value": "2 / 5"} == attachment["fields"][0]


def test_own_form() -> None:
    message = KINDS["webhook"].build(SMALL)
    assert ("alert_instance.created", "1") == (message["type"], message["alert_instance_id"])
    assert {"label": "Score", "value": "2 / 5"} == message["facts"][0]
    assert "Too late.\nTwice." == message["quote"]


def test_facts_without_a_value_are_left_out() -> None:
    assert [("a", "1")] == chats.limited(Card(title="T", facts=[("a", "1"), ("b", "")])).facts
