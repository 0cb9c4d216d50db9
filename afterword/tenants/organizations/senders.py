"""Operations on sender domains: the operator allows and forbids them; pipelines ask before they are saved."""

from typing import Final

from afterword import errors
from afterword.core.messaging import addresses
from afterword.errors import FieldError
from afterword.kit.db import Database


async def _insert_sender(db: Database, *, organization_id: str, domain: str) -> None:
    await db.execute(
        """insert into organization_sender_domain (organization_id, domain) values ($1, $2)
           on conflict (organization_id, domain) do nothing""",
        *(organization_id, domain),
    )


async def _get_is_alone(db: Database, *, organization_id: str) -> bool:
    return await db.fetch_value(
        "select not exists (select from organization where organization_id <> $1)", organization_id
    )


async def list_senders(db: Database, *, organization_id: str) -> list[str]:
    return await db.fetch_column(
        "select domain from organization_sender_domain where organization_id = $1 order by domain", organization_id
    )


async def _delete_sender(db: Database, *, organization_id: str, domain: str) -> None:
    await db.execute(
        "delete from organization_sender_domain where organization_id = $1 and domain = $2", organization_id, domain
    )


SENDERS_MAX: Final = 100  # of an organization


async def allow_sender(db: Database, *, organization_id: str, text: str) -> str:
    """Let an organization send from a domain, or from one address; returns it in lower case. Raises Invalid."""
    domain = _normal(text)
    await _insert_sender(db, organization_id=organization_id, domain=domain)
    if len(await list_senders(db, organization_id=organization_id)) > SENDERS_MAX:
        raise errors.Invalid(f"An organization has at most {SENDERS_MAX} sender domains.")
    return domain


async def forbid_sender(db: Database, *, organization_id: str, text: str) -> None:
    """Messages from it that have not gone out are refused from now on. Raises NotFound."""
    found = await list_senders(db, organization_id=organization_id)
    for domain in {text.lower(), _normal(text)}.intersection(found):
        await _delete_sender(db, organization_id=organization_id, domain=domain)
        return
    raise errors.NotFound("The organization has no such sender domain.")


async def sender_errors(db: Database, *, organization_id: str, address: str | None) -> list[FieldError]:
    """The fault of a pipeline's `sender_address`, if the organization may not send from it.

    An organization that is alone on the installation may: its domain is added to its list, and stays its own when
    others come.
    """
    domain = addresses.domain_of(address) if address else None
    if address is None or domain is None:
        return []
    found = await list_senders(db, organization_id=organization_id)
    if addresses.is_among(address, found):
        return []
    if len(found) < SENDERS_MAX and await _get_is_alone(db, organization_id=organization_id):
        await _insert_sender(db, organization_id=organization_id, domain=domain)
        return []
    sentence = "The organization may not send from this domain. The operator allows it: afterword sender add."
    return [FieldError("unknown_value", sentence, pointer="/sender_address")]


def _normal(text: str) -> str:
    """A domain or an address in its normal form, in lower case. Raises Invalid."""
    local, at, domain = text.rpartition("@")
    try:
        normal = addresses.normalise(addresses.CHANNEL_EMAIL, f"{local or 'x'}@{domain}").lower()
    except addresses.InvalidAddress:
        raise errors.Invalid("Give a domain such as example.com, or an address such as ann@example.com.") from None
    return normal if at else normal.rpartition("@")[2]
