"""Hashes of passwords: argon2id with the parameters of OWASP, whatever is compared."""

import pytest

from afterword.tenants.logins import service
from tests.conftest import HASHER
from tests.tenants.logins.conftest import PASSWORD


async def test_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_hasher", HASHER)
    hashed = await service.hash_of("O\u0301lga has four words")
    assert hashed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await service.is_right(hashed, "\u00d3lga has four words")
    assert not await service.is_right(hashed, "Olga has four words")
    assert not await service.is_right("no hash", PASSWORD)
    assert not service.is_outdated(hashed)
