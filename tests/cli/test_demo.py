"""The demonstration: what it posts in place of a browser, and what it says in the end."""

from pathlib import Path

import pytest

from afterword.cli.demo import Form, ended
from afterword.settings import Settings


class TestForm:
    """What the demonstration posts in place of a browser."""

    def test_page_without_form(self) -> None:
        assert Form.of("<p>Thank you</p>") is None

    def test_best_of_a_scale_and_first_choice(self) -> None:
        form = Form.of(
            '<form action="/a/x"><input type=hidden name=page value=1><input type=radio name=q value=1>'
            "<input type=radio name=q value=5><input type=checkbox name=c value=a><input type=checkbox name=c value=b>"
            "<textarea name=t></textarea><button name=go value=back></button><button name=go value=next></button>"
        )
        assert form is not None
        assert "/a/x" == form.action
        filled = form.filled()
        assert (["1"], ["5"], ["a"], "next") == (filled["page"], filled["q"], filled["c"], filled["go"])


@pytest.mark.parametrize(
    ("url", "place"), [(None, "/srv/afterword: "), ("postgresql://ann:hunter2@host/x", "of AFTERWORD_DATABASE_URL: ")]
)
def test_a_demonstration_that_ends_names_the_place_of_its_data(url: str | None, place: str) -> None:
    sentence = ended(Settings(database_url=url, data_dir=Path("/srv/afterword")))
    assert f"The data stays in {'' if url is None else 'the database '}{place}" in sentence
