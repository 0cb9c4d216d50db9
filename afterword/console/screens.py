"""The screens: declared with the scope that opens them, run for the session of a cookie, refused as pages."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from inspect import signature
from typing import Any, Concatenate, Final, TypeVar
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

import msgspec
from msgspec.structs import replace
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from afterword import errors
from afterword.console import settings
from afterword.core.messaging.networks import is_inside, networks_of
from afterword.core.organizations.access import Caller, ForLimited, InsufficientScope, OutOfLimit
from afterword.core.questionnaires import metadata
from afterword.core.text import locales
from afterword.core.wire.site import PublicPages, Site
from afterword.kit import db
from afterword.kit.db import Database, Step, With
from afterword.kit.db.replicas import Replica
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.declaration import Noun, R
from afterword.kit.texts import CONSOLE, CONSOLE_LANGUAGES, SOURCE_LANGUAGE, Marked, Texts, texts
from afterword.kit.transport.base import EMAIL
from afterword.kit.ui import text as flash
from afterword.kit.ui.text import device_of, near_moment, network_of
from afterword.kit.web import headers, html, parsing, public, read_only, static, uploads
from afterword.kit.web.operations import Download
from afterword.kit.web.routing import Pages
from afterword.sending.providers import service as providers
from afterword.tenants.logins import service as logins, sessions
from afterword.tenants.logins.sessions import Session

DOMAIN: Final = CONSOLE  # of the texts
LANGUAGES: Final = CONSOLE_LANGUAGES
HOME: Final = "/console"
LOGIN: Final = "/console/login"
WRONG_STATUS: Final = 400
FIELDS_MAX: Final = 1_000
VALUE_CHARACTERS_MAX: Final = 20_000
UPLOAD_BYTES_MAX: Final = 16_777_216  # the pictures of phones
MB_BYTES: Final = 1_048_576
LEAVING: Final = frozenset({f"{HOME}/logout", f"{HOME}/switch"})
SECRETS: Final = {"password", "client_secret", "secret", "auth_token", "note_token", "kiosk_pin", "credential"}
# Open to a person who must set up a second factor first.
OWN_FACTORS: Final = (
    f"{HOME}/settings/account",
    f"{HOME}/settings/totp",
    f"{HOME}/settings/passkeys",
    f"{HOME}/settings/recovery",
    f"{HOME}/settings/password",
    f"{HOME}/settings/sessions",
    f"{HOME}/proof",
)
COOKIE: Final = "afterword"
DEVICE_COOKIE: Final = "afterword-device"
PENDING_COOKIE: Final = "afterword-pending"
IDENTITY_COOKIE: Final = "afterword-identity"
UNDO_COOKIE: Final = "afterword-undo"  # the way back from the last act
UNDO_SECONDS: Final = 600
UNDO_BYTES_MAX: Final = 3_500  # browsers keep cookies of 4,096
UNDONE: Final = "undone"
KEYS_COOKIE: Final = "afterword-keys"  # "off": this browser hears no single keys (WCAG 2.1.4)
SESSION_SECONDS: Final = int(sessions.LIFETIME.total_seconds())
YEAR_SECONDS: Final = 31_536_000
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        f"{html.CONTENT_SECURITY_POLICY}; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Referrer-Policy": "same-origin",  # with no-referrer browsers post forms with `Origin: null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}
# Name in the address, text, scope that opens it, key behind `g`.
SECTIONS: Final[tuple[tuple[str, Marked, str | None, str], ...]] = (
    ("", "Overview", "Report.Read", "o"),
    ("responses", "Responses", "Questionnaire Instance.Read", "r"),
    ("cases", "Cases", "Alert Instance.Read", "c"),
    ("people", "People", "Responder.Read", "p"),
    ("reports", "Reports", "Report.Read", "f"),
    ("sending", "Sending", "Queue.Read", "i"),
    ("questionnaires", "Questionnaires", "Questionnaire.Read", "q"),
    ("settings", "Settings", None, "s"),
)


Found = TypeVar("Found")
Use = tuple[Marked, str, str]  # what it is, how many where that is said, and the page that shows it


class Form(msgspec.Struct, frozen=True):
    """The fields of a posted form; a missing one is empty."""

    values: Mapping[str, list[str]]
    files: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    file_names: Mapping[str, str | None] = msgspec.field(default_factory=dict[str, str | None])

    def text(self, name: str, most: int | None = None) -> str:
        """Raises Invalid where it has more than `most` characters."""
        text = next(iter(self.values.get(name, ())), "").strip()
        if most is not None and len(text) > most:
            raise errors.Invalid.at(f"/{name}", "too_long", errors.Sentence("At most {n} characters.", n=most))
        return text

    def secret(self, name: str) -> str:
        """As it was typed: spaces belong to a password."""
        return next(iter(self.values.get(name, ())), "")

    def file(self, name: str = "file") -> bytes | None:
        """None where none was chosen. Raises Invalid for an empty one."""
        if (content := self.files.get(name)) is not None and not content.strip():
            raise errors.Invalid.at(f"/{name}", "too_short", "This file is empty.")
        return content

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])

    def ids(self, name: str) -> list[str]:
        """Those of ticked boxes; what a page does not list shares one."""
        return [one for text in self.all(name) for one in text.split()]


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The way back from an act: a form with these fields, offered where `page` says that it is `done`.

    A version among the fields lets the act be refused when somebody changed the row since.
    """

    action: str
    fields: dict[str, str]
    page: str = ""
    done: str = ""


