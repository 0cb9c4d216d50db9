"""Hashes of passwords by argon2id, two at a time: each takes 19 MiB, and log-ins must not be a lever on memory."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from afterword.core.organizations import passwords

# The parameters of OWASP's Password Storage Cheat Sheet.
_hasher: Final = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_threads: Final = ThreadPoolExecutor(max_workers=2, thread_name_prefix="argon2")
NOBODY: Final = _hasher.hash("the password of an address without a login")


async def hash_of(password: str) -> str:
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, passwords.normal(password))


async def is_right(password_hash: str, password: str) -> bool:
    """Of an address without a login compare with NOBODY, which takes as long."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, _matches, password_hash, passwords.normal(password))


def is_outdated(password_hash: str) -> bool:
    return _hasher.check_needs_rehash(password_hash)


def _matches(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False
