"""The mail that asks: what it says in each language, where its keys lead, and what no text can make of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, cast

import pytest

from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires.store import Version
from afterword.core.messaging import reply_text
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.definition import parse
from afterword.core.wire.site import Site
from afterword.kit.transport import mime
from afterword.kit.transport.base import EMAIL, Message
from afterword.sending.messages import composing
from afterword.sending.messages.composing import MessageContext

NOW = datetime(2026, 11, 2, 12, 30, tzinfo=UTC)
SITE = Site("https://ask.shop.example", b"k" * 32)
PICTURE = f"/asset/{'A' * 22}/0123456789-640x160.png"
QUESTION, SECOND = "q" * 22, "r" * 22
INSTANCE = "0x7Hq3kLmN9pRsTuVwXyZa"
LINK = f"https://ask.shop.example/a/{INSTANCE}"
UNSUBSCRIBE = f"https://ask.shop.example/u/{'u' * 22}"
LOCALES = ["en", "el", "de", "ar"]


@dataclass(frozen=True)
class Pipeline:
    """The columns that a mail reads."""

    organization_id: str = "o" * 22
    pipeline_id: str = "p" * 22
    questionnaire_id: str = "n" * 22
    version: int = 1
    channel_id: int = EMAIL
    message_subject: str | None = None
    message_body: str | None = None
    message_button: str | None = None
    message_reason: str | None = None
    message_footer: str | None = None
    messages: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    reminders: Sequence[Mapping[str, Any]] = ()
    sender_name: str | None = None
    sender_address: str | None = None
    reply_to: str | None = None
    target_url: str | None = None


def version_of(question: Mapping[str, Any], *others: Mapping[str, Any]) -> Version:
    base = {"question_id": QUESTION, "type": "nps", "title": "Would you recommend us?"}
    questions = [{**base, **question}, *({"question_id": SECOND, "title": "Why?", **each} for each in others)]
    document = {"default_locale": "en", "locales": LOCALES, "groups": [{"group_id": "g" * 22, "questions": questions}]}
    return Version(
        organization_id="o" * 22, version_id="v" * 22, questionnaire_id="n" * 22, number=1, note=None,
        definition=parse(document), checksum="", published_time=NOW, published_by=None,
    )  # fmt: skip


def instance_of(version: Version, locale: str, metadata: Mapping[str, str]) -> Instance:
    return Instance(
        organization_id="o" * 22, instance_id=INSTANCE, questionnaire_id="n" * 22, version_id=version.version_id,
        responder_id="d" * 22, item_id="i" * 22, reference_id=None, previous_questionnaire_instance_id=None,
        short_code="abcdefghijkl", test=False, locale=locale, valid_days=30, editable=False, finalized=False,
        question_ids=[question.question_id for question in version.definition.questions()], metadata=dict(metadata),
        sent_time=None, delivered_time=None, viewed_time=None, submitted_time=None, completed_time=None,
        processed_time=None, flow_time=None, deleted_time=None, version=1, created_time=NOW, updated_time=NOW,
        created_by=None, updated_by=None, full_quota_id=None, anonymity=None, channel_id=None, pipeline_id=None,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def fresh_cache() -> None:
    composing._compiled.clear()


def context_of(
    question: Mapping[str, Any] | None = None,
    *others: Mapping[str, Any],
    pipeline: Pipeline | None = None,
    locale: str = "en",
    responder: Mapping[str, str] | None = None,
    metadata: Mapping[str, str] | None = None,
    organization_name: str = "Northwind",
    postal_address: str | None = "12 Harbour Street\nDublin",
    unsubscribe_id: str | None = "u" * 22,
    **of_item: Any,
) -> MessageContext:
    version = version_of(question or {}, *others)
    return MessageContext(
        item_id="i" * 22,
        recipient="ann@example.org",
        pipeline=cast("Any", pipeline or Pipeline()),
        version=version,
        instance=instance_of(version, locale, metadata or {}),
        responder_metadata=responder or {},
        unsubscribe_id=unsubscribe_id,
        organization_name=organization_name,
        postal_address=postal_address,
        questionnaire_name="Delivery",
        sender="survey@localhost.example",
        site=SITE,
        now=NOW,
        **of_item,
    )


def compose(*questions: Mapping[str, Any], **of_item: Any) -> Message:
    return composing.compose_mail(context_of(*questions, **of_item))


class Page(HTMLParser):
    """The HTML as a reader's program parses it: elements with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def links(self) -> list[str]:
        return [attributes.get("href") or "" for tag, attributes in self.elements if tag == "a"]

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """Elements and names of attributes: what must not change with the texts."""
        return [(tag, tuple(sorted(attributes))) for tag, attributes in self.elements]


