"""The groups of the settings, and the pages that Find knows."""

import pytest

from afterword.console import settings
from afterword.kit.texts import texts
from afterword.run.console import screens

WORDS, SCREENS = texts("console", "en"), screens()


def found(text: str) -> list[str]:
    return [one["text"] for one in settings.found(WORDS, lambda _: True, text)]


def test_each_page_is_a_screen() -> None:
    shown = {one.path for one in SCREENS if one.method == "GET"}
    assert [] == [one.path for one in settings.ALL if one.path not in shown]


def test_each_page_of_the_settings_is_in_a_group() -> None:
    """But for forms and parts of another page, which have more in their address."""
    listed = {one.path for _, pages in settings.GROUPS for one in pages}
    pages = {one.path for one in SCREENS if one.method == "GET" and one.path.startswith(f"{settings.SETTINGS}/")}
    assert {one for one in pages if one.count("/") == 3 and "{" not in one} - listed == {
        f"{settings.SETTINGS}/passkeys"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sso", "Log in by provider"),
        ("GDPR", "Retention"),
        ("erase", "Retention"),
        ("nps", "Reports"),
        ("kiosk", "Questionnaires"),
        ("excel", "Responses"),
        ("api key", "Tokens"),
        ("2fa", "Your account"),
        ("questionnaire new", "New questionnaire"),
    ],
)
def test_words_that_people_search_by(text: str, expected: str) -> None:
    assert expected in found(text)


def test_nothing_fits() -> None:
    assert [] == found("xyzzy") == found("sso xyzzy")


def test_what_the_role_does_not_open() -> None:
    assert [] == list(settings.groups_of(WORDS, lambda _: False, ""))
    [(title, [page])] = settings.groups_of(WORDS, lambda path: path.endswith("/audit"), "audit")
    assert ("Data and connections", "Audit log", True) == (title, page["text"], page["is_current"])


def test_in_another_language() -> None:
    """By its own words and by the English ones."""
    greek = texts("console", "el")
    for text in ("απόρρ", "gdpr", "διατήρ"):
        shown = settings.found(greek, lambda _: True, text)
        assert (text == "απόρρ") == (shown == []), text
