"""Public links of a questionnaire: the list, the page of one, its form, its box on websites and its kiosk mode."""

from datetime import datetime
from types import SimpleNamespace
from typing import Any, Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances import store as instances_store
from afterword.asking.instances.rendering import logo_url
from afterword.asking.links import pages, public_links
from afterword.asking.links.public_links import (
    COUNTED_MAX,
    LINK,
    Box,
    Kiosk,
    LinkInUse,
    PublicLink,
    QrFormat,
    box_of,
    count_answered,
    kiosk_of,
    qr_of,
)
from afterword.asking.questionnaires import access, metadata
from afterword.asking.questionnaires.store import Questionnaire
from afterword.asking.screens.questionnaires import ONE as QUESTIONNAIRE, PATH as QUESTIONNAIRES
from afterword.console.inputs import KEPT, Input, document_of, filled, form_page, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.response_list import PERIODS, ResponseFilter
from afterword.console.screens import Database, Marked, Screens, Undo, Visit, download
from afterword.core.answers.instances import State
from afterword.core.wire import qr
from afterword.core.wire.site import origins_of
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.ui.lists import Column, Listing, page_links, page_of
from afterword.kit.web import html, static
from afterword.sending import previews
from afterword.tenants.screens.organization import APPLICATIONS

PATH: Final = f"{QUESTIONNAIRE}/links"
ONE: Final = f"{PATH}/{{link_id}}"
LISTING: Final = structs.listing_of(LINK)
STATES: Final[dict[State, Marked]] = {
    "open": "Open", "scheduled": "Opens later", "over": "Ended", "off": "Switched off"
}  # fmt: skip
FULL: Final[Marked] = "Maximum reached"
SHEETS: Final = ("8", "1", "4", "24")  # codes on a sheet
SHEET_TEXT_MAX: Final = 100
FORM: Final = (
    "title", "locale", "one_response_per", "opens_time", "closes_time", "responses_max", "metadata", "parameters",
    "takes_reference", "active",
)  # fmt: skip
INPUTS: Final = inputs_of(LINK, names=FORM)

routes = Screens()


@routes.get(PATH, scope="Public Link.Read")
async def list_links(visit: Visit, db: Database) -> Response:
    words = visit.words
    questionnaire = await _questionnaire(visit, db)
    found = await nouns.rows(
        LINK, db, **visit.caller.part, parent_id=questionnaire.questionnaire_id, page=page_of(LISTING, visit.query)
    )
    counts = await count_answered(
        db, organization_id=questionnaire.organization_id, link_ids=[one.link_id for one in found.items]
    )
    here = _path(questionnaire)
    new = (words("New link"), f"{here}/new") if "Public Link.Create" in visit.caller.scopes else None
    return visit.page(
        "links.html",
        title=words("Public links"),
        back=(questionnaire.display_name, f"{QUESTIONNAIRES}/{questionnaire.questionnaire_id}"),
        new=new,
        own_url=visit.public_pages.public_link_url(questionnaire.questionnaire_id) if questionnaire.public_link else "",
        list=Listing(
            rows=[
                {
                    "url": f"{here}/{one.link_id}",
                    "title": one.title,
                    "state": words(state := _state(one, counts[one.link_id], visit.now)),
                    "is_open": state == STATES["open"],
                    "address": visit.public_pages.link_url(one.key),
                    "count": words.count(counts[one.link_id], is_capped=counts[one.link_id] == COUNTED_MAX),
                    "responses_url": responses_url(one) if counts[one.link_id] else "",
                }
                for one in found.items
            ],
            columns=[
                Column(text=words("Name")),
                Column(text=words("State")),
                Column(text=words("Address")),
                Column(text=words("Responses"), is_number=True),
            ],
            empty=words("No public link yet. Create one for a poster, a receipt or a newsletter."),
            empty_link=new,
            **page_links(found, visit.query, here),
        ),
    )


