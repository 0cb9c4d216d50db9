"""What the public pages of a questionnaire say: questions, thanks, expired, closed, not here. Drawn from records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from urllib.parse import urlencode

from litestar import Response

from afterword import errors, ids
from afterword.accounts import store as accounts_store
from afterword.core import instances as core_instances
from afterword.core.answers import Given
from afterword.core.definition import Definition, localized
from afterword.core.locales import direction
from afterword.core.questions import Question
from afterword.db import Database
from afterword.instances import forms, service, store
from afterword.instances.forms import Posted, QuestionView
from afterword.instances.store import Instance
from afterword.instances.walk import Walk
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.store import Questionnaire
from afterword.texts import Texts, texts
from afterword.web import public


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What surrounds the questions: who asks, about what, in which language."""

    brand: str
    time_zone: str
    questionnaire: Questionnaire
    definition: Definition
    locale: str

    @property
    def texts(self) -> Texts:
        """The interface's words for this reader."""
        return texts(public.DOMAIN, self.locale)

    @property
    def title(self) -> str:
        """What the questionnaire is called to responders."""
        own = self.questionnaire.title or self.questionnaire.display_name
        return self.definition.title(self.locale, own) or own


@dataclass(frozen=True, slots=True)
class Marked:
    """An answer that a link in a message marks; it is stored when the page is posted, not before."""

    question_id: str
    given: Given


@dataclass(frozen=True)
class Sheet:
    """All that the pages of one instance are drawn from. `seed` shuffles choices; it is the instance's id."""

    head: Head
    walk: Walk
    seed: str
    instance: Instance | None = None

    @property
    def issued(self) -> Instance:
        """The instance, where there must be one: everywhere but before the start on a public link."""
        assert self.instance is not None  # noqa: S101
        return self.instance

    @cached_property
    def hides_answers(self) -> bool:
        """Whoever knows a reference goes on with its instance, but is not shown what was answered before."""
        return self.instance is not None and self.instance.reference_id is not None

    @property
    def texts(self) -> Texts:
        """The interface's words for this reader."""
        return self.head.texts

    def answered(self, given: Mapping[str, Given | None]) -> "Sheet":
        """The sheet after a page was posted."""
        return replace(self, walk=self.walk.answered(given))

    def marked(self, question_id: str | None, value: str | None) -> Marked | None:
        """The answer that the query of a link marks, if it fits a question that is asked here."""
        question = self.walk.definition.question(question_id or "")
        if question is None or value is None or question.question_id not in self.walk.dealt:
            return None
        given = forms.preselected(question, value)
        return None if given is None else Marked(question.question_id, given)

    def first_open(self) -> int:
        """Where to go on: the first page on the way that asks and has no answer yet; the last one if none is left."""
        way, answers = self.walk.way, self.walk.answers
        for number, page in way.items():
            asks = not answers or any(question.is_answered for question in page.questions)
            if asks and not any(question.question_id in answers for question in page.questions):
                return number
        return max(way, default=self.walk.end)

    def missing_on(self, number: int) -> dict[str, str]:
        """The required questions of a page that have no answer, each with its sentence."""
        if number not in self.walk.way:
            return {}
        text = forms.sentence("required", texts=self.texts)
        return dict.fromkeys(self.walk.missing(number), text)


async def read(db: Database, *, instance_id: str) -> Sheet:
    """The sheet of an instance; raises NotFound."""
    instance = await store.get_public_instance(db, instance_id=instance_id) if ids.is_id(instance_id) else None
    if instance is None:
        raise errors.NotFound("There is no such page.")
    return await of_instance(db, instance=instance)


