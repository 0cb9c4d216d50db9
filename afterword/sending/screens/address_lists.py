"""Lists in five steps: those there are, the file of a new one, and its columns."""

import asyncio
from collections.abc import Collection, Mapping
from functools import partial
from itertools import chain, count
from typing import Any, Final, Unpack

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import metadata, store as questionnaires_store
from afterword.asking.questionnaires.condition_rows import of_columns, subjects_of
from afterword.console import conditions
from afterword.console.inputs import placed
from afterword.console.screens import Screens, Visit
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS
from afterword.core.questionnaires.metadata import Declared, Kind
from afterword.core.wire import imports, tables
from afterword.core.wire.imports import FORMATS, HOUR, REFERENCE, Seen, group_of
from afterword.core.wire.list_columns import ASK
from afterword.core.wire.tables import ADDRESS, Reading
from afterword.errors import FieldError, Sentence
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import Listing, address, key_of, read_key
from afterword.kit.ui.text import slug_of
from afterword.kit.web import headers, html
from afterword.sending.intake import lists
from afterword.sending.intake.lists import AddressList, Layout, Read
from afterword.sending.pipelines import service as pipelines_service
from afterword.sending.pipelines.resources import date_title, delay_of
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.screens import pipelines, queue_items

LISTS: Final = f"{queue_items.SENDING}/lists"
NEW: Final = pipelines.NEW_LIST
TEMPLATE: Final = f"{LISTS}/template"
ONE: Final = f"{LISTS}/{{list_id}}"
ROWS: Final = 50
TITLE_CHARACTERS_MAX: Final = 200
NAME_CHARACTERS_MAX: Final = 50  # with a number behind it, it is still a name of metadata
STEPS: Final[tuple[Marked, ...]] = ("File", "Columns", "Check", "Confirm", "Result")
MEANINGS: Final[Mapping[str, Marked]] = {
    ADDRESS: "Address: who to write to", REFERENCE: "Order number", "send_time": "When to send", "locale": "Language",
}  # fmt: skip
ADDRESSES: Final[Mapping[int, Marked]] = {
    CHANNEL_EMAIL: "Address: the e-mail to write to",
    CHANNEL_SMS: "Address: the phone to write to",
}
LEVELS: Final[Mapping[str, Marked]] = {"questionnaire": "of the order", "responder": "of the person"}
NEW_FIELDS: Final[Mapping[str, tuple[Kind, Marked]]] = {
    "new.questionnaire": ("questionnaire", "+ New field of the order"),
    "new.responder": ("responder", "+ New field of the person"),
}
FORMAT_TEXTS: Final[Mapping[str, Marked]] = {
    "day": "Day before month: 31.12.2026",
    "month": "Month before day: 12/31/2026",
    "comma": "Decimal comma: 1.234,50",
    "point": "Decimal point: 1,234.50",
}
UNSURE: Final[Mapping[str, Marked]] = {
    "date": "Column “{column}”: say whether the day or the month comes first.",
    "time": "Column “{column}”: say whether the day or the month comes first.",
    "number": "Column “{column}”: say which is the decimal sign.",
}
ASKED: Final[Mapping[str, Marked]] = {
    "meaning": "Column “{column}”: say what it means. It may be the time to send, or the address.",
    "hour": "Column “{column}”: say at which hour messages leave on dates without a time.",
}
NO_DATE: Final[Marked] = (
    "The pipeline counts from “{date}”. Choose this meaning for a column, or that of the time to send."
)
LINES_DIGITS: Final = 4  # of the number of lines around the table
SURE: Final[Mapping[str, Marked]] = {
    "day": "{n} of {all} can only be day first.",
    "month": "{n} of {all} can only be month first.",
    "comma": "{n} of {all} can only have a decimal comma.",
    "point": "{n} of {all} can only have a decimal point.",
}

routes = Screens()


@routes.get(LISTS, scope="Queue.Read")
async def list_lists(visit: Visit) -> Response:
    words = visit.words
    found = await visit.load(
        lists.list_lists, **visit.caller.part, after=read_key(visit.query.get("after", "")), limit=ROWS + 1
    )
    last = found[ROWS - 1] if len(found) > ROWS else None
    return visit.page(
        "lists.html",
        title=words("Lists"),
        list=Listing(
            rows=[one._asdict() for one in found[:ROWS]],
            empty=words("No list yet. Send a questionnaire to the people of a file, or paste their addresses."),
            empty_link=visit.link("Send to a list", NEW),
            note=words("A file is kept for seven days, the record of what became of it for thirty."),
            next_url=address(LISTS, after=key_of(last.created_time, last.list_id)) if last else "",
            first_url=LISTS if "after" in visit.query else "",
        ),
    )


