"""The route of OAuth: a client (a token of an organization) gets a short-lived access token (RFC 6749, section 4.4).

It is outside the versioned API: forms alone, no legacy dialect, and refusals that carry the RFC's code in `error`.
"""

import base64
import binascii
import hmac
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote_plus

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors
from afterword.core.organizations.access import SCOPES, alias_of
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web import headers, limits, problems, public
from afterword.kit.web.limits import Limiter
from afterword.kit.web.routing import Pages
from afterword.tenants.organizations.tokens import access, service as tokens
from afterword.tenants.organizations.tokens.store import Credential

FORM: Final = "application/x-www-form-urlencoded"
GRANT: Final = "client_credentials"
FIELDS_MAX: Final = 20
NO_STORE: Final[Mapping[str, str]] = {"Cache-Control": "no-store", "Pragma": "no-cache"}
CHALLENGE: Final = 'Basic realm="afterword"'
SCOPE_OF: Final[Mapping[str, str]] = {alias_of(scope): scope for scope in SCOPES}

routes = Pages()


class OAuthError(errors.Refusal):
    """A refusal by RFC 6749, section 5.2; its code is the RFC's."""

    status, code_default = 400, "invalid_request"


class InvalidClient(errors.Unauthorized):
    code_default = "invalid_client"

    def __init__(self) -> None:
        super().__init__("The client is not known, or its secret is wrong.", headers={"WWW-Authenticate": CHALLENGE})


@routes.post("/oauth/token")
async def grant_access(request: Request) -> Response:
    try:
        return await _granted(request)
    except errors.Refusal as refusal:
        return _refused(request, refusal)


async def _granted(request: Request) -> Response:
    limiter: Limiter = request.state.limiter
    source = request.client.host if request.client else ""
    form = _form(request, await public.read_body(request))
    client_id, secret = _client(request.headers.get("authorization"), form)
    async with db.transaction(request.state.pool) as database:
        try:
            credential = await _proven(database, client_id, secret, source)
        except InvalidClient:
            limiter.count_failure(source)
            raise
        quota = limiter.count_request(token_id=credential.token_id, organization_id=credential.organization_id)
        limits.check(quota)
        scopes = _scopes(form, credential)
        text = await tokens.exchange(database, credential=credential, scopes=scopes, now=database.clock.now())
    content = {
        "access_token": text,
        "token_type": "Bearer",
        "expires_in": tokens.ACCESS_SECONDS,
        "scope": " ".join(sorted(alias_of(scope) for scope in scopes)),
    }
    return Response(msgspec.json.encode(content), headers=NO_STORE, media_type="application/json")


def _form(request: Request, body: bytes) -> dict[str, str]:
    """The members of the form. An empty value counts as absent; a repeated member raises OAuthError."""
    if (request.headers.get("content-type") or "").partition(";")[0].strip().lower() != FORM:
        raise OAuthError(f"Send a form: Content-Type: {FORM}.")
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=FIELDS_MAX
        )
    except ValueError:
        raise OAuthError("The form cannot be read.") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise OAuthError("A member stands twice.")
    form = {name: value for name, value in pairs if value}
    if "grant_type" not in form:
        raise OAuthError("The member grant_type is missing.")
    if form["grant_type"] != GRANT:
        raise OAuthError(f"Only the grant {GRANT} is served.", "unsupported_grant_type")
    return form


def _client(authorization: str | None, form: Mapping[str, str]) -> tuple[str, str]:
    """The id of a token and its whole text, by the header Authorization or the form; both raise OAuthError."""
    if authorization is None:
        if "client_id" not in form or "client_secret" not in form:
            raise InvalidClient
        return form["client_id"], form["client_secret"]
    if "client_secret" in form:
        raise OAuthError("The client shows its secret twice: in the header and in the form.")
    client_id, secret = _basic(authorization)
    if form.get("client_id", client_id) != client_id:
        raise OAuthError("Header and form name different clients.")
    return client_id, secret


def _basic(authorization: str) -> tuple[str, str]:
    scheme, _, encoded = authorization.strip().partition(" ")
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise InvalidClient from None
    client_id, colon, secret = text.partition(":")
    if scheme.lower() != "basic" or not colon:
        raise InvalidClient
    return unquote_plus(client_id), unquote_plus(secret)  # both are form-encoded (section 2.3.1)


async def _proven(database: db.Database, client_id: str, secret: str, source: str) -> Credential:
    """The valid token of the client. Raises InvalidClient, OAuthError `unauthorized_client` for a user's token."""
    try:
        credential = await access.prove(database, text=secret, source=source)
    except errors.Unauthorized:
        raise InvalidClient from None
    is_same = hmac.compare_digest(credential.token_id.encode(), client_id.encode())
    if not is_same or credential.access_token_id is not None:
        raise InvalidClient
    if credential.kind != "organization" and not credential.user_service:
        message = "Only tokens of an organization or of a service account are clients."
        raise OAuthError(message, "unauthorized_client")
    return credential


def _scopes(form: Mapping[str, str], credential: Credential) -> frozenset[str]:
    """The requested scopes, by their aliases; without any, all scopes of the client."""
    requested = form.get("scope", "").split(" ")
    if not any(requested):
        return credential.scopes
    scopes = frozenset(SCOPE_OF.get(alias, "") for alias in requested if alias)
    if not scopes <= credential.scopes:
        raise OAuthError("A scope does not exist, or the client does not hold it.", "invalid_scope")
    return scopes


def _refused(request: Request, refusal: errors.Refusal) -> Response:
    """A problem, whatever is accepted, with `error` and `error_description` of the RFC."""
    site: Site = request.state.site
    document = problems.document_of(refusal, site=site, request_id=request.scope["afterword.request_id"])
    document |= {"error": _error_of(refusal), "error_description": refusal.detail}
    more = {name.decode(): value.decode("latin-1") for name, value in headers.of_refusal(refusal)}
    media_type = more.pop("content-type")
    more["pragma"] = "no-cache"
    return Response(msgspec.json.encode(document), status_code=refusal.status, headers=more, media_type=media_type)


def _error_of(refusal: errors.Refusal) -> str:
    match refusal:
        case OAuthError() | InvalidClient():
            return refusal.code
        case access.NetworkNotAllowed():
            return "unauthorized_client"
        case errors.Unavailable() | errors.TooMany():
            return "temporarily_unavailable"
        case _:
            return "invalid_request"
