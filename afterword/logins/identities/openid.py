"""OpenID Connect with a provider: its document, the address to log in at, and the claims that a code stands for.

Each call goes through the guard of webhooks: to the open internet over https, or into networks that operators allowed,
64 KB at most. Nothing is kept between log-ins, so keys that the provider changed are known at once.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast
from urllib.parse import quote, urlencode, urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from afterword.channels import http
from afterword.channels.http import Caller, CallFailed
from afterword.core.messaging.networks import Network

CALL_SECONDS_MAX: Final = 5.0  # each of four calls
CLOCK_SECONDS: Final = 60  # two clocks may differ by this
DOCUMENT_PATH: Final = "/.well-known/openid-configuration"  # OpenID Connect Discovery 1.0, section 4
SCOPES: Final = ("openid", "email", "profile")
ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "Ed25519",
    "EdDSA",
)
URL_CHARACTERS_MAX: Final = 2_000
OK: Final = 200


class ProviderFailed(Exception):
    """The provider did not answer as OpenID Connect wants; `reason` is a sentence without secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Document:
    """The addresses of a provider."""

    issuer: str
    authorization_url: str
    token_url: str
    keys_url: str
    claims_url: str | None
    end_url: str | None
    has_basic: bool


@dataclass(frozen=True, slots=True)
class Client:
    """We, as the provider knows us. `secret` None: it knows us by the address that it leads back to."""

    client_id: str
    secret: str | None
    redirect_url: str


@dataclass(frozen=True, slots=True)
class Challenge:
    """Values of one log-in that only its browser and we know."""

    state: str
    nonce: str
    verifier: str


async def discover(web: Caller, issuer: str, *, allowed: Sequence[Network]) -> Document:
    """The addresses of the provider; those that browsers are led to are judged here. Raises ProviderFailed."""
    found = await _json(web, "GET", issuer.rstrip("/") + DOCUMENT_PATH)
    if found.get("issuer") != issuer:
        raise ProviderFailed("The provider calls itself by another address. Take the one that its document names.")
    methods = found.get("token_endpoint_auth_methods_supported")
    return Document(
        issuer=issuer,
        authorization_url=_address(found, "authorization_endpoint", allowed),
        token_url=_address(found, "token_endpoint", allowed),
        keys_url=_address(found, "jwks_uri", allowed),
        claims_url=_address(found, "userinfo_endpoint", allowed) if found.get("userinfo_endpoint") else None,
        end_url=_address(found, "end_session_endpoint", allowed) if found.get("end_session_endpoint") else None,
        has_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
    )


def login_url(authorization_url: str, client: Client, challenge: Challenge, *, scopes: list[str], is_anew: bool) -> str:
    """The address to log in at. `is_anew`: even if the person is logged in there already."""
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": client.redirect_url,
        "scope": " ".join(dict.fromkeys((*SCOPES, *scopes))),
        "state": challenge.state,
        "nonce": challenge.nonce,
        "code_challenge": _challenge_of(challenge.verifier),
        "code_challenge_method": "S256",
        **({"prompt": "login", "max_age": "0"} if is_anew else {}),
    }
    return _with(authorization_url, query)


def end_url(document: Document, *, client_id: str, back_url: str) -> str | None:
    """The address to log out at, by RP-Initiated Logout; None where there is none."""
    if document.end_url is None:
        return None
    return _with(document.end_url, {"client_id": client_id, "post_logout_redirect_uri": back_url})


async def claims_of(
    web: Caller, document: Document, client: Client, challenge: Challenge, *, code: str, wanted: str, now: datetime
) -> Mapping[str, Any]:
    """The verified claims of the person that a code stands for. Raises ProviderFailed.

    `wanted`: the claim that is asked for apart, as the address is, where the token lacks it.
    """
    answer = await _exchanged(web, document, client, challenge, code)
    claims = await _verified(web, document, client, challenge, str(answer.get("id_token") or ""), now=now)
    access = answer.get("access_token")
    if document.claims_url is None or not isinstance(access, str) or {"email", wanted} <= claims.keys():
        return claims
    more = await _json(web, "GET", document.claims_url, headers={"authorization": f"Bearer {access}"})
    if more.get("sub") != claims["sub"]:  # section 5.3.2: else it may be somebody else's
        raise ProviderFailed("The provider told claims of somebody else.")
    return {**more, **claims}


async def _exchanged(
    web: Caller, document: Document, client: Client, challenge: Challenge, code: str
) -> Mapping[str, Any]:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": client.redirect_url,
        "code_verifier": challenge.verifier,
    }
    headers = {"content-type": "application/x-www-form-urlencoded"}
    if client.secret is not None and document.has_basic:
        pair = f"{quote(client.client_id, safe='')}:{quote(client.secret, safe='')}"  # RFC 6749, section 2.3.1
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client.client_id
        if client.secret is not None:
            form["client_secret"] = client.secret
    return await _json(web, "POST", document.token_url, headers=headers, content=urlencode(form).encode())


async def _verified(
    web: Caller, document: Document, client: Client, challenge: Challenge, token: str, *, now: datetime
) -> Mapping[str, Any]:
    """The claims of an ID token: OpenID Connect Core 1.0, section 3.1.3.7."""
    keys = await _json(web, "GET", document.keys_url)
    rules = jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=CLOCK_SECONDS,
        iss={"essential": True, "value": document.issuer},
        aud={"essential": True, "value": client.client_id},
        nonce={"essential": True, "value": challenge.nonce},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        claims = jwt.decode(token, KeySet.import_key_set(cast("Any", keys)), algorithms=list(ALGORITHMS)).claims
        rules.validate(claims)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise ProviderFailed(f"The provider's token was not accepted ({type(error).__name__}).") from error
    audience, party = claims["aud"], claims.get("azp")
    if (isinstance(audience, list) and len(cast("list[object]", audience)) > 1) and party != client.client_id:
        raise ProviderFailed("The provider's token is for others too.")
    if party is not None and party != client.client_id:
        raise ProviderFailed("The provider's token is for another client.")
    return claims


async def _json(
    web: Caller, method: str, url: str, *, headers: Mapping[str, str] | None = None, content: bytes = b""
) -> Mapping[str, Any]:
    sent = {"accept": "application/json", **(headers or {})}
    try:
        answer = await web.request(method, url, headers=sent, content=content, seconds=CALL_SECONDS_MAX)
    except CallFailed as failed:
        raise ProviderFailed(f"The provider was not reached: {failed.reason}") from failed
    if answer.status != OK:
        raise ProviderFailed(f"The provider answered with the status {answer.status} at {urlsplit(url).path[:100]}.")
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ProviderFailed("The provider's answer is no JSON, or longer than 64 KB.") from error
    if not isinstance(found, dict):
        raise ProviderFailed("The provider's answer is no JSON object.")
    return cast("dict[str, Any]", found)


def _address(found: Mapping[str, Any], name: str, allowed: Sequence[Network]) -> str:
    url = found.get(name)
    if not isinstance(url, str) or len(url) > URL_CHARACTERS_MAX or http.check_url(url, allowed) is not None:
        raise ProviderFailed(f"The provider's document has no {name}.")
    return url


def _with(url: str, query: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"


def _challenge_of(verifier: str) -> str:
    """RFC 7636, section 4.2."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
