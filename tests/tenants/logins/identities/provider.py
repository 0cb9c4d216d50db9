"""A real OpenID Connect provider on loopback, by Authlib's server: it checks client, return address, code and PKCE."""

import functools
import secrets
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import flask
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server

# Authlib has no types of its own.
_CodeGrant: Any = grants.AuthorizationCodeGrant
_OpenIDCode: Any = OpenIDCode
_Validator: Any = BearerTokenValidator
_Server: Any = AuthorizationServer

CLIENT_ID = "afterword"
WAIT_SECONDS = 30
CLIENT_SECRET = "between+us: two"


@functools.cache
def _key() -> RSAKey:
    """Made once: it takes a tenth of a second or more."""
    return RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)


@dataclass
class Client:
    """The one client that is registered."""

    redirect_url: str

    def get_client_id(self) -> str:
        return CLIENT_ID

    def get_default_redirect_uri(self) -> str:
        return self.redirect_url

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri == self.redirect_url

    def check_client_secret(self, client_secret: str) -> bool:
        return secrets.compare_digest(client_secret, CLIENT_SECRET)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_basic" and endpoint == "token"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class Code:
    """A code that was given out, and the person that it stands for."""

    code: str
    redirect_uri: str
    scope: str
    nonce: str | None
    code_challenge: str
    code_challenge_method: str
    person: dict[str, Any]

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> float | None:
        return self.person.get("auth_time")

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None

    def is_expired(self) -> bool:
        return False


@dataclass
class Token:
    """An access token."""

    person: dict[str, Any]

    def is_expired(self) -> bool:
        return False

    def is_revoked(self) -> bool:
        return False

    def get_scope(self) -> str:
        return "openid email profile"


@dataclass
class Provider:
    """`person` is logged in there, with its claims. `token_claims` replace some of the ID token: an attack.

    `is_thin`: the ID token names the subject alone, and the rest is asked for, and then `is_signed` or not.
    While not `is_open` nothing is answered. `keys` are published beside the right one.
    """

    client: Client
    person: dict[str, Any] = field(default_factory=dict[str, Any])
    token_claims: dict[str, Any] = field(default_factory=dict[str, Any])
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    is_thin: bool = False
    is_signed: bool = False
    keys: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    is_open: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    key: RSAKey = field(default_factory=_key)
    published: RSAKey | None = None
    codes: dict[str, Code] = field(default_factory=dict[str, Code])
    tokens: dict[str, Token] = field(default_factory=dict[str, Token])
    asked: list[str] = field(default_factory=list[str])

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running(redirect_url: str) -> Generator[Provider]:
    provider = Provider(Client(redirect_url))
    provider.is_open.set()
    server = make_server("127.0.0.1", 0, _app(provider), threaded=True)
    provider.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class CodeGrant(_CodeGrant):
    """The exchange of a code for tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)

    def save_authorization_code(self, code: str, request: Any) -> None:
        sent = request.payload.data
        self.server.provider.codes[code] = Code(
            code=code,
            redirect_uri=request.payload.redirect_uri,
            scope=request.payload.scope,
            nonce=sent.get("nonce"),
            code_challenge=sent["code_challenge"],
            code_challenge_method=sent["code_challenge_method"],
            person=dict(request.user),
        )

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        return self.server.provider.codes.get(code)

    def delete_authorization_code(self, authorization_code: Code) -> None:
        del self.server.provider.codes[authorization_code.code]

    def authenticate_user(self, authorization_code: Code) -> dict[str, Any]:
        return authorization_code.person


class Connect(_OpenIDCode):
    """The ID token beside the others."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(require_nonce=True)
        self.provider = provider

    def exists_nonce(self, nonce: str, request: Any) -> bool:
        return any(one.nonce == nonce for one in self.provider.codes.values())

    def get_encode_header(self, client: Client) -> dict[str, str | None]:
        return {"alg": "RS256", "kid": self.provider.key.kid}

    def resolve_client_private_key(self, client: Client) -> RSAKey:
        return self.provider.key

    def get_client_algorithm(self, client: Client) -> str:
        return "RS256"

    def get_compatible_claims(self, request: Any) -> dict[str, Any]:
        now = int(time.time())
        return {"iss": self.provider.issuer, "aud": [CLIENT_ID], "iat": now, "exp": now + 300}

    def generate_user_info(self, user: dict[str, Any], scope: str) -> dict[str, Any]:
        shown = {"sub": user["sub"]} if self.provider.is_thin else user
        return {**shown, **self.provider.token_claims}


class Validator(_Validator):
    """Access tokens of this provider."""

    def __init__(self, provider: Provider) -> None:
        super().__init__()
        self.provider = provider

    def authenticate_token(self, token_string: str) -> Token | None:
        return self.provider.tokens.get(token_string)


def _app(provider: Provider) -> flask.Flask:
    app = flask.Flask("provider")

    def save_token(token: dict[str, Any], request: Any) -> None:
        provider.tokens[token["access_token"]] = Token(request.user)

    server = _Server(app, lambda client_id: provider.client if client_id == CLIENT_ID else None, save_token)
    server.provider = provider
    server.register_grant(CodeGrant, [CodeChallenge(required=True), Connect(provider)])
    protected = ResourceProtector()
    protected.register_token_validator(Validator(provider))

    @app.before_request
    def note() -> None:
        provider.is_open.wait(WAIT_SECONDS)
        provider.asked.append(flask.request.path)

    @app.get("/.well-known/openid-configuration")
    def document() -> dict[str, Any]:
        base = provider.issuer
        addresses = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        addresses |= {"userinfo_endpoint": "claims", "end_session_endpoint": "end"}
        return {"issuer": base, **{name: f"{base}/{path}" for name, path in addresses.items()}, **provider.document}

    @app.get("/authorize")
    def authorize() -> Any:
        grant = server.get_consent_grant(end_user=provider.person)
        return server.create_authorization_response(grant_user=provider.person, grant=grant)

    @app.post("/token")
    def token() -> Any:
        return server.create_token_response()

    @app.get("/keys")
    def keys() -> dict[str, Any]:
        return {"keys": [*provider.keys, (provider.published or provider.key).as_dict(private=False)]}

    @app.get("/end")
    def end() -> str:
        return "You are logged out."

    @app.get("/claims")
    @protected("openid")
    def claims() -> Any:
        if not provider.is_signed:
            return current_token.person
        told = {"iss": provider.issuer, "aud": CLIENT_ID, **current_token.person, **provider.token_claims}
        token = jwt.encode({"alg": "RS256", "kid": provider.key.kid}, told, provider.key)
        return flask.Response(token, mimetype="application/jwt")

    return app
