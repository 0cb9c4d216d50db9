"""OpenID Connect with a provider: its document, the address to log in at, and the claims that a code stands for.

Each call goes through the guard of webhooks: to the open internet over https, or into networks that operators allowed,
64 KB at most. Nothing is kept between log-ins, so keys that the provider changed are known at once.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from afterword.core.messaging.networks import Network
from afterword.core.organizations.identities import CLOCK
from afterword.kit.transport import http
from afterword.kit.transport.http import Caller, CallFailed

if TYPE_CHECKING:
    from joserfc.jwk import Key, KeySet
    from joserfc.jwt import BaseClaimsRegistry

CALL_SECONDS_MAX: Final = 5.0  # each of four calls
FRESH_SECONDS: Final = 30  # an age of 0 is never reached at Canaille, and with none no time is told
SAID_CHARACTERS_MAX: Final = 200
DOCUMENT_PATH: Final = "/.well-known/openid-configuration"  # OpenID Connect Discovery 1.0, section 4
SCOPES: Final = ("openid", "email", "profile")
ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA",
)  # fmt: skip
URL_CHARACTERS_MAX: Final = 2_000
# An ID token stands in a header of ours at log-out, and proxies take 4 KB of headers.
HINT_CHARACTERS_MAX: Final = 2_500
OK: Final = 200


class ProviderFailed(Exception):
    """The provider did not answer as OpenID Connect wants, or as our roles need it.

    `reason` is a sentence for the owner, without secrets; `sentence` is for the person who logs in.
    """

    def __init__(self, reason: str, sentence: str = "") -> None:
        super().__init__(reason)
        self.reason, self.sentence = reason, sentence


class WrongCode(ProviderFailed):
    """The provider never gave this code, or not to us, or gave it long ago."""


class Document(msgspec.Struct, frozen=True):
    issuer: str
    authorization_url: str
    token_url: str
    keys_url: str
    claims_url: str | None
    end_url: str | None
    has_basic: bool
    tells_issuer: bool  # RFC 9207: each of its answers names it


class Client(msgspec.Struct, frozen=True):
    """We, as the provider knows us. `secret` None: it knows us by the address that it leads back to."""

    client_id: str
    secret: str | None
    redirect_url: str


class Challenge(msgspec.Struct, frozen=True):
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
        tells_issuer=found.get("authorization_response_iss_parameter_supported") is True,
    )


def login_url(authorization_url: str, client: Client, challenge: Challenge, *, scopes: list[str], is_anew: bool) -> str:
    """The address to log in at. `is_anew`: even if the person is logged in there already."""
    digest = hashlib.sha256(challenge.verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": client.redirect_url,
        "scope": " ".join(dict.fromkeys((*SCOPES, *scopes))),
        "state": challenge.state,
        "nonce": challenge.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),  # RFC 7636, section 4.2
        "code_challenge_method": "S256",
        **({"prompt": "login", "max_age": str(FRESH_SECONDS)} if is_anew else {}),
    }
    return _with(authorization_url, query)


def check_issuer(document: Document, told: str) -> None:
    """Raise ProviderFailed for the answer of another provider, to which the code would be taken: RFC 9207."""
    if told != document.issuer and (told or document.tells_issuer):
        told = said(told) or "nobody"
        raise ProviderFailed(f"The answer of the provider must name it in `iss`, and named {told}.")


def end_url(document: Document, *, client_id: str, back_url: str, hint: str | None) -> str | None:
    """The address to log out at, by RP-Initiated Logout; None where there is none. `hint`: the ID token."""
    if document.end_url is None:
        return None
    query = {"client_id": client_id, "post_logout_redirect_uri": back_url}
    return _with(document.end_url, query if hint is None else {**query, "id_token_hint": hint})


async def claims_of(
    web: Caller, document: Document, client: Client, challenge: Challenge, *, code: str, wanted: str, now: datetime
) -> tuple[Mapping[str, Any], str]:
    """The verified claims of the person that a code stands for, and the ID token. Raises ProviderFailed.

    `wanted`: the claim that is asked for apart, as the address is, where the token lacks it.
    """
    answer = await _exchanged(web, document, client, challenge, code)
    keys = _keys_of(await _json(web, "GET", document.keys_url))
    token, access = str(answer.get("id_token") or ""), answer.get("access_token")
    claims = _verified(keys, document, client, challenge, token, now=now)
    if document.claims_url is None or not isinstance(access, str) or {"email", wanted} <= claims.keys():
        return claims, token
    told = await _answer(web, "GET", document.claims_url, headers={"authorization": f"Bearer {access}"})
    if told.headers.get("content-type", "").lower().startswith("application/jwt"):
        more = _signed(keys, document, client, told.body)
    else:
        more = _object_of(told)
    if more.get("sub") != claims["sub"]:  # section 5.3.2: else it may be somebody else's
        raise ProviderFailed("The provider told claims of somebody else.")
    return {**more, **claims}, token


def said(text: str) -> str:
    """The words of a stranger, as a sentence may quote them."""
    line = "".join(one if one.isprintable() else " " for one in text[: 4 * SAID_CHARACTERS_MAX])
    return " ".join(line.split())[:SAID_CHARACTERS_MAX]


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


def _keys_of(found: Mapping[str, Any]) -> "KeySet":
    """Those that we can use; RFC 7517, section 5, has us ignore the others, such as those on an unknown curve."""
    from joserfc.errors import JoseError  # noqa: PLC0415  3 MB, for log-ins at providers alone
    from joserfc.jwk import JWKRegistry, KeySet  # noqa: PLC0415

    keys: list[Key] = []
    for one in found["keys"] if isinstance(found.get("keys"), list) else ():
        with suppress(JoseError, ValueError, TypeError, KeyError):
            key = JWKRegistry.import_key(one)
            key.ensure_kid()
            keys.append(key)
    return KeySet(keys)


def _signed(keys: "KeySet", document: Document, client: Client, token: bytes) -> Mapping[str, Any]:
    """The claims of a signed answer about a person: OpenID Connect Core 1.0, section 5.3.2."""
    from joserfc.jwt import BaseClaimsRegistry  # noqa: PLC0415

    rules = BaseClaimsRegistry(iss={"value": document.issuer}, aud={"value": client.client_id})
    return _decoded(token.strip(), keys, rules, "answer about the person")


def _verified(
    keys: "KeySet", document: Document, client: Client, challenge: Challenge, token: str, *, now: datetime
) -> Mapping[str, Any]:
    """The claims of an ID token: OpenID Connect Core 1.0, section 3.1.3.7."""
    from joserfc.jwt import JWTClaimsRegistry  # noqa: PLC0415

    rules = JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=int(CLOCK.total_seconds()),
        iss={"essential": True, "value": document.issuer},
        aud={"essential": True, "value": client.client_id},
        nonce={"essential": True, "value": challenge.nonce},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    claims = _decoded(token, keys, rules, "token")
    audience, party = claims["aud"], claims.get("azp")
    if (isinstance(audience, list) and len(cast("list[object]", audience)) > 1) and party != client.client_id:
        raise ProviderFailed("The provider's token is for others too.")
    if party is not None and party != client.client_id:
        raise ProviderFailed("The provider's token is for another client.")
    return claims


def _decoded(token: str | bytes, keys: "KeySet", rules: "BaseClaimsRegistry", name: str) -> Mapping[str, Any]:
    from joserfc import jwt  # noqa: PLC0415
    from joserfc.errors import ClaimError, JoseError  # noqa: PLC0415

    try:
        claims = jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
        rules.validate(claims)
    except ClaimError as error:
        reason = f"claim {error.claim}: {error.description}"
        raise ProviderFailed(f"The provider's {name} was not accepted, {said(reason)}.") from error
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        reason = str(error) if isinstance(error, JoseError) else type(error).__name__
        raise ProviderFailed(f"The provider's {name} was not accepted ({said(reason)}).") from error
    return claims


async def _json(web: Caller, method: str, url: str, **sent: Any) -> Mapping[str, Any]:
    return _object_of(await _answer(web, method, url, **sent))


async def _answer(
    web: Caller, method: str, url: str, *, headers: Mapping[str, str] | None = None, content: bytes = b""
) -> http.Answer:
    sent = {"accept": "application/json", **(headers or {})}
    try:
        answer = await web.request(method, url, headers=sent, content=content, seconds=CALL_SECONDS_MAX)
    except CallFailed as failed:
        raise ProviderFailed(f"The provider was not reached: {failed.reason}") from failed
    if answer.status == OK:
        return answer
    refusal = f"The provider answered with the status {answer.status} at {urlsplit(url).path[:100]}"
    try:
        told = _object_of(answer)
    except ProviderFailed:
        told = {}
    given = [told.get(name) for name in ("error", "error_description")]
    words = ": ".join(said(one) for one in given if isinstance(one, str))
    failed = WrongCode if given[0] == "invalid_grant" else ProviderFailed  # RFC 6749, section 5.2
    raise failed(f"{refusal}: {words.rstrip('.')}." if words else f"{refusal}.")


def _object_of(answer: http.Answer) -> Mapping[str, Any]:
    if len(answer.body) >= http.ANSWER_BYTES_MAX:
        raise ProviderFailed("The provider's answer is longer than 64 KB.")
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ProviderFailed("The provider's answer is no JSON.") from error
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