# Hostile texts ----------------------------------------------------------------------------------------------------

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "<![endif]--><script>alert(1)</script>",
    "</mj-text></mj-column><mj-raw><script>alert(1)</script></mj-raw>",
    "<mj-include path='/etc/passwd' />",
    "<![CDATA[<script>alert(1)</script>]]>",
    "javascript:alert(1)",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "{{ config }}{% raw %}{# #}",
    "<a href='https://evil.example'>x</a>",
    "\u202e\u2066<b>",
    "a\0b\x1b[31m",
    "x\r\nBcc: eve@example.org",
    "<!-- ",
    "]]>",
    "<?php ?>",
    "%s{0}${x}",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_gains_an_element(payload: str) -> None:
    def shape(text: str) -> list[tuple[str, tuple[str, ...]]]:
        printable = "".join(character for character in text if character.isprintable())  # what a questionnaire takes
        fallback = text.replace("{", "").replace("}", "")
        message = compose(
            {"title": printable, "low_label": printable, "high_label": printable, "description": printable},
            pipeline=Pipeline(
                message_subject=f"{text} {{{{ responder.first_name }}}}",
                message_body=f"{text}\n\n{{{{ responder.first_name | {fallback} }}}} {{{{ questionnaire.n }}}}",
            ),
            responder={"first_name": text},
            metadata={"n": text},
            organization_name=text,
            postal_address=text,
        )
        head = mime.build(message).partition(b"\r\n\r\n")[0]
        assert [] == [line for line in head.split(b"\r\n") if line.startswith(b"Bcc")]
        assert "\n" not in message.subject
        page = Page(message.html)
        allowed = {LINK, UNSUBSCRIBE} | {f"{LINK}?q={QUESTION}&v={value}" for value in range(11)}
        assert set(page.links) <= allowed
        composing._compiled.clear()
        return [entry for entry in page.shape if entry[0] != "br"]

    assert shape("plain") == shape(payload)


def test_choices_are_escaped() -> None:
    payload = '"><script>'
    choices = [{"value": 1, "label": payload}, {"value": 2, "label": payload}]
    page = Page(compose({"type": "single_choice", "choices": choices}).html)
    assert "script" not in [tag for tag, _ in page.elements]
    assert 2 == page.text.count(payload)


def test_nothing_is_fetched() -> None:
    html = compose().html
    page = Page(html)
    assert not {"img", "script", "link", "iframe", "object", "form", "base", "video"} & {
        tag for tag, _ in page.elements
    }
    assert not re.search(r"@import|@font-face|url\(|src=|background=", html)
    addresses = {address.split("?")[0] for address in re.findall(r"https?://[^\s\"'<>)]+", html)}
    assert {LINK, UNSUBSCRIBE, "http://www.w3.org/1999/xhtml"} == addresses


# Words ------------------------------------------------------------------------------------------------------------


def test_every_sentence_is_translated() -> None:
    english = compose()
    for locale in ("de", "el", "ar"):
        other = Page(compose(locale=locale).html).text
        for words in ("Open the questionnaire", "You got this", "Not at all", "minute"):
            assert words in Page(english.html).text
            assert words not in other


def test_right_to_left() -> None:
    html = compose(locale="ar").html
    assert 'dir="rtl"' in html
    assert "direction:ltr" not in html
    assert "text-align:left" not in html
    assert 'dir="rtl"' not in compose().html


def test_another_language_speaks_english() -> None:
    assert "would like your opinion" in compose(locale="ja").subject


# Authored texts ---------------------------------------------------------------------------------------------------

BODY = """Dear {{ responder.first_name | customer }},

your order
{{ questionnaire.order }} is here.

{{ link }}

The team of {{ organization }}
"""


def test_long_words_stay_inside() -> None:
    word = "x" * 3_000
    message = compose(
        pipeline=Pipeline(message_body=f"{word}\n\n{{{{ questionnaire.order }}}}"), metadata={"order": word}
    )
    assert 2 == message.text.count(word)
    assert max(len(line) for line in mail_lines(message)) <= 998
    assert "overflow-wrap" in message.html or "word-break" in message.html


def mail_lines(message: Message) -> list[bytes]:
    return mime.build(message).split(b"\r\n")


def test_right_to_left_text_part_reads_like_the_page() -> None:
    message = compose(
        pipeline=Pipeline(message_body="مرحبا {{ responder.first_name | عميلنا }}\n\n{{ link }}"), locale="ar"
    )
    assert message.text.startswith("مرحبا عميلنا\n\nWould you recommend us?")
    assert f"\n\n{LINK}\n\n" in message.text