async def of_instance(db: Database, *, instance: Instance) -> Sheet:
    """The sheet of a record at hand."""
    organization_id = instance.organization_id
    questionnaire = await questionnaires_store.get_questionnaire(
        db, organization_id=organization_id, questionnaire_id=instance.questionnaire_id
    )
    version = await questionnaires_store.get_version(
        db, organization_id=organization_id, version_id=instance.version_id
    )
    rows = await store.list_answers(db, organization_id=organization_id, instance_id=instance.instance_id)
    answers = {row.question_id: Given(row.value, row.other_text) for row in rows}
    facts = await service.facts(db, instance=instance)
    head = await head_of(db, questionnaire=questionnaire, definition=version.definition, locale=instance.locale)
    walk = Walk(version.definition, frozenset(instance.question_ids), answers, facts)
    return Sheet(head, walk, instance.instance_id, instance)


async def head_of(db: Database, *, questionnaire: Questionnaire, definition: Definition, locale: str) -> Head:
    """What surrounds the questions of a questionnaire in one of its languages."""
    organization = await accounts_store.get_organization(db, organization_id=questionnaire.organization_id)
    assert organization is not None  # noqa: S101  a foreign key holds it
    return Head(
        brand=organization.display_name,
        time_zone=organization.time_zone,
        questionnaire=questionnaire,
        definition=definition,
        locale=locale,
    )


def address(instance_id: str, **query: object) -> str:
    """The answer page, within this site."""
    wanted = {name: value for name, value in query.items() if value is not None}
    return f"/a/{instance_id}" + (f"?{urlencode(wanted)}" if wanted else "")


def question_page(
    sheet: Sheet,
    number: int,
    *,
    action: str,
    token: str,
    view: tuple[str, str] | None = None,
    start: str = "",
    marked: Marked | None = None,
    posted: Posted | None = None,
    wrong: Mapping[str, str],
    notice: str = "",
    status: int = 200,
) -> Response[str]:
    """A page of questions; after the last one (`walk.end`) a page that only asks to send.

    `posted`: what was typed, right or wrong, is shown in place of what is stored. `wrong`: sentences by question.
    `view`: where the script tells that a person saw the page, and the token for it.
    """
    head, walk, t = sheet.head, sheet.walk, sheet.texts
    questions = _questions(sheet, number, marked=marked, posted=posted, wrong=wrong)
    is_finalized = sheet.instance is not None and sheet.instance.finalized
    is_first, page_texts = number == 1, head.definition.page_texts(head.locale)
    heading, lead = _heading(sheet, number)
    return public.page(
        "answer.html",
        words=t,
        language=head.locale,
        direction=direction(head.locale),
        status=status,
        title=head.title,
        brand=head.brand,
        page=min(number, walk.total),
        number=number,
        pages=walk.total,
        has_back=walk.before(number) is not None,
        is_last=number == walk.end or walk.is_last(number),
        problems=[one for one in questions if one.error],
        notice=notice,
        heading=heading,
        group_title=_group_title(sheet, number) if is_first else "",
        lead=[text for text in (lead, page_texts.welcome if is_first else None) if text],
        note=t("We have marked your answer. It is saved when you go on.") if marked else "",
        action=action,
        token=token,
        view=view,
        start=start,
        questions=questions,
        send_label=t("Save my changes") if is_finalized else t("Send my answers"),
        foot=_foot(sheet),
    )


def thank_you_page(sheet: Sheet, *, now: datetime, can_change: bool = True) -> Response[str]:
    """After the end: what happens with the answers, when they were sent, how to change them while that is possible."""
    head, t, instance = sheet.head, sheet.texts, sheet.issued
    authored = head.definition.page_texts(head.locale).thank_you
    facts: list[str] = []
    if instance.completed_time is not None:
        facts.append(t("Sent on {date}.", date=t.date(instance.completed_time, time_zone=head.time_zone)))
    end = core_instances.expires_time(instance)
    link = None
    if can_change and core_instances.is_open(instance, now):
        facts.append(
            t("You can change your answers until {date}.", date=t.date(end, time_zone=head.time_zone))
            if end
            else t("You can change your answers at any time.")
        )
        link = public.Link(address(instance.instance_id, page=1), t("Change my answers"))
    else:
        facts.append(t("You can close this page."))
    return _message(
        head,
        title=t("Thank you"),
        text=authored or t("Your answers are with {name} now. There is nothing more for you to do.", name=head.brand),
        facts=facts,
        link=link,
    )


