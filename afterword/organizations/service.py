"""Organizations, their billing and their applications come into being here and change.

Users, tokens and plans have services of their own; making a user or a token is found here too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NoReturn

from afterword import db as database
from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import visuals
from afterword.core.reading.findings import escape
from afterword.core.text import locales, registers
from afterword.errors import FieldError
from afterword.organizations import checks, store
from afterword.organizations.assets import service as assets
from afterword.organizations.store import CUSTOM_APPLICATION_TYPE_ID, Application, Billing, Organization
from afterword.organizations.tokens.service import create_token, revoke_token
from afterword.organizations.users.service import create_user

__all__ = ["create_token", "create_user", "revoke_token"]

NAME_CHARACTERS_MAX: Final = 200
POSTAL_ADDRESS_CHARACTERS_MAX: Final = 500
DESCRIPTION_CHARACTERS_MAX: Final = 2000
LOCALES_MAX: Final = 50
WEBSITE_URLS_MAX: Final = 50

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
    wrong += checks.zone_errors(time_zone) + checks.locale_errors("default_locale", default_locale)
    wrong += checks.length_errors("display_name", display_name, NAME_CHARACTERS_MAX)
    wrong += checks.length_errors("legal_name", legal_name, NAME_CHARACTERS_MAX)
    wrong += checks.length_errors("postal_address", postal_address, POSTAL_ADDRESS_CHARACTERS_MAX)
    errors.check(wrong)
    return await store.insert_organization(
        db,
        organization_id=ids.ordered(now),
        document={
            "domain": domain,
            "display_name": display_name,
            "legal_name": legal_name,
            "postal_address": postal_address,
            "default_locale": locales.normalise(default_locale),
            "time_zone": time_zone,
        },
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
    brand: Mapping[str, Any] = MappingProxyType({}),
    active: bool = True,
    created_by: str | None = None,
) -> Application:
    """Add an application. Raises Invalid. One of a type has that type's metadata definitions."""
    wrong = checks.length_errors("display_name", display_name, NAME_CHARACTERS_MAX)
    wrong += checks.length_errors("description", description, DESCRIPTION_CHARACTERS_MAX, least=0)
    wrong += checks.zone_errors(time_zone) + checks.locale_errors("default_locale", default_locale)
    if len(website_urls) > WEBSITE_URLS_MAX:
        wrong.append(FieldError("too_many", f"At most {WEBSITE_URLS_MAX} addresses.", pointer="/website_urls"))
    if await store.get_application_type(db, application_type_id=application_type_id) is None:
        wrong.append(FieldError("unknown_id", "There is no such type.", pointer="/application_type_id"))
    errors.check(wrong)
    return await store.insert_application(
        db,
        organization_id=organization_id,
        application_id=ids.ordered(now),
        document={
            "application_type_id": application_type_id,
            "display_name": display_name,
            "description": description,
            "time_zone": time_zone,
            "default_locale": locales.normalise(default_locale) if default_locale is not None else None,
            "website_urls": website_urls,
            "brand": await checked_brand(db, organization_id=organization_id, brand=brand),
            "active": active,
        },
        now=now,
        created_by=created_by,
    )


