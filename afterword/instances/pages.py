"""The public pages of a questionnaire: the answer page, its short link, the public link. A GET never writes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from afterword import db, errors, ids
from afterword.core.answers.form_tokens import draws_of, is_token, token_of
from afterword.core.wire.site import Site
from afterword.instances import answer_page as sheets
from afterword.instances import forms, issuing, service, starts, store
from afterword.instances import theme as looks
from afterword.instances.answer_page import AnswerPage
from afterword.instances.forms import Posted, Wrong
from afterword.instances.starts import Start
from afterword.questionnaires import store as questionnaires_store
from afterword.web import html, public
from afterword.web.limits import Limiter
from afterword.web.pages import Pages

PAGE_PURPOSE: Final = "page"
VIEW_PURPOSE: Final = "view"
FORM_STATUS_WRONG: Final = 422

routes = Pages()


@routes.get("/a/{instance_id}", for_people=True)
async def answer_page(request: Request) -> Response:
    """One page of questions, or what is said instead: thank you, expired, closed."""
    instance_id: str = request.path_params["instance_id"]
    query = request.query_params
    async with db.connection(request.state.pool) as database:
        now = database.clock.now()
        sheet = await sheets.read(database, instance_id=instance_id)
        wanted = forms.page_number(query.get("page"))
        if sheet.issued.finalized and wanted is None:
            can_change = await service.takes_answers(database, instance=sheet.issued, now=now)
            return sheets.thank_you_page(sheet, can_change=can_change)
        closed = await _closed(database, sheet)
    if closed is not None:
        return closed
    marked = sheet.marked(query.get("q"), query.get("v"))
    number = sheet.walk.at(wanted or (marked and sheet.walk.of_question(marked.question_id)) or sheet.first_open())
    wrong = sheet.missing_on(number) if "check" in query else {}
    return _page(request, sheet, number, marked=marked, wrong=wrong)


@routes.post("/a/{instance_id}", for_people=True)
async def post_answer_page(request: Request) -> Response:
    """Keep the answers of a page and go on, back, or to the end."""
    instance_id: str = request.path_params["instance_id"]
    posted = forms.read_body(await public.read_body(request))
    site: Site = request.state.site
    try:
        async with db.transaction(request.state.pool) as database:
            sheet = (await sheets.read(database, instance_id=instance_id)).arranged(posted.layout)
            if not is_token(
                posted.token, secret=site.secret, purpose=PAGE_PURPOSE, subject=_subject(sheet, posted.page)
            ):
                closed = await _closed(database, sheet)
                return closed or _unread(request, sheet, posted)
            return await _keep(request, database, sheet, posted)
    except service.Finalized:  # sent twice, or sent from another tab
        return html.redirect(sheets.address(instance_id))


@routes.post("/a/{instance_id}/view", for_people=True)
async def post_view(request: Request) -> Response:
    """The page's script saw a person with the page: `viewed_time`."""
    instance_id: str = request.path_params["instance_id"]
    posted = forms.read_body(await public.read_body(request))
    site: Site = request.state.site
    if not is_token(posted.token, secret=site.secret, purpose=VIEW_PURPOSE, subject=instance_id):
        raise errors.Forbidden("This did not come from the page.")
    async with db.transaction(request.state.pool) as database:
        await service.record_view(database, instance_id=instance_id, now=database.clock.now())
    return Response(None, status_code=204, headers=dict(html.PAGE_HEADERS))


@routes.get("/s/{code}", for_people=True)
async def short_link(request: Request) -> Response:
    """The answer page under an address that fits into an SMS."""
    code: str = request.path_params["code"]
    instance = None
    if ids.is_short_code(code):
        async with db.connection(request.state.pool) as database:
            instance = await store.get_instance_by_short_code(database, short_code=code)
    if instance is None:
        _limiter(request).count_miss(_source(request))
        raise errors.NotFound("There is no such page.")
    return html.redirect(sheets.address(instance.instance_id), status=302)


@routes.get("/p/{questionnaire_id}", "/p/{questionnaire_id}/ref/{reference_id}", for_people=True)
async def public_link(request: Request) -> Response:
    """The first page of a questionnaire for whoever has the link; nothing is issued yet."""
    async with db.connection(request.state.pool) as database:
        start = await starts.read(request, database, nonce=ids.secret())
        closed = await _closed_link(request, database, start)
    return closed or _start_page(request, start)