@dataclass
class Guest:
    """A request without a session, or before it is known."""

    request: Request
    now: datetime
    form: Form = field(default_factory=lambda: Form({}))
    reader: db.Pool | None = None  # the standby that a long read goes to

    @property
    def site(self) -> Site:
        return self.request.state.site

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def pool(self) -> db.Pool:
        return self.request.state.pool

    @cached_property
    def words(self) -> Texts:
        return _words(self.request)

    @property
    def source(self) -> sessions.Source:
        agent = self.request.headers.get("user-agent", "")
        return sessions.Source(device=device_of(agent), network=network_of(self.address))

    @property
    def address(self) -> str:
        return self.request.client.host if self.request.client else ""

    @property
    def is_secure(self) -> bool:
        return self.site.public_url.startswith("https://")

    def read(self) -> AbstractAsyncContextManager[Database]:
        return db.connection(self.reader or self.pool)

    def write(self) -> AbstractAsyncContextManager[Database]:
        return db.transaction(self.pool)

    async def load(self, step: Step[With, Found], *args: With.args, **kwargs: With.kwargs) -> Found:
        """The outcome of a step that reads, when the page needs no other of the same connection."""
        return await db.load(self.reader or self.pool, step, *args, **kwargs)

    async def change(self, step: Step[With, Found], *args: With.args, **kwargs: With.kwargs) -> Found:
        async with self.write() as db:
            return await step(db, *args, **kwargs)

    def cookie(self, name: str) -> str:
        return headers.read(self.request, self._cookie_name(name))

    def set_cookie(self, response: Response, name: str, value: str, *, seconds: int) -> None:
        """Set a cookie of this host alone, or remove it where `value` is empty."""
        response.set_cookie(
            self._cookie_name(name),
            value,
            max_age=seconds if value else 0,
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="lax",
        )

    def page(self, template: str, /, *, title: str, status: int = 200, **values: Any) -> Response:
        """A page; one that shows a `refusal` has its status, and one that says what is `wrong` that of Invalid."""
        refusal: errors.Refusal | None = values.get("refusal")
        is_wrong = isinstance(wrong := values.get("wrong"), str) and wrong
        status = refusal.status if refusal else errors.Invalid.status if is_wrong else status
        return _page(template, self, title=title, status=status, **values)

    def _cookie_name(self, name: str) -> str:
        return f"__Host-{name}" if self.is_secure else name


