"""An invitation: its first question with a link for each answer, the authored text around it, compiled once."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace

from afterword.core.questionnaires.definition import parse
from afterword.core.questionnaires.flow import length
from afterword.sending.messages import composing
from afterword.sending.messages.invitation import Authored
from tests.sending.messages.test_email import (
    BODY,
    LINK,
    QUESTION,
    SECOND,
    UNSUBSCRIBE,
    Page,
    Pipeline,
    compose,
    context_of,
    fresh_cache as fresh_cache,  # noqa: PLC0414  a fixture
    instance_of,
    version_of,
)


@pytest.mark.parametrize(
    ("expected", "question"),
    [
        (range(11), {"type": "nps"}),
        (range(1, 6), {"type": "csat"}),
        (range(1, 8), {"type": "ces"}),
        (range(1, 6), {"type": "smileys"}),
        (range(1, 4), {"type": "smileys", "scale_max": 3}),
        (range(1, 6), {"type": "rating"}),
        (range(11), {"type": "rating", "scale_min": 0, "scale_max": 10}),
        (range(1, 4), {"type": "rating", "scale_max": 3, "style": "stars"}),
        ((7, 9), {"type": "single_choice", "choices": [{"value": 7, "label": "A"}, {"value": 9, "label": "B"}]}),
        ((), {"type": "text"}),
        ((), {"type": "multiple_choice", "choices": [{"value": 7, "label": "A"}, {"value": 9, "label": "B"}]}),
        (
            (),
            {
                "type": "single_choice",
                "randomize": True,
                "choices": [{"value": 7, "label": "A"}, {"value": 9, "label": "B"}],
            },
        ),
        ((), {"type": "single_choice", "choices": [{"value": n, "label": "A"} for n in range(1, 12)]}),
    ],
)
def test_keys_only_preselect(expected: Sequence[int], question: Mapping[str, Any]) -> None:
    page = Page(compose(question).html)
    keys = [link for link in page.links if "?" in link]
    assert [f"{LINK}?q={QUESTION}&v={value}" for value in expected] == keys
    assert LINK in page.links
    assert "Would you recommend us?" in page.text
    assert 1 == page.text.count("Open the questionnaire")
    assert f">{LINK}<" not in compose(question).html.replace('<span dir="ltr">', "")  # no address to read


def test_variables_of_the_question() -> None:
    """Metadata in the question are filled as those of the body, and escaped."""
    texts = {
        "title": "How was {{ responder.first_name | it }}, {{ organization }}?",
        "description": "<{{ responder.x | y }}>",
    }
    mail = compose({"type": "nps", **texts})
    assert "How was" in mail.html
    assert "{{" not in mail.html + mail.text
    assert "&lt;y&gt;" in mail.html


@pytest.mark.parametrize("scale_min", [0, 1])
@pytest.mark.parametrize("scale_max", range(3, 11))
def test_every_scale_has_keys(scale_min: int, scale_max: int) -> None:
    page = Page(compose({"type": "rating", "scale_min": scale_min, "scale_max": scale_max}).html)
    assert scale_max - scale_min + 1 == len([link for link in page.links if "?" in link])


@pytest.mark.parametrize(("expected", "most"), [(" 3 ★ ", 5), (" 3 4 ", 10)])
def test_stars_show_their_sign(expected: str, most: int) -> None:
    """Ten keys have no room for it."""
    text = Page(compose({"type": "rating", "style": "stars", "scale_max": most}).html).text
    assert expected in text
    assert ("★" in text) == (most == 5)


def test_first_question_after_a_statement() -> None:
    page = Page(compose({"type": "statement", "title": "Hello"}, {"type": "csat", "title": "How was it?"}).html)
    assert 5 == len([link for link in page.links if f"?q={SECOND}&" in link])


def test_first_page_without_a_question() -> None:
    page = Page(compose({"type": "statement", "title": "Hello"}).html)
    assert {LINK, UNSUBSCRIBE} == set(page.links)


def test_anonymous() -> None:
    """The answer would stand in the address beside the key of the invitation."""
    one = {"question_id": QUESTION, "type": "csat", "title": "How was it?"}
    asked = parse({"default_locale": "en", "groups": [{"group_id": "g" * 22, "questions": [one]}]})
    assert composing.first_question(asked, [QUESTION]) is not None
    assert composing.first_question(replace(asked, anonymous=True), [QUESTION]) is None


def test_ends_have_words() -> None:
    text = Page(compose().html).text
    assert "0 – Not at all likely" in text  # noqa: RUF001  a dash on purpose
    assert "10 – Extremely likely" in text  # noqa: RUF001
    composing._compiled.clear()
    own = Page(compose({"low_label": "Never", "high_label": "At once"}).html).text
    assert "0 – Never" in own  # noqa: RUF001


def test_own_words() -> None:
    message = compose()
    assert "Northwind would like your opinion (1 minute)" == message.subject
    assert "Northwind would like to know how it went for you. It takes about 1 minute." in Page(message.html).text
    assert "in touch with Northwind recently" in message.text
    assert f"Unsubscribe: {UNSUBSCRIBE}" in message.text
    assert message.text.rstrip().endswith("Northwind\n12 Harbour Street\nDublin")


@pytest.mark.parametrize(
    ("expected", "locale"),
    [
        ("Northwind bittet um Ihre Meinung (1 Minute)", "de"),
        ("Northwind: θα θέλαμε τη γνώμη σας (1 λεπτό)", "el"),
        ("رأيك يهم \u2068Northwind\u2069 (دقيقة واحدة)", "ar"),
    ],
)
def test_languages(expected: str, locale: str) -> None:
    message = compose(locale=locale)
    assert expected == message.subject
    assert locale == message.headers["Content-Language"]
    assert "Unsubscribe" not in message.html
    assert "recently" not in message.text


@pytest.mark.parametrize(("expected", "count"), [("دقيقة واحدة", 1), ("دقيقتان", 3), ("3 دقائق", 5), ("11 دقيقة", 26)])
def test_arabic_counts_minutes(expected: str, count: int) -> None:
    others = [{"question_id": f"{number:022d}", "type": "text", "required": True} for number in range(count)]
    assert expected in compose({}, *others, locale="ar").subject


def test_minutes_are_those_of_the_console() -> None:
    """An open question that may stay empty counts a third, and one that this person is not asked nothing."""
    others = [{"question_id": f"{number:022d}", "type": "text"} for number in range(18)]
    assert 3 == length(version_of({}, *others).definition).minutes
    assert "(3 minutes)" in compose({}, *others).subject
    asked = context_of({}, *others)
    alone = instance_of(version_of({}), "en", {})
    assert "(1 minute)" in composing.compose_mail(replace(asked, instance=alone)).subject


def test_authored() -> None:
    pipeline = Pipeline(message_subject="Your order {{ questionnaire.order }}", message_body=BODY)
    message = compose(pipeline=pipeline, responder={"first_name": "Ann & Bob"}, metadata={"order": "A-17"})
    assert "Your order A-17" == message.subject
    assert "Dear Ann & Bob,\n\nyour order\nA-17 is here.\n\nWould you recommend us?" in message.text
    assert "Dear Ann &amp; Bob,</p>" in message.html
    assert "your order<br>A-17 is here." in message.html


def test_authored_frame() -> None:
    """Button, reason and footer of authors: text with variables in both parts, never markup."""
    pipeline = Pipeline(
        message_button="Answer <now>",
        message_reason="You bought at {{ organization }} <b>",
        message_footer="Open 9 to 5\n\nRead {{ link }}",
        messages={"de": {"body": "Wie war es?", "button": "Los", "footer": "Geöffnet"}},
    )
    message = compose({"type": "text"}, pipeline=pipeline)
    for text in ("Answer &lt;now&gt;</a>", "You bought at Northwind &lt;b&gt;", "Open 9 to 5</div>"):
        assert text in message.html
    assert "recently" not in message.html
    assert (
        f"You bought at Northwind <b>\n\nUnsubscribe: {UNSUBSCRIBE}\n\nOpen 9 to 5\n\nRead {LINK}\n\n" in message.text
    )
    german = compose({"type": "text"}, pipeline=pipeline, locale="de")
    assert ">Los</a>" in german.html
    assert "You bought at Northwind" in german.text
    assert "Geöffnet" in german.text


def test_yes_no_is_answered_from_the_mail() -> None:
    keys = [link for link in Page(compose({"type": "yes_no"}, locale="de").html).links if "&v=" in link]
    assert [f"{LINK}?q={QUESTION}&v=1", f"{LINK}?q={QUESTION}&v=0"] == keys


def test_lone_link_is_the_place_of_the_question() -> None:
    text = Page(compose(pipeline=Pipeline(message_body=BODY)).html).text
    assert text.index("is here.") < text.rindex("Would you recommend us?") < text.index("The team of Northwind")


def test_question_follows_a_body_without_a_lone_link() -> None:
    text = Page(compose(pipeline=Pipeline(message_body="Go to {{ link }}\n\nBye")).html).text
    assert text.index("Bye") < text.rindex("Would you recommend us?")


def test_the_line_that_lists_of_mails_show() -> None:
    """It is the question, in the colour of the text: white on white is a sign of spam."""
    html = compose(pipeline=Pipeline(message_body=BODY)).html
    preview = html.partition("display:none")[2].partition("</div>")[0]
    assert preview.endswith(">Would you recommend us?")
    assert "#ffffff" not in preview


def test_compiled_once_and_again_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str | None] = []
    real = composing.compile_invitation

    def counting(authored: Authored, **given: Any) -> object:
        compiled.append(authored.subject)
        return real(authored, **given)

    monkeypatch.setattr(composing, "compile_invitation", counting)
    first = Pipeline(message_subject="One")
    for pipeline in (first, first, dataclasses.replace(first, version=2, message_subject="Two"), first):
        assert pipeline.message_subject == compose(pipeline=pipeline).subject
    assert ["One", "Two"] == compiled


def test_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composing, "COMPILED_MAX", 3)
    for number in range(6):
        compose(pipeline=Pipeline(version=number))
    assert 3 == len(cast("Any", composing)._compiled)
