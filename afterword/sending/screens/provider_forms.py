"""Adding and changing a sending account: the fields of each kind, and its settings as they were typed."""

import secrets
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import Input, document_of, filled, same_version
from afterword.console.screens import Database, Marked, Screens, Visit
from afterword.core.messaging import webhooks
from afterword.kit.texts import Texts
from afterword.kit.ui.lists import Tab
from afterword.kit.web import html
from afterword.sending.channels.accounts import Kind, kind_of
from afterword.sending.providers import service as providers
from afterword.sending.providers.service import Account
from afterword.sending.screens.providers import KINDS, PROVIDER, PROVIDERS, name_of, own_account_of, url_of

DOTS_MAX: Final = 100  # in a line of a description
DESCRIPTION: Final = "description"  # the whole of a gateway
WEBHOOK: Final = "webhook"
HIDDEN: Final = frozenset({"secret", "area"})  # kinds of fields that are never filled in
KEEPS: Final[Marked] = "Empty: no change. A different server needs it again."
SECURITIES: Final[Sequence[tuple[str, Marked]]] = (
    ("tls", "TLS from the start (port 465)"),
    ("starttls", "STARTTLS (port 587)"),
    ("none", "None, without a password (port 25)"),
)
TITLE: Final = Input("title", "text", "Name", "The name that your colleagues will see.", required=True)
RATE: Final = Input("rate_ceiling", "text", "Maximum messages per second", "Empty: no limit of yours.")
FIELDS: Final[Mapping[str, Sequence[Input]]] = {
    "smtp": (
        Input("host", "text", "Server", "Such as smtp.example.com.", required=True),
        Input("security", "choice", "Encryption", options=SECURITIES, required=True),
        Input("port", "number", "Port", "Empty: the default of the encryption."),
        Input("username", "text", "User name"),
        Input("password", "secret", "Password"),
    ),
    "sms_twilio": (
        Input("account_sid", "text", "Account SID", required=True),
        Input("auth_token", "secret", "Auth token", required=True),
        Input("sender", "text", "Sender", "A number or a name; empty with a messaging service."),
        Input("messaging_service_sid", "text", "Messaging service SID"),
    ),
    "sms_http": (
        Input(
            DESCRIPTION, "area", "Description of the gateway",
            "As TOML or JSON: its address, sender, headers, body, answers.", required=True,
        ),
    ),
    "smpp": (
        Input("host", "text", "Server", required=True),
        Input("port", "number", "Port", "Empty: 2775."),
        Input("tls", "switch", "Encrypted (TLS)"),
        Input("system_id", "text", "System ID", required=True),
        Input("password", "secret", "Password", required=True),
        Input("system_type", "text", "System type"),
        Input("sender", "text", "Sender", "A number or a name.", required=True),
    ),
    WEBHOOK: (),  # its secret is made by us
}  # fmt: skip


routes = Screens()


@routes.post(f"{PROVIDERS}/new", scope="Provider.Create", proof=True, again=(errors.Invalid,))
async def add_provider(visit: Visit, db: Database) -> Response:
    kind = _kind(visit)
    columns = _columns_of(visit, kind, is_new=True)
    secret = webhooks.secret_of(secrets.token_bytes(webhooks.SECRET_BYTES)) if kind == WEBHOOK else ""
    if secret:
        columns["settings"] = {"secrets": [secret]}
    request = providers.ProviderRequest(
        kind=kind, title=columns["title"], settings=columns.get("settings", {}), rate_ceiling=_rate(visit)
    )
    account = await providers.create(db, caller=visit.caller, request=request, site=visit.site, now=visit.now)
    done = f"{url_of(account)}?done={'first_account' if account.is_default else 'account_added'}"
    return _secret(visit, account, secret, url=done) if secret else html.redirect(done)


@routes.get(f"{PROVIDER}/secret", scope="Provider.Update", proof=True)
async def confirm_secret(visit: Visit) -> Response:
    words, account = visit.words, await _webhook_of(visit)
    return visit.confirm(
        title=words("Renew the secret of “{title}”?", title=name_of(visit, account)),
        sentences=[words("After that each message is signed with both secrets, until the next renewal.")],
        button=words("Renew the secret"),
    )


@routes.post(f"{PROVIDER}/secret", scope="Provider.Update", proof=True)
async def renew_secret(visit: Visit) -> Response:
    account = await _webhook_of(visit)
    secret = webhooks.secret_of(secrets.token_bytes(webhooks.SECRET_BYTES))
    await visit.change(
        providers.add_secret, caller=visit.caller, account_id=account.account_id, secret=secret, site=visit.site
    )
    return _secret(visit, account, secret, url=url_of(account))