@dataclass
class Visit(Guest):
    """A request of somebody who is logged in."""

    session: Session = field(kw_only=True)
    caller: Caller = field(kw_only=True)
    afterwards: BackgroundTask | None = None  # done when the page has left; not by a copy, as it writes

    @cached_property
    def words(self) -> Texts:
        own = self.session.user_locale
        return _words(self.request, locales.match(own, LANGUAGES, SOURCE_LANGUAGE) if own else None)

    def write(self) -> AbstractAsyncContextManager[Database]:
        return db.transaction(self.pool, actor=self.caller.actor)

    @property
    def public_pages(self) -> PublicPages:
        return self.site.pages(self.caller.organization_id)

    @property
    def zone(self) -> str:
        return self.session.time_zone

    def moment(self, time: datetime | None) -> str:
        """Empty for None, as the next two."""
        return self.words.moment(time, time_zone=self.zone) if time else ""

    def near(self, time: datetime | None) -> str:
        return near_moment(self.words, time, now=self.now, zone=self.zone) if time else ""

    def date(self, time: datetime | None) -> str:
        return self.words.date(time, time_zone=self.zone) if time else ""

    @property
    def keeps_mail(self) -> bool:
        return providers.keeps_messages(self.site, channel_id=EMAIL, kind=self.session.mail_kind)

    @property
    def only_name(self) -> str:
        """The title of the metadata that the limit is by; empty without a limit."""
        name = self.session.only_where or ""
        product = next((one.title for one in metadata.PRODUCT if one.name == name), name)
        return self.session.only_title or self.words(product)

    @property
    def is_proven(self) -> bool:
        return sessions.is_proven(self.session, now=self.now)

    @property
    def acting(self) -> dict[str, Any]:
        """The arguments that every change of a noun takes."""
        return {"caller": self.caller, "site": self.site, "now": self.now}

    @property
    def ids(self) -> Mapping[str, Any]:
        """The parameters of the path, texts, as services name them."""
        return self.request.path_params

    def id(self, name: str) -> str:
        return self.ids[name]

    async def find(self, get: Callable[..., Awaitable[Found]]) -> Found:
        """The thing of the address by the `get` of its service, which takes the ids under their names."""
        return await self.load(get, caller=self.caller, **self.ids)

    async def row(self, noun: Noun[R]) -> R:
        """The row of the address, or the only one of the organization."""
        caller = self.caller
        key = caller.organization_id if noun.is_single else noun.read_key(self.id(noun.key))
        async with self.read() as db:
            return await nouns.get(noun, db, caller=caller, key=key)

    async def reading(self, function: Callable[["Visit", Database], Awaitable[Found]]) -> Found:
        """The outcome of a function that reads for this visit alone."""
        async with self.read() as db:
            return await function(self, db)

    @property
    def sections(self) -> list[dict[str, str]]:
        """Those that the scopes of the role open."""
        return [
            {"url": url, "text": self.words(text), "key": key, "name": name}
            for name, text, scope, key in SECTIONS
            if (scope is None or scope in self.caller.scopes) and self.is_open(url := f"{HOME}/{name}".rstrip("/"))
        ]

    @property
    def is_undo(self) -> bool:
        """Whether the form was posted by the button that an `Undo` shows."""
        return bool(self.form.text("undo"))

    def did(self, page: str, done: str, undo: Undo | None = None) -> Response:
        """Go to a page that says what was done, and offers to undo it; for an undo, that it is as before."""
        done = UNDONE if self.is_undo else done
        path, mark, place = page.partition("#")
        response = html.redirect(f"{path}{'&' if '?' in path else '?'}done={done}{mark}{place}")
        value = ""
        if undo is not None and not self.is_undo:
            kept = msgspec.structs.replace(undo, page=path.partition("?")[0], done=done)
            value = base64.urlsafe_b64encode(msgspec.json.encode(kept)).decode()
        if value or self.cookie(UNDO_COOKIE):
            self.set_cookie(response, UNDO_COOKIE, value if len(value) <= UNDO_BYTES_MAX else "", seconds=UNDO_SECONDS)
        return response

    def is_open(self, path: str) -> bool:
        """Whether a limit to some values of metadata leaves this address open."""
        return self.caller.limit is None or (path in _READ and _READ[path].for_limited != "refused")

    def may_open(self, path: str) -> bool:
        """Whether the role opens this address, for links that lead there."""
        screen = _READ.get(path)
        if screen is not None and screen.of_owners and self.caller.role != "owner":
            return False
        is_in_scope = screen is None or screen.scope is None or screen.scope in self.caller.scopes
        return is_in_scope and self.is_open(path)

    def link(self, text: Marked, path: str) -> tuple[str, str] | None:
        """The text and address of a link; None where the role does not open it."""
        return (self.words(text), path) if self.may_open(path) else None

    def confirm(
        self,
        *,
        title: str,
        sentences: Sequence[str],
        button: str,
        action: str = "",
        back: str = "",
        is_harmless: bool = False,
        uses: Sequence[Use] = (),
        fields: Sequence[Mapping[str, Any]] = (),
        **hidden: str,
    ) -> Response:
        """The page before an act: the thing and how many, and one button, in red unless the act `is_harmless`.

        `action`: where it is posted to, else to its own address; `back`: the page before it, else one step up.
        `uses`: what stands against the act, which then has no button, unless there are `fields` to say what follows.
        """
        here = self.request.url.path
        values: dict[str, Any] = {"sentences": sentences, "button": button, "is_harmless": is_harmless, "uses": uses}
        values |= {"action": action or here, "back": back or here.rpartition("/")[0], "fields": fields}
        return self.page("confirm.html", title=title, hidden=sorted(hidden.items()), **values)