@routes.get(TEMPLATE, scope="Queue.Create")
async def template(visit: Visit, db: Database) -> Response:
    """An empty CSV with the columns that the pipeline knows: those of each message, and its declared metadata."""
    questionnaire_id, _, pipeline_id = visit.query.get("pipeline", "").partition("/")
    pipeline = await pipelines_service.get(
        db, caller=visit.caller, questionnaire_id=questionnaire_id, pipeline_id=pipeline_id
    )
    declared = await metadata.declared_of(
        db, organization_id=pipeline.organization_id, questionnaire_id=pipeline.questionnaire_id
    )
    known = [*declared.questionnaire.values(), *declared.responder.values()]
    names = [*MEANINGS, *(f"metadata.{one.kind}.{one.name}" for one in known)]
    return Response(
        "\ufeff" + ",".join(names) + "\r\n",  # spreadsheets open it; no name has a comma
        media_type="text/csv; charset=utf-8",
        headers=headers.saved_as("template.csv"),
    )


@routes.post(NEW, scope="Queue.Create", again=(errors.Invalid, errors.Malformed, errors.TooLarge, errors.NotFound))
async def stage(visit: Visit) -> Response:
    form = visit.form
    content = form.file() or form.secret("rows").encode()
    questionnaire_id, _, pipeline_id = form.text("pipeline").partition("/")
    read = await asyncio.to_thread(lists.read_file, content)
    return await staged(visit, read, {}, questionnaire_id=questionnaire_id, pipeline_id=pipeline_id)


async def staged(visit: Visit, read: Read, mapping: Mapping[str, str], **path: Unpack[PipelinePath]) -> Response:
    """Keep the file that was sent, and go to its columns."""
    file_name = visit.form.file_names.get("file")
    list_id = await visit.change(
        lists.stage, caller=visit.caller, file_name=file_name, read=read, mapping=mapping, now=visit.now, **path
    )
    return html.redirect(f"{LISTS}/{list_id}/columns")


@routes.post(
    f"{ONE}/columns", scope="Queue.Create", again=(errors.Invalid, errors.Malformed, errors.TooLarge, errors.TooMany)
)
async def check(visit: Visit) -> Response:
    form = visit.form
    found = await visit.find(lists.get)
    reading = _reading(form.text, found, separator=form.secret("separator"))
    text = await asyncio.to_thread(lists.text_of, found, reading)
    names, rows = await asyncio.to_thread(tables.sample_of, text, reading.separator)
    async with visit.write() as db:
        mapping = await _with_new_fields(visit, db, found, _mapping(visit, names))
    async with visit.read() as db:
        declared, pipeline, (_, guessed) = await _guessed(visit, db, found, names, rows)
    _require_date(visit, pipeline, declared, mapping)
    kinds = imports.kinds_of(mapping, declared)
    seen = await asyncio.to_thread(imports.look, text, reading.separator, kinds)
    formats = _formats(visit, names, mapping, seen)
    document = conditions.condition_of(visit, conditions.typed(form), of_columns(names))
    layout = Layout(reading, mapping, formats, form.text("joins_rows") == "1", document)
    await checked(visit, found, text, layout=layout, on_conflict=form.text("on_conflict"), guessed=guessed)
    return html.redirect(f"{LISTS}/{found.list_id}/check")


async def checked(visit: Visit, found: AddressList, text: str, *, layout: Layout, **given: Any) -> None:
    """Begin the dry run of this text; `given` as `lists.check` takes it."""
    cut = await asyncio.to_thread(lists.cut, text, layout)
    of_visit = {"caller": visit.caller, "secret": visit.site.secret, "now": visit.now}
    await visit.change(lists.check, found=found, layout=layout, cut=cut, **of_visit, **given)


async def _with_new_fields(
    visit: Visit, db: Database, found: AddressList, mapping: Mapping[str, str]
) -> dict[str, str]:
    """The mapping, with a field that is declared now for each column that wants one; that of a person is personal."""
    if NEW_FIELDS.keys().isdisjoint(mapping.values()):
        return dict(mapping)
    visit.caller.require("Metadata.Create")
    key = {"organization_id": found.organization_id, "questionnaire_id": found.questionnaire_id}
    declared = await metadata.declared_of(db, **key)
    questionnaire = await questionnaires_store.get_questionnaire(db, **key)
    kept: dict[str, str] = {}
    for column, meaning in mapping.items():
        if meaning not in NEW_FIELDS:
            kept[column] = meaning
            continue
        kind = NEW_FIELDS[meaning][0]
        name = _free_name(column, {one.rpartition(".")[2] for one in kept.values()})
        if declared.get(kind, name) is None:
            columns = {
                "name": name,
                "title": column[:TITLE_CHARACTERS_MAX],
                "type": "text",
                "anonymize": kind == "responder",
                "level": "application",
                "application_id": questionnaire.owner_application_id,
                "application_type_id": None,
            }
            await nouns.create(metadata.NAMES[kind], db, columns=columns, **visit.acting)
        kept[column] = f"metadata.{kind}.{name}"
    return kept


