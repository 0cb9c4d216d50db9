"""Code 128 (ISO/IEC 15417): the bars of a text for a page. Cash desks read it."""

from typing import Final

from afterword.core.wire.qr import Code

CHARACTERS_MAX: Final = 40  # more do not fit a phone
QUIET: Final = 10  # modules of light at each side, without which readers may not find it
_START_B, _START_C, _CODE_B, _STOP = 104, 105, 100, 106
_FIRST: Final = 32  # the character of value 0 in code set B
# The widths of bars and spaces by value, as table 1 of the standard has them.
_WIDTHS: Final = """
212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222
123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321
232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121
313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224
111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111
111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113
114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112
""".split()  # noqa: SIM905  a table is read by columns


def can_write(text: str) -> bool:
    """Whether it is short enough, and of printable ASCII."""
    return 1 <= len(text) <= CHARACTERS_MAX and text.isascii() and text.isprintable()


def bars_of(text: str) -> Code | None:
    """The bars, of height 1; None for a text that it cannot write."""
    if not can_write(text):
        return None
    x, path = 0, list[str]()
    for value in values_of(text):
        for place, width in enumerate(map(int, _WIDTHS[value])):
            if place % 2 == 0:
                path.append(f"M{x} 0h{width}v1h-{width}z")
            x += width
    return Code(x, "".join(path))


def values_of(text: str) -> list[int]:
    """The values of its symbols: the start, two digits or one character each, the check value and the stop."""
    pairs = len(text) // 2 * 2 if text.isdigit() else 0  # set C halves the width of a number
    values = [_START_C if pairs else _START_B]
    values += [int(text[place : place + 2]) for place in range(0, pairs, 2)]
    if pairs and pairs < len(text):
        values.append(_CODE_B)
    values += [ord(one) - _FIRST for one in text[pairs:]]
    check = sum(value * max(1, place) for place, value in enumerate(values)) % 103
    return [*values, check, _STOP]