# Of a visit, and where it has a parameter `db` of a connection for all of it; a form's page also takes its refusal.
Handler = TypeVar("Handler", bound=Callable[Concatenate[Visit, ...], Awaitable[Response]])
GuestHandler = TypeVar("GuestHandler", bound=Callable[Concatenate[Guest, ...], Awaitable[Response]])


class Screen(msgspec.Struct, frozen=True):
    """One method of one address. `scope` None: everybody who is logged in; `is_open`: everybody."""

    method: str
    path: str
    handler: Any
    scope: str | None = None
    is_open: bool = False
    needs_proof: bool = False
    for_limited: ForLimited = "refused"
    of_owners: bool = False  # its service refuses all other roles
    is_long: bool = False  # it reads much: a standby may answer, where there is one for that


_READ: Final[dict[str, Screen]] = {}  # those that are read, by their address


def _opened(method: str, handler: Any) -> Any:
    """The handler with the connection that it asks for: one that reads, or for a form a transaction."""
    if "db" not in signature(handler).parameters:
        return handler

    async def open_it(guest: Guest, **shown: Any) -> Response:
        async with guest.read() if method == "GET" else guest.write() as db:
            return await handler(guest, db, **shown)

    return open_it


class Screens:
    """Screens of a module, and the pages that `app.py` mounts for them."""

    def __init__(self) -> None:
        self.all: list[Screen] = []
        self.pages = Pages()

    def get(
        self,
        path: str,
        *,
        scope: str | None = None,
        proof: bool = False,
        of_owners: bool = False,
        for_limited: ForLimited = "refused",
        is_long: bool = False,
    ) -> Callable[[Handler], Handler]:
        options: dict[str, Any] = {"for_limited": for_limited, "of_owners": of_owners, "is_long": is_long}
        return self._add("GET", path, scope=scope, needs_proof=proof, **options)

    def post(
        self,
        path: str,
        *,
        scope: str | None = None,
        proof: bool = False,
        for_limited: ForLimited = "refused",
        again: tuple[type[errors.Refusal], ...] = (),
        at: str = "",
    ) -> Callable[[Handler], Handler]:
        """Declare a form's target. `proof`: the password must have been given lately.

        `again`: the refusals that the page of the form shows in place of an error; `at`: its address, if not this one.
        """
        options: dict[str, Any] = {"scope": scope, "needs_proof": proof, "for_limited": for_limited}
        return self._add("POST", path, again=again, at=at or path, **options)

    def open_get(self, path: str) -> Callable[[GuestHandler], GuestHandler]:
        return self._add("GET", path, is_open=True)

    def open_post(
        self, path: str, *, again: tuple[type[errors.Refusal], ...] = ()
    ) -> Callable[[GuestHandler], GuestHandler]:
        return self._add("POST", path, is_open=True, again=again, at=path)

    def _add(
        self, method: str, path: str, *, again: tuple[type[errors.Refusal], ...] = (), at: str = "", **options: Any
    ) -> Callable[[Any], Any]:
        """`options`: members of the Screen."""

        def declare(handler: Any) -> Any:
            opened = _opened(method, handler)

            async def asked(guest: Guest, **shown: Any) -> Response:
                try:
                    return await opened(guest, **shown)
                except again as refusal:
                    page = next(one for one in self.all if (one.method, one.path) == ("GET", at))
                    return await page.handler(guest, refusal=refusal)

            screen = Screen(method, path, asked, **options)
            self.all.append(screen)
            if method == "GET":
                _READ[path] = screen

            async def answer(request: Request) -> Response:
                return await _run(screen, request)

            (self.pages.get if method == "GET" else self.pages.post)(path, for_people=True)(answer)
            return handler

        return declare


