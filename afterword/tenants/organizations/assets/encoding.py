"""Encodes uploaded pictures again: the pixels remain, and nothing else that was in the file."""

import io
import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from afterword import errors

if TYPE_CHECKING:
    from PIL.Image import Image

UPLOAD_BYTES_MAX: Final = 10_485_760
PIXELS_MAX: Final = 26_000_000  # 104 MB when decoded
SIDE_PIXELS_MAX: Final = 30_000
ENCODED_SIDE_MAX: Final = 1_600
ENCODED_BYTES_MAX: Final = 500_000
QUALITY: Final = 85
WAIT_SECONDS_MAX: Final = 5
FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
SMALLER: Final = 0.9  # than the size that should be small enough
_OPAQUE: Final = 255
_TOO_MANY_PIXELS: Final = f"At most {PIXELS_MAX // 1_000_000} million pixels are read, and {SIDE_PIXELS_MAX:,} a side."

_one: Final = threading.Lock()  # a decoded picture takes much memory


@dataclass(frozen=True, slots=True)
class Encoded:
    content: bytes
    media_type: str
    width: int
    height: int


def encode(content: bytes, *, side_max: int = ENCODED_SIDE_MAX, pointer: str = "") -> Encoded:
    """The picture upright, its longer side at most `side_max` pixels, of an animation the first frame. Takes a second.

    Photos become JPEG, others PNG. Raises Invalid at `pointer` for another kind, too large, or broken; Unavailable.
    """
    try:
        return _encode(content, side_max)
    except _Wrong as wrong:
        raise errors.Invalid.at(pointer, *wrong.args) from None


class _Wrong(Exception):
    """Code and message."""


def _encode(content: bytes, side_max: int) -> Encoded:
    if not content:
        raise _Wrong("required", "A picture is expected: PNG, JPEG, WebP or GIF.")
    if len(content) > UPLOAD_BYTES_MAX:
        raise _Wrong("too_long", f"A picture may have {UPLOAD_BYTES_MAX:,} bytes.")
    if not _one.acquire(timeout=WAIT_SECONDS_MAX):
        raise errors.Unavailable("Other pictures are being read. Send it again in a moment.")
    try:
        return _decoded(content, side_max)
    except _Wrong:
        raise
    except Exception:  # noqa: BLE001  decoders raise anything for bytes that were made to break them
        raise _Wrong("invalid_format", "This picture cannot be read: it may be damaged or incomplete.") from None
    finally:
        _one.release()


def _decoded(content: bytes, side_max: int) -> Encoded:
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415  start-up time counts

    try:
        picture = Image.open(io.BytesIO(content), formats=FORMATS)
    except UnidentifiedImageError:
        raise _Wrong("invalid_format", "This is no picture of a kind that is read: PNG, JPEG, WebP or GIF.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _Wrong("out_of_range", _TOO_MANY_PIXELS) from None
    with picture:
        width, height = picture.size
        if width * height > PIXELS_MAX or max(width, height) > SIDE_PIXELS_MAX:
            raise _Wrong("out_of_range", _TOO_MANY_PIXELS)
        is_photo = picture.format in {"JPEG", "MPO", "WEBP"}
        picture.draft("RGB", (2 * side_max, 2 * side_max))  # a large JPEG is decoded at half its size or less
        picture.load()
        upright = ImageOps.exif_transpose(picture)
        shown = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    if shown.mode == "RGBA" and shown.getchannel("A").getextrema()[0] == _OPAQUE:
        shown = shown.convert("RGB")
    return _saved(shown, "JPEG" if is_photo and shown.mode == "RGB" else "PNG", side_max)


def _saved(picture: "Image", kind: str, side_max: int) -> Encoded:
    """The file, made of smaller pixels until it has at most `ENCODED_BYTES_MAX`; an opaque PNG becomes a JPEG first."""
    picture.thumbnail((side_max, side_max), reducing_gap=3)
    while True:
        picture.info.clear()  # profiles, comments and texts would be written again
        file = io.BytesIO()
        picture.save(file, kind, **({"quality": QUALITY, "optimize": True} if kind == "JPEG" else {}))
        content = file.getvalue()
        if len(content) <= ENCODED_BYTES_MAX:
            return Encoded(content, f"image/{kind.lower()}", *picture.size)
        if kind == "PNG" and picture.mode == "RGB":
            kind = "JPEG"
        else:
            scale = SMALLER * math.sqrt(ENCODED_BYTES_MAX / len(content))
            picture.thumbnail((max(1, int(picture.width * scale)), max(1, int(picture.height * scale))))
