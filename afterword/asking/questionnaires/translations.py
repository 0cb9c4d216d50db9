"""Lists the texts of a draft with their translations, and saves translations into the draft."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.asking.questionnaires import access, drafts
from afterword.asking.questionnaires.drafts import DraftRecord
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition, drafts as core_drafts, translations
from afterword.core.questionnaires.definition import Text, Texts, texts_of
from afterword.core.questionnaires.question_types import STANDARD_TEXTS
from afterword.core.questionnaires.translations import state_of
from afterword.core.reading.documents import LOCALES_MAX
from afterword.core.reading.findings import Findings
from afterword.core.wire import translation_files
from afterword.core.wire.translation_files import MEDIA_TYPES, Format, Row
from afterword.kit.db import Database
from afterword.kit.texts import texts
from afterword.kit.web import fields, public, uploads
from afterword.kit.web.operations import Answer, Call, Download, Routes
from afterword.kit.web.uploads import Upload


class Shown(msgspec.Struct, frozen=True):
    """The texts of a draft in one language.

    `outdated`: by key, the text that a translation was made for; empty where only its translator wants a review.
    """

    draft: DraftRecord
    default_locale: str
    locale: str
    texts: Sequence[Text]
    outdated: dict[str, str]


async def get(db: Database, *, questionnaire: Questionnaire, locale: str | None) -> Shown:
    """`locale`: None for the first besides the default. Raises NotFound, Invalid for the default language."""
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
    A target of None removes a translation. `questionnaire` is locked. Raises NotFound, Stale, Invalid.
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


def with_standard(document: dict[str, Any], *, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The document with our translations of standard texts that are new or changed since `before`."""
    definition = core_definition.read(document, Findings())
    earlier = core_definition.read(before, Findings()) if before is not None else None
    source = texts(public.DOMAIN, definition.default_locale)
    for locale in definition.locales:
        target = texts(public.DOMAIN, locale)
        if locale == definition.default_locale or locale.partition("-")[0] != target.language:
            continue  # a language without a catalogue would get English
        changed = translations.standard_after(
            texts_of(earlier, locale, Texts()) if earlier else (),
            texts_of(definition, locale, Texts()),
            {source(one): target(one) for one in STANDARD_TEXTS},
        )
        document = translations.translated(document, locale, changed)
    return document


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


def _shown(draft: DraftRecord, questionnaire: Questionnaire, wanted: str | None) -> Shown:
    definition = core_definition.read(draft.definition, Findings())
    others = (each for each in definition.locales if each != definition.default_locale)
    locale = wanted or next(others, definition.default_locale)
    if locale == definition.default_locale:
        message = "Another language than the one that is translated is expected."
        raise errors.Invalid.in_query("locale", "unknown_value", message)
    if locale not in definition.locales and len(definition.locales) >= LOCALES_MAX:
        raise errors.Invalid.in_query("locale", "too_many", f"At most {LOCALES_MAX} languages are possible.")
    own = questionnaire.own_texts
    outdated = (draft.translated_sources or {}).get(locale, {})
    return Shown(draft, definition.default_locale, locale, texts_of(definition, locale, own), dict(outdated))


routes = Routes(tag="Questionnaires", scope="Questionnaire")

PATH: Final = "/q/questionnaire/{questionnaire_id}/draft/translations"
TEXTS_MAX: Final = translation_files.ROWS_MAX

Key = Annotated[str, Meta(min_length=1, max_length=100, examples=["pages/thank_you"])]
Words = Annotated[str, Meta(max_length=translation_files.CELL_CHARACTERS_MAX, examples=["Ευχαριστούμε"])]


class TranslationsQuery(fields.Request):
    """The language."""

    locale: fields.LocaleNormal | None = None


class TranslationsFileQuery(fields.Request):
    """The language and the form of the file."""

    locale: fields.LocaleNormal | None = None
    format: Format = "csv"


class TranslationRequest(fields.Request):
    """One translation."""

    key: Key
    source: Words | None = None
    target: Words | None = None


