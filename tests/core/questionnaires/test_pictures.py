"""Addresses of pictures: read as they were made, and nothing else."""

import pytest

from afterword.core.questionnaires.visuals import Picture, read_address

PICTURE = Picture("A" * 22, "0123456789", 640, 160, "png")


def test_read() -> None:
    assert PICTURE == read_address(PICTURE.address)


@pytest.mark.parametrize(
    "text",
    [
        "",
        PICTURE.address + "\n",
        PICTURE.address[1:],
        "https://example.com" + PICTURE.address,
        PICTURE.address.replace(".png", ".svg"),
        PICTURE.address.replace("640x160", "0640x160"),
        PICTURE.address.replace("640x160", "640x99999"),
        PICTURE.address.replace("A" * 22, "../" + "A" * 19),
        PICTURE.address.replace("0123456789", "012345678G"),
    ],
)
def test_refused(text: str) -> None:
    assert read_address(text) is None
