"""Pages load only the files that their questions need."""

import pytest

from afterword.asking.instances import rendering


@pytest.mark.parametrize(
    ("kinds", "styles", "scripts"),
    [([], 0, 0), (["text", "scale"], 0, 0), (["matrix"], 1, 0), (["ranking", "matrix"], 1, 1)],
)
def test_files(kinds: list[str], styles: int, scripts: int) -> None:
    found = rendering.files_of(kinds)
    assert (styles, scripts) == (len(found.styles), len(found.scripts))
    assert 1 == len(rendering.files_of(kinds, has_pictures=True).styles)