@routes.post("/p/{questionnaire_id}", "/p/{questionnaire_id}/ref/{reference_id}", for_people=True)
async def post_public_link(request: Request) -> Response:
    """Issue the instance, keep the first page's answers and go on to the answer page."""
    _limiter(request).count_start(_source(request))
    posted = forms.read_body(await public.read_body(request))
    site: Site = request.state.site
    instance_id: str | None = None
    try:
        async with db.transaction(request.state.pool) as database:
            start = await starts.read(request, database, nonce=posted.start)
            start = replace(start, sheet=start.sheet.arranged(posted.layout))
            closed = await _closed_link(request, database, start)
            if closed is not None:
                return closed
            if not is_token(posted.token, secret=site.secret, purpose=starts.START_PURPOSE, subject=start.subject):
                start = await starts.read(request, database, nonce=ids.secret())
                notice = start.sheet.texts("This page could not be read. Please send it again.")
                return _start_page(request, start, posted=posted, notice=notice)
            wrong = _wrong_at_start(start, posted)
            if wrong and start.sheet.instance is None:
                return _start_page(request, start, posted=posted, wrong=wrong)
            instance_id = start.sheet.seed
            issued = (await _issued(request, database, start)).arranged(posted.layout)
            if issued.issued.instance_id != instance_id:  # somebody else began with the reference at this moment
                return _used(request, issued)
            answer = await _keep(request, database, issued, posted)
            return starts.with_proof(request, answer, instance_id) if start.reference_id else answer
    except (db.Taken, service.Finalized):  # the same form at the same moment, or once more after the end
        if instance_id is None:
            raise
        return html.redirect(sheets.address(instance_id))


@routes.get("/p/{questionnaire_id}/logo", for_people=True)
async def logo(request: Request) -> Response:
    """The picture that stands over the pages of a questionnaire."""
    questionnaire_id: str = request.path_params["questionnaire_id"]
    async with db.connection(request.state.pool) as database:
        questionnaire = (
            await questionnaires_store.get_public_questionnaire(database, questionnaire_id=questionnaire_id)
            if ids.is_id(questionnaire_id)
            else None
        )
        found = questionnaire and await looks.read_logo(
            database, organization_id=questionnaire.organization_id, questionnaire_id=questionnaire_id
        )
    if not found:
        raise errors.NotFound("There is no such picture.")
    return public.picture(found.content, found.media_type, is_named=request.query_params.get("v") == found.fingerprint)


def _limiter(request: Request) -> Limiter:
    return request.state.limiter


def _source(request: Request) -> str:
    return request.client.host if request.client else ""


async def _closed(database: db.Database, sheet: AnswerPage) -> Response | None:
    """What stands in place of the questions when no answer is taken; None while answers are."""
    now = database.clock.now()
    try:
        await service.require_open(database, instance=sheet.issued, now=now)
    except service.Finalized:
        return sheets.thank_you_page(sheet)
    except service.Expired:
        return sheets.thank_you_page(sheet) if sheet.issued.finalized else sheets.expired_page(sheet)
    except (issuing.Inactive, issuing.Closed):
        return sheets.closed_page(sheet.head)
    return None


async def _keep(request: Request, database: db.Database, sheet: AnswerPage, posted: Posted) -> Response:
    now = database.clock.now()
    number = sheet.walk.at(posted.page)
    if number != posted.page:  # another tab's answers lead past this page, whose form says nothing about any other
        return _go(sheet, sheet.walk.before(posted.page) if posted.go == "back" else sheet.walk.after(posted.page))
    page = sheet.walk.way.get(number)
    answers = forms.read_page(
        page.questions if page else (), posted.fields, texts=sheet.texts, locale=sheet.head.locale
    )
    given = {q: g for q, g in answers.given.items() if g is not None or not sheet.hides_answers}
    try:
        saved = await service.save_answers(
            database,
            instance=sheet.issued,
            definition=sheet.walk.definition,
            answers=given,
            complete=False,
            now=now,
        )
    except service.Expired:
        return sheets.expired_page(sheet)
    except (issuing.Inactive, issuing.Closed):
        return sheets.closed_page(sheet.head)
    sheet = sheet.answered(given)
    if saved.wrong and posted.go != "back" and not (answers.wrong or sheet.missing_on(number)):
        return _whole(request, sheet, posted)
    return await _go_on(request, database, sheet, posted, wrong=answers.wrong)


async def _go_on(
    request: Request, database: db.Database, sheet: AnswerPage, posted: Posted, *, wrong: Mapping[str, Wrong]
) -> Response:
    """From a page that was kept: back, to the page again with what is wrong, further, or to the end."""
    number = posted.page
    if posted.go == "back":
        return _go(sheet, sheet.walk.before(number))
    wrong = {**sheet.missing_on(number), **wrong}
    if wrong:
        return _page(request, sheet, number, posted=posted, wrong=wrong, status=FORM_STATUS_WRONG)
    after = sheet.walk.after(number)
    if after != sheet.walk.end or (posted.go != "send" and number != sheet.walk.end):
        return _go(sheet, after)
    return await _complete(database, sheet)


def _whole(request: Request, sheet: AnswerPage, posted: Posted) -> Response:
    """All questions on one page: the way to change a response that was sent and now leads to unanswered ones."""
    sheet = sheet.arranged("one_page")
    number = sheet.walk.at(1)
    return _page(
        request,
        sheet,
        number,
        posted=posted if sheet.hides_answers else None,  # else what is stored stands there too
        wrong=sheet.missing_on(number),
        status=FORM_STATUS_WRONG,
    )


