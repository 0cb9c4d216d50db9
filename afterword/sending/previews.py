"""Permissions to look at the page and the mail of a draft: sealed into their address, for an hour, stored nowhere."""

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlencode

import msgspec
from msgspec.structs import asdict, replace
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances import call_backs, store
from afterword.asking.instances.answer_page import FIELDS_MAX, AnswerPage, Fields, Placement, Posted, head_of
from afterword.asking.instances.pages import read_post
from afterword.asking.instances.rendering import preview_end_page, question_page
from afterword.asking.instances.store import PublicQuestionnaire
from afterword.asking.questionnaires import access, drafts, files, metadata
from afterword.asking.questionnaires.files import File
from afterword.core.answers import instances, values as answer_forms
from afterword.core.answers.progress import PageSequence, draw_questions
from afterword.core.answers.values import Given, InvalidAnswer
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.visuals import Scheme, Theme, read_address
from afterword.core.reading.findings import Findings
from afterword.core.text import locales
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.kit import db, sealing
from afterword.kit.db import Database
from afterword.kit.texts import accepted, texts
from afterword.kit.web import fields, html, public
from afterword.kit.web.mails import mail_page
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.routing import Pages
from afterword.people.responders import store as responders_store
from afterword.sending.messages import composing
from afterword.sending.messages.invitation import Authored, compile_invitation
from afterword.tenants.organizations import service as organizations
from afterword.tenants.organizations.applications import Brand, checked_brand

PREVIEW_SECONDS: Final = 3_600
CONTEXT: Final = "preview"
PATH: Final = "/preview/"
MAIL: Final = "/mail"
BrandLevel = Literal["organization", "application"]


class Ended(Exception):
    """The permission has ended."""


class Permission(msgspec.Struct, frozen=True):
    """`ends`: Unix time in seconds. `responder_id`: the person as whom the draft is seen, if any.

    `brand` is shown in place of the stored one of `brand_level`.
    """

    organization_id: str
    questionnaire_id: str
    responder_id: str | None
    ends: int
    brand: Mapping[str, Any] | None = None
    brand_level: BrandLevel = "application"


class DraftPreviewRequest(fields.Request):
    """The view of the draft."""

    locale: fields.Locale | None = None
    question_id: fields.Id | None = None
    ending_id: fields.Id | None = None
    responder_id: fields.Id | None = None
    brand: Brand | None = None
    brand_level: Literal["organization", "application"] = "application"


async def permit(
    db: Database, *, caller: Caller, questionnaire_id: str, wanted: DraftPreviewRequest, now: datetime
) -> Permission:
    """Raises NotFound, Invalid for an unknown id or a wrong brand, Forbidden for a responder."""
    responder_id, brand = wanted.responder_id, wanted.brand
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    draft = await drafts.get(db, **questionnaire.key)
    definition = core_definition.read(draft.definition, Findings())
    if wanted.question_id and definition.question(wanted.question_id) is None:
        raise errors.Invalid.at("/question_id", "unknown_id", "There is no such question.")
    if wanted.ending_id and wanted.ending_id not in {one.ending_id for one in definition.endings}:
        raise errors.Invalid.at("/ending_id", "unknown_id", "There is no such ending.")
    if responder_id is not None:
        caller.require("Responder.Read")
        key = {"organization_id": caller.organization_id, "responder_id": responder_id}
        if await responders_store.get_responder(db, **key) is None:
            raise errors.Invalid.at("/responder_id", "unknown_id", "There is no such responder.")
    if brand is not None:
        brand = await checked_brand(db, organization_id=caller.organization_id, brand=brand)
        if read_address(brand.get("logo", "")) is None and "logo" in brand:
            message = "A preview shows a logo by the path of its picture."  # its address would be too long
            raise errors.Invalid.at("/brand/logo", "invalid_format", message)
    return Permission(
        organization_id=questionnaire.organization_id,
        questionnaire_id=questionnaire_id,
        responder_id=responder_id,
        ends=int(now.timestamp()) + PREVIEW_SECONDS,
        brand=brand,
        brand_level=wanted.brand_level,
    )


def address_of(permission: Permission, *, site: Site) -> str:
    sealed = sealing.seal(msgspec.json.encode(asdict(permission)).decode(), secret=site.secret, context=CONTEXT)
    return site.public_url + PATH + base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def read(text: str, *, secret: bytes, now: datetime) -> Permission:
    """The permission in an address. Raises NotFound, Ended."""
    try:
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        permission = msgspec.json.decode(sealing.unseal(sealed, secret=secret, context=CONTEXT), type=Permission)
    except (binascii.Error, ValueError, sealing.Unreadable) as error:
        raise errors.NotFound("There is no such page.") from error
    if permission.ends <= now.timestamp():
        raise Ended
    return permission


