"""The public pages of a questionnaire, drawn from records: questions, thanks, expired, closed."""

import base64
import hashlib
from collections.abc import Collection, Mapping
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword.asking.instances import reviews, views
from afterword.asking.instances.answer_page import LOCALE_GO, AnswerPage, CallBack, Head, Marked, Posted, Wrong
from afterword.asking.instances.views import QuestionView, Section
from afterword.core.answers import instances
from afterword.core.answers.values import Given, label
from afterword.core.questionnaires import endings, translations, variables
from afterword.core.questionnaires.definition import Group
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.questions import TEXTS, localized
from afterword.core.questionnaires.visuals import FINGERPRINT_CHARACTERS, Theme, read_address
from afterword.core.reading.documents import is_array, is_object
from afterword.core.text import placeholders
from afterword.core.text.locales import direction
from afterword.core.wire import code128, qr
from afterword.kit.texts import Texts, own_name
from afterword.kit.web import public, static

ANONYMOUS: Final = (
    "Your answers are anonymous: they are stored without a link to you. Once they are sent, nobody can find or change "
    "them."
)
COUPON_EXAMPLE: Final = "EXAMPLE-1234"  # of previews and tests, which take no code
_STYLED: Final = frozenset({"matrix", "ranking", "contact", "slider", "files"})  # need controls.css


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The script records by it the choice that a score in a mail made. `seconds` until it is provisional, 0: never."""

    url: str
    token: str
    question_id: str
    field: str
    seconds: int


class Coupon(msgspec.Struct, frozen=True):
    """A code with its pictures for cash desks; `bars` is None for one that Code 128 cannot hold."""

    code: str
    qr: qr.Code
    bars: qr.Code | None


def question_page(
    answer_page: AnswerPage,
    number: int,
    *,
    action: str,
    token: str,
    view: tuple[str, str] | None = None,
    start: str = "",
    choice: Choice | None = None,
    marked: Marked | None = None,
    posted: Posted | None = None,
    wrong: Mapping[str, Wrong] = MappingProxyType({}),
    notice: str = "",
    note: str = "",
    foot: str = "",
    status: int = 200,
    has_languages: bool = False,
    scripts: Collection[str] = (),
) -> Response:
    """A page of questions; `sequence.end` is a page with nothing but the button to send.

    `posted`: its input, right or wrong, is shown instead of stored answers. `wrong`: error messages by question.
    `view`: the URL to which the script reports that a person saw the page, and the token for it.
    """
    head, sequence, t = answer_page.head, answer_page.sequence, answer_page.texts
    questions = _questions(answer_page, number, marked=marked, posted=posted, wrong=wrong)
    is_finalized = answer_page.instance is not None and answer_page.instance.finalized
    is_first, page_texts = number == 1, head.definition.page_texts(head.locale)
    heading, lead = _heading(answer_page, number)
    group = sequence.group_on(number)
    return public.page(
        "answer.html",
        **_frame(head),
        status=status,
        title=head.title,
        files=files_of(
            {*scripts, *[question.kind for question in questions]},
            has_pictures=any(option.picture for question in questions for option in question.options),
            is_searched=any(question.is_searched for question in questions),
            has_choice=choice is not None,
        ),
        show_progress=head.theme.show_progress,
        layout=sequence.layout,
        page=min(number, sequence.total),
        number=number,
        pages=sequence.total,
        has_back=sequence.before(number) is not None,
        is_last=number == sequence.end or sequence.is_last(number),
        problems=[one for one in questions if one.error],
        notice=notice,
        heading=heading,
        group=_section_of(answer_page, group) if is_first and group else None,
        lead=[filled(answer_page, text) for text in (lead, page_texts.welcome if is_first else None) if text],
        promise=t(ANONYMOUS) if is_first and head.definition.anonymous else "",
        shown=answer_page.positions(number) if answer_page.is_invitation else "",
        is_test=answer_page.is_test,
        note=t("We have marked your answer. It is saved when you go on.") if marked else note,
        choice=choice,
        action=action,
        token=token,
        view=view,
        start=start,
        questions=questions,
        shown_first=_shown_first(head, questions),
        languages=_languages(answer_page) if has_languages else [],
        has_files=any(question.kind == "files" for question in questions),
        send_label=t("Save my changes") if is_finalized else t("Send my answers"),
        foot=foot or _foot(answer_page),
    )


def _shown_first(head: Head, questions: list[QuestionView]) -> int | None:
    """The position of the first question that a box folds away, statements not counted; None: it shows all."""
    count = head.questionnaire.non_collapsed_questions_count
    asked = [index for index, question in enumerate(questions) if question.shape != "none"]
    is_box = head.placement is not None and head.placement.kind == "box"
    return asked[count] if is_box and 0 < count < len(asked) else None


def _languages(answer_page: AnswerPage) -> list[dict[str, str]]:
    return [
        {"go": f"{LOCALE_GO}{one}", "tag": one, "name": own_name(one)}
        for one in answer_page.languages
        if one != answer_page.head.locale
    ]


def thank_you_page(
    answer_page: AnswerPage,
    *,
    can_change: bool = False,
    by_reference: bool = False,
    call_back: CallBack | None = None,
    is_preview: bool = False,
    secret: bytes | None = None,
    status: int = 200,
) -> Response:
    """The page after completion; with `can_change` it links back to the answers.

    `by_reference`: the ending, which tells of the answers, is not shown to a visitor who knows the reference.
    `is_preview`: it says that nothing was kept. `secret`: with it the page tells who opens the review link.
    """
    t, instance, zone = answer_page.texts, answer_page.issued, answer_page.head.questionnaire.time_zone
    sent = instance.completed_time
    facts = [t("Sent on {date}.", date=t.date(sent, time_zone=zone))] if sent is not None else []
    link, kiosk = None, answer_page.head.kiosk
    if kiosk is not None:
        facts, link = [], public.Link(kiosk.path, t("Begin again"))
    elif can_change:
        end = instances.expires_time(instance)
        until = t("You can change your answers until {date}.", date=t.date(end, time_zone=zone)) if end else ""
        facts.append(until or t("You can change your answers at any time."))
        link = public.Link(answer_page.address(instance.instance_id, page=1), t("Change my answers"))
    elif is_preview:
        facts = [t("This was a preview: nothing was kept.")]
    elif call_back is None:
        facts.append(t("You can close this page."))
    if answer_page.is_invitation and not answer_page.sequence.answers:
        by_reference = True  # they cannot be found any more
    full = (one for one in answer_page.head.definition.endings if one.ending_id == instance.full_quota_id)
    ending = None if by_reference else next(full, None) or chosen_ending(answer_page)
    told = reviews.told_of(answer_page, secret) if secret and not is_preview else None
    return _end(answer_page, ending, facts=facts, link=link, call_back=call_back, told=told, status=status)


def chosen_ending(answer_page: AnswerPage) -> Ending | None:
    """A test sees the ending with a coupon too, and an example in place of a code."""
    pools = None if answer_page.issued.test else answer_page.context.coupons.keys()
    return answer_page.sequence.ending(pools)


def _coupon(answer_page: AnswerPage, ending: Ending) -> Coupon | None:
    if ending.coupon_pool is None:
        return None
    is_real = answer_page.instance is not None and not answer_page.is_test
    code = answer_page.context.coupons.get(ending.coupon_pool) if is_real else COUPON_EXAMPLE
    return Coupon(code, qr.code_of(code), code128.bars_of(code)) if code else None


def preview_end_page(
    answer_page: AnswerPage, ending: Ending | None, *, again: str, call_back: CallBack | None
) -> Response:
    t = answer_page.texts
    facts, link = [t("This was a preview: nothing was kept.")], public.Link(again, t("Begin again"))
    return _end(answer_page, ending, facts=facts, link=link, call_back=call_back)


def _end(
    answer_page: AnswerPage,
    ending: Ending | None,
    *,
    facts: list[str],
    link: public.Link | None,
    call_back: CallBack | None,
    told: tuple[str, str] | None = None,
    status: int = 200,
) -> Response:
    head, t, links = answer_page.head, answer_page.texts, list[public.Link]()
    ending_id = ending.ending_id if ending else ""
    found = next((one for one in head.definition.endings if one.ending_id == ending_id), Ending(ending_id=""))
    shown = endings.localized(found, head.locale)
    if shown.button_url:
        label = filled(answer_page, shown.button_label or shown.button_url)
        links.append(public.Link(filled_address(answer_page, shown.button_url), label, is_main=True))
    if shown.review_url:
        label = filled(answer_page, shown.review_label or "") or t("Write a review")
        links.append(public.Link(filled_address(answer_page, shown.review_url), label, is_main=not links, told=told))
    own = t("Your answers are with {name} now.", name=head.brand)
    if not links and (call_back is None or call_back.said):
        own += " " + t("There is nothing more for you to do.")
    text = shown.text or head.definition.page_texts(head.locale).thank_you or ""
    if shown.responses_max is not None:
        own, text = t("We have enough answers like yours already. Thank you for wanting to help."), shown.text or ""
    return public.message_page(
        **_frame(head),
        title=filled(answer_page, shown.title or "") or t("Thank you"),
        paragraphs=[filled(answer_page, text) or own],
        links=[] if head.kiosk else links,  # they lead out of it
        facts=[t("This was a test"), *facts] if answer_page.is_test else facts,
        link=link,
        is_done=True,
        coupon=_coupon(answer_page, shown),
        call_back=call_back,
        status=status,
    )


def expired_page(answer_page: AnswerPage) -> Response:
    head, t = answer_page.head, answer_page.texts
    end = instances.expires_time(answer_page.issued)
    text = t("It takes no more answers. Thank you for wanting to help.")
    if end is not None:
        text = t(
            "This questionnaire could be answered until {date}. Thank you for wanting to help.",
            date=t.date(end, time_zone=head.questionnaire.time_zone),
        )
    facts = [t("Answers that you gave before then have been kept.")] if answer_page.sequence.answers else []
    authored = filled(answer_page, head.definition.page_texts(head.locale).expired or "")
    return _message(head, title=t("The time to answer is over"), text=authored or text, facts=facts, status=410)


def closed_page(answer_page: AnswerPage) -> Response:
    head, t = answer_page.head, answer_page.texts
    authored = filled(answer_page, head.definition.page_texts(head.locale).closed or "")
    text = authored or t("It takes no more answers. Thank you for wanting to help.")
    return _message(head, title=t("This questionnaire is closed"), text=text, status=410)


def opens_page(head: Head, *, opens_time: datetime) -> Response:
    t, zone = head.texts, head.questionnaire.time_zone
    text = t("It opens on {date}. Please come back then.", date=t.moment(opens_time, time_zone=zone))
    return _message(head, title=t("This questionnaire is not open yet"), text=text)


def address_page(
    head: Head, *, action: str, token: str, address: str, is_wrong: bool, is_over: bool, status: int
) -> Response:
    """The form that asks for the address to confirm; `is_over`: the mailed link opens the questions no more."""
    t = head.texts
    return public.page(
        "address.html",
        **_frame(head),
        status=status,
        title=head.title,
        lead=t("Each address can answer once. We send you a link that opens the questions."),
        notice=t("This link does not open the questions any more. Ask for a new one.") if is_over else "",
        action=action,
        token=token,
        address=address,
        error=t("Please enter an e-mail address such as name@example.com.") if is_wrong else "",
    )


def asked_page(head: Head) -> Response:
    t = head.texts
    text = t("We have sent you a link. Open it to answer; it opens the questions for a day.")
    return _message(head, title=t("Please look into your mailbox"), text=text)


def leave_page(head: Head, *, has_pin: bool, is_wrong: bool) -> Response:
    return public.page(
        "leave.html",
        **_frame(head),
        status=422 if is_wrong else 200,
        title=head.texts("Leave kiosk mode"),
        has_pin=has_pin,
        error=head.texts("This PIN is not right.") if is_wrong else "",
    )


def left_page(head: Head) -> Response:
    t, placement = head.texts, head.placement
    assert placement is not None  # noqa: S101
    again = public.Link(placement.path, t("Begin again"))
    return public.message_page(**_frame(head), title=t("Kiosk mode has ended"), link=again, is_left=True)


def used_page(head: Head) -> Response:
    """The questionnaire of this reference was begun by somebody else, or in another browser: 409."""
    t = head.texts
    text = t(
        "Somebody has begun to answer here. If it was you, go on in the browser in which you began. Otherwise please "
        "ask {name} for a new link.",
        name=head.brand,
    )
    return _message(head, title=t("This link has been used"), text=text, status=409)


def _message(head: Head, *, title: str, text: str, facts: list[str] | None = None, status: int = 200) -> Response:
    return public.message_page(**_frame(head), title=title, paragraphs=[text], facts=facts or [], status=status)


def _questions(
    answer_page: AnswerPage, number: int, *, marked: Marked | None, posted: Posted | None, wrong: Mapping[str, Wrong]
) -> list[QuestionView]:
    found: list[QuestionView] = []
    group = answer_page.sequence.group_on(number)
    for question in answer_page.sequence.questions_on(number):
        own = answer_page.sequence.definition.group_of(question.question_id)
        section, group = None if own is group else _section_of(answer_page, own), own
        fault = wrong.get(question.question_id)
        found.append(_question(answer_page, question, marked=marked, posted=posted, wrong=fault, section=section))
    return found


def _question(
    answer_page: AnswerPage,
    question: Question,
    *,
    marked: Marked | None,
    posted: Posted | None,
    wrong: Wrong | None,
    section: Section | None,
) -> QuestionView:
    t = answer_page.texts
    authored = answer_page.head.definition.question(question.question_id) or question
    shown_question = localized(authored, answer_page.head.locale, seed=answer_page.seed)
    shown_question = filled_question(answer_page, shown_question)
    stored = answer_page.sequence.answers.get(question.question_id)
    note = ""
    if stored is not None and answer_page.hides_answers:
        stored, note = None, t("You have answered this already. Answer again only to change it.")
    if marked is not None and marked.question_id == question.question_id:
        stored, note = marked.given, ""
    is_input = posted is not None and question.shape != "files"  # a page cannot give files back
    shown = views.shown_input(question, posted.fields) if is_input else views.shown_answer(question, stored, t)
    return views.view_of(shown_question, shown=shown, texts=t, wrong=wrong, note=note, section=section)


def _heading(answer_page: AnswerPage, number: int) -> tuple[str, str | None]:
    """The heading and the text below it: the questionnaire's on the first page, then the group's."""
    head, t = answer_page.head, answer_page.texts
    group = answer_page.sequence.group_on(number)
    if group is None:
        return t("That was the last question"), t("Your answers are ready to be sent.")
    if number == 1:
        return head.title, head.description
    section = _section_of(answer_page, group)
    return (section.title, section.lead) if section else (head.title, None)


def _section_of(answer_page: AnswerPage, group: Group) -> Section | None:
    group = answer_page.head.definition.group(group.group_id) or group
    own = group.translations.get(answer_page.head.locale)
    title = (own.title if own else None) or group.title
    lead = (own.description if own else None) or group.description
    return Section(filled(answer_page, title), filled(answer_page, lead or "")) if title else None


def _foot(answer_page: AnswerPage) -> str:
    head, t, instance = answer_page.head, answer_page.texts, answer_page.instance
    who = t("Your answers go to {name}.", name=head.brand)
    if instance is None or head.kiosk or answer_page.is_invitation:
        return who
    end = instances.expires_time(instance)
    if end is None:
        return f"{who} {t('They are kept as you go, so you can come back to this page.')}"
    date = t.date(end, time_zone=head.questionnaire.time_zone)
    text = t("They are kept as you go, so you can come back to this page until {date}.", date=date)
    return f"{who} {text}"


def files_of(
    kinds: Collection[str], *, has_pictures: bool = False, is_searched: bool = False, has_choice: bool = False
) -> dict[str, list[str]]:
    """The addresses of `styles` and `scripts`."""
    names = [name for name in ("ranking", "slider", "edited") if name in kinds]
    names += [name for name, is_used in (("dropdown", is_searched), ("choice", has_choice)) if is_used]
    return {
        "styles": [static.url("public/controls.css")] if has_pictures or _STYLED & set(kinds) else [],
        "scripts": [static.url(f"public/{name}.js") for name in names],
    }


def _frame(head: Head) -> dict[str, Any]:
    return {
        "words": head.texts,
        "language": head.locale,
        "direction": direction(head.locale),
        "brand": head.brand,
        "theme_url": static.theme_url(head.theme),
        "logo_url": logo_url(head.theme, head.questionnaire.questionnaire_id),
        "placed": head.placement,
    }


class Logo(msgspec.Struct, frozen=True):
    content: bytes
    media_type: str
    fingerprint: str


def logo_url(theme: Theme, questionnaire_id: str) -> str:
    """The address of the logo, empty without one. It contains the fingerprint, so that caches may keep it."""
    if theme.logo is not None and (not questionnaire_id or read_address(theme.logo) is not None):
        return theme.logo  # a preview has no questionnaire yet
    logo = logo_of(theme)
    return "" if logo is None else f"/p/{questionnaire_id}/logo?v={logo.fingerprint}"


def logo_of(theme: Theme) -> Logo | None:
    """The logo that is a `data:` address, which was checked when the theme was read; None for other logos."""
    if theme.logo is None or not theme.logo.startswith("data:"):
        return None
    head, _, text = theme.logo.partition(";base64,")
    content = base64.b64decode(text)
    return Logo(content, head.removeprefix("data:"), hashlib.sha256(content).hexdigest()[:FINGERPRINT_CHARACTERS])


VALUE_CHARACTERS_MAX: Final = 200  # of an answer in a sentence


def filled(answer_page: AnswerPage, text: str) -> str:
    return variables.fill(text, lambda name: translations.isolated(_value_of(answer_page, name)))


def filled_address(answer_page: AnswerPage, url: str) -> str:
    """The address with its variables percent-encoded: numbers in digits, other values as texts have them."""
    return variables.address(url, lambda name: _bare(answer_page, name))


def filled_question(answer_page: AnswerPage, question: Question) -> Question:
    texts: dict[str, Any] = {
        name: filled(answer_page, text) for name in TEXTS if (text := getattr(question, name)) and "{{" in text
    }
    return replace(question, **texts) if texts else question


def _value_of(answer_page: AnswerPage, name: str) -> str:
    kind, _, rest = name.partition(".")
    if kind == variables.ORGANIZATION:
        return answer_page.head.brand
    if kind != variables.ANSWER:
        return _written(answer_page.sequence.facts.get(f"{kind}_metadata:{rest}"), answer_page.texts)
    sequence = answer_page.sequence
    question, part = variables.question_of(sequence.definition, name) or (None, "")
    if question is None or answer_page.hides_answers or question.question_id in sequence.hidden:
        return ""
    given = sequence.answers.get(question.question_id)
    return "" if given is None else _answer(question, given, part, answer_page.texts, answer_page.head.locale)


def _bare(answer_page: AnswerPage, name: str) -> str:
    kind, _, rest = name.partition(".")
    found, _ = variables.question_of(answer_page.sequence.definition, name) or (None, "")
    given = answer_page.sequence.answers.get(found.question_id) if found else None
    text = _value_of(answer_page, name)
    if text and found and given is not None and found.shape in {"scale", "number", "date", "date_time"}:
        return str(given.value)
    if answer_page.started is None or kind not in placeholders.MAPS:
        return text
    context = answer_page.context
    return (context.responder_metadata if kind == "responder" else context.instance.metadata).get(rest, "")


def _answer(question: Question, given: Given, part: str, texts: Texts, locale: str) -> str:
    value = given.value
    if question.contact_fields:
        return _short(str(value.get(part or "name", ""))) if is_object(value) else ""
    if question.rows or question.shape == "files":
        return _short(label(question, value, locale) or "")
    if question.choices:
        shown, chosen = localized(question, locale), value if is_array(value) else [value]
        labels = [(one.other and given.other_text) or one.label for each in chosen if (one := shown.choice(each))]
        return _short(", ".join(labels))
    if question.shape in {"date", "date_time"} and isinstance(value, str):
        day, _, time = value.partition("T")
        return f"{texts.day(day)}, {time}" if time else texts.day(day)
    return _written(value, texts)


def _written(value: object, texts: Texts) -> str:
    """An answer or metadata, by its type; "" for none. Numbers of metadata keep their digits, as prices do."""
    match value:
        case None:
            return ""
        case bool():
            return texts("Yes") if value else texts("No")
        case date():
            return texts.day(value.isoformat())
        case int() | float():
            return texts.number(value)
        case _:
            return _short(" ".join(str(value).split()))


def _short(text: str) -> str:
    return text if len(text) <= VALUE_CHARACTERS_MAX else f"{text[:VALUE_CHARACTERS_MAX]}…"
