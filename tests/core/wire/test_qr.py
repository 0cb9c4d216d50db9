import re
from xml.etree import ElementTree as ET

from afterword.core.wire import qr

ADDRESS = "https://answers.example/l/AbCdEf012345"


def test_path_and_files_are_the_same_code() -> None:
    code = qr.code_of(ADDRESS)
    corner = [f"M{x} {y}h1v1h-1z" for x, y in ((0, 0), (6, 0), (0, 6), (code.size - 1, 0))]
    assert all(one in code.path for one in corner)
    assert "M7 7h" not in code.path  # light around the marks in the corners
    drawn = ET.fromstring(qr.svg(ADDRESS))  # noqa: S314  our own
    assert f"0 0 {code.size + 8} {code.size + 8}" == drawn.attrib["viewBox"]
    assert re.fullmatch(r"(M\d+ \d+h1v1h-1z)+", code.path)


def test_png_has_whole_pixels() -> None:
    width = qr.code_of(ADDRESS).size + 2 * qr.QUIET
    for wanted in (64, 1_000, 1_024):
        picture = qr.png(ADDRESS, pixels=wanted)
        found = int.from_bytes(picture[16:20], "big")
        assert b"\x89PNG" == picture[:4]
        assert found <= max(wanted, width)
        assert 0 == found % width
