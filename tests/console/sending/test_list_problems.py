"""The problems of a list in the reader's language."""

import pytest

from afterword.console.sending.list_problems import said
from afterword.texts import texts

ISOLATES = 0x2068, 0x2069  # around values
NO_ADDRESS = "This is not an e-mail address, such as ann@example.com."


@pytest.mark.parametrize(
    ("kept", "english", "greek"),
    [
        (f"Row 1,042, column “E: mail”: {NO_ADDRESS}", f"Column “E: mail”: {NO_ADDRESS}", "Στήλη “E: mail”: Δεν είναι"),
        (f"column “E-mail”: {NO_ADDRESS}", f"Column “E-mail”: {NO_ADDRESS}", "Στήλη “E-mail”: Δεν είναι"),
        (
            "Row 3: This row has 3 cells, and the header 4.",
            "This row has 3 cells, and the header 4.",
            "Αυτή η γραμμή",
        ),
        ("Row 3: Never heard of.", "Never heard of.", "Never heard of."),
    ],
)
def test_said(kept: str, english: str, greek: str) -> None:
    found = [said(texts("console", language), kept).translate(dict.fromkeys(ISOLATES)) for language in ("el", "en")]
    assert found[0].startswith(greek)
    assert english == found[1]
