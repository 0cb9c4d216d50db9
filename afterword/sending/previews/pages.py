"""The answer page and the mail of a draft. Nothing is written: the answers so far travel in a hidden field."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances.answer_page import FIELDS_MAX, AnswerPage, Fields, Placement, Posted, Wrong, head_of
from afterword.asking.instances.call_backs import service as call_backs
from afterword.asking.instances.pages import read_post
from afterword.asking.instances.rendering import preview_end_page, question_page
from afterword.asking.instances.store import PublicQuestionnaire
from afterword.asking.questionnaires.files import File
from afterword.core.answers import values as answer_forms
from afterword.core.answers.progress import PageSequence
from afterword.core.answers.values import Given, InvalidAnswer
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.visuals import Scheme, Theme
from afterword.core.text import locales
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.texts import accepted, texts
from afterword.kit.web import html, public
from afterword.kit.web.mails import mail_page
from afterword.kit.web.routing import Pages
from afterword.sending.previews import service

FORM_STATUS_WRONG: Final = 422
SCHEMES: Final[Mapping[str, Scheme]] = {"light": "light", "dark": "dark"}

routes = Pages()


@routes.get("/preview/{permission}", for_people=True)
async def get_preview(request: Request) -> Response:
    """The first page, or that of the query: of a `question`, with all pages and no jumps, or of an `ending`."""
    answer_page = await _answer_page(request)
    if answer_page is None:
        return _ended(request)
    ending_id = request.query_params.get("ending", "")
    for ending in answer_page.sequence.definition.endings:
        if ending.ending_id == ending_id:
            return await _end(request, answer_page, ending, again=request.url.path)
    question_id = request.query_params.get("question", "")
    return _page(request, answer_page, answer_page.sequence.at(answer_page.sequence.numbers.get(question_id, 1)), {})


@routes.get("/preview/{permission}/mail", for_people=True)
async def get_mail(request: Request) -> Response:
    site: Site = request.state.site
    async with db.connection(request.state.pool) as database:
        try:
            permission = service.read(request.path_params["permission"], secret=site.secret, now=database.clock.now())
        except service.Ended:
            return _ended(request)
        html_text = await service.mail_of(
            database,
            permission=permission,
            locale=request.query_params.get("locale"),
            scheme=_scheme(request),
            site=site,
        )
        return mail_page(html_text, pages=site.pages(permission.organization_id))


@routes.post("/preview/{permission}", for_people=True)
async def post_preview(request: Request) -> Response:
    answer_page = await _answer_page(request)
    if answer_page is None:
        return _ended(request)
    posted = await read_post(request, partial(_same, answer_page), keeps=False)
    answer_page = answer_page.with_layout(posted.layout)
    carried = _carried(posted)
    answer_page = answer_page.answered(_answers(answer_page, carried))
    number = answer_page.sequence.at(posted.page)
    form = answer_page.read_form(number, posted)
    before, answer_page = answer_page, answer_page.answered(form.given)
    appeared = answer_page.appeared(before, number)
    wrong = answer_page.wrong_on(number, form, appeared)
    names = {answer_forms.field_name(one.question_id) for one in answer_page.sequence.questions_on(number)}
    carried = {name: values for name, values in carried.items() if not _is_of(name, names)}
    carried |= {name: values for name, values in posted.fields.items() if _is_of(name, names)}
    if posted.go == "back":
        return _page(request, answer_page, answer_page.sequence.before(number) or number, carried)
    if wrong:
        return _page(request, answer_page, number, carried, posted=posted, wrong=wrong, status=FORM_STATUS_WRONG)
    if appeared:
        return _page(request, answer_page, number, carried)
    after = answer_page.sequence.after(number)
    if after != answer_page.sequence.end or (posted.go != "send" and number != answer_page.sequence.end):
        return _page(request, answer_page, after, carried)
    return await _end(request, answer_page, answer_page.sequence.ending(), again=_address(request))


async def _end(request: Request, answer_page: AnswerPage, ending: Ending | None, *, again: str) -> Response:
    call_back = None
    if ending is not None and ending.call_back:
        async with db.connection(request.state.pool) as database:
            call_back = call_backs.preview(answer_page, now=database.clock.now())
    return _framed(preview_end_page(answer_page, ending, again=again, call_back=call_back))


async def _same(answer_page: AnswerPage, _: db.Database) -> AnswerPage:
    return answer_page


async def _answer_page(request: Request) -> AnswerPage | None:
    """None once the permission has ended. Raises NotFound."""
    site: Site = request.state.site
    query = request.query_params
    async with db.connection(request.state.pool) as database:
        try:
            permission = service.read(request.path_params["permission"], secret=site.secret, now=database.clock.now())
        except service.Ended:
            return None
        answer_page = await service.page_of(
            database,
            permission=permission,
            locale=query.get("locale"),
            has_jumps="question" not in query,
            scheme=_scheme(request),
        )
    return (
        answer_page.placed(Placement(kind="box", path=request.url.path, data={"origins": ""}))
        if "box" in query
        else answer_page
    )


def _scheme(request: Request) -> Scheme | None:
    return SCHEMES.get(request.query_params.get("scheme", ""))


def _carried(posted: Posted) -> dict[str, list[str]]:
    """The fields of the earlier pages. Raises Malformed."""
    try:
        return parse_qs(posted.start, keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError as error:
        raise errors.Malformed("This form could not be read.", code="malformed_form") from error


def _answers(answer_page: AnswerPage, fields: Fields) -> dict[str, Given | None]:
    """The answers in these fields; those that no longer fit the draft are left out."""
    found: dict[str, Given | None] = {}
    for question in answer_page.sequence.definition.questions():
        try:
            read = answer_forms.read_form(question, fields, point=answer_page.texts.point)
            found[question.question_id] = read if question.is_answered else None
        except InvalidAnswer:
            found[question.question_id] = None
    return found


def _page(
    request: Request,
    answer_page: AnswerPage,
    number: int,
    carried: Fields,
    *,
    posted: Posted | None = None,
    wrong: Mapping[str, Wrong] | None = None,
    status: int = 200,
) -> Response:
    return _framed(
        question_page(
            answer_page,
            number,
            action=_address(request),
            token="",
            start=urlencode(carried, doseq=True),
            posted=posted,
            wrong=wrong or {},
            foot=answer_page.texts("Preview. Nothing that you enter is kept."),
            status=status,
        )
    )


def _address(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _is_of(name: str, names: set[str]) -> bool:
    """Whether a field, or a part of it such as the row of a matrix, is of one of these questions."""
    return any(name.startswith(each) for each in names)


def _ended(request: Request) -> Response:
    words = texts(public.DOMAIN, accepted(request.headers.get("accept-language", "")))
    title, text = words("This preview has ended"), words("Please open it again from the questionnaire.")
    return _framed(public.message_page(words=words, title=title, paragraphs=[text], status=410))


def _framed(response: Response) -> Response:
    """The console shows it in a frame; no other site may."""
    return html.framed(response, ["'self'"])


NOBODY: Final = ""


def first_page(file: File, *, brand: str, theme: Theme, locale: str, time_zone: str, now: datetime) -> Response:
    """Its form leads nowhere."""
    definition = file.definition
    questionnaire = PublicQuestionnaire(
        organization_id=NOBODY,
        questionnaire_id=NOBODY,
        owner_application_id=NOBODY,
        slug=None,
        template_questionnaire_id=None,
        active=True,
        application_active=True,
        is_active=True,
        published_version_id=None,
        archived_time=None,
        version=1,
        created_time=now,
        updated_time=now,
        created_by=None,
        updated_by=None,
        brand=brand,
        time_zone=time_zone,
        organization_brand={},
        application_brand={},
        configuration=None,
        **file.settings,
    )
    head = head_of(questionnaire, definition, locales.match(locale, definition.locales, definition.default_locale))
    head = replace(head, theme=theme)
    asked = frozenset(question.question_id for question in definition.questions())
    sequence = PageSequence(definition, asked, {}, {}, head.theme.layout)
    return question_page(AnswerPage(head, sequence, NOBODY), 1, action="", token="", wrong={})