def test_fallback() -> None:
    assert "Dear customer," in compose(pipeline=Pipeline(message_body=BODY)).text


@pytest.mark.parametrize(
    ("expected", "locale"), [("Deutsch", "de"), ("Deutsch", "de-at"), ("English", "en"), ("English", "el")]
)
def test_messages_by_language(expected: str, locale: str) -> None:
    pipeline = Pipeline(
        message_subject="English", message_body="English", messages={"de": {"subject": "Deutsch", "body": "Deutsch"}}
    )
    assert (expected, expected, None) == composing.authored(cast("Any", pipeline), locale)[:3]


def test_message_without_its_own_subject() -> None:
    pipeline = Pipeline(message_subject="English", messages={"de_AT": {"body": "Deutsch"}})
    assert ("English", "Deutsch", None) == composing.authored(cast("Any", pipeline), "de-at")[:3]


# A sender's duties ------------------------------------------------------------------------------------------------


def test_headers() -> None:
    headers = compose().headers
    assert f"<{UNSUBSCRIBE}>" == headers["List-Unsubscribe"]
    assert "List-Unsubscribe=One-Click" == headers["List-Unsubscribe-Post"]


def test_without_an_address_to_unsubscribe() -> None:
    assert not {"List-Unsubscribe", "List-Unsubscribe-Post"} & compose(unsubscribe_id=None).headers.keys()


def test_header_that_proves_whose_a_bounce_is() -> None:
    value = compose().headers["X-Afterword-Item"]
    assert "i" * 22 == reply_text.item_of(value, SITE.secret)
    assert value == compose().headers["X-Afterword-Item"]  # in every attempt


def test_header_by_which_complaints_are_counted() -> None:
    assert f"{'p' * 22}:{'o' * 22}:invitation:afterword" == compose().headers["Feedback-ID"]


def test_message_id_of_the_sending_domain() -> None:
    content = mime.build(
        compose(pipeline=Pipeline(sender_address="ask@mail.shop.example"), sender_domains=["mail.shop.example"])
    )
    assert f"Message-ID: <{'i' * 22}@mail.shop.example>".encode() in content.split(b"\r\n")


def test_nothing_is_attached() -> None:
    content = mime.build(compose())
    assert 2 == content.count(b"Content-Transfer-Encoding")
    assert b"Content-Disposition" not in content


def test_sender() -> None:
    message = compose()
    assert ("survey@localhost.example", "Northwind", None) == (message.sender, message.sender_name, message.reply_to)
    pipeline = Pipeline(sender_address="a@b.example", sender_name="Ann", reply_to="c@d.example")
    with pytest.raises(composing.SenderNotAllowed):
        compose(pipeline=pipeline, sender_domains=["other.example"])
    own = compose(pipeline=pipeline, sender_domains=["b.example"])
    assert ("a@b.example", "Ann", "c@d.example") == (own.sender, own.sender_name, own.reply_to)


def test_mail_is_small() -> None:
    assert len(compose().html.encode()) < 30_000  # a big provider cuts mails at 102 KB


def test_dark_mode_is_declared() -> None:
    html = compose().html
    assert '<meta name="color-scheme" content="light dark"' in html
    assert "prefers-color-scheme: dark" in html


class TestBrand:
    def test_logo_and_colours(self) -> None:
        """The logo is ours, with its size and the name as its text; colours are those of the pages."""
        theme = visuals.inherited({"color_primary": "#8a1c5b", "corner_radius": 3, "font": "slab", "logo": PICTURE})
        html = compose({"type": "text"}, theme=theme, organization_name='"><script>').html or ""
        [(_, logo)] = [element for element in Page(html).elements if element[0] == "img"]
        assert (f"{SITE.public_url}{PICTURE}", "224", "56", '"><script>') == tuple(
            logo[name] for name in ("src", "width", "height", "alt")
        )
        assert "<script>" not in html
        assert "background-color:#8a1c5b" in html
        assert "border-radius:3px" in html
        assert "Rockwell" in html
        assert "#005c60" not in html

    def test_without(self) -> None:
        """A logo that is no picture of ours is left out; without a brand nothing is another."""
        plain = compose({"type": "text"}).html or ""
        other = visuals.Theme(logo="data:image/png;base64,iVBORw0KGgo=")
        assert plain == compose({"type": "text"}, theme=other).html
        assert "<img" not in plain
        assert "background-color:#005c60" in plain
