"""QR codes: the path of one for a page, and files to print."""

import io
from typing import Final

import msgspec
import segno

QUIET: Final = 4  # modules of light around it, without which readers may not find it
PIXELS_DEFAULT: Final = 1_024


class Code(msgspec.Struct, frozen=True):
    """The modules of a code, or its bars, as the path of an SVG, each module one unit; `size`: their count in a row."""

    size: int
    path: str


def code_of(text: str) -> Code:
    matrix = segno.make(text, error="m", micro=False).matrix
    modules = [(x, y) for y, row in enumerate(matrix) for x, dark in enumerate(row) if dark]
    return Code(len(matrix), "".join(f"M{x} {y}h1v1h-1z" for x, y in modules))


def svg(text: str) -> bytes:
    """A file that keeps its edges at every size."""
    file = io.BytesIO()
    segno.make(text, error="m", micro=False).save(file, kind="svg", border=QUIET, light="#fff", omitsize=True)
    return file.getvalue()


def png(text: str, *, pixels: int = PIXELS_DEFAULT) -> bytes:
    """A picture of at most so many pixels in a row: each module has the same whole number of them."""
    code = segno.make(text, error="m", micro=False)
    width, _ = code.symbol_size(border=QUIET)
    file = io.BytesIO()
    code.save(file, kind="png", border=QUIET, scale=max(1, pixels // width))
    return file.getvalue()