def expired_page(sheet: Sheet) -> Response[str]:
    """Its time is over: 410."""
    head, t = sheet.head, sheet.texts
    end = core_instances.expires_time(sheet.issued)
    text = t("It takes no more answers. Thank you for wanting to help.")
    if end is not None:
        text = t(
            "This questionnaire could be answered until {date}. Thank you for wanting to help.",
            date=t.date(end, time_zone=head.time_zone),
        )
    kept = t("Answers that you gave before then have been kept.") if sheet.walk.answers else ""
    authored = head.definition.page_texts(head.locale).expired
    return _message(
        head, title=t("The time to answer is over"), text=authored or text, facts=[kept] if kept else [], status=410
    )


def closed_page(head: Head) -> Response[str]:
    """The questionnaire takes no answers, this one's or anybody's: 410."""
    t = head.texts
    authored = head.definition.page_texts(head.locale).closed
    text = authored or t("It takes no more answers. Thank you for wanting to help.")
    return _message(head, title=t("This questionnaire is closed"), text=text, status=410)


def _message(
    head: Head,
    *,
    title: str,
    text: str,
    facts: list[str] | None = None,
    link: public.Link | None = None,
    status: int = 200,
) -> Response[str]:
    return public.message_page(
        words=head.texts,
        language=head.locale,
        direction=direction(head.locale),
        brand=head.brand,
        title=title,
        paragraphs=[text],
        facts=facts or [],
        link=link,
        status=status,
    )


def _questions(
    sheet: Sheet, number: int, *, marked: Marked | None, posted: Posted | None, wrong: Mapping[str, str]
) -> list[QuestionView]:
    page = sheet.walk.way.get(number)
    return [
        _question(sheet, question, marked=marked, posted=posted, error=wrong.get(question.question_id, ""))
        for question in (page.questions if page else ())
    ]


def _question(
    sheet: Sheet, question: Question, *, marked: Marked | None, posted: Posted | None, error: str
) -> QuestionView:
    t = sheet.texts
    shown_question = localized(question, sheet.head.locale, seed=sheet.seed)
    stored = sheet.walk.answers.get(question.question_id)
    note = ""
    if stored is not None and sheet.hides_answers:
        stored, note = None, t("You have answered this already. Answer again only to change it.")
    if marked is not None and marked.question_id == question.question_id:
        stored, note = marked.given, ""
    shown = forms.shown_answer(stored) if posted is None else forms.shown_input(question, posted.fields)
    return forms.view_of(shown_question, shown=shown, texts=t, error=error, note=note)


def _heading(sheet: Sheet, number: int) -> tuple[str, str | None]:
    """The page's heading and what stands below it: the questionnaire's on the first page, then the group's."""
    head, t = sheet.head, sheet.texts
    page = sheet.walk.way.get(number)
    if page is None:
        return t("That was the last question"), t("Your answers are ready to be sent.")
    if number == 1:
        return head.title, head.definition.description(head.locale, head.questionnaire.description)
    own = page.group.translations.get(head.locale)
    return _group_title(sheet, number) or head.title, (own and own.description) or page.group.description


def _group_title(sheet: Sheet, number: int) -> str:
    page = sheet.walk.way.get(number)
    if page is None:
        return ""
    own = page.group.translations.get(sheet.head.locale)
    return (own and own.title) or page.group.title or ""


def _foot(sheet: Sheet) -> str:
    head, t, instance = sheet.head, sheet.texts, sheet.instance
    who = t("Your answers go to {name}.", name=head.brand)
    if instance is None:
        return who
    end = core_instances.expires_time(instance)
    if end is None:
        return f"{who} {t('They are kept as you go, so you can come back to this page.')}"
    date = t.date(end, time_zone=head.time_zone)
    text = t("They are kept as you go, so you can come back to this page until {date}.", date=date)
    return f"{who} {text}"