@routes.post(f"{PATH}/new", scope="Public Link.Create", again=(errors.Invalid,))
async def create_link(visit: Visit) -> Response:
    request = read_as(structs.creation_of(LINK), await _given(visit), visit)
    link = await visit.change(
        public_links.create, caller=visit.caller, **visit.ids, columns=request.named(), site=visit.site, now=visit.now
    )
    return html.redirect(f"{QUESTIONNAIRES}/{link.questionnaire_id}/links/{link.link_id}?done=saved")


@routes.post(ONE, scope="Public Link.Update", again=(errors.Invalid, errors.Stale))
async def save_link(visit: Visit) -> Response:
    request = read_as(structs.update_of(LINK), await _given(visit), visit)
    await change(visit, request.named(), same_version(visit))
    return html.redirect(f"{visit.request.url.path}?done=saved")


@routes.post(f"{ONE}/switch", scope="Public Link.Update")
async def switch_link(visit: Visit) -> Response:
    is_on, here = visit.form.text("active") == "1", visit.request.url.path
    version = await change(visit, {"active": is_on}, same_version(visit, KEPT) if visit.is_undo else errors.ANY)
    undo = Undo(here, {"active": "" if is_on else "1", "version": str(version)})
    return visit.did(here.removesuffix("/switch"), "switched_on" if is_on else "switched_off", undo)


@routes.get(f"{ONE}/qr", scope="Public Link.Read")
async def qr_file(visit: Visit) -> Response:
    link = await visit.reading(link_of)
    file_format: QrFormat = "png" if visit.query.get("format") == "png" else "svg"
    return download(qr_of(link, visit.site, file_format=file_format))


@routes.get(f"{ONE}/print", scope="Public Link.Read")
async def print_page(visit: Visit, db: Database) -> Response:
    questionnaire, link = await _questionnaire(visit, db), await link_of(visit, db)
    key = {"questionnaire_id": questionnaire.questionnaire_id}
    shown = errors.found(await instances_store.get_public_questionnaire(db, **key), "There is no such page.")
    each = visit.query.get("each", "")
    each = each if each in SHEETS else next(iter(SHEETS))
    here, url = f"{_path(questionnaire)}/{link.link_id}", visit.public_pages.link_url(link.key)
    return visit.page(
        "link_print.html",
        title=visit.words("Print the QR code"),
        back=(link.title, here),
        path=f"{here}/print",
        text=visit.query.get("text", questionnaire.title or questionnaire.display_name)[:SHEET_TEXT_MAX],
        text_max=SHEET_TEXT_MAX,
        sheets=[(one, visit.words.plural("{n} code", "{n} codes", int(one))) for one in SHEETS],
        each=each,
        copies=int(each),
        code=qr.code_of(url),
        shown_url=url.partition("://")[2],
        shop=shown.brand,
        logo_url=logo_url(shown.theme, shown.questionnaire_id),
        print_url=static.url("console/print.css"),
    )


@routes.post(f"{ONE}/removal", scope="Public Link.Delete")
async def remove_link(visit: Visit) -> Response:
    try:
        async with visit.write() as db:
            link = await link_of(visit, db)
            await nouns.delete(LINK, db, **visit.acting, key=link.link_id)
    except LinkInUse:
        return await _confirm(visit)
    return html.redirect(f"{QUESTIONNAIRES}/{link.questionnaire_id}/links?done=removed")


def responses_url(link: PublicLink) -> str:
    return ResponseFilter(questionnaire_id=link.questionnaire_id, link_id=link.link_id, period=str(PERIODS[-1])).url()


