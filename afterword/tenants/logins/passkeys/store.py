"""SQL of passkeys, and of the challenges that were answered."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, LiteralString

from afterword.kit.db import Database, Taken

ID_CHARACTERS: Final = 32


@dataclass(frozen=True, slots=True)
class Passkey:
    """`sign_count`: 0 where the authenticator does not count."""

    credential_id: bytes
    login_id: str
    public_key: bytes = field(repr=False)
    sign_count: int
    title: str
    created_time: datetime
    used_time: datetime | None

    @property
    def passkey_id(self) -> str:
        """Its name in addresses: the id of a credential may have a thousand bytes."""
        return hashlib.sha256(self.credential_id).hexdigest()[:ID_CHARACTERS]


_COLUMNS: Final[LiteralString] = "credential_id, login_id, public_key, sign_count, title, created_time, used_time"


async def insert_passkey(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, credential_id: bytes, public_key: bytes, sign_count: int, title: str, now: datetime
) -> None:
    """Raises Taken if the credential is somebody's already."""
    inserted = await db.execute(
        """insert into login_passkey (credential_id, login_id, public_key, sign_count, title, created_time)
           values ($1, $2, $3, $4, $5, $6) on conflict do nothing""",
        *(credential_id, login_id, public_key, sign_count, title, now),
    )
    if not inserted:
        raise Taken("This passkey is in use already.")


async def get_passkey(  # any tenant: the credential says whose it is
    db: Database, *, credential_id: bytes
) -> Passkey | None:
    """The passkey, locked, so that two answers are not counted at once."""
    row = await db.fetch_row(
        f"select {_COLUMNS} from login_passkey where credential_id = $1 for no key update", credential_id
    )
    return Passkey(**row) if row else None


async def list_passkeys(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str
) -> list[Passkey]:
    rows = await db.fetch(
        f"select {_COLUMNS} from login_passkey where login_id = $1 order by created_time, credential_id limit 100",
        login_id,
    )
    return [Passkey(**row) for row in rows]


async def update_passkey(  # any tenant: a login belongs to a person
    db: Database, *, credential_id: bytes, sign_count: int, now: datetime
) -> None:
    await db.execute(
        "update login_passkey set sign_count = $2, used_time = $3 where credential_id = $1",
        *(credential_id, sign_count, now),
    )


async def delete_passkey(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, credential_id: bytes
) -> None:
    await db.execute("delete from login_passkey where login_id = $1 and credential_id = $2", login_id, credential_id)


async def insert_challenge(  # any tenant: before the login is known
    db: Database, *, digest: bytes, expires_time: datetime
) -> bool:
    """Note that it was answered; false if it had been before."""
    return bool(
        await db.execute(
            "insert into login_challenge (digest, expires_time) values ($1, $2) on conflict do nothing",
            *(digest, expires_time),
        )
    )