def _free_name(column: str, taken: Collection[str]) -> str:
    """A name for a column, which begins with a letter and is none of those taken."""
    plain = slug_of(column).replace("-", "_")[:NAME_CHARACTERS_MAX]
    name = plain if plain[:1].isalpha() else f"field_{plain}".strip("_")
    return next(one for one in chain([name], (f"{name}_{n}" for n in count(2))) if one not in taken)


def steps_of(words: Texts) -> list[tuple[int, str]]:
    return [(number, words(text)) for number, text in enumerate(STEPS, start=1)]


async def pipeline_of(visit: Visit, db: Database, found: AddressList) -> Pipeline:
    return await pipelines_service.get(
        db, caller=visit.caller, questionnaire_id=found.questionnaire_id, pipeline_id=found.pipeline_id
    )


@routes.get(NEW, scope="Queue.Create")
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    choices = await visit.reading(pipelines.choices_of)
    return visit.page(
        "list_new.html",
        title=words("Send to a list"),
        steps=steps_of(words),
        pipelines=[(f"{one.questionnaire_id}/{one.pipeline_id}", text) for one, text in choices],
        template_url=TEMPLATE,
        chosen=visit.form.text("pipeline") or visit.query.get("pipeline", ""),
        refusal=refusal,
    )


def _reading(given: Any, found: AddressList, *, separator: str) -> Reading:
    """As it was chosen, else as it was guessed."""
    encoding = given("encoding")
    above, below = (
        int(text) if (text := given(name)).isdecimal() and len(text) < LINES_DIGITS else kept
        for name, kept in (("rows_above", found.rows_above), ("rows_below", found.rows_below))
    )
    return Reading(
        encoding if encoding in tables.ENCODINGS else found.encoding,
        separator if separator in tables.SEPARATORS else found.separator,
        found.has_header if not given("header") else given("header") == "1",
        above,
        below,
    )


async def _guessed(
    visit: Visit, db: Database, found: AddressList, names: list[str], rows: list[list[str]]
) -> tuple[Declared, Pipeline, tuple[Mapping[str, str], Mapping[str, str]]]:
    declared = await metadata.declared_of(
        db, organization_id=found.organization_id, questionnaire_id=found.questionnaire_id
    )
    pipeline = await pipeline_of(visit, db, found)
    guessed = await lists.columns_of(
        db, found=found, names=names, rows=rows, declared=declared, pipeline=pipeline, now=visit.now
    )
    return declared, pipeline, guessed


