"""The preview beside the form: the draft's answer page in a frame, in a language, narrow or wide, light or dark."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from afterword.console.lists import address
from afterword.console.questionnaires.questionnaires import Work
from afterword.console.screens import Visit
from afterword.instances.previews import service

PHONE, LIGHT = "phone", "light"
LOCALE_CHARACTERS_MAX: Final = 35
LOOKS: Final = {"phone": "On a phone", "desktop": "On a desktop"}
SHADES: Final = {"light": "Light", "dark": "Dark"}


@dataclass(frozen=True, slots=True)
class Pane:
    """`url`: of the frame. The chosen ones stand in the address, so that they stay from question to question."""

    url: str
    language: str
    look: str
    shade: str
    languages: list[tuple[str, str]]
    looks: list[tuple[str, str]]
    shades: list[tuple[str, str]]
    query: str


def pane(visit: Visit, work: Work, *, question_id: str) -> Pane | None:
    """None where there is nothing to show yet."""
    definition, words = work.definition, visit.words
    if not definition.questions():
        return None
    ends = int(visit.now.timestamp()) + service.PREVIEW_SECONDS
    permission = service.Permission(**work.questionnaire.key, responder_id=None, ends=ends)
    kept = kept_of(visit)
    asked = kept.get("language", "")
    language = asked if asked in definition.locales else definition.default_locale
    shown = {"locale": language} | ({"question": question_id} if definition.question(question_id) else {})
    return Pane(
        url=f"{service.address_of(permission, site=visit.site)}?{urlencode(shown)}",
        language=language,
        look=kept.get("look", PHONE),
        shade=kept.get("shade", LIGHT),
        languages=[(one, words.language_name(one)) for one in definition.locales],
        looks=[(name, words(text)) for name, text in LOOKS.items()],
        shades=[(name, words(text)) for name, text in SHADES.items()],
        query=address("", kept),
    )


def kept_of(visit: Visit) -> dict[str, str]:
    """The choices of the address that are not the usual ones."""
    chosen = {"language": visit.query.get("language", "")[:LOCALE_CHARACTERS_MAX]}
    chosen |= {name: visit.query.get(name, "") for name in ("look", "shade")}
    return {
        name: text
        for name, text in chosen.items()
        if text and text not in {PHONE, LIGHT} and (name == "language" or text in {*LOOKS, *SHADES})
    }
