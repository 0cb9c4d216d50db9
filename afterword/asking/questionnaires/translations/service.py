"""Lists the texts of a draft with their translations, and saves translations into the draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from afterword import errors
from afterword.asking.questionnaires.drafts import service as drafts
from afterword.asking.questionnaires.drafts.store import Draft
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires import drafts as core_drafts
from afterword.core.questionnaires import translations
from afterword.core.questionnaires.definition import Text, Texts, texts_of
from afterword.core.questionnaires.translations import state_of
from afterword.core.reading.documents import LOCALES_MAX
from afterword.core.reading.findings import Findings
from afterword.core.wire import translation_files
from afterword.core.wire.translation_files import MEDIA_TYPES, Format, Row
from afterword.kit.db import Database
from afterword.kit.web.operations import Download


@dataclass(frozen=True, slots=True)
class Shown:
    """The texts of a draft in one language.

    `outdated`: by key, the text that a translation was made for; empty where only its translator wants a review.
    """

    draft: Draft
    default_locale: str
    locale: str
    texts: Sequence[Text]
    outdated: dict[str, str]


async def get(db: Database, *, questionnaire: Questionnaire, locale: str | None) -> Shown:
    """`locale`: None for the first besides the default. Raises NoDraft, Invalid for the default language."""
    return _shown(await drafts.get(db, **questionnaire.key), questionnaire, locale)


async def save(
    db: Database,
    *,
    questionnaire: Questionnaire,
    locale: str | None,
    rows: Sequence[Row],
    caller: Caller,
    expect: errors.Expect = errors.ANY,
    now: datetime,
) -> tuple[Shown, list[str]]:
    """Save translations by their keys; also returns the keys that no text has, in order.

    A row that says which text it was made for marks its translation as outdated where the text is another one now.
    A target of None removes a translation. `questionnaire` is locked. Raises NoDraft, Stale, Invalid.
    """
    before = await get(db, questionnaire=questionnaire, locale=locale)
    locale = before.locale
    texts = {text.key: text for text in before.texts}
    known = [row for row in rows if row.key in texts]
    document = translations.translated(
        before.draft.definition, locale, {texts[row.key].path: row.target for row in known}
    )
    draft, _ = await drafts.save(
        db,
        questionnaire=questionnaire,
        document=core_drafts.shown(document),
        caller=caller,
        expect=expect,
        is_strict=False,
        now=now,
        made_for={locale: {row.key: _made_for(row, texts[row.key], before.outdated) for row in known if row.target}},
    )
    return _shown(draft, questionnaire, locale), [row.key for row in rows if row.key not in texts]


def file_of(shown: Shown, *, questionnaire_id: str, file_format: Format) -> Download:
    titles = {one.question_id: one.source for one in shown.texts if one.question_id and one.member == "title"}
    rows = [
        Row(one.key, one.source, one.target, state_of(one, shown.outdated), translations.note_of(one, titles))
        for one in shown.texts
    ]
    content = translation_files.written(
        rows, file_format=file_format, name=questionnaire_id, source=shown.default_locale, target=shown.locale
    )
    name = f"{questionnaire_id}.{shown.locale}.{'csv' if file_format == 'csv' else 'xlf'}"
    return Download.of(f"{MEDIA_TYPES[file_format]}; charset=utf-8", name, content)


def _made_for(row: Row, text: Text, outdated: Mapping[str, str]) -> str:
    """The text that a translation of a file was made for; another one, or an empty one, where it needs a review."""
    source = row.source or text.source
    return outdated.get(row.key, "") if row.state == "source_changed" and source == text.source else source


def _shown(draft: Draft, questionnaire: Questionnaire, wanted: str | None) -> Shown:
    definition = core_definition.read(draft.definition, Findings())
    others = (each for each in definition.locales if each != definition.default_locale)
    locale = wanted or next(others, definition.default_locale)
    if locale == definition.default_locale:
        message = "Another language than the one that is translated is expected."
        raise errors.Invalid.of(errors.FieldError("unknown_value", message, parameter="locale"))
    if locale not in definition.locales and len(definition.locales) >= LOCALES_MAX:
        message = f"At most {LOCALES_MAX} languages are possible."
        raise errors.Invalid.of(errors.FieldError("too_many", message, parameter="locale"))
    own = Texts(questionnaire.title, questionnaire.description)
    outdated = (draft.translated_sources or {}).get(locale, {})
    return Shown(draft, definition.default_locale, locale, texts_of(definition, locale, own), dict(outdated))