async def _run(screen: Screen, request: Request) -> Response:
    async with db.connection(request.state.pool) as database:
        guest = Guest(request, database.clock.now())
        cookie = guest.cookie(COOKIE)
        session = await sessions.get_session(database, cookie=cookie, now=guest.now) if cookie else None
    visit = guest
    if session is not None:
        caller = sessions.caller_of(session)
        visit = Visit(request, guest.now, session=session, caller=caller)
        request.state.sessions.note(session.session_id, now=guest.now)
    try:
        if not (screen.is_open or isinstance(visit, Visit)):
            return await _after(login_address(request), visit, screen, title=visit.words("Your session has ended"))
        if screen.method == "POST":
            require_own_origin(request.headers, guest.site)
            visit.form = await _form_of(visit)
        if screen.is_open or not isinstance(visit, Visit):
            return await screen.handler(visit)
        if (confined := await _confined(visit, screen)) is not None:
            return confined
        if screen.scope is not None:
            visit.caller.require(screen.scope)
        visit.caller.require_open(screen.for_limited)
        if screen.needs_proof and not visit.is_proven:
            proof = f"/console/proof?next={quote(back_of(request), safe='')}"
            return await _after(proof, visit, screen, title=visit.words("Repeat your password"))
        response = await _answer(screen, visit)
    except errors.Refusal as refusal:
        return refused(visit, refusal)
    if visit.afterwards is not None and read_only.COPY not in request.scope:
        response.background = visit.afterwards
    return response


async def _after(first: str, guest: Guest, screen: Screen, *, title: str) -> Response:
    """Lead to what comes first; keep a form, but no secrets and files, on a page from which it can be sent again.

    Forms of one's own account, which have no scope, are short.
    """
    if screen.method == "GET" or screen.scope is None:
        return html.redirect(first)
    require_own_origin(guest.request.headers, guest.site)
    try:
        form = guest.form if isinstance(guest, Visit) else await _form_of(guest)
    except errors.TooLarge:
        return html.redirect(first)
    kept = {name: values for name, values in form.values.items() if name not in SECRETS}
    if not kept:
        return html.redirect(first)
    secrets = {name: "\n" in form.secret(name) for name in form.values if name in SECRETS and form.secret(name)}
    values: dict[str, Any] = {"fields": kept, "secrets": secrets, "files": form.file_names}
    return guest.page("send_again.html", title=title, status=errors.Unauthorized.status, first=first, **values)


async def _answer(screen: Screen, visit: Visit) -> Response:
    """A long read from the standby, if there is one; the page that an act led to from the server that has the act."""
    reader: Replica | None = visit.request.state.reader if screen.is_long and "done" not in visit.query else None

    async def read(pool: db.Pool) -> Response:
        visit.reader = pool
        return await screen.handler(visit)

    found = None if reader is None else await reader.read(read)
    if found is None:
        visit.reader = None
        return await screen.handler(visit)
    response, lag = found
    response.headers[read_only.LAG] = str(lag)
    return response


async def _confined(visit: Visit, screen: Screen) -> Response | None:
    """The page in place of this one, for a session that does not meet the policy of its organization."""
    session, words, url = visit.session, visit.words, ""
    if screen.path in LEAVING:
        return None
    if session.home and screen.method == "POST":
        raise errors.Forbidden("This is a demo: you can look at everything, and change nothing.")
    if session.networks and not is_inside(visit.address, networks_of(",".join(session.networks))):
        sentence = words(
            "{organization} allows access from its own networks only.", organization=session.organization_name
        )
    elif session.needs_provider:
        url = f"{LOGIN}/with/{quote(session.domain, safe='')}"
        sentence = words("{organization} requires you to log in there.", organization=session.organization_name)
    elif session.needs_second_factor and not screen.path.startswith(OWN_FACTORS):
        return html.redirect(f"{OWN_FACTORS[0]}?done=second_factor")
    else:
        return None
    async with visit.read() as database:
        memberships = await logins.list_memberships(database, login_id=session.login_id)
    values: dict[str, Any] = {"sentence": sentence, "url": url, "memberships": memberships, "sections": []}
    return visit.page(
        "confined.html", title=words("You do not have access to this page"), status=errors.Forbidden.status, **values
    )