@routes.get(f"{PROVIDER}/edit", scope="Provider.Update", proof=True)
async def edit_provider_page(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    return await _form(visit, account=await own_account_of(visit), refusal=refusal)


@routes.post(f"{PROVIDER}/edit", scope="Provider.Update", proof=True, again=(errors.Invalid, errors.Stale))
async def save_provider(visit: Visit) -> Response:
    account = await own_account_of(visit)
    expect = same_version(visit, "Someone changed this in the meantime. Check it and save again.")
    changes = {**_columns_of(visit, account.kind, is_new=False), "rate_ceiling": _rate(visit)}
    await visit.change(
        providers.update, caller=visit.caller, **visit.ids, changes=changes, site=visit.site, expect=expect
    )
    return html.redirect(f"{url_of(account)}?done=saved")


async def _webhook_of(visit: Visit) -> Account:
    account = await own_account_of(visit)
    if account.kind != WEBHOOK:
        raise errors.NotFound("Accounts of this kind have other secrets.")
    return account


def _secret(visit: Visit, account: Account, secret: str, *, url: str) -> Response:
    return visit.page(
        "noun_secret.html",
        sentence=visit.words(
            "Copy the secret now. It is shown only once. Your system uses it to check the signature of each delivery."
        ),
        title=visit.words("The secret of “{title}”", title=name_of(visit, account)),
        secret=secret,
        url=url,
    )


def _columns_of(visit: Visit, kind: str, *, is_new: bool) -> dict[str, Any]:
    """Of an account that there is, without secrets that were left empty. Raises Invalid."""
    form, words, wrong = visit.form, visit.words, list[errors.FieldError]()
    title = form.text("title")
    if not 0 < len(title) <= providers.TITLE_CHARACTERS_MAX:
        wrong.append(errors.FieldError("required", words("Give it a name of up to 200 characters."), pointer="/title"))
    settings: dict[str, Any] = {}
    for one in FIELDS[kind]:
        value = document_of(form, [one])[one.name]
        if value in {"", None}:
            settings |= {} if is_new or one.kind in HIDDEN else {one.name: None}
        elif one.kind != "area":
            is_number = one.kind == "number" and value.isdecimal()  # the refusal of others is that of the API
            settings[one.name] = int(value) if is_number else value
        else:
            try:
                settings |= _document(value)
            except ValueError:
                reason = words("This is neither TOML nor JSON.")
                wrong.append(errors.FieldError("invalid_format", reason, pointer=f"/{one.name}"))
    errors.check(wrong)
    return {"title": title, **({"settings": settings} if settings else {})}


@routes.get(f"{PROVIDERS}/new", scope="Provider.Create", proof=True)
async def _form(visit: Visit, *, account: Account | None = None, refusal: errors.Refusal | None = None) -> Response:
    words, kind = visit.words, account.kind if account else _kind(visit)
    fields, stored = FIELDS[kind], dict[str, Any](security="tls")
    if account:
        settings, _ = providers.visible_settings(account, site=visit.site)
        limit = account.rate_ceiling and f"{account.rate_ceiling:g}"
        stored = {"security": "starttls", **settings, "title": account.title, "rate_ceiling": limit}
        fields = [replace(one, hint=one.hint or KEEPS, required=False) if one.kind in HIDDEN else one for one in fields]
    return visit.page(
        "provider_form.html",
        title=words("Change “{name}”", name=name_of(visit, account)) if account else words("New account"),
        back=(name_of(visit, account), url_of(account)) if account else (words("Sending accounts"), PROVIDERS),
        action=f"{url_of(account)}/edit" if account else f"{PROVIDERS}/new",
        is_new=account is None,
        kind=kind,
        tabs=[
            Tab(url=f"{PROVIDERS}/new?kind={name}", text=words(KINDS[name]), is_current=name == kind) for name in FIELDS
        ],
        keeps=KEEPS,
        **filled(
            visit,
            (TITLE, *fields, RATE),
            SimpleNamespace(**stored),
            version=account.version if account else "",
            refusal=refusal and _in_form(words, refusal, fields),
        ),
    )


def _in_form(words: Texts, refusal: errors.Refusal, fields: Sequence[Input]) -> errors.Refusal:
    """The errors at their fields; at a description, which has many settings, each with the name of its own."""
    wrong, area = list[errors.FieldError](), next((one.name for one in fields if one.kind == "area"), None)
    for one in refusal.errors:
        name = one.place.removeprefix("settings.")
        has_field = area is None or name in {area, "title", "rate_ceiling"}
        text = one.message if has_field or name == "settings" else f"{name}: {words.said(one.message)}"
        wrong.append(replace(one, pointer=f"/{name if has_field else area}", message=text))
    return errors.Invalid(refusal.detail, errors=wrong) if wrong else refusal


def _kind(visit: Visit) -> Kind:
    """The kind that was chosen, the mail server unless it is one of these."""
    return kind_of(visit.form.text("kind") or visit.query.get("kind", "")) or "smtp"


def _rate(visit: Visit) -> float | None:
    """Raises Invalid."""
    text = visit.form.text("rate_ceiling").replace(",", ".")
    if not text:
        return None
    with suppress(ValueError):
        if providers.RATE_MIN <= (rate := float(text)) <= providers.RATE_MAX:
            return rate
    raise errors.Invalid.at("/rate_ceiling", "out_of_range", visit.words("A number from 0.01 to 10000 is expected."))


def _document(text: str) -> dict[str, Any]:
    """Raises ValueError for what is neither TOML nor a JSON object, or too much: long keys take the square of time."""
    if any(line.count(".") > DOTS_MAX for line in text.splitlines()):
        raise ValueError
    try:
        return msgspec.json.decode(text, type=dict[str, Any]) if text.startswith("{") else tomllib.loads(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError from error