class TranslationsRequest(fields.Request):
    """Translations to save; the others stay as they are."""

    locale: fields.LocaleNormal
    texts: Annotated[list[TranslationRequest], Meta(max_length=TEXTS_MAX)]


class Translation(fields.Resource):
    """One text and its translation."""

    key: str
    path: str
    question_id: fields.Id | None
    member: str
    source: str
    target: str | None
    state: Literal["missing", "source_changed", "translated"]
    source_before: str | None


class Translations(fields.Answer):
    """All texts of a draft beside those of another language."""

    questionnaire_id: fields.Id
    default_locale: str
    locale: str
    texts_count: int
    missing_count: int
    changed_count: int
    texts: list[Translation]
    unknown_keys: list[str]


def _read(upload: Upload, query: TranslationsQuery) -> list[Row] | errors.Refusal:
    """The rows with a target, or a refusal that the handler raises once it has found the questionnaire."""
    try:
        rows = translation_files.read(upload.content, target=query.locale)
    except errors.Refusal as refusal:
        return refusal
    return [row for row in rows if row.target and row.target.strip()]


@routes.get(
    PATH,
    query=TranslationsQuery,
    answer=Translations,
    summary="Get translations of draft",
    description="Also for a language that the draft does not have yet.",
)
async def get_translations(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    return _answer(await get(db, questionnaire=questionnaire, locale=call.query.locale), [])


@routes.put(
    PATH,
    answer=Translations,
    summary="Save translations of draft",
    description=(
        "By their keys; a translation that comes back as it was is confirmed. Keys that no text has any more are in "
        "`unknown_keys`. A language that the draft does not have yet is added."
    ),
    other_statuses=(),
)
async def save_translations(call: Call[TranslationsRequest], db: Database) -> Answer:
    rows = [Row(one.key, one.source, one.target or None) for one in call.body.texts]
    return await _save(call, db, call.body.locale, rows)


@routes.get(
    f"{PATH}/file",
    query=TranslationsFileQuery,
    media_types=tuple(MEDIA_TYPES.values()),
    summary="Get translations of draft as a file",
    description="CSV, or XLIFF 1.2 for the tools of translators, with the state of each text.",
)
async def get_translations_file(call: Call[None], db: Database) -> Answer:
    query: TranslationsFileQuery = call.query
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    shown = await get(db, questionnaire=questionnaire, locale=query.locale)
    key = questionnaire.questionnaire_id
    return Answer(download=file_of(shown, questionnaire_id=key, file_format=query.format))


@routes.post(
    f"{PATH}/file",
    scope="Questionnaire.Update",
    query=TranslationsQuery,
    uploads=(*MEDIA_TYPES.values(), uploads.FORM),
    prepare=_read,
    answer=Translations,
    summary="Save translations of draft from a file",
    description=(
        "A file as it was given out, with its targets filled in; those that are empty stay as they are. Where the text "
        "was changed since, its translation is saved and stays marked."
    ),
    status=200,
)
async def save_translations_file(call: Call[list[Row] | errors.Refusal], db: Database) -> Answer:
    return await _save(call, db, call.query.locale, call.body)


async def _save(call: Call[Any], db: Database, locale: str | None, rows: list[Row] | errors.Refusal) -> Answer:
    questionnaire = await access.lock(db, caller=call.caller, **call.ids)
    if isinstance(rows, errors.Refusal):
        raise rows
    shown, unknown = await save(
        db, questionnaire=questionnaire, locale=locale, rows=rows, caller=call.caller, expect=call.expect, now=call.now
    )
    return _answer(shown, unknown)


def _answer(shown: Shown, unknown: list[str]) -> Answer:
    texts = [
        Translation.of(text, state=state_of(text, shown.outdated), source_before=shown.outdated.get(text.key) or None)
        for text in shown.texts
    ]
    states = [one.state for one in texts]
    found = Translations(
        questionnaire_id=shown.draft.questionnaire_id,
        default_locale=shown.default_locale,
        locale=shown.locale,
        texts_count=len(texts),
        missing_count=states.count("missing"),
        changed_count=states.count("source_changed"),
        texts=texts,
        unknown_keys=unknown,
    )
    return Answer(found, version=shown.draft.revision)