async def page_of(
    db: Database, *, permission: Permission, locale: str | None, has_jumps: bool, scheme: Scheme | None = None
) -> AnswerPage:
    """The answer page of the draft as it stands now, without answers; nobody draws lots. Raises NotFound.

    Without a draft it is that of the published version, from which one would begin. `scheme` None: as the device says.
    """
    questionnaire = await store.get_public_questionnaire(db, questionnaire_id=permission.questionnaire_id)
    if questionnaire is None or questionnaire.organization_id != permission.organization_id:
        raise errors.NotFound("There is no such page.")
    if permission.brand is not None:
        shown = dict(permission.brand)
        questionnaire = (
            replace(questionnaire, organization_brand=shown)
            if permission.brand_level == "organization"
            else replace(questionnaire, application_brand=shown)
        )
    document = await drafts.begun(db, questionnaire=questionnaire)
    definition = files.sound(core_definition.read(document, Findings()))
    if not has_jumps:
        definition = _without_jumps(definition)
    responder = permission.responder_id and await responders_store.get_responder(
        db, organization_id=permission.organization_id, responder_id=permission.responder_id
    )
    declared = await metadata.declared(
        db, organization_id=permission.organization_id, application_id=questionnaire.owner_application_id
    )
    facts = instances.facts_of({}, responder.metadata if responder else {}, declared)
    wanted = locale or (responder.locale if responder else None) or definition.default_locale
    head = head_of(questionnaire, definition, locales.match(wanted, definition.locales, definition.default_locale))
    head = replace(head, theme=replace(head.theme, scheme=scheme))
    asked = frozenset(draw_questions(definition, draw=lambda: 0.0))
    layout = "one_page" if definition.anonymous else head.theme.layout
    sequence = PageSequence(definition, asked, {}, facts, layout)
    return AnswerPage(head, sequence, permission.questionnaire_id)


async def mail_of(
    db: Database, *, permission: Permission, locale: str | None, scheme: Scheme | None, site: Site
) -> str:
    """The invitation mail with our own words, as HTML; its links lead to the preview of the page. Raises NotFound."""
    page = await page_of(db, permission=permission, locale=locale, has_jumps=True, scheme=scheme)
    organization = await organizations.get_organization(db, organization_id=permission.organization_id)
    head, definition = page.head, page.sequence.definition
    question_ids = [
        each.question_id for each in definition.questions() if each.question_id in page.sequence.question_ids
    ]
    address = organization.postal_address if organization else None
    invitation = compile_invitation(
        Authored(),
        question=composing.first_question(definition, question_ids),
        minutes=length(definition, drawn=question_ids).minutes,
        locale=head.locale,
        with_address=bool(address),
        theme=head.theme,
        public_url=site.pages(permission.organization_id).public_url,
    )
    url = address_of(permission, site=site)
    values = {"organization": head.brand, "link": url, "unsubscribe_link": url, "postal_address": address or ""}
    return invitation.fill_html(values)[0]


def _without_jumps(definition: Definition) -> Definition:
    groups = [
        replace(group, questions=tuple(replace(question, show_if=None, jumps=()) for question in group.questions))
        for group in definition.groups
    ]
    return replace(definition, groups=tuple(groups))


routes = Routes(tag="Questionnaires")


class DraftPreview(fields.Answer):
    """The addresses of the answer page of a draft, and of its invitation mail."""

    url: str
    mail_url: str
    expires_time: fields.DateTime


@routes.post(
    "/q/questionnaire/{questionnaire_id}/draft/preview",
    scope="Questionnaire.Read",
    answer=DraftPreview,
    summary="Preview draft",
    description=(
        "The answer page of the draft as it stands whenever the address is opened, for an hour. Nothing is stored and "
        "nothing counted. `responder_id` needs `Responder.Read`. `brand` is shown in place of the stored one of "
        "`brand_level`, to look at it before it is saved."
    ),
    status=200,
)
async def preview_draft(call: Call[DraftPreviewRequest], db: Database) -> Answer:
    body = call.body
    permission = await permit(db, caller=call.caller, **call.ids, wanted=body, now=call.now)
    named = (("locale", body.locale), ("question", body.question_id), ("ending", body.ending_id))
    query = {name: value for name, value in named if value}
    address, asked = address_of(permission, site=call.site), f"?{urlencode(query)}" if query else ""
    expires_time = times.format_time(datetime.fromtimestamp(permission.ends, UTC), zone=call.zone)
    return Answer(DraftPreview(url=address + asked, mail_url=address + MAIL + asked, expires_time=expires_time))


FORM_STATUS_WRONG: Final = 422
SCHEMES: Final[Mapping[str, Scheme]] = {"light": "light", "dark": "dark"}

page_routes = Pages()


@page_routes.get("/preview/{permission}", for_people=True)
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


@page_routes.get("/preview/{permission}/mail", for_people=True)
async def get_mail(request: Request) -> Response:
    site: Site = request.state.site
    async with db.connection(request.state.pool) as database:
        try:
            permission = read(request.path_params["permission"], secret=site.secret, now=database.clock.now())
        except Ended:
            return _ended(request)
        html_text = await mail_of(
            database,
            permission=permission,
            locale=request.query_params.get("locale"),
            scheme=_scheme(request),
            site=site,
        )
        return mail_page(html_text, pages=site.pages(permission.organization_id))


@page_routes.post("/preview/{permission}", for_people=True)
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
            permission = read(request.path_params["permission"], secret=site.secret, now=database.clock.now())
        except Ended:
            return None
        answer_page = await page_of(
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


def _page(request: Request, answer_page: AnswerPage, number: int, carried: Fields, **said: Any) -> Response:
    """`said`: other arguments of `question_page`."""
    return _framed(
        question_page(
            answer_page,
            number,
            action=_address(request),
            token="",
            start=urlencode(carried, doseq=True),
            foot=answer_page.texts("Preview. Nothing that you enter is kept."),
            scripts=["edited"] if "edit" in request.query_params else (),
            **said,
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
    return question_page(AnswerPage(head, sequence, NOBODY), 1, action="", token="")
