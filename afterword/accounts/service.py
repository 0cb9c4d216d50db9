"""Organizations, applications, users and tokens come into being here, and tokens end."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, Literal

from afterword import db as database
from afterword import errors, ids
from afterword.accounts import access, store
from afterword.accounts.store import CUSTOM_APPLICATION_TYPE_ID, Application, Organization, Token, User
from afterword.core import addresses, locales, times
from afterword.core.access import ROLE_SCOPES, SCOPES
from afterword.errors import FieldError

NAME_CHARACTERS_MAX: Final = 200
PERSON_NAME_CHARACTERS_MAX: Final = 100
POSTAL_ADDRESS_CHARACTERS_MAX: Final = 500
DESCRIPTION_CHARACTERS_MAX: Final = 2000
WEBSITE_URLS_MAX: Final = 50
SCOPES_MAX: Final = 200
APPLICATIONS_MAX: Final = 100

_DOMAIN: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")


async def create_organization(
    db: database.Database,
    *,
    domain: str,
    display_name: str,
    now: datetime,
    time_zone: str = "UTC",
    default_locale: str = "en",
    legal_name: str | None = None,
    postal_address: str | None = None,
    created_by: str | None = None,
) -> Organization:
    """Found a tenant. Raises Invalid, and Taken when another has the domain."""
    wrong: list[FieldError] = []
    if not _DOMAIN.match(domain):
        message = "1 to 63 lower-case letters, digits and hyphens, neither first nor last a hyphen."
        wrong.append(FieldError("invalid_format", message, pointer="/domain"))
    wrong += _zone_errors(time_zone) + _locale_errors("default_locale", default_locale)
    wrong += _length_errors("display_name", display_name, NAME_CHARACTERS_MAX)
    wrong += _length_errors("legal_name", legal_name, NAME_CHARACTERS_MAX)
    wrong += _length_errors("postal_address", postal_address, POSTAL_ADDRESS_CHARACTERS_MAX)
    _refuse(wrong)
    return await store.insert_organization(
        db,
        organization_id=ids.ordered(now),
        domain=domain,
        display_name=display_name,
        legal_name=legal_name,
        postal_address=postal_address,
        default_locale=locales.normalise(default_locale),
        time_zone=time_zone,
        now=now,
        created_by=created_by,
    )


async def create_application(
    db: database.Database,
    *,
    organization_id: str,
    display_name: str,
    now: datetime,
    application_type_id: str = CUSTOM_APPLICATION_TYPE_ID,
    description: str | None = None,
    time_zone: str | None = None,
    default_locale: str | None = None,
    website_urls: Sequence[str] = (),
    created_by: str | None = None,
) -> Application:
    """Add an application. Raises Invalid, and Dangling when the type does not exist."""
    wrong = _length_errors("display_name", display_name, NAME_CHARACTERS_MAX)
    wrong += _length_errors("description", description, DESCRIPTION_CHARACTERS_MAX, least=0)
    wrong += _zone_errors(time_zone) + _locale_errors("default_locale", default_locale)
    if len(website_urls) > WEBSITE_URLS_MAX:
        wrong.append(FieldError("too_many", f"At most {WEBSITE_URLS_MAX} addresses.", pointer="/website_urls"))
    _refuse(wrong)
    return await store.insert_application(
        db,
        organization_id=organization_id,
        application_id=ids.ordered(now),
        application_type_id=application_type_id,
        display_name=display_name,
        description=description,
        time_zone=time_zone,
        default_locale=locales.normalise(default_locale) if default_locale is not None else None,
        website_urls=website_urls,
        now=now,
        created_by=created_by,
    )


async def create_user(
    db: database.Database,
    *,
    organization_id: str,
    email: str,
    role: str,
    now: datetime,
    display_name: str | None = None,
    application_ids: Sequence[str] = (),
    locale: str | None = None,
    time_zone: str | None = None,
    created_by: str | None = None,
) -> User:
    """Invite a person. Raises Invalid, and Taken when the organization has one with this e-mail address."""
    wrong = _email_errors(email) + _zone_errors(time_zone) + _locale_errors("locale", locale)
    wrong += _length_errors("display_name", display_name, PERSON_NAME_CHARACTERS_MAX)
    if role not in ROLE_SCOPES:
        wrong.append(FieldError("unknown_value", f"One of {', '.join(ROLE_SCOPES)}.", pointer="/role"))
    wrong += await _application_errors(db, organization_id, application_ids)
    _refuse(wrong)
    return await store.insert_user(
        db,
        organization_id=organization_id,
        user_id=ids.ordered(now),
        email=email,
        display_name=display_name,
        role=role,
        application_ids=application_ids,
        locale=locale,
        time_zone=time_zone,
        now=now,
        created_by=created_by,
    )


async def create_token(
    db: database.Database,
    *,
    organization_id: str,
    title: str,
    scopes: Collection[str],
    kind: Literal["user", "organization"],
    user_id: str | None,
    now: datetime,
    application_ids: Sequence[str] = (),
    expires_time: datetime | None = None,
    test: bool = False,
    created_by: str | None = None,
    maker_scopes: Collection[str] = SCOPES,
) -> tuple[Token, str]:
    """Make a token; its text is in the answer and nowhere else.

    `maker_scopes` are those that whoever makes it holds: nobody hands out more. Raises Invalid (`unknown_scope`,
    `unknown_id`, …).
    """
    wrong = _length_errors("title", title, NAME_CHARACTERS_MAX) + _scope_errors(scopes, maker_scopes)
    if (kind == "user") != (user_id is not None):
        wrong.append(FieldError("required", "A user's token has a user, an organization's has none.", pointer="/kind"))
    elif user_id is not None and await store.get_user(db, organization_id=organization_id, user_id=user_id) is None:
        wrong.append(FieldError("unknown_id", "There is no such user.", pointer="/user_id"))
    if expires_time is not None and expires_time <= now:
        wrong.append(FieldError("out_of_range", "A token expires in the future.", pointer="/expires_time"))
    wrong += await _application_errors(db, organization_id, application_ids)
    _refuse(wrong)
    secret = access.mint()
    token = await store.insert_token(
        db,
        organization_id=organization_id,
        token_id=ids.ordered(now),
        user_id=user_id,
        kind=kind,
        title=title,
        scopes=sorted(set(scopes)),
        application_ids=application_ids,
        selector=secret.selector,
        verifier_digest=secret.verifier_digest,
        test=test,
        expires_time=expires_time,
        now=now,
        created_by=created_by,
    )
    return token, secret.text


async def revoke_token(db: database.Database, *, organization_id: str, token_id: str, now: datetime) -> Token:
    """End a token; processes that saw it good stop within `access.CACHE_SECONDS_MAX`. Raises NotFound."""
    token = await store.update_token_to_revoked(db, organization_id=organization_id, token_id=token_id, now=now)
    if token is None:
        raise errors.NotFound("There is no such token.")
    return token


def _scope_errors(scopes: Collection[str], maker_scopes: Collection[str]) -> list[FieldError]:
    if isinstance(scopes, str) or not 1 <= len(scopes) <= SCOPES_MAX:
        return [FieldError("too_few" if not scopes else "too_many", f"1 to {SCOPES_MAX} scopes.", pointer="/scopes")]
    return [
        FieldError("unknown_scope", "There is no such scope, or you do not hold it.", pointer=f"/scopes/{place}")
        for place, scope in enumerate(scopes)
        if scope not in SCOPES or scope not in maker_scopes
    ]


async def _application_errors(
    db: database.Database, organization_id: str, application_ids: Sequence[str]
) -> list[FieldError]:
    if len(application_ids) > APPLICATIONS_MAX:
        return [FieldError("too_many", f"At most {APPLICATIONS_MAX} applications.", pointer="/application_ids")]
    if not application_ids:
        return []
    known = await store.list_application_ids(db, organization_id=organization_id, among=application_ids)
    return [
        FieldError("unknown_id", "There is no such application.", pointer=f"/application_ids/{place}")
        for place, application_id in enumerate(application_ids)
        if application_id not in known
    ]


def _length_errors(name: str, text: str | None, characters_max: int, *, least: int = 1) -> list[FieldError]:
    if text is None or least <= len(text) <= characters_max:
        return []
    code = "too_long" if text else "too_short"
    return [FieldError(code, f"{least} to {characters_max} characters.", pointer=f"/{name}")]


def _email_errors(email: str) -> list[FieldError]:
    try:
        addresses.normalise(addresses.CHANNEL_EMAIL, email)
    except addresses.InvalidAddress as error:
        return [FieldError("invalid_address", str(error), pointer="/email")]
    return []


def _zone_errors(time_zone: str | None) -> list[FieldError]:
    if time_zone is None:
        return []
    try:
        times.zone_of(time_zone)
    except ValueError as error:
        return [FieldError("unknown_value", str(error), pointer="/time_zone")]
    return []


def _locale_errors(name: str, locale: str | None) -> list[FieldError]:
    if locale is None:
        return []
    try:
        locales.normalise(locale)
    except locales.InvalidLocale as error:
        return [FieldError("invalid_locale", str(error), pointer=f"/{name}")]
    return []


def _refuse(wrong: Sequence[FieldError]) -> None:
    if wrong:
        raise errors.Invalid.of(*wrong)
