"""The HTTP interface of a draft's translations: listed and saved as JSON, out and in as files."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.translations import service
from afterword.core.questionnaires.translations import state_of
from afterword.core.wire import translation_files
from afterword.core.wire.translation_files import MEDIA_TYPES, Format, Row
from afterword.kit.db import Database
from afterword.kit.web import fields, uploads
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.uploads import Upload

routes = Routes(tag="Questionnaires")

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


class Translation(fields.Answer):
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
    scope="Questionnaire.Read",
    query=TranslationsQuery,
    answer=Translations,
    summary="Get translations of draft",
    description="Also for a language that the draft does not have yet.",
)
async def get_translations(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    return _answer(await service.get(db, questionnaire=questionnaire, locale=call.query.locale), [])


@routes.put(
    PATH,
    scope="Questionnaire.Update",
    body=TranslationsRequest,
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
    scope="Questionnaire.Read",
    answer=None,
    query=TranslationsFileQuery,
    media_types=tuple(MEDIA_TYPES.values()),
    summary="Get translations of draft as a file",
    description="CSV, or XLIFF 1.2 for the tools of translators, with the state of each text.",
)
async def get_translations_file(call: Call[None], db: Database) -> Answer:
    query: TranslationsFileQuery = call.query
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    shown = await service.get(db, questionnaire=questionnaire, locale=query.locale)
    key = questionnaire.questionnaire_id
    return Answer(download=service.file_of(shown, questionnaire_id=key, file_format=query.format))


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
    shown, unknown = await service.save(
        db, questionnaire=questionnaire, locale=locale, rows=rows, caller=call.caller, expect=call.expect, now=call.now
    )
    return _answer(shown, unknown)


def _answer(shown: service.Shown, unknown: list[str]) -> Answer:
    texts = [
        Translation(
            key=text.key,
            path=text.path,
            question_id=text.question_id,
            member=text.member,
            source=text.source,
            target=text.target,
            state=state_of(text, shown.outdated),
            source_before=shown.outdated.get(text.key) or None,
        )
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
