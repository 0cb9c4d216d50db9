"""The preview of each questionnaire of the library, in each of its languages."""

from datetime import UTC, datetime

import pytest

from afterword.asking.questionnaires import files
from afterword.asking.questionnaires.library import service as library
from afterword.core.questionnaires import visuals
from afterword.sending.previews import first_page

NOW = datetime(2026, 11, 25, tzinfo=UTC)


@pytest.mark.parametrize("name", library.NAMES)
@pytest.mark.parametrize("color", ["", "#aa3300", "nonsense"])
def test_each(name: str, color: str) -> None:
    file = files.read(library.text(name), give_id=lambda _, key: key)
    first = next(iter(file.definition.questions()))
    for locale in (*file.definition.locales, "fr"):
        theme = visuals.inherited({"color_primary": color})
        page = first_page(file, brand="<Books>", theme=theme, locale=locale, time_zone="UTC", now=NOW)
        text = bytes(page.body).decode()
        assert 200 == page.status_code
        assert first.question_id in text
        assert "<Books>" not in text
        assert ("/theme/paa3300.css" in text.replace("&#x2f;", "/")) == (color == "#aa3300")
