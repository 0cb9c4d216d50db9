"""The public pages of a questionnaire: the answer page, its short link, the public link. A GET never writes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from afterword import errors, ids
from afterword.asking.instances import anonymity, answers, call_backs, choices, files, issuing, service, store
from afterword.asking.instances.anonymity import refused_page
from afterword.asking.instances.answer_page import (
    FIELDS_MAX,
    AnswerPage,
    Placement,
    Posted,
    Wrong,
    answer_page_of,
    first,
    page_address,
    page_number,
    posted_of,
    read_posted,
)
from afterword.asking.instances.answers import AnswerContext
from afterword.asking.instances.files import Upload
from afterword.asking.instances.rendering import (
    Choice,
    Marked,
    closed_page,
    expired_page,
    logo_of,
    question_page,
    thank_you_page,
    used_page,
)
from afterword.asking.instances.starts import (
    START_PURPOSE,
    Start,
    issue,
    observed,
    read_start,
    with_proof,
    wrong_at_start,
)
from afterword.core.answers.files import Received
from afterword.core.answers.suspicion import is_token, token_of
from afterword.core.answers.values import field_name
from afterword.core.questionnaires.question_types import FILE_BYTES_MAX, Question
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web import html, parsing, public, uploads
from afterword.kit.web.limits import Limiter
from afterword.kit.web.routing import Pages

UPLOAD_SECONDS_MAX: Final = 180  # a phone sends some megabytes slowly
ReadPage = Callable[[db.Database], Awaitable[AnswerPage | None]]
PAGE_PURPOSE: Final = "page"
VIEW_PURPOSE: Final = "view"
FORM_STATUS_WRONG: Final = 422


class ReadStart(Protocol):
    """Finds the start of a public link, or the page that is shown in its place."""

    async def __call__(self, database: db.Database, *, nonce: str) -> Start | Response: ...


routes = Pages()


@routes.get("/a/{instance_id}", for_people=True)
async def show_answers(request: Request, placement: Placement | None = None) -> Response:
    instance_id: str = request.path_params["instance_id"]
    query = request.query_params
    async with db.connection(request.state.pool) as database:
        now = database.clock.now()
        context = await answers.read_context(database, instance_id=_known(instance_id))
        answer_page = _page_of(request, context, placement)
        requested = page_number(query.get("page"))
        if answer_page.issued.finalized and requested is None:
            issued, questionnaire = answer_page.issued, answer_page.context.questionnaire
            can_change = await answers.takes_answers(database, instance=issued, issuable=questionnaire, now=now)
            secret, changes = request.state.site.secret, query.get("call") == "change"
            call = await call_backs.offered(database, answer_page=answer_page, secret=secret, now=now, changes=changes)
            return thank_you_page(answer_page, can_change=can_change, call_back=call, secret=secret)
        closed = await _closed(database, answer_page)
    if closed is not None:
        return closed
    marked = answer_page.marked(query.get("q"), query.get("v"))
    number = answer_page.sequence.at(
        requested or (marked and answer_page.sequence.numbers.get(marked.question_id)) or answer_page.first_open()
    )
    wrong = answer_page.missing_on(number) if "check" in query else {}
    recorded = query.get("recorded", "")
    given = None if answer_page.hides_answers else answer_page.sequence.answers.get(recorded)
    note = choices.said(answer_page, recorded, given) if given is not None and not marked else ""
    return _page(request, answer_page, number, marked=marked, wrong=wrong, note=note)


@routes.post("/a/{instance_id}", for_people=True)
async def post_answers(request: Request, placement: Placement | None = None) -> Response:
    instance_id: str = request.path_params["instance_id"]
    posted = await read_post(request, partial(_read_page, instance_id, placement))
    site: Site = request.state.site
    try:
        async with db.transaction(request.state.pool) as database:
            context = await answers.lock_context(database, instance_id=_known(instance_id))
            answer_page = _page_of(request, context, placement).with_layout(posted.layout)
            subject = f"{instance_id}/{posted.page}"
            if not is_token(posted.token, secret=site.secret, purpose=PAGE_PURPOSE, subject=subject):
                return await _closed(database, answer_page) or _unread(request, answer_page, posted)
            return await _keep(request, database, answer_page, posted)
    except answers.Finalized:  # sent twice, or sent from another tab
        return html.redirect(page_address(instance_id, under=placement.path if placement else "/a"))


@routes.post("/a/{instance_id}/view", for_people=True)
async def post_view(request: Request) -> Response:
    instance_id: str = request.path_params["instance_id"]
    posted = read_posted(await public.read_body(request))
    site: Site = request.state.site
    if not is_token(posted.token, secret=site.secret, purpose=VIEW_PURPOSE, subject=instance_id):
        raise errors.Forbidden("This did not come from the page.")
    async with db.transaction(request.state.pool) as database:
        await answers.record_view(database, instance_id=instance_id, now=database.clock.now())
    return Response(None, status_code=204, headers=dict(html.PAGE_HEADERS))


@routes.post("/a/{instance_id}/choice", for_people=True)
async def post_choice(request: Request) -> Response:
    """Sent by the script of a page that a score in a mail opened; see `choices`."""
    instance_id: str = request.path_params["instance_id"]
    posted = read_posted(await public.read_body(request))
    question_id, sign = first(posted.fields, "q"), choices.SIGNS.get(first(posted.fields, "sign"))
    subject, secret = f"{instance_id}/{question_id}", request.state.site.secret
    if sign is None or not is_token(posted.token, secret=secret, purpose=choices.CHOICE_PURPOSE, subject=subject):
        raise errors.Forbidden("This did not come from the page.")
    async with db.transaction(request.state.pool) as database:
        answer_page = answer_page_of(await answers.lock_context(database, instance_id=instance_id))
        marked = answer_page.marked(question_id, first(posted.fields, "v"))
        if marked is None or not choices.takes_choice(answer_page, marked):
            raise errors.Conflict("This choice is not recorded.")
        automated = bool(first(posted.fields, "automated"))
        opening = choices.opening_of(request, answer_page.issued, sign, says_automated=automated)
        saved = await choices.record(
            database, answer_page=answer_page, marked=marked, opening=opening, now=database.clock.now()
        )
    if saved is None or saved.wrong or saved.instance.full_quota_id is not None:
        return Response(None, status_code=204, headers=dict(html.PAGE_HEADERS))
    answer = {"said": choices.said(answer_page, question_id, marked.given), "next": _next_of(answer_page, marked)}
    return JSONResponse(answer, headers=dict(html.PAGE_HEADERS))


def _next_of(answer_page: AnswerPage, marked: Marked) -> str:
    """The address at which the questions go on, if the page asks nothing else or the choice makes questions appear."""
    number = answer_page.sequence.numbers[marked.question_id]
    after = answer_page.answered({marked.question_id: marked.given})
    others = [one for one in after.sequence.questions_on(number) if one.question_id != marked.question_id]
    page = after.sequence.after(number) if not others else number
    if page == after.sequence.end or (others and not after.appeared(answer_page, number)):
        return ""
    return answer_page.address(answer_page.issued.instance_id, page=page, recorded=marked.question_id)


@routes.get("/s/{code}", for_people=True)
async def short_link(request: Request) -> Response:
    code: str = request.path_params["code"]
    instance = None
    if ids.is_short_code(code):
        instance = await db.load(request.state.pool, store.get_instance_by_short_code, short_code=code)
    if instance is None:
        _limiter(request).count_miss(_source(request))
        raise errors.NotFound("There is no such page.")
    return html.redirect(page_address(instance.instance_id), status=302)


@routes.get("/p/{questionnaire_id}", "/p/{questionnaire_id}/ref/{reference_id}", for_people=True)
async def public_link(request: Request) -> Response:
    return await show_start(request, partial(read_start, request))


@routes.post("/p/{questionnaire_id}", "/p/{questionnaire_id}/ref/{reference_id}", for_people=True)
async def post_public_link(request: Request) -> Response:
    _limiter(request).count_start(_source(request))
    posted = await read_post(request, partial(read_start_page, partial(read_start, request)))
    return await post_start(request, partial(read_start, request), posted)


@routes.get("/p/{questionnaire_id}/logo", for_people=True)
async def logo(request: Request) -> Response:
    questionnaire = None
    if ids.is_id(request.path_params["questionnaire_id"]):
        questionnaire = await db.load(request.state.pool, store.get_public_questionnaire, **request.path_params)
    found = errors.found(logo_of(questionnaire.theme) if questionnaire else None, "There is no such picture.")
    return public.picture(found.content, found.media_type, is_named=request.query_params.get("v") == found.fingerprint)


async def show_start(request: Request, read: ReadStart) -> Response:
    async with db.connection(request.state.pool) as database:
        start = await _open_start(request, database, read, nonce=ids.ordered(database.clock.now()))
    return start if isinstance(start, Response) else _start_page(request, start)


async def post_start(request: Request, read: ReadStart, posted: Posted) -> Response:
    site: Site = request.state.site
    again = ""
    try:
        async with db.transaction(request.state.pool) as database:
            start = await _open_start(request, database, read, nonce=posted.start)
            if isinstance(start, Response):
                return start
            start = replace(start, answer_page=start.answer_page.with_layout(posted.layout))
            if not is_token(posted.token, secret=site.secret, purpose=START_PURPOSE, subject=start.form):
                return await _unread_start(request, database, read, posted)
            wrong = {} if posted.locale else wrong_at_start(start, posted)
            is_unsaved = bool(wrong or posted.locale) and not posted.new_files  # a page cannot give files back
            if is_unsaved and start.answer_page.instance is None:
                return _start_page(request, start, posted=posted, wrong=wrong, locale=posted.locale)
            instance_id = start.answer_page.seed
            again = start.answer_page.address(instance_id)
            issued = (await issue(request, database, start)).with_layout(posted.layout)
            if issued.issued.instance_id != instance_id:  # somebody else began with the reference at this moment
                return _used(request, issued)
            answer = await _keep(request, database, issued, posted, start=observed(request, database, start, posted))
            return with_proof(request, answer, start, instance_id)
    except (db.Taken, answers.Finalized):  # the same form at the same moment, or once more after the end
        if not again:
            raise
        return html.redirect(again)


async def _open_start(request: Request, database: db.Database, read: ReadStart, *, nonce: str) -> Start | Response:
    start = await read(database, nonce=nonce)
    if isinstance(start, Response):
        return start
    return await _closed_link(request, database, start) or start


async def _unread_start(request: Request, database: db.Database, read: ReadStart, posted: Posted) -> Response:
    start = await _open_start(request, database, read, nonce=ids.ordered(database.clock.now()))
    if isinstance(start, Response):
        return start
    notice = start.answer_page.texts("This page could not be read. Please send it again.")
    return _start_page(request, start, posted=posted, notice=notice)


def _page_of(request: Request, context: AnswerContext, placement: Placement | None) -> AnswerPage:
    """In the language that the address names where the visit of an invitation must not be recorded."""
    accepts = request.headers.get("accept-language", "")
    answer_page = answer_page_of(context).placed(placement).read_by(accepts)
    return answer_page.in_language(request.query_params.get("locale", "")) if answer_page.is_invitation else answer_page


async def read_post(request: Request, read_page: ReadPage, *, keeps: bool = True) -> Posted:
    """The posted page, with files where it is a form of parts. `read_page` finds the questions that take them, if any.

    `keeps`: whether the answers are saved, as those of a preview are not. Raises Malformed, TooLarge, TooMany,
    Unavailable, and what `read_page` raises.
    """
    label = request.headers.get("content-type", "")
    if not uploads.is_form(label):
        return read_posted(await public.read_body(request))
    async with db.connection(request.state.pool) as database:
        answer_page = await read_page(database)
        now = database.clock.now()
    questions = [] if answer_page is None else answer_page.file_questions
    limiter, source, site = _limiter(request), _source(request), request.state.site
    limiter.count_upload(source)
    with limiter.upload(source):
        body = await public.read_body(request, bytes_max=_bytes_max(questions), seconds_max=UPLOAD_SECONDS_MAX)
        fields, sent = _parted(await asyncio.to_thread(uploads.read_parts, body, label, parts_max=FIELDS_MAX))
        del body
        found: Mapping[str, Received] = {}
        if sent and questions:
            found = await asyncio.to_thread(partial(files.check, questions, _uploads(questions, sent), now=now))
            if site.scan_command:
                found = await files.scanned(found, site=site)
            if site.file_folder and keeps and answer_page is not None:
                organization_id = answer_page.head.questionnaire.organization_id
                found = await files.in_folder(request.state.pool, found, organization_id=organization_id, site=site)
    return posted_of(fields, files=found)


async def read_start_page(read: ReadStart, database: db.Database) -> AnswerPage | None:
    """The first page of what `read` finds; None where another page replaces it."""
    start = await read(database, nonce=ids.ordered(database.clock.now()))
    return None if isinstance(start, Response) else start.answer_page


async def _read_page(instance_id: str, placement: Placement | None, database: db.Database) -> AnswerPage:
    return answer_page_of(await answers.read_context(database, instance_id=_known(instance_id))).placed(placement)


def _known(instance_id: str) -> str:
    """Raises NotFound for a text that is no id."""
    if not ids.is_id(instance_id):
        raise errors.NotFound("There is no such page.")
    return instance_id


def _limiter(request: Request) -> Limiter:
    return request.state.limiter


def _source(request: Request) -> str:
    return request.client.host if request.client else ""


async def _closed(database: db.Database, answer_page: AnswerPage) -> Response | None:
    """The page that replaces the questions while no answers are taken; None while they are."""
    now = database.clock.now()
    try:
        await answers.require_open(
            database, instance=answer_page.issued, issuable=answer_page.context.questionnaire, now=now
        )
    except answers.Finalized:
        return thank_you_page(answer_page)
    except answers.Expired:
        return thank_you_page(answer_page) if answer_page.issued.finalized else expired_page(answer_page)
    except (answers.Inactive, answers.Closed):
        return closed_page(answer_page)
    return None


async def _keep(
    request: Request,
    database: db.Database,
    answer_page: AnswerPage,
    posted: Posted,
    *,
    start: answers.Start | None = None,
) -> Response:
    if answer_page.is_invitation:
        return await anonymity.send(request, database, answer_page, posted, show=_page)
    sequence, now = answer_page.sequence, database.clock.now()
    number = sequence.at(posted.page)
    if number != posted.page:  # the answers of another tab lead past this page; its form holds nothing about others
        return _go(answer_page, sequence.before(posted.page) if posted.go == "back" else sequence.after(posted.page))
    if posted.files:
        received = await files.without_known(database, instance=answer_page.issued, received=posted.files)
        posted = replace(posted, files=received)
    form = answer_page.read_form(number, posted)
    given = {q: g for q, g in form.given.items() if g is not None or not answer_page.hides_answers}
    try:
        saved = await answers.save_answers(
            database,
            context=answer_page.context,
            answers=given,
            complete=False,
            now=now,
            start=start,
            files=posted.new_files,
        )
    except (answers.Expired, answers.Inactive, answers.Closed) as refusal:
        return refused_page(answer_page, refusal)
    before, answer_page = answer_page, replace(answer_page.answered(given), started=saved.context)
    if posted.locale:
        return await _in_language(request, database, answer_page, posted, has_wrong=bool(form.wrong))
    appeared = answer_page.appeared(before, number)
    wrong = answer_page.wrong_on(number, form, appeared)
    if saved.wrong and posted.go != "back" and not wrong:
        return _whole(request, answer_page, posted)
    return await _go_on(request, database, answer_page, posted, wrong=wrong, appeared=appeared)


async def _in_language(
    request: Request, database: db.Database, answer_page: AnswerPage, posted: Posted, *, has_wrong: bool
) -> Response:
    answer_page = answer_page.in_language(posted.locale)
    locale, now = answer_page.head.locale, database.clock.now()
    if locale != answer_page.issued.locale:
        await service.update_language(database, **answer_page.issued.key, locale=locale, now=now)
    if has_wrong:
        return _page(request, answer_page, posted.page, posted=posted)
    return _go(answer_page, posted.page)


async def _go_on(
    request: Request,
    database: db.Database,
    answer_page: AnswerPage,
    posted: Posted,
    *,
    wrong: Mapping[str, Wrong],
    appeared: Sequence[str],
) -> Response:
    """After storing a page: the previous page, the same with errors or more questions, the next, or the end."""
    number = posted.page
    if answer_page.issued.full_quota_id is not None:
        return html.redirect(answer_page.address(answer_page.issued.instance_id))
    if posted.go == "back":
        return _go(answer_page, answer_page.sequence.before(number))
    is_kept = posted.go == "keep" or (posted.go == "deliver" and bool(wrong))
    if wrong and not is_kept:
        return _page(request, answer_page, number, posted=posted, wrong=wrong, status=FORM_STATUS_WRONG)
    if appeared or is_kept:
        return _go(answer_page, number, shown=next(iter(appeared), ""))
    after = answer_page.sequence.after(number)
    is_sent = posted.go in {"send", "deliver"}
    if after != answer_page.sequence.end or (not is_sent and number != answer_page.sequence.end):
        return _go(answer_page, after)
    return await _complete(database, answer_page)


def _whole(request: Request, answer_page: AnswerPage, posted: Posted) -> Response:
    """All questions on one page, for a change of a sent response that leads to unanswered questions."""
    answer_page = answer_page.with_layout("one_page")
    number = answer_page.sequence.at(1)
    wrong = answer_page.missing_on(number)
    if posted.new_files:  # nothing was saved, and a page cannot give files back
        stored = answer_page.context.answers
        unsaved = {one: stored.get(one) for one in posted.files}
        answer_page = answer_page.answered(unsaved)
        wrong |= {one: Wrong(answer_page.texts("Please choose your files again.")) for one in unsaved}
    shown = posted if answer_page.hides_answers else None  # else the stored answers are shown
    return _page(request, answer_page, number, posted=shown, wrong=wrong, status=FORM_STATUS_WRONG)


async def _complete(database: db.Database, answer_page: AnswerPage) -> Response:
    missing = answer_page.sequence.missing()
    if missing:  # the visitor skipped a page by its address
        return _go(answer_page, answer_page.sequence.numbers[missing[0]], check="1")
    await answers.save_answers(
        database, context=answer_page.context, answers={}, complete=True, now=database.clock.now()
    )
    return html.redirect(answer_page.address(answer_page.issued.instance_id))


def _go(answer_page: AnswerPage, page: int | None, *, shown: str = "", **query: object) -> Response:
    """Redirect to a page, or to its question `shown`; if the layout changed, to the first page without answers."""
    same = answer_page.sequence.layout == answer_page.head.theme.layout
    address = answer_page.address(answer_page.issued.instance_id, page=page if same else None, **query)
    return html.redirect(address + (f"#q-{shown}" if shown else ""))


def _used(request: Request, answer_page: AnswerPage) -> Response:
    """Another visitor started with this reference; guesses are limited per minute."""
    _limiter(request).count_miss(_source(request))
    return used_page(answer_page.head)


async def _closed_link(request: Request, database: db.Database, start: Start) -> Response | None:
    answer_page = start.answer_page
    if answer_page.instance is not None:
        if not start.is_of(request):
            return _used(request, answer_page)
        if answer_page.instance.is_over:  # a visitor who knows the reference may not reach the instance's own page
            return thank_you_page(answer_page, by_reference=True)
        return await _closed(database, answer_page)
    try:
        await issuing.version_to_start(
            database, issuable=start.questionnaire, is_by_key=start.terms.link_id is not None
        )
    except (answers.Inactive, answers.Closed):
        return closed_page(answer_page)
    return None


def _start_page(
    request: Request,
    start: Start,
    *,
    posted: Posted | None = None,
    locale: str = "",
    **said: Any,
) -> Response:
    """`locale`: the language that was chosen on the page; the address of its form names it from then on.

    `said`: other arguments of `question_page`.
    """
    site: Site = request.state.site
    answer_page = start.answer_page.in_language(locale)
    number = answer_page.sequence.at(1)
    url = request.url.include_query_params(locale=answer_page.head.locale) if locale else request.url
    return question_page(
        answer_page,
        number,
        action=url.path + (f"?{url.query}" if url.query else ""),
        token=token_of(site.secret, START_PURPOSE, start.form),
        start=start.nonce,
        marked=answer_page.marked(request.query_params.get("q"), request.query_params.get("v")),
        posted=posted,
        status=FORM_STATUS_WRONG if posted and not locale else 200,
        has_languages=True,
        **said,
    )


def _page(
    request: Request,
    answer_page: AnswerPage,
    number: int,
    *,
    marked: Marked | None = None,
    posted: Posted | None = None,
    **said: Any,
) -> Response:
    """`said`: other arguments of `question_page`."""
    site: Site = request.state.site
    instance_id = answer_page.issued.instance_id
    locale = answer_page.head.locale if answer_page.is_invitation else None
    return question_page(
        answer_page,
        number,
        action=answer_page.address(instance_id, locale=locale),
        token=token_of(site.secret, PAGE_PURPOSE, f"{instance_id}/{number}"),
        view=None
        if answer_page.issued.viewed_time or answer_page.is_invitation
        else (f"{page_address(instance_id)}/view", token_of(site.secret, VIEW_PURPOSE, instance_id)),
        choice=_choice_of(answer_page, marked, site.secret) if marked and not posted else None,
        marked=marked,
        posted=posted,
        has_languages=True,
        **said,
    )


def _choice_of(answer_page: AnswerPage, marked: Marked, secret: bytes) -> Choice | None:
    """The data by which the script records the choice of a mail; None where the form alone stores it."""
    if not choices.takes_choice(answer_page, marked):
        return None
    instance, question_id = answer_page.issued, marked.question_id
    waits = answer_page.head.questionnaire.accepts_provisional and not instance.test
    return Choice(
        url=f"{page_address(instance.instance_id)}/choice",
        token=token_of(secret, choices.CHOICE_PURPOSE, f"{instance.instance_id}/{question_id}"),
        question_id=question_id,
        field=field_name(question_id),
        seconds=choices.SEEN_SECONDS if waits else 0,
    )


def _unread(request: Request, answer_page: AnswerPage, posted: Posted) -> Response:
    notice = answer_page.texts("This page could not be read. Please send it again.")
    number = answer_page.sequence.at(posted.page)
    return _page(request, answer_page, number, posted=posted, notice=notice, status=FORM_STATUS_WRONG)


def _bytes_max(questions: Sequence[Question]) -> int:
    """Room for a file that is too large, so that the page can say so."""
    allowed = sum((one.files_max or 1) * (one.bytes_max or 0) for one in questions)
    return parsing.BODY_BYTES_MAX + (allowed + FILE_BYTES_MAX if questions else 0)


def _parted(parts: Sequence[uploads.Part]) -> tuple[dict[str, list[str]], list[uploads.Part]]:
    """The fields, and the files that were chosen. Raises Malformed."""
    fields: dict[str, list[str]] = {}
    sent: list[uploads.Part] = []
    for part in parts:
        if part.file_name is None:
            fields.setdefault(part.name, []).append(parsing.check_text(parsing.decode(part.content, "form")))
        elif part.file_name:
            sent.append(part)
    if sum(len(text) for values in fields.values() for text in values) > parsing.BODY_BYTES_MAX:
        raise errors.Malformed("The form's fields are too long.", code="malformed_form")
    return fields, sent


def _uploads(questions: Sequence[Question], sent: Sequence[uploads.Part]) -> list[Upload]:
    by_field = {field_name(one.question_id): one.question_id for one in questions}
    return [
        Upload(by_field[part.name], uploads.file_name_of(part.file_name or "") or "", part.content)
        for part in sent
        if part.name in by_field
    ]