@routes.get(f"{ONE}/removal", scope="Public Link.Delete")
async def _confirm(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        link = await link_of(visit, db)
        is_used = await public_links.get_has_instances(db, organization_id=link.organization_id, link_id=link.link_id)
    here = f"{QUESTIONNAIRES}/{link.questionnaire_id}/links/{link.link_id}"
    if is_used:
        return visit.confirm(
            title=words("Switch off the link “{title}”?", title=link.title),
            sentences=[words("It has responses, so it cannot be removed. Switch it off to accept no more.")],
            button=words("Switch off"),
            action=f"{here}/switch",
        )
    return visit.confirm(
        title=words("Remove the link “{title}”?", title=link.title),
        sentences=[words("Anyone who opens its address, printed ones included, sees that the page does not exist.")],
        button=words("Remove the link"),
    )


@routes.get(f"{PATH}/new", scope="Public Link.Create")
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    questionnaire = await visit.reading(_questionnaire)
    return form_page(
        visit,
        title=visit.words("New link"),
        back=(visit.words("Public links"), _path(questionnaire)),
        inputs=INPUTS,
        stored=SimpleNamespace(active=True),
        refusal=refusal,
        options=_languages(visit, questionnaire),
    )


def _state(link: PublicLink, count: int, now: datetime) -> Marked:
    is_full = link.responses_max is not None and count >= link.responses_max
    return FULL if is_full and link.state_at(now) == "open" else STATES[link.state_at(now)]


@routes.get(ONE, scope="Public Link.Read")
async def _show(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    questionnaire, link = await _questionnaire(visit, db), await link_of(visit, db)
    counts = await count_answered(db, organization_id=link.organization_id, link_ids=[link.link_id])
    lines = [f"{name} = {value}" for name, value in sorted(link.metadata.items())]
    stored = SimpleNamespace(**{one.name: getattr(link, one.name) for one in INPUTS} | {"metadata": lines})
    languages = _languages(visit, questionnaire)
    return visit.page(
        "link.html",
        title=link.title,
        back=(visit.words("Public links"), _path(questionnaire)),
        path=f"{_path(questionnaire)}/{link.link_id}",
        link_id=link.link_id,
        url=visit.public_pages.link_url(link.key),
        code=qr.code_of(visit.public_pages.link_url(link.key)),
        state=visit.words(_state(link, counts[link.link_id], visit.now)),
        active=link.active,
        count=visit.words.plural("{n} response", "{n} responses", counts[link.link_id]),
        responses_url=responses_url(link) if counts[link.link_id] else "",
        **filled(visit, INPUTS, stored, version=link.version, refusal=refusal, options=languages),
    )


async def _given(visit: Visit) -> dict[str, Any]:
    """The members as the API has them. Raises Invalid for a line that is no metadata, or of an undeclared name."""
    document = document_of(visit.form, INPUTS)
    values: dict[str, str] = {}
    for line in document["metadata"]:
        name, equals, value = line.partition("=")
        if not equals:
            raise errors.Invalid.at("/metadata", "invalid_format", visit.words("Enter a name, =, and its value."))
        values[name.strip()] = value.strip()
    async with visit.read() as db:
        declared = await metadata.declared_of(db, **visit.caller.part, questionnaire_id=visit.id("questionnaire_id"))
    unknown = next((name for name in values if not declared.get(declared.kind_of(name), name)), None)
    if unknown is not None:
        known = ", ".join(sorted({*declared.questionnaire, *declared.responder}))
        message = errors.Sentence("“{name}” is not declared. There are: {names}.", name=unknown, names=known)
        raise errors.Invalid.at("/metadata", "unknown_metadata", message)
    return {**document, "metadata": values}


def _languages(visit: Visit, questionnaire: Questionnaire) -> dict[str, list[tuple[str, str]]]:
    own = [(one, visit.words.language_name(one)) for one in questionnaire.locales]
    return {"locale": [("", visit.words("as the visitor")), *own]}


async def _questionnaire(visit: Visit, db: Database) -> Questionnaire:
    return await access.get(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))


async def change(visit: Visit, changes: dict[str, Any], expect: errors.Expect = errors.ANY) -> int:
    """The version from then on."""
    async with visit.write() as db:
        link = await link_of(visit, db)
        changed = await nouns.update(LINK, db, **visit.acting, key=link.link_id, changes=changes, expect=expect)
    return changed.version


async def link_of(visit: Visit, db: Database) -> PublicLink:
    """Raises NotFound, also for a link of another questionnaire."""
    link = await nouns.get(LINK, db, caller=visit.caller, key=visit.id("link_id"))
    if link.questionnaire_id != visit.id("questionnaire_id"):
        raise errors.NotFound("There is no such public link.")
    return link


def _path(questionnaire: Questionnaire) -> str:
    return f"{QUESTIONNAIRES}/{questionnaire.questionnaire_id}/links"


BOX: Final = f"{ONE}/box"
SCRIPT: Final = "/static/public/box.js"
BOX_INPUTS: Final = (Input("is_shown", "switch", "Websites may show this link in a box"), *inputs_of(Box))
KIOSK: Final = f"{ONE}/kiosk"
KIOSK_INPUTS: Final = (
    Input("is_on", "switch", "This link may run in kiosk mode"),
    *inputs_of(Kiosk),
    *inputs_of(LINK, names=("kiosk_pin",)),
)


@routes.post(BOX, scope="Public Link.Update", again=(errors.Invalid, errors.Stale))
async def save_box(visit: Visit) -> Response:
    document = document_of(visit.form, BOX_INPUTS)
    is_shown = document.pop("is_shown")
    box = read_as(Box, document, visit) if is_shown else None
    await change(visit, {"box": box}, same_version(visit))
    return html.redirect(f"{visit.request.url.path}?done=saved")


@routes.get(BOX, scope="Public Link.Read")
async def _box(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    link = await link_of(visit, db)
    application = await pages.application_of(db, link=link)
    permission = previews.Permission(
        link.organization_id, link.questionnaire_id, responder_id=None, ends=int(visit.now.timestamp()) + 3_600
    )
    stored = {**msgspec.structs.asdict(box_of(link) or Box()), "is_shown": link.box is not None}
    script, url = f"{visit.public_pages.public_url}{SCRIPT}", visit.public_pages.link_url(link.key)
    return visit.page(
        "box.html",
        title=visit.words("On your website"),
        back=(link.title, visit.request.url.path.removesuffix("/box")),
        path=visit.request.url.path,
        is_shown=link.box is not None,
        snippet=f'<script async src="{script}" data-link="{url}"></script>',
        sites=origins_of(application.website_urls),
        application_url=f"{APPLICATIONS}/{application.application_id}" if visit.may_open(APPLICATIONS) else "",
        preview_url=f"{previews.address_of(permission, site=visit.site)}?box=1",
        **filled(visit, BOX_INPUTS, SimpleNamespace(**stored), version=link.version, refusal=refusal),
    )


@routes.post(KIOSK, scope="Public Link.Update", again=(errors.Invalid, errors.Stale))
async def save_kiosk(visit: Visit) -> Response:
    changes: dict[str, Any] = {"kiosk_pin": None}
    if visit.form.text("remove") != "pin":
        document = document_of(visit.form, KIOSK_INPUTS)
        is_on, pin = document.pop("is_on"), document.pop("kiosk_pin")
        changes = {"kiosk": read_as(Kiosk, document, visit) if is_on else None}
        changes |= read_as(structs.update_of(LINK), {"kiosk_pin": pin}, visit).named() if pin else {}
    await change(visit, changes, same_version(visit))
    return html.redirect(f"{visit.request.url.path}?done=saved")


@routes.get(KIOSK, scope="Public Link.Read")
async def _kiosk(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    link = await visit.reading(link_of)
    stored = {**msgspec.structs.asdict(kiosk_of(link) or Kiosk()), "is_on": link.kiosk is not None}
    url = f"{visit.public_pages.link_url(link.key)}/kiosk"
    return visit.page(
        "kiosk.html",
        title=visit.words("On a device in your shop"),
        back=(link.title, visit.request.url.path.removesuffix("/kiosk")),
        path=visit.request.url.path,
        stored_version=link.version,
        is_on=link.kiosk is not None,
        has_pin=link.kiosk_pin_hash is not None,
        url=url,
        code=qr.code_of(url),
        **filled(visit, KIOSK_INPUTS, SimpleNamespace(**stored), version=link.version, refusal=refusal),
    )