async def _form_of(visit: Guest) -> Form:
    """A picture that is too large is read too, if somebody logged in sends it: its field then says so."""
    kind = visit.request.headers.get("content-type")
    is_upload = isinstance(visit, Visit) and (kind or "").startswith(uploads.FORM)
    bytes_max = UPLOAD_BYTES_MAX if is_upload else parsing.BODY_BYTES_MAX
    try:
        body = await public.read_body(visit.request, bytes_max=bytes_max)
    except errors.TooLarge:
        raise errors.TooLarge(
            errors.Sentence("What was sent has more than {n} MB, and no page takes more.", n=bytes_max // MB_BYTES)
        ) from None
    return await asyncio.to_thread(read_form, body, kind) if is_upload else read_form(body, kind)


def require_own_origin(sent: Mapping[str, str], site: Site) -> None:
    """Raise Forbidden for a form that another site sent, by Fetch Metadata, else by `Origin`.

    Browsers for terminals send neither, but a `Referer`: our pages ask for one within our own site alone.
    """
    fetch_site = sent.get("sec-fetch-site")
    if fetch_site is not None:
        if fetch_site in {"same-origin", "none"}:
            return
    elif _origin_of(sent.get("origin", sent.get("referer", ""))) == _origin_of(site.public_url):
        return
    raise errors.Forbidden("This form was sent from another site. Open the page here and send it again.")


def _origin_of(url: str) -> str:
    parts = _parts_of(url)
    return f"{parts.scheme}://{parts.netloc}"


def _parts_of(url: str) -> SplitResult:
    """The parts of an address that anybody may have sent; all empty where it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def read_form(body: bytes, content_type: str | None = None) -> Form:
    """Raises Malformed for what is no form, or too much."""
    if (content_type or "").startswith(uploads.FORM):
        return _read_parts(uploads.read_parts(body, content_type))
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=FIELDS_MAX
        )
    except ValueError:
        raise errors.Malformed("The form cannot be read.", "malformed_form") from None
    return Form(_values_of(pairs))


def _read_parts(parts: Sequence[uploads.Part]) -> Form:
    """A form with files; a file that was not chosen is left out."""
    try:
        pairs = [(one.name, one.content.decode()) for one in parts if one.file_name is None]
    except UnicodeDecodeError:
        raise errors.Malformed("The form cannot be read.", "malformed_form") from None
    files = {one.name: one for one in parts if one.file_name}
    names = {name: uploads.file_name_of(one.file_name or "") for name, one in files.items()}
    return Form(_values_of(pairs), {name: one.content for name, one in files.items()}, names)


def _values_of(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        if len(value) > VALUE_CHARACTERS_MAX:
            raise errors.TooLarge(errors.Sentence("A field may have {n} characters.", n=VALUE_CHARACTERS_MAX))
        values.setdefault(name, []).append(value.replace("\r\n", "\n").replace("\x00", ""))
    return values


def _words(request: Request, language: str | None = None) -> Texts:
    """Dates and clocks are as in the browser's region."""
    header = request.headers.get("accept-language", "")
    language = language or locales.accepted(header, LANGUAGES, SOURCE_LANGUAGE)
    return texts(DOMAIN, locales.with_region(language, header))


def login_address(request: Request) -> str:
    here = back_of(request)
    return LOGIN if here == HOME else f"{LOGIN}?next={quote(here, safe='')}"


def own_address(text: str) -> str:
    """The address to go on to, if it is one of the console; else its first page."""
    parts = _parts_of(text)
    is_own = not parts.scheme and not parts.netloc and (parts.path == HOME or parts.path.startswith(f"{HOME}/"))
    return text if is_own and "\\" not in text and text.isprintable() else HOME


def back_of(request: Request) -> str:
    """The page that a form stood on, if it was one of ours."""
    if request.method == "GET":
        return request.url.path + (f"?{request.url.query}" if request.url.query else "")
    referrer = _parts_of(request.headers.get("referer", ""))
    return own_address(referrer.path + (f"?{referrer.query}" if referrer.query else ""))


def refused(guest: Guest, refusal: errors.Refusal) -> Response:
    if isinstance(refusal, db.TakesNoWrites) and read_only.COPY in guest.request.scope:
        raise refusal  # then it says where this can be done
    words = guest.words
    titles = {
        403: words("You do not have access to this page"),
        404: words("Page not found"),
        409: words("This is not possible right now"),
        410: words("This link has expired"),
        412: words("Someone else was faster"),
        429: words("Please wait"),
    }
    if isinstance(refusal, InsufficientScope):
        refusal = errors.Forbidden("Your role does not include this. An administrator can change that.")
    if isinstance(refusal, OutOfLimit) and isinstance(guest, Visit):
        sentence = errors.Sentence.of(refusal.detail)
        refusal = errors.Forbidden(errors.Sentence(sentence.text, **{**sentence.values, "name": guest.only_name}))
    response = guest.page(
        "refused.html",
        title=titles.get(refusal.status, words("This did not work")),
        status=refusal.status,
        refusal=refusal,
        back=back_of(guest.request) if guest.request.method == "POST" else HOME,
    )
    for name in ("Retry-After", "Allow"):
        if name in refusal.headers:
            response.headers[name] = refusal.headers[name]
    return response


def _page(template: str, guest: Guest, *, title: str, status: int, **values: Any) -> Response:
    words = guest.words
    visit = guest if isinstance(guest, Visit) else None
    has_keys = guest.cookie(KEYS_COOKIE) != "off"
    section, _, below = guest.request.scope["path"].removeprefix(HOME).strip("/").partition("/")
    frame: dict[str, Any] = {
        "t": words,
        "lang": words.language,
        "direction": words.direction,
        "title": title,
        "is_wrong": status >= WRONG_STATUS,
        "section": section,
        "setting": below.partition("/")[0],
        "session": visit.session if visit else None,
        "only_name": visit.only_name if visit else "",
        "keeps_mail": bool(visit and visit.keeps_mail),
        "may_open": visit.may_open if visit else None,
        "may": visit.caller.scopes.__contains__ if visit else None,  # has the scope
        "moment": visit.moment if visit else None,
        "near": visit.near if visit else None,
        "date": visit.date if visit else None,
        "settings_groups": partial(settings.groups_of, words, visit.may_open) if visit else None,
        "posted": guest.form.text,
        "static_url": static.url,
        "copy": guest.request.scope.get(read_only.COPY),
        "done": flash_of(guest),
        "undo": undo_of(visit) if visit else None,
        "styles": [static.url("public/afterword.css"), static.url("console/console.css")],
        "scripts": [static.url(f"console/{name}.js") for name in ("console", *(("keys",) if has_keys else ()))],
        "chart_script": static.url("console/charts.js"),
        "has_keys": has_keys,
    }
    values.setdefault("sections", visit.sections if visit else [])
    if isinstance(refusal := values.get("refusal"), errors.Refusal):
        wrong = [replace(one, message=words.said(one.message)) for one in refusal.errors]
        values["refusal"] = errors.Invalid(words.said(refusal.detail), errors=wrong)
    # Not one mapping over the other: a value that has the name of one of the frame is an error.
    return html.page(f"console/{template}", status=status, headers=HEADERS, **frame, **values)


def download(file: Download) -> Response:
    return StreamingResponse(file.chunks, media_type=file.media_type, headers=headers.saved_as(file.file_name))


def undo_of(visit: Visit) -> Undo | None:
    """The way back from the act that led to this page; None for what no page of ours has set."""
    done, value = visit.query.get("done", ""), visit.cookie(UNDO_COOKIE)
    if not done or not value:
        return None
    try:
        undo = msgspec.json.decode(base64.urlsafe_b64decode(value), type=Undo)
    except (ValueError, msgspec.DecodeError):
        return None
    is_here = (undo.page, undo.done) == (visit.request.url.path, done)
    return undo if is_here and own_address(undo.action) == undo.action else None


def flash_of(guest: Guest) -> str:
    """The sentence about the act that led here; its name stands in the address."""
    name = guest.query.get("done", "")
    said = flash.KEPT if name in flash.MAILED and not guest.site.sends_mail else flash.TEXTS.get(name)
    return guest.words(said) if said else ""