async def _complete(database: db.Database, sheet: AnswerPage) -> Response:
    missing = sheet.walk.missing()
    if missing:  # a page was skipped by its address
        return _go(sheet, sheet.walk.of_question(missing[0]), check="1")
    await service.save_answers(
        database,
        instance=sheet.issued,
        definition=sheet.walk.definition,
        answers={},
        complete=True,
        now=database.clock.now(),
    )
    return html.redirect(sheets.address(sheet.issued.instance_id))


def _go(sheet: AnswerPage, page: int | None, **query: object) -> Response:
    """On to a page by its number, which another layout since then has made void: then to where answers are missing."""
    same = sheet.walk.arranged == sheet.head.theme.layout
    return html.redirect(sheets.address(sheet.issued.instance_id, page=page if same else None, **query))


def _used(request: Request, sheet: AnswerPage) -> Response:
    """Somebody else began with this reference: a guess tells no more than that, and so many a minute."""
    _limiter(request).count_miss(_source(request))
    return sheets.used_page(sheet.head)


async def _closed_link(request: Request, database: db.Database, start: Start) -> Response | None:
    """What stands in place of the first page when nothing can be started."""
    sheet = start.sheet
    if sheet.instance is not None:
        if not start.is_of(request):
            return _used(request, sheet)
        if sheet.instance.finalized:  # whoever knows a reference may not reach the instance's own page
            return sheets.thank_you_page(sheet)
        return await _closed(database, sheet)
    issuable = await issuing.get_issuable(
        database,
        organization_id=start.questionnaire.organization_id,
        questionnaire_id=start.questionnaire.questionnaire_id,
        by_link=True,
    )
    try:
        await issuing.version_to_start(database, issuable=issuable)
    except (issuing.Inactive, issuing.Closed):
        return sheets.closed_page(sheet.head)
    return None


def _start_page(
    request: Request,
    start: Start,
    *,
    posted: Posted | None = None,
    wrong: Mapping[str, Wrong] | None = None,
    notice: str = "",
) -> Response:
    site: Site = request.state.site
    sheet = start.sheet
    number = sheet.walk.at(1)
    return sheets.question_page(
        sheet,
        number,
        action=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        token=token_of(site.secret, starts.START_PURPOSE, start.subject),
        start=start.nonce,
        marked=sheet.marked(request.query_params.get("q"), request.query_params.get("v")),
        posted=posted,
        wrong=wrong or {},
        notice=notice,
        status=FORM_STATUS_WRONG if posted else 200,
    )


def _wrong_at_start(start: Start, posted: Posted) -> dict[str, Wrong]:
    sheet = start.sheet
    number = sheet.walk.at(1)
    page = sheet.walk.way.get(number)
    answers = forms.read_page(
        page.questions if page else (), posted.fields, texts=sheet.texts, locale=sheet.head.locale
    )
    return {**sheet.answered(answers.given).missing_on(number), **answers.wrong}


async def _issued(request: Request, database: db.Database, start: Start) -> AnswerPage:
    """The sheet of the start's instance, issued now unless it is there: by its reference, or by this very form."""
    if start.sheet.instance is not None:
        return start.sheet
    site: Site = request.state.site
    instance = await store.get_public_instance(database, instance_id=start.sheet.seed)
    if instance is None:
        instance, _ = await service.issue_by_link(
            database,
            organization_id=start.questionnaire.organization_id,
            questionnaire_id=start.questionnaire.questionnaire_id,
            request=issuing.IssueInput(
                instance_id=start.sheet.seed,
                locale=start.sheet.head.locale,
                reference_id=start.reference_id,
                metadata=start.metadata,
            ),
            now=database.clock.now(),
            secret=site.secret,
            draw=draws_of(site.secret, "deal", start.subject),
        )
    return await sheets.of_instance(database, instance=instance)


def _page(
    request: Request,
    sheet: AnswerPage,
    number: int,
    *,
    marked: sheets.Marked | None = None,
    posted: Posted | None = None,
    wrong: Mapping[str, Wrong] | None = None,
    notice: str = "",
    status: int = 200,
) -> Response:
    site: Site = request.state.site
    instance_id = sheet.issued.instance_id
    return sheets.question_page(
        sheet,
        number,
        action=sheets.address(instance_id),
        token=token_of(site.secret, PAGE_PURPOSE, _subject(sheet, number)),
        view=None
        if sheet.issued.viewed_time
        else (f"{sheets.address(instance_id)}/view", token_of(site.secret, VIEW_PURPOSE, instance_id)),
        marked=marked,
        posted=posted,
        wrong=wrong or {},
        notice=notice,
        status=status,
    )


def _unread(request: Request, sheet: AnswerPage, posted: Posted) -> Response:
    """The page again, with what was typed: its hidden fields were lost on the way."""
    notice = sheet.texts("This page could not be read. Please send it again.")
    return _page(request, sheet, sheet.walk.at(posted.page), posted=posted, notice=notice, status=FORM_STATUS_WRONG)


def _subject(sheet: AnswerPage, number: int) -> str:
    return f"{sheet.issued.instance_id}/{number}"