async def update_organization(
    db: database.Database,
    *,
    caller: Caller,
    changes: Mapping[str, Any],
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> Organization:
    before = await _organization_locked(db, caller=caller)
    expect(before.version)
    wrong = checks.zone_errors(changes.get("time_zone"))
    wrong += checks.locale_errors("default_locale", changes.get("default_locale"))
    wrong += checks.length_errors("postal_address", changes.get("postal_address"), POSTAL_ADDRESS_CHARACTERS_MAX)
    after: dict[str, Any] = {**asdict(before), **changes}
    spoken, default = after["locales"], after["default_locale"]
    for locale in changes.get("locales", ()):
        wrong += checks.locale_errors("locales", locale)
    if spoken and default not in spoken and not wrong:
        message = "The language of those whose language is not known is one of their languages."
        wrong.append(FieldError("unknown_value", message, pointer="/default_locale"))
    errors.check(wrong)
    if "brand" in changes:
        brand = await checked_brand(db, organization_id=caller.organization_id, brand=changes["brand"])
        changes = {**changes, "brand": brand}
    changed = _changed(before, changes)
    if not changed:
        return before
    caller.require_whole()
    return await store.update_organization(
        db, organization_id=caller.organization_id, changes=changed, now=now, updated_by=caller.actor_id
    )


async def update_billing(
    db: database.Database,
    *,
    caller: Caller,
    changes: Mapping[str, Any],
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> Billing:
    await _organization_locked(db, caller=caller)
    before = await store.get_billing(db, organization_id=caller.organization_id)
    if before is None:
        refuse_unknown()
    expect(before.version)
    wanted = {
        name: value.upper() if name in {"country", "currency"} and value else value for name, value in changes.items()
    }
    wrong = checks.email_errors(wanted.get("email"))
    for name, known in (("country", registers.countries()), ("currency", registers.currencies())):
        if wanted.get(name) is not None and wanted[name] not in known:
            wrong.append(FieldError("unknown_value", f"There is no such {name}.", pointer=f"/{name}"))
    errors.check(wrong)
    changed = _changed(before, wanted)
    if not changed:
        return before
    caller.require_whole()
    await store.update_billing(
        db,
        organization_id=caller.organization_id,
        billing={**asdict(before), **changed},
        now=now,
        updated_by=caller.actor_id,
    )
    return await store.get_billing(db, organization_id=caller.organization_id) or before


async def get_application(
    db: database.Database, *, caller: Caller, application_id: str, is_locked: bool = False
) -> Application:
    found = await store.get_application(
        db,
        organization_id=caller.organization_id,
        application_id=application_id,
        among=caller.application_ids,
        is_locked=is_locked,
    )
    return errors.found(found, "There is no such application.")


async def update_application(
    db: database.Database,
    *,
    caller: Caller,
    application_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> Application:
    before = await get_application(db, caller=caller, application_id=application_id, is_locked=True)
    expect(before.version)
    if "brand" in changes:
        brand = await checked_brand(db, organization_id=caller.organization_id, brand=changes["brand"])
        changes = {**changes, "brand": brand}
    changed = _changed(before, changes)
    if not changed:
        return before
    return await store.update_application(
        db,
        organization_id=caller.organization_id,
        application_id=application_id,
        changes=changed,
        now=now,
        updated_by=caller.actor_id,
    )


async def delete_application(
    db: database.Database, *, caller: Caller, application_id: str, expect: errors.Expect = errors.ANY
) -> None:
    """Remove an application that owns nothing. Raises NotFound, Conflict `in_use`, Stale."""
    before = await get_application(db, caller=caller, application_id=application_id, is_locked=True)
    expect(before.version)
    try:
        await store.delete_application(db, organization_id=caller.organization_id, application_id=application_id)
    except database.Dangling as error:
        raise errors.Conflict("The application still owns questionnaires, archived ones too.", "in_use") from error


async def _organization_locked(db: database.Database, *, caller: Caller) -> Organization:
    found = await store.get_organization(db, organization_id=caller.organization_id, is_locked=True)
    return found or refuse_unknown()


def _changed(before: object, changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if value != getattr(before, name)}


async def checked_brand(db: database.Database, *, organization_id: str, brand: Mapping[str, Any]) -> dict[str, Any]:
    """The brand without nulls. Raises Invalid for another key, a wrong value, or a picture that is not there."""
    brand = {name: value for name, value in brand.items() if value is not None}
    theme, wrong = visuals.read(brand, path="/brand")
    names = ", ".join(visuals.BRAND_KEYS)
    wrong += [
        FieldError("unknown_member", f"A brand has {names}.", pointer=f"/brand/{escape(name)}")
        for name in brand
        if name not in visuals.BRAND_KEYS
    ]
    errors.check(wrong)
    await assets.require(db, organization_id=organization_id, address=theme.logo, pointer="/brand/logo")
    return brand


def refuse_unknown() -> NoReturn:
    raise errors.NotFound("There is no such organization.")
