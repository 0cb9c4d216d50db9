"""Which passwords are accepted, by NIST SP 800-63B-4: long ones, not common ones, no rules of composition."""

import unicodedata
from collections.abc import Collection
from itertools import pairwise
from typing import Final

from afterword.errors import FieldError, Sentence

CHARACTERS_MIN: Final = 15
WITH_SECOND_FACTOR_MIN: Final = 8
CHARACTERS_MAX: Final = 256
RUN_MAX: Final = 4  # different characters in a long password that is not a run or a repetition
OWN_WORD_MIN: Final = 4  # shorter names stand in many good passwords by chance
# Long passwords that stand on lists of stolen ones, by their letters and digits.
COMMON: Final = frozenset(
    {
        "passwordpassword", "password12345678", "password123456789", "1234567890123456", "12345678901234567890",
        "qwertyuiopasdfgh", "qwertyuiopasdfghjkl", "qwertyuiopasdfghjklzxcvbnm", "1q2w3e4r5t6y7u8i", "1qaz2wsx3edc4rfv",
        "1qaz2wsx3edc4rfv5tgb", "iloveyouiloveyou", "adminadminadmin", "administrator123", "welcomewelcome12",
        "letmeinletmein12", "changemechangeme", "correcthorsebatterystaple", "thisismypassword", "thisisapassword",
        "mypasswordispassword", "passwordispassword", "trustno1trustno1", "abcdefghijklmnop",
        "abcdefghijklmnopqrstuvwxyz", "zxcvbnmasdfghjkl", "asdfghjklzxcvbnm", "secretsecretsecret", "iloveyouforever1",
        "footballfootball", "baseballbaseball", "princessprincess", "sunshinesunshine", "dragondragondragon",
        "monkeymonkeymonkey", "superman12345678", "00000000000000001", "11111111111111111",
    }
)  # fmt: skip


def password_errors(
    password: str, *, own: Collection[str] = (), has_second_factor: bool = False, name: str = "password"
) -> list[FieldError]:
    """The errors of a new password; `own`: names and addresses of the person and the organization."""
    least = WITH_SECOND_FACTOR_MIN if has_second_factor else CHARACTERS_MIN
    if len(password) < least:
        return [
            FieldError(
                "too_short",
                Sentence("At least {n} characters. Four or five words work well.", n=least),
                pointer=f"/{name}",
            )
        ]
    if len(password) > CHARACTERS_MAX:
        return [FieldError("too_long", Sentence("At most {n} characters.", n=CHARACTERS_MAX), pointer=f"/{name}")]
    plain = _plain(password)
    if plain in COMMON or _is_pattern(password):
        message = "This is among the first passwords that are tried. Take another one."
        return [FieldError("too_common", message, pointer=f"/{name}")]
    if any(
        word in plain and len(plain) < 2 * len(word) + least for word in map(_plain, own) if len(word) >= OWN_WORD_MIN
    ):
        message = "Your name, address or organization is too large a part of it."
        return [FieldError("too_personal", message, pointer=f"/{name}")]
    return []


def normal(password: str) -> str:
    """The form that is hashed: the same letters, however a keyboard composes them."""
    return unicodedata.normalize("NFKC", password)


def _plain(text: str) -> str:
    return "".join(each for each in normal(text).casefold() if each.isalnum())


def _is_pattern(text: str) -> bool:
    """Whether it has few different characters, ascends or descends one by one, or repeats a part of itself."""
    cycle = 10 if text.isdigit() else 0x110000  # 0 comes after 9
    steps = {(ord(after) - ord(before)) % cycle for before, after in pairwise(text)}
    repeats = any(text == (text[:size] * len(text))[: len(text)] for size in range(1, len(text) // 2 + 1))
    return len(set(text)) <= RUN_MAX or steps <= {1} or steps <= {cycle - 1} or repeats
