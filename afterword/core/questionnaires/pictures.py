"""Addresses of pictures. Each has a fingerprint of the bytes and the size, so that showing a picture needs no query."""

import re
from dataclasses import dataclass
from typing import Final

FINGERPRINT_CHARACTERS: Final = 10
MEDIA_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg"}

_ADDRESS: Final = re.compile(
    rf"/asset/([0-9A-Za-z]{{22}})/([0-9a-f]{{{FINGERPRINT_CHARACTERS}}})-([1-9][0-9]{{0,3}})x([1-9][0-9]{{0,3}})"
    rf"\.({'|'.join(MEDIA_TYPES)})\Z",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture by its address. `fingerprint`: the beginning of the hash of its bytes; sizes in pixels."""

    asset_id: str
    fingerprint: str
    width: int
    height: int
    suffix: str

    @property
    def address(self) -> str:
        return f"/asset/{self.asset_id}/{self.fingerprint}-{self.width}x{self.height}.{self.suffix}"


def read_address(text: str) -> Picture | None:
    match = _ADDRESS.match(text)
    return match and Picture(match[1], match[2], int(match[3]), int(match[4]), match[5])


def suffix_of(media_type: str) -> str:
    return next(suffix for suffix, each in MEDIA_TYPES.items() if each == media_type)