@routes.get(f"{ONE}/columns", scope="Queue.Create")
async def _columns(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    """The first rows as we read them, with the meaning of each column; what was typed stays."""
    words, form = visit.words, visit.form
    chosen: Any = form.text if form.values else lambda name: visit.query.get(name, "")
    async with visit.read() as db:
        found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
        reading = _reading(chosen, found, separator=visit.query.get("separator", "") or form.secret("separator"))
        try:
            text = await asyncio.to_thread(lists.text_of, found, reading)
            names, rows = await asyncio.to_thread(tables.sample_of, text, reading.separator)
        except (errors.Invalid, errors.Malformed) as unreadable:
            refusal, text, names, rows = refusal or unreadable, "", [], []
        declared, pipeline, (guessed, _) = await _guessed(visit, db, found, names, rows)
    mapping = _mapping(visit, names) if form.values else guessed
    kinds = imports.kinds_of(mapping, declared)
    seen = await asyncio.to_thread(imports.look, text, reading.separator, kinds) if names else {}
    if found.import_id and refusal is None:
        return html.redirect(f"{LISTS}/{found.list_id}/result")
    here = f"{LISTS}/{found.list_id}/columns"
    subjects = subjects_of(words, definitions=(), declared=declared)
    known = of_columns(names)
    condition = conditions.typed(form) if form.values else conditions.stored(found.conditions, known)
    return visit.page(
        "list_columns.html",
        condition_rows=conditions.values_of(words, condition, known),
        rule=delay_of(words, pipeline, subjects) if pipeline.delay_from else "",
        title=words("Columns"),
        steps=steps_of(words),
        file_name=found.file_name or words("Pasted rows"),
        pipeline=pipeline.title,
        columns=[
            {
                "name": name,
                "field": f"column{place}",
                "samples": [row[place] for row in rows if row[place].strip()],
                "meaning": mapping[name],
                "is_asked": mapping[name] == ASK,
                **_written(visit, found, place, name, seen.get(name)),
            }
            for place, name in enumerate(names)
        ],
        ask=ASK,
        meanings=_meanings(words, declared, pipeline.channel_id)
        + [(key, words(text)) for key, (_, text) in NEW_FIELDS.items() if "Metadata.Create" in visit.caller.scopes],
        encodings=[(key, words(text)) for key, text in tables.ENCODINGS.items()],
        reading=reading,
        foreign_words=[] if (found.file_name or "xlsx").lower().endswith("xlsx") else tables.foreign_words(text),
        joins_rows=form.text("joins_rows") or ("1" if found.joins_rows or not found.mapping else "0"),
        on_conflict=form.text("on_conflict") or found.on_conflict,
        action=here,
        forget_url=f"{LISTS}/{found.list_id}/stop" if "Queue.Delete" in visit.caller.scopes else "",
        refusal=refusal and placed(refusal, partial(conditions.place_of, values=condition)),
    )


def _mapping(visit: Visit, names: list[str]) -> dict[str, str]:
    return {name: visit.form.text(f"column{place}") for place, name in enumerate(names)}


def _require_date(visit: Visit, pipeline: Pipeline, declared: Declared, mapping: Mapping[str, str]) -> None:
    """Raise Invalid where no column has the date that the pipeline counts from, nor the time to send."""
    if pipeline.delay_from is None or "send_time" in mapping.values():
        return
    kind, _, name = pipeline.delay_from.partition("_metadata:")
    if any(group_of(one) == (kind, name) for one in mapping.values()):
        return
    date = date_title(pipeline.delay_from, subjects_of(visit.words, definitions=(), declared=declared))
    raise errors.Invalid.at("/column0", "required", Sentence(NO_DATE, date=date))


def _written(visit: Visit, found: AddressList, place: int, name: str, seen: Seen | None) -> dict[str, Any]:
    """The fields of a column whose values are written in several ways."""
    if seen is None or not (seen.total or seen.without_time):
        return {"format": "", "formats": [], "hour_field": ""}
    words, form, kept = visit.words, visit.form, found.formats.get(name, "").split()
    hour = next(filter(HOUR.fullmatch, kept), "")
    orders = FORMATS[seen.kind] if seen.total else ()
    return {
        "format": f"format{place}",
        "formats": [("", words("Choose")), *((key, words(FORMAT_TEXTS[key])) for key in orders)] if orders else [],
        "chosen": form.text(f"format{place}") or next((one for one in kept if one in orders), seen.format or ""),
        "sure": _sure(words, seen),
        "hour_field": f"hour{place}" if seen.without_time else "",
        "hour": form.text(f"hour{place}") or hour,
    }


def _formats(visit: Visit, names: list[str], mapping: Mapping[str, str], seen: Mapping[str, Seen]) -> dict[str, str]:
    """As they were chosen, else as they are proved; raises Invalid for a column that is neither, or has no meaning."""
    found: dict[str, str] = {}
    wrong: list[FieldError] = []
    for place, name in enumerate(names):
        if mapping[name] == ASK:
            wrong.append(FieldError("required", Sentence(ASKED["meaning"], column=name), pointer=f"/column{place}"))
        if (one := seen.get(name)) is None:
            continue
        given, hour = visit.form.text(f"format{place}"), visit.form.text(f"hour{place}")
        chosen = given if given in FORMATS.get(one.kind, ()) else one.format
        if chosen is None:
            wrong.append(FieldError("required", Sentence(UNSURE[one.kind], column=name), pointer=f"/format{place}"))
        if one.without_time and not HOUR.fullmatch(hour):
            wrong.append(FieldError("required", Sentence(ASKED["hour"], column=name), pointer=f"/hour{place}"))
        found[name] = " ".join(filter(None, (one.kind, chosen, hour if one.without_time else "")))
    if wrong:
        raise errors.Invalid.of(*wrong)
    return found


def _sure(words: Texts, seen: Seen) -> str:
    """The rows that prove a format, for both if both are proved."""
    counts = zip(FORMATS[seen.kind], (seen.only_first, seen.only_second), strict=True)
    said = [words(SURE[key], n=count, all=seen.total) for key, count in counts if count]
    if not said and seen.total:
        said = [words("All {n} can be read both ways.", n=seen.total)]
    return " ".join(said)


def _meanings(words: Texts, declared: Declared, channel_id: int) -> list[tuple[str, str]]:
    fixed = {**MEANINGS, ADDRESS: ADDRESSES.get(channel_id, MEANINGS[ADDRESS])}
    named = ((key, words(text)) for key, text in fixed.items())
    return [("", words("Not used")), *named, *titles_of(words, declared).items()]


def titles_of(words: Texts, declared: Declared) -> dict[str, str]:
    """The meanings that metadata have, with their titles."""
    known = [*declared.questionnaire.values(), *declared.responder.values()]
    return {f"metadata.{one.kind}.{one.name}": f"{one.title_in(words)} ({words(LEVELS[one.kind])})" for one in known}
