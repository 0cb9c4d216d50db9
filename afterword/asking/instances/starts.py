"""Starts on public links: which questions the first page has, and the cookies by which a browser is known again."""

import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Final

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances import answers, issuing, store
from afterword.asking.instances.answer_page import AnswerPage, Posted, Wrong, answer_page_of, first, head_of
from afterword.asking.instances.answers import AnswerContext
from afterword.asking.instances.store import PublicQuestionnaire
from afterword.asking.questionnaires import access, metadata as metadata_service
from afterword.asking.questionnaires.store import Version
from afterword.core.answers import instances
from afterword.core.answers.progress import PageSequence, draw_questions
from afterword.core.answers.suspicion import draws_of, is_token, number_of, token_of
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import VALUE_CHARACTERS_MAX, Changes, Declared, merge
from afterword.core.text import locales
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web import headers

START_PURPOSE: Final = "start"
BEGUN_PURPOSE: Final = "begun"  # also the name of a cookie
ANSWERED_PURPOSE: Final = "answered"  # also the name of a cookie
BEGUN_DAYS: Final = 365
HIDDEN_FIELD: Final = "homepage"  # of the first page of a public link; people do not see it
SHOWN_MAX: Final = timedelta(days=30)  # an older time is none: the nonce was not made here
REFERENCE: Final = re.compile(r"[A-Za-z0-9._~-]{1,100}\Z")
RESPONDER_NAME: Final = re.compile(r"responder\[([A-Za-z][A-Za-z0-9_]*)\]\Z")


class LinkTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of a public link: of one with a key of its own, or without `link_id` of the questionnaire's.

    `metadata` are stored with the response; `parameters`: names whose values the address may give, if not all that are
    declared; `address`: confirmed by the visitor.
    """

    link_id: str | None = None
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    parameters: Collection[str] | None = None
    locale: str | None = None
    is_once_per_browser: bool = False
    address: str | None = None


NO_TERMS: Final = LinkTerms()


# A reference is often an order number, which others guess. It starts an instance once. Afterwards only the form or the
# browser that started it may continue by it, which a cookie proves; the instance's own address works for everybody.
class Start(msgspec.Struct, frozen=True):
    """A start on a public link. The GET makes `nonce`, so that a form sent twice makes one instance."""

    answer_page: AnswerPage
    version: Version
    reference_id: str | None
    nonce: str
    metadata: Changes
    terms: LinkTerms

    @property
    def subject(self) -> str:
        return _subject_of(self.questionnaire, self.reference_id, self.nonce)

    @property
    def form(self) -> str:
        """The input of the form's token. A kiosk's script adds to the nonce, so that one form makes many instances."""
        return _subject_of(self.questionnaire, self.reference_id, _drawn(self.nonce))

    @property
    def questionnaire(self) -> PublicQuestionnaire:
        return self.answer_page.head.questionnaire

    def is_of(self, request: Request) -> bool:
        """True if the instance is not started yet, or was started by this form or in this browser."""
        instance, secret = self.answer_page.issued, request.state.site.secret
        if instance.submitted_time is None and instance.created_by is not None:  # issued by the API, not by a start
            return True
        if instance.instance_id == instance_id_of(secret, self.subject):
            return True
        cookie = headers.read(request, BEGUN_PURPOSE)
        return is_token(cookie, secret=secret, purpose=BEGUN_PURPOSE, subject=instance.instance_id)


async def read_start(request: Request, database: db.Database, *, nonce: str) -> Start:
    """The instance of a public link's reference, else one that may be issued; raises NotFound."""
    questionnaire_id: str = request.path_params["questionnaire_id"]
    reference_id: str | None = request.path_params.get("reference_id")
    questionnaire = None
    if ids.is_id(questionnaire_id) and (reference_id is None or REFERENCE.match(reference_id)):
        questionnaire = await store.get_public_questionnaire(database, questionnaire_id=questionnaire_id)
    if questionnaire is None or not questionnaire.public_link:
        raise errors.NotFound("There is no such page.")
    return await start_of(request, database, questionnaire=questionnaire, reference_id=reference_id, nonce=nonce)


async def start_of(
    request: Request,
    database: db.Database,
    *,
    questionnaire: PublicQuestionnaire,
    reference_id: str | None,
    nonce: str,
    terms: LinkTerms = NO_TERMS,
) -> Start:
    """The instance of the reference, else one that may be issued. Raises NotFound before a version is published."""
    version = errors.found(await access.published(database, questionnaire), "There is no such page.")
    declared = await metadata_service.declared(
        database, organization_id=questionnaire.organization_id, application_id=questionnaire.owner_application_id
    )
    metadata = _metadata(request, declared, terms)
    if version.definition.anonymous:  # neither who nor what is kept of the address
        reference_id, metadata = None, Changes(dict(terms.metadata))
    existing = reference_id and await store.get_instance_by_reference(
        database, **questionnaire.key, reference_id=reference_id
    )
    if existing:
        answer_page = answer_page_of(await answers.context_of(database, instance=existing))
    else:
        definition = version.definition
        head = head_of(questionnaire, definition, _locale(request, definition, terms))
        secret, subject = request.state.site.secret, _subject_of(questionnaire, reference_id, nonce)
        form = _subject_of(questionnaire, reference_id, _drawn(nonce))
        question_ids = frozenset(draw_questions(definition, draw=draws_of(secret, "deal", form)))
        facts = instances.facts_of(merge({}, metadata.questionnaire), merge({}, metadata.responder), declared)
        sequence = PageSequence(definition, question_ids, {}, facts, head.theme.layout)
        answer_page = AnswerPage(head, sequence, instance_id_of(secret, subject))
    answer_page = answer_page.read_by(request.headers.get("accept-language", ""))
    return Start(answer_page, version, reference_id, nonce, metadata, terms)


