"""Publishing a questionnaire with the difference in words, its versions, and taking one back."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances import expiry
from afterword.asking.questionnaires import access, api, drafts, service as questionnaires, store
from afterword.asking.questionnaires.drafts import DRAFT_ID
from afterword.asking.questionnaires.store import PublishedVersion
from afterword.asking.screens.questionnaires import ONE, PATH, Work, type_name, work_of
from afterword.console.inputs import require_same
from afterword.console.screens import Database, Screens, Visit
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition, texts_of
from afterword.core.questionnaires.differences import MEMBERS, SENTENCES, Difference, differences
from afterword.core.reading.findings import Findings
from afterword.core.text import placeholders
from afterword.core.wire.lists import Page
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import Listing, address, read_number
from afterword.kit.web import fields, html

PUBLISH: Final = f"{ONE}/publish"
VERSIONS: Final = f"{ONE}/versions"
LISTING: Final = fields.listing_of(api.QuestionnaireVersion, order=(("number", "desc"),))
ROWS: Final = 10
LINKS_MAX: Final = 10_000
NOTE_CHARACTERS_MAX: Final = 1_000
SHOWN_MAX: Final = 50
MISSING_SHOWN_MAX: Final = 5  # texts of a language

CHANGED: Final[Marked] = "Someone changed the draft in the meantime. Check the differences again."

routes = Screens()


@routes.post(PUBLISH, scope="Questionnaire Version.Create", again=(errors.Invalid, errors.Stale, errors.Conflict))
async def publish(visit: Visit, db: Database) -> Response:
    questionnaire_id, note = visit.id("questionnaire_id"), visit.form.text("note")
    if len(note) > NOTE_CHARACTERS_MAX:
        said = visit.words("At most {n} characters.", n=NOTE_CHARACTERS_MAX)
        errors.check([errors.FieldError("too_long", said, pointer="/note")])
    questionnaire = await access.lock(db, caller=visit.caller, questionnaire_id=questionnaire_id)
    require_same(visit, (await drafts.get(db, **questionnaire.key)).revision, "revision", CHANGED)
    await questionnaires.publish(
        db, caller=visit.caller, questionnaire_id=questionnaire_id, note=note or None, now=visit.now
    )
    return html.redirect(f"{PATH}/{questionnaire_id}?done=published")


@routes.get(VERSIONS, scope="Questionnaire Version.Read")
async def list_versions(visit: Visit, db: Database) -> Response:
    words = visit.words
    one = await access.get(db, caller=visit.caller, **visit.ids)
    page = Page.first(LISTING, limit=ROWS + 1)  # and the one before the last, to compare with
    found = await store.list_versions(db, **one.key, page=replace(page, after=_read_key(visit.query.get("after", ""))))
    links = await expiry.count_open_by_version(db, **one.key, now=visit.now, limit=LINKS_MAX)
    versions = found.items[:ROWS]
    definitions = [core_definition.parse(each.definition) for each in found.items]
    path = f"{PATH}/{one.questionnaire_id}"
    may_take = "Questionnaire.Update" in visit.caller.scopes and one.archived_time is None
    last = versions[-1] if found.items[ROWS:] else None
    return visit.page(
        "versions.html",
        title=words("Versions of “{name}”", name=one.display_name),
        path=path,
        comparison_url=f"{path}/versions/comparison" if versions else "",
        limit=LINKS_MAX,
        list=Listing(
            rows=[
                _row(
                    visit,
                    each,
                    definitions[number : number + 2],
                    links=links.get(each.version_id, 0),
                    is_current=each.version_id == one.published_version_id,
                    url=f"{path}/versions/{each.version_id}/draft" if may_take else "",
                )
                for number, each in enumerate(versions)
            ],
            empty=words("Nothing is published yet."),
            next_url=address(f"{path}/versions", after=f"{last.number}_{last.version_id}") if last else "",
            first_url=f"{path}/versions" if "after" in visit.query else "",
        ),
    )


@routes.get(f"{VERSIONS}/{{version_id}}/draft", scope="Questionnaire.Update")
async def confirm_take_back(visit: Visit, db: Database) -> Response:
    words = visit.words
    work = await work_of(visit, db)
    version = await drafts.version_of(db, work.questionnaire, visit.id("version_id"))
    lost = len(_unpublished(work)) if work.published else 0
    sentences = [words("The draft is replaced by version {n}. Nothing is published yet.", n=version.number)]
    if lost:
        sentences.append(
            words.plural(
                "{n} change that was not published is lost.", "{n} changes that were not published are lost.", lost
            )
        )
    return visit.confirm(
        title=words("Restore version {n}?", n=version.number),
        sentences=sentences,
        button=words("Restore it to the draft"),
        back=f"{work.path}/versions",
        revision=str(work.draft.revision),
    )


@routes.post(f"{VERSIONS}/{{version_id}}/draft", scope="Questionnaire.Update")
async def take_back(visit: Visit, db: Database) -> Response:
    questionnaire = await access.lock(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))
    await drafts.restore(
        db,
        questionnaire=questionnaire,
        version_id=visit.id("version_id"),
        caller=visit.caller,
        expect=lambda revision: require_same(visit, revision, "revision", CHANGED),
        now=visit.now,
    )
    return html.redirect(f"{PATH}/{visit.id('questionnaire_id')}/edit?done=taken_back")


@routes.get(PUBLISH, scope="Questionnaire Version.Create")
async def _publish(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    work = await visit.reading(work_of)
    words, problems, found = visit.words, work.problems(visit), _unpublished(work)
    is_first = work.published is None
    is_ready = not any(one.is_error for one in problems) and (is_first or bool(found))
    links = [(sentence_of(words, one), _place_of(work, one)) for one in found]
    return visit.page(
        "publish.html",
        title=words("Publish “{name}”", name=work.questionnaire.display_name),
        refusal=refusal,
        path=work.path,
        problems=problems,
        missing=_missing(words, work),
        is_first=is_first,
        is_ready=is_ready and work.questionnaire.archived_time is None,
        is_same=not is_first and not found,
        differences=links[:SHOWN_MAX],
        more=len(links) - SHOWN_MAX,
        revision=work.draft.revision,
        note=visit.form.text("note") if refusal else "",
        note_max=NOTE_CHARACTERS_MAX,
    )


def _missing(words: Texts, work: Work) -> list[dict[str, Any]]:
    """By language: the texts without a translation, as people will read them."""
    definition, found = work.definition, list[dict[str, Any]]()
    own = work.questionnaire.own_texts
    for locale in definition.locales:
        texts = [] if locale == definition.default_locale else texts_of(definition, locale, own)
        left = [placeholders.plain(one.source) for one in texts if not one.target]
        if left:
            said = words.plural(
                "{n} text is missing in {language}. People see it in {source}:",
                "{n} texts are missing in {language}. People see them in {source}:",
                len(left),
            )
            names = {"{language}": locale, "{source}": definition.default_locale}
            for blank, each in names.items():
                said = said.replace(blank, words.language_name(each))
            found.append(
                {
                    "text": said,
                    "url": f"{work.path}/translations/{locale}?show=missing",
                    "locale": definition.default_locale,
                    "shown": left[:MISSING_SHOWN_MAX],
                    "more": len(left) - MISSING_SHOWN_MAX,
                }
            )
    return found


def _place_of(work: Work, one: Difference) -> str:
    """The address where a changed question or ending is edited; empty for another change."""
    if one.path.startswith("/endings"):
        return f"{work.path}/edit/endings"
    return f"{work.path}/edit/{one.question_id}" if one.question_id else ""


def _unpublished(work: Work) -> list[Difference]:
    if work.published is None:
        return []
    return differences(work.published, core_definition.read(work.draft.definition, Findings()))


def _row(
    visit: Visit, version: PublishedVersion, pair: Sequence[Definition], *, links: int, is_current: bool, url: str
) -> dict[str, Any]:
    """`pair`: its definition, and that of the one before, if there is one."""
    words = visit.words
    found = differences(pair[1], pair[0]) if pair[1:] else []
    return {
        "name": words("Version {n}", n=version.number),
        "when": words.moment(version.published_time, time_zone=visit.zone),
        "is_current": is_current,
        "note": version.note or "",
        "links": words.plural("{n} open link uses it", "{n} open links use it", links) if links else "",
        "count": words.plural("{n} change", "{n} changes", len(found)) if pair[1:] else words("The first version."),
        "differences": [sentence_of(words, one) for one in found[:SHOWN_MAX]],
        "more": len(found) - SHOWN_MAX,
        "url": "" if is_current else url,
    }


def sentence_of(words: Texts, one: Difference) -> str:
    values = one.arguments
    if one.member:
        values["member"] = words(MEMBERS[one.member])
    if one.locale:
        values["locale"] = words.language_name(one.locale)
    if one.kind == "question_retyped":
        values |= {name: type_name(words, values[name]) for name in ("before", "after")}
    return words(SENTENCES[one.kind], **values)


def _read_key(text: str) -> tuple[object, ...] | None:
    place, _, version_id = text.partition("_")
    number = read_number(place)
    return None if number is None else (number, version_id)


COMPARISON: Final = f"{VERSIONS}/comparison"
OFFERED_MAX: Final = 1_000  # versions to choose from
DIFFERENCES_SHOWN_MAX: Final = 500  # differences


@routes.get(COMPARISON, scope="Questionnaire Version.Read")
async def comparison_page(visit: Visit, db: Database) -> Response:
    words = visit.words
    one = await access.get(db, caller=visit.caller, **visit.ids)
    numbers = await store.list_version_numbers(db, **one.key, limit=OFFERED_MAX)
    has_draft = await drafts.get_draft_record(db, **one.key) is not None
    order = [*([DRAFT_ID] if has_draft else []), *(version_id for version_id, _, _ in numbers)]  # the newest first
    first, second = (visit.query.get(name) or default for name, default in _defaults(order))
    later, earlier = sorted((first, second), key=lambda each: order.index(each) if each in order else OFFERED_MAX)
    found = (
        await drafts.compare(db, questionnaire=one, version_id=earlier, compared_id=later) if earlier != later else []
    )
    names = {DRAFT_ID: words("the draft")} | {
        version_id: words("Version {n}, {day}", n=number, day=words.date(published_time, time_zone=visit.zone))
        for version_id, number, published_time in numbers
    }
    return visit.page(
        "versions_compared.html",
        title=words("Compare versions of “{name}”", name=one.display_name),
        path=f"{PATH}/{one.questionnaire_id}/versions",
        offered=[(each, names[each]) for each in order],
        first=first,
        second=second,
        heading_text=""
        if earlier == later
        else words("From {earlier} to {later}", earlier=names.get(earlier, ""), later=names.get(later, "")),
        differences=[sentence_of(words, each) for each in found[:DIFFERENCES_SHOWN_MAX]],
        more=len(found) - DIFFERENCES_SHOWN_MAX,
    )


def _defaults(order: list[str]) -> list[tuple[str, str]]:
    """The names of the query, each with the newest that is not the other's."""
    later, earlier = (order * 2)[:2] if order else ("", "")
    return [("from", earlier), ("to", later)]
