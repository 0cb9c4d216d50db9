"""Translations of a questionnaire: one page for each language, source beside target, and files out and in."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, drafts, translations
from afterword.asking.questionnaires.store import Questionnaire
from afterword.asking.questionnaires.translations import Shown
from afterword.asking.screens import question_form, questionnaires
from afterword.asking.screens.questionnaires import ONE, PATH, Work, work_of
from afterword.console.screens import Screens, Visit, download
from afterword.core.questionnaires import editing, question_types
from afterword.core.questionnaires.definition import Text, texts_of
from afterword.core.questionnaires.differences import MEMBERS
from afterword.core.questionnaires.editing import Document
from afterword.core.questionnaires.translations import state_of
from afterword.core.text import locales
from afterword.core.wire import translation_files
from afterword.core.wire.translation_files import Format, Row
from afterword.kit.db import Database
from afterword.kit.texts import LANGUAGES as LANGUAGE_TAGS, Marked, Texts
from afterword.kit.ui.lists import Listing, Tab, address, read_number
from afterword.kit.ui.text import near_moment
from afterword.kit.web import html, static

LANGUAGES: Final = f"{ONE}/translations"
LANGUAGE: Final = f"{LANGUAGES}/{{locale}}"
ROWS: Final = 100  # texts of a page; each has up to four fields of the 500 that a form may have
SHOWS: Final[Mapping[str, Marked]] = {"": "All", "missing": "Missing", "changed": "Source changed"}
STATES: Final = {"missing": "missing", "changed": "source_changed"}

routes = Screens()


@routes.get(LANGUAGES, scope="Questionnaire.Update")
async def list_languages(visit: Visit) -> Response:
    words = visit.words
    work = await visit.reading(work_of)
    own = work.questionnaire.own_texts
    others = [one for one in work.definition.locales if one != work.definition.default_locale]
    rows: list[dict[str, str]] = []
    for locale in others:
        texts = texts_of(work.definition, locale, own)
        done = words.count(sum(bool(one.target) for one in texts))
        said = words("{n} of {all}", n=done, all=len(texts))
        rows.append({"name": words.language_name(locale), "url": f"{work.path}/translations/{locale}", "done": said})
    left = [one for one in LANGUAGE_TAGS if one not in work.definition.locales]
    return visit.page(
        "languages.html",
        title=words("Languages of “{name}”", name=work.questionnaire.display_name),
        path=work.path,
        source=words.language_name(work.definition.default_locale),
        offered=[(one, words.language_name(one)) for one in left],
        list=Listing(rows=rows, empty=words("It has one language. Add another one below.")),
    )


@routes.post(LANGUAGES, scope="Questionnaire.Update")
async def add_language(visit: Visit) -> Response:
    try:
        locale = locales.normalise(visit.form.text("locale"))
    except locales.InvalidLocale:
        locale = ""
    if not locale or visit.words.language_name(locale) == locale:  # there is no name for it
        raise errors.Invalid.at("/locale", "invalid_format", visit.words("There is no such language."))

    def change(document: Document) -> Document:
        known = [one for one in document.get("locales") or [document.get("default_locale")] if isinstance(one, str)]
        return translations.with_standard({**document, "locales": known if locale in known else [*known, locale]})

    await visit.change(drafts.edit, caller=visit.caller, **visit.ids, change=change, now=visit.now)
    return html.redirect(f"{PATH}/{visit.id('questionnaire_id')}/translations/{locale}?done=language")


@routes.post(LANGUAGE, scope="Questionnaire.Update")
async def save_translations(visit: Visit) -> Response:
    """Of the texts of the page those that were typed; one that somebody changed meanwhile stays and is shown."""
    form = visit.form
    async with visit.write() as db:
        questionnaire = await _begun(visit, db)
        shown = await translations.get(db, questionnaire=questionnaire, locale=visit.id("locale"))
        typed = {text.key: form.text(f"text:{text.key}") for text in shown.texts if f"text:{text.key}" in form.values}
        changed = [
            text
            for text in shown.texts
            if text.key in typed and (typed[text.key] != (text.target or "") or form.text(f"right:{text.key}"))
        ]
        lost = {one.key: typed[one.key] for one in changed if form.text(f"seen:{one.key}") != _mark(one)}
        rows = [Row(one.key, one.source, typed[one.key] or None) for one in changed if one.key not in lost]
        if rows:
            await _save(visit, db, questionnaire, rows)
    here = f"{PATH}/{visit.id('questionnaire_id')}/translations/{visit.id('locale')}"
    if not lost and form.text("autosave"):
        return await _page(visit, only=typed)
    if not lost:
        return html.redirect(address(here, show=visit.query.get("show"), begin=visit.query.get("begin"), done="saved"))
    return await _page(visit, lost=lost)


@routes.get(f"{LANGUAGE}/file", scope="Questionnaire.Update")
async def file_out(visit: Visit) -> Response:
    file_format: Format = "xliff" if visit.query.get("format") == "xliff" else "csv"
    work, shown = await visit.reading(_shown)
    questionnaire_id = work.questionnaire.questionnaire_id
    return download(translations.file_of(shown, questionnaire_id=questionnaire_id, file_format=file_format))


@routes.post(f"{LANGUAGE}/file", scope="Questionnaire.Update")
async def file_in(visit: Visit) -> Response:
    """The translations of a file; empty ones stay as they are."""
    try:
        content = visit.form.file() or b""
        rows = await asyncio.to_thread(translation_files.read, content, target=visit.id("locale"))
        async with visit.write() as db:
            questionnaire = await _begun(visit, db)
            unknown = await _save(visit, db, questionnaire, [one for one in rows if one.target and one.target.strip()])
    except (errors.Malformed, errors.Invalid) as refusal:
        wrong = errors.Invalid(refusal.detail, errors=[errors.FieldError("wrong", refusal.detail, pointer="/file")])
        return await _page(visit, refusal=wrong)
    here = f"{PATH}/{visit.id('questionnaire_id')}/translations/{visit.id('locale')}"
    return html.redirect(address(here, done="translated", unknown=len(unknown) or None))


async def _shown(visit: Visit, db: Database) -> tuple[Work, Shown]:
    """Raises NotFound for a language that the draft does not have."""
    work, locale = await work_of(visit, db), visit.id("locale")
    if locale not in work.definition.locales or locale == work.definition.default_locale:
        raise errors.NotFound("The questionnaire does not have this language.")
    texts = texts_of(work.definition, locale, work.questionnaire.own_texts)
    outdated = dict((work.draft.translated_sources or {}).get(locale, {}))
    return work, Shown(work.draft, work.definition.default_locale, locale, texts, outdated)


async def _begun(visit: Visit, db: Database) -> Questionnaire:
    """The questionnaire, locked, with a draft."""
    own = {"caller": visit.caller, "questionnaire_id": visit.id("questionnaire_id")}
    questionnaire = await access.lock(db, **own)
    await drafts.edit(db, **own, change=lambda document: document, now=visit.now)
    return questionnaire


async def _save(visit: Visit, db: Database, questionnaire: Questionnaire, rows: list[Row]) -> list[str]:
    _, unknown = await translations.save(
        db, questionnaire=questionnaire, locale=visit.id("locale"), rows=rows, caller=visit.caller, now=visit.now
    )
    return unknown


@routes.get(LANGUAGE, scope="Questionnaire.Update")
async def _page(
    visit: Visit,
    *,
    lost: Mapping[str, str] | None = None,
    only: Collection[str] = (),
    refusal: errors.Refusal | None = None,
) -> Response:
    """`only`: the keys of the texts that a page shows in place of those that its address chooses."""
    work, shown = await visit.reading(_shown)
    words, locale = visit.words, shown.locale
    show = visit.query.get("show", "")
    states = {one.key: state_of(one, shown.outdated) for one in shown.texts}
    chosen = [one for one in shown.texts if show not in STATES or states[one.key] == STATES[show]]
    begin = visit.query.get("begin", "")
    at = next((number for number, one in enumerate(chosen) if one.key == begin), 0)
    texts = [one for one in shown.texts if one.key in only] if only else chosen[at : at + ROWS]
    path = f"{work.path}/translations/{locale}"
    saved = near_moment(words, work.draft.updated_time, now=visit.now, zone=visit.zone)
    done = sum(state != "missing" for state in states.values())
    if lost:
        refusal = errors.Stale(
            words("Somebody changed some of these texts in the meantime. Yours are below; save again.")
        )
    return visit.page(
        "translations.html",
        title=words("{language}: {name}", language=words.language_name(locale), name=work.questionnaire.display_name),
        refusal=refusal,
        path=path,
        script=static.url("console/edit.js"),
        saved=words("Saved {moment}", moment=saved) if work.draft.revision >= 0 else "",
        back=f"{work.path}/translations",
        publish_url=f"{work.path}/publish" if "Questionnaire Version.Create" in visit.caller.scopes else "",
        action=address(path, show=show, begin=begin),
        locale=locale,
        direction_of=locales.direction(locale),
        source_locale=shown.default_locale,
        names=(words.language_name(shown.default_locale), words.language_name(locale)),
        done_text=words("{n} of {all}", n=done, all=len(shown.texts)),
        unknown=read_number(visit.query.get("unknown", "")) or 0,
        tabs=[
            Tab(
                url=address(path, show=name),
                text=words(text),
                count=sum(name not in STATES or state == STATES[name] for state in states.values()),
                is_current=name == show or (not name and show not in STATES),
            )
            for name, text in SHOWS.items()
        ],
        texts=[_row(words, work, one, shown, typed=(lost or {}).get(one.key)) for one in texts],
        next_url=address(path, show=show, begin=chosen[at + ROWS].key) if chosen[at + ROWS :] else "",
        first_url=address(path, show=show) if at else "",
    )


def _row(words: Texts, work: Work, text: Text, shown: Shown, *, typed: str | None) -> dict[str, Any]:
    question = editing.question_of(work.draft.definition, text.question_id) if text.question_id else None
    member = text.member.partition("/")[0]
    label = {"choices": words("Choice"), "rows": words("Row")}.get(member) or words(MEMBERS[member])
    if question and member == "title":
        label = words(question_types.MEMBERS["title"].label)
    if text.key == "title":
        label = words("Title above the questions")
    label = label[:1].upper() + label[1:]
    before = shown.outdated.get(text.key)
    return {
        "key": text.key,
        "label": label
        if member == "title" or not question
        else f"{label} · {questionnaires.title_of(words, question)}",
        "source": text.source,
        "target": (text.target or "") if typed is None else typed,
        "theirs": text.target if typed is not None else None,
        "seen": _mark(text),
        "before": before or "",
        "is_changed": before is not None and bool(text.target),
        "rows": 1 + len(text.source) // 60 + text.source.count("\n"),
    }


def _mark(text: Text) -> str:
    return question_form.mark_of([text.source, text.target or ""])