def with_proof(request: Request, answer: Response, start: Start, instance_id: str) -> Response:
    """Let only this browser continue by the reference, or know it again at a link with one response per browser."""
    if start.reference_id:
        _set_cookie(request, answer, BEGUN_PURPOSE, token_of(request.state.site.secret, BEGUN_PURPOSE, instance_id))
    elif start.terms.is_once_per_browser:
        token = token_of(request.state.site.secret, ANSWERED_PURPOSE, instance_id)
        _set_cookie(request, answer, ANSWERED_PURPOSE, f"{instance_id}.{token}")
    return answer


def wrong_at_start(start: Start, posted: Posted) -> dict[str, Wrong]:
    answer_page = start.answer_page
    number = answer_page.sequence.at(1)
    form = answer_page.read_form(number, posted)
    has_begun = posted.go != "send" or any(given is not None for given in form.given.values())
    if answer_page.head.kiosk and has_begun:  # a kiosk keeps what is right
        return {}
    after = answer_page.answered(form.given)
    return after.wrong_on(number, form, after.appeared(answer_page, number))


async def issue(request: Request, database: db.Database, start: Start) -> AnswerPage:
    """The page of the start's instance, locked; issued now unless its reference or this form issued it before."""
    answer_page, site = start.answer_page, request.state.site
    placement = answer_page.head.placement
    if answer_page.instance is not None:
        return answer_page_of(await answers.lock_context(database, instance_id=answer_page.seed)).placed(placement)
    instance, is_new = await issuing.issue_by_link(
        database,
        issuable=start.questionnaire,
        version=start.version,
        request=issuing.IssueInput(
            instance_id=answer_page.seed,
            locale=answer_page.head.locale,
            reference_id=start.reference_id,
            metadata=start.metadata,
            takes_files=answer_page.head.kiosk is None,
            link_id=start.terms.link_id,
            address=start.terms.address,
            fixed=start.terms.metadata,
        ),
        now=database.clock.now(),
        secret=site.secret,
        draw=draws_of(site.secret, "deal", start.form),
    )
    if not is_new or start.terms.address:  # a known person's values are not in the start
        return answer_page_of(await answers.lock_context(database, instance_id=instance.instance_id)).placed(placement)
    context = AnswerContext(
        instance=instance,
        questionnaire=start.questionnaire,
        definition=start.version.definition,
        responder_metadata=merge({}, start.metadata.responder),
        facts=answer_page.sequence.facts,
        answers={},
    )
    return replace(answer_page, started=context)


def observed(request: Request, database: db.Database, start: Start, posted: Posted) -> answers.Start | None:
    """None where the person is known, by a confirmed address or a reference's instance, or must not be known at all."""
    is_anonymous = start.version.definition.anonymous
    if is_anonymous or start.answer_page.instance is not None or start.terms.address:
        return None
    now, shown_time, limiter = database.clock.now(), ids.moment_of(start.nonce), request.state.limiter
    source = request.client.host if request.client else ""
    return answers.Start(
        shown_time=shown_time if shown_time is not None and now - SHOWN_MAX < shown_time <= now else None,
        judges_pace=limiter.holds_back,
        # A kiosk shows one page to many people, and sends what waited all at once.
        is_burst=start.answer_page.head.kiosk is None
        and limiter.is_burst(source, start.questionnaire.questionnaire_id),
        has_hidden_field=bool(first(posted.fields, HIDDEN_FIELD)),
    )


def answered_in_browser(request: Request) -> str | None:
    instance_id, _, token = headers.read(request, ANSWERED_PURPOSE).partition(".")
    is_ours = is_token(token, secret=request.state.site.secret, purpose=ANSWERED_PURPOSE, subject=instance_id)
    return instance_id if is_ours else None


def _set_cookie(request: Request, answer: Response, name: str, value: str) -> None:
    site: Site = request.state.site
    answer.set_cookie(
        name,
        value,
        max_age=BEGUN_DAYS * 86_400,
        path=request.url.path,
        secure=site.public_url.startswith("https:"),
        httponly=True,
        samesite="lax",
    )


def _drawn(nonce: str) -> str:
    return nonce.partition(".")[0]


def _subject_of(questionnaire: PublicQuestionnaire, reference_id: str | None, nonce: str) -> str:
    return f"{questionnaire.questionnaire_id}/{reference_id or ''}/{nonce}"


def instance_id_of(secret: bytes, subject: str) -> str:
    return ids.base62(number_of(secret, "instance", subject), ids.ID_CHARACTERS)


def _metadata(request: Request, declared: Declared, terms: LinkTerms) -> Changes:
    """The metadata of a public link's query: only declared names, because anybody can write there; and the link's."""
    changes = Changes()
    for name, value in request.query_params.multi_items():
        inner = RESPONDER_NAME.match(name)
        plain = inner.group(1) if inner else name
        kind = "responder" if inner else declared.kind_of(plain)
        if terms.parameters is not None and plain not in terms.parameters:
            continue
        if declared.get(kind, plain) is not None and 0 < len(value) <= VALUE_CHARACTERS_MAX:
            (changes.responder if kind == "responder" else changes.questionnaire)[plain] = value
    changes.questionnaire.update(terms.metadata)
    return changes


def _locale(request: Request, definition: Definition, terms: LinkTerms) -> str:
    """The language of the address, else of the link, else the browser's first available one, else the default."""
    requested = request.query_params.get("locale") or terms.locale
    if requested:
        return locales.match(requested, definition.locales, definition.default_locale)
    header = request.headers.get("accept-language", "")
    return locales.accepted(header, definition.locales, definition.default_locale)
