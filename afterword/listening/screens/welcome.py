"""The set-up after the first log-in: the organization, a questionnaire of the library, a test message to oneself."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, files, library, store as questionnaires_store
from afterword.asking.questionnaires.store import Questionnaire
from afterword.asking.screens.questionnaires import PATH as QUESTIONNAIRES
from afterword.cases import rules
from afterword.cases.screens import alert_rules
from afterword.console import response_list
from afterword.console.response_list import ResponseFilter
from afterword.console.screens import HEADERS, HOME, Marked, Screens, Visit
from afterword.core.questionnaires import visuals
from afterword.core.text import locales
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import first_weekday
from afterword.kit.ui.lists import address
from afterword.kit.ui.text import ZONE_OPTIONS
from afterword.kit.web import html, static
from afterword.listening.reports import overview
from afterword.listening.responses import themes
from afterword.sending import previews
from afterword.sending.pipelines import starters, store as pipelines_store
from afterword.sending.screens import pipelines, providers
from afterword.sending.screens.pipeline_parts import UNSENT, tested
from afterword.tenants.organizations import assets, checks, service as organizations
from afterword.tenants.organizations.assets import MEDIA_TYPES
from afterword.tenants.organizations.service import ORGANIZATION, Organization
from afterword.tenants.screens import pictures
from afterword.tenants.screens.members import applications_of

WELCOME: Final = "/console/welcome"
PATH: Final = f"{WELCOME}/organization"
QUESTIONNAIRE: Final = f"{WELCOME}/questionnaire"
CLOSING: Final = f"{WELCOME}/closing"
# A proposal by the languages of a browser without scripts. With scripts the browser says its zone.
ZONE_OF: Final = {
    "el": "Europe/Athens", "de": "Europe/Berlin", "fr": "Europe/Paris", "it": "Europe/Rome", "es": "Europe/Madrid",
    "nl": "Europe/Amsterdam", "pl": "Europe/Warsaw", "ro": "Europe/Bucharest", "bg": "Europe/Sofia",
    "cs": "Europe/Prague", "sv": "Europe/Stockholm", "tr": "Europe/Istanbul", "uk": "Europe/Kyiv",
    "he": "Asia/Jerusalem",
}  # fmt: skip
LANGUAGES: Final = {"en": "English", "el": "Ελληνικά", "de": "Deutsch", "ar": "العربية"}  # of the customers' pages
COLOR: Final = "#005d69"  # that of a page without a visual
# Title and a note why, by the name in the library.
STARTERS: Final[Mapping[str, tuple[Marked, Marked]]] = {
    "after_delivery": (
        "After a delivery",
        "How satisfied customers are with one order (CSAT). Find out what went wrong while you can still fix it.",
    ),
    "support_case": (
        "After a support case",
        "How easy it was to get help (CES). Effort is the best predictor of who stays after a problem.",
    ),
    "relationship": (
        "Would you recommend us?",
        (
            "How likely customers are to recommend you (NPS), asked now and then. It shows where you stand over the "
            "months."
        ),
    ),
    "store_visit": (
        "After a visit to your store",
        "The visit as a whole (CSAT), then advice, prices and waiting side by side.",
    ),
    "restaurant_visit": (
        "After a visit to your restaurant",
        "The visit as a whole (CSAT), then food, service and waiting side by side.",
    ),
    "appointment": (
        "After an appointment",
        "How satisfied people are with an appointment or a service visit (CSAT), and how long they waited.",
    ),
}
STEPS: Final[tuple[Marked, ...]] = ("You", "Organization", "Questionnaire", "Test message")
FRAMED: Final = (
    HEADERS["Content-Security-Policy"]
    .replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    .replace("form-action 'self'", "form-action 'none'")
)

routes = Screens()


@routes.get(WELCOME, scope="Organization.Update")
async def welcome(visit: Visit, db: Database) -> Response:
    """Go on where the set-up was left."""
    if await _questionnaires(visit, db):
        return html.redirect(HOME)
    organization = await _organization(visit, db)
    return html.redirect(QUESTIONNAIRE if organization.version > 1 else PATH)


@routes.get(PATH, scope="Organization.Update")
async def organization_page(visit: Visit) -> Response:
    found = await visit.reading(_organization)
    has_no_zone = found.version == 1 and found.time_zone == "UTC"
    accepted = locales.accepted(visit.request.headers.get("accept-language", ""), tuple(ZONE_OF), "")
    given = {
        "display_name": found.display_name,
        "time_zone": ZONE_OF.get(accepted, found.time_zone) if has_no_zone else found.time_zone,
        "postal_address": found.postal_address or "",
        "locales": found.locales or list(_languages(found.default_locale)),
        "default_locale": found.default_locale,
    }
    return _organization_form(visit, given, logo=found.brand.get("logo"), has_no_zone=has_no_zone)


@routes.post(PATH, scope="Organization.Update")
async def save_organization(visit: Visit) -> Response:
    form = visit.form
    given: dict[str, Any] = {
        name: form.text(name) for name in ("display_name", "time_zone", "postal_address", "default_locale")
    }
    given["locales"] = [each for each in _languages(given["default_locale"]) if each in form.all("locales")]
    changes = {**given, "postal_address": given["postal_address"] or None}
    try:
        logo = await pictures.encoded(form, "logo")
        reason = visit.words("Choose at least one language.")
        wrong = [] if given["locales"] else [errors.FieldError("required", reason, pointer="/locales")]
        wrong += checks.length_errors("display_name", given["display_name"], organizations.NAME_CHARACTERS_MAX)
        errors.check(wrong + checks.zone_errors(given["time_zone"]))
        async with visit.write() as db:
            found = await _organization(visit, db)
            brand = found.brand
            if found.version == 1:
                changes["first_weekday"] = first_weekday(given["time_zone"])
            if form.text("no_logo"):
                changes["brand"] = {**brand, "logo": None}
            if logo is not None:
                asset = await assets.keep(db, caller=visit.caller, picture=logo, title=None, now=visit.now)
                changes["brand"] = {**brand, "logo": asset.path}
            await _change(visit, db, changes)
    except errors.Invalid as invalid:
        async with visit.read() as db:
            shown = (await _organization(visit, db)).brand.get("logo")
        return _organization_form(visit, given, invalid, logo=shown)
    return html.redirect(QUESTIONNAIRE)


@routes.get(QUESTIONNAIRE, scope="Questionnaire.Create")
async def questionnaire_page(visit: Visit, db: Database) -> Response:
    own = (await _organization(visit, db)).brand.get("color_primary")
    return _questionnaire_form(visit, _name(visit.query.get("name")), visit.query.get("color") or own or COLOR)


@routes.post(QUESTIONNAIRE, scope="Questionnaire.Create")
async def take_questionnaire(visit: Visit) -> Response:
    name, color = _name(visit.form.text("name")), visit.form.text("color") or COLOR
    display_name = visit.words(STARTERS[name][0])
    try:
        async with visit.write() as db:
            first = (await applications_of(visit, db))[0]
            organization = await _organization(visit, db)
            started = await starters.start(
                db,
                organization_id=organization.organization_id,
                locales=organization.locales,
                display_name=display_name,
                pipeline_title=visit.words("E-mail: {title}").replace("{title}", display_name),
                application_id=first.application_id,
                name=name,
                caller=visit.caller,
                now=visit.now,
            )
            if {"Alert.Create", "Alert.Update"} <= visit.caller.scopes:
                questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=started.questionnaire_id)
                title = visit.words(alert_rules.UNHAPPY_TITLE)
                await rules.for_unhappy(db, **visit.acting, questionnaire=questionnaire, title=title)
            if themes.THEME.scope_of("create") in visit.caller.scopes:
                await themes.add_ready(db, caller=visit.caller, language=visit.words.language, now=visit.now)
            if color != organization.brand.get("color_primary", COLOR):
                await _change(visit, db, {"brand": {**organization.brand, "color_primary": color}})
    except (errors.Invalid, errors.Conflict) as refusal:
        return _questionnaire_form(visit, name, COLOR, refusal)
    return html.redirect(f"{WELCOME}/{started.questionnaire_id}/message")


@routes.get(WELCOME + "/preview", scope="Questionnaire.Create")
async def preview(visit: Visit) -> Response:
    """The answer page for a frame, which sends no forms."""
    name = visit.query.get("name", "")
    organization = await visit.reading(_organization)
    response = previews.first_page(
        files.read(library.text(name if name in library.NAMES else _name(name)), give_id=lambda _, key: key),
        brand=visit.session.organization_name,
        theme=visuals.inherited(organization.brand, {"color_primary": visit.query.get("color")}),
        locale=visit.caller.default_locale,
        time_zone=visit.zone,
        now=visit.now,
    )
    response.headers.update({**HEADERS, "Content-Security-Policy": FRAMED})
    return response


@routes.post(WELCOME + "/{questionnaire_id}/message", scope="Pipeline.Update", again=UNSENT)
async def send_message(visit: Visit) -> Response:
    path, form = {**visit.ids, "pipeline_id": await visit.reading(_pipeline)}, visit.form
    return await _message_form(visit, sent=await tested(visit, form.text("email"), form.text("locale"), **path))


@routes.post(CLOSING, scope="Organization.Update")
async def close_first_steps(visit: Visit) -> Response:
    await visit.change(overview.update_first_steps, organization_id=visit.caller.organization_id, now=visit.now)
    return html.redirect(HOME)


class Step(msgspec.Struct, frozen=True):
    """A line of the first steps; `url`: where it is done."""

    text: str
    url: str
    is_done: bool
    is_next: bool = False


async def first_steps(visit: Visit, db: Database) -> Sequence[Step]:
    """The list of an organization that no customer has answered yet; empty once all is done, or it was closed."""
    if not visit.may_open(WELCOME) or await response_list.newest(visit, db, ResponseFilter(), limit=1):
        return []
    done = await overview.get_first_steps(db, organization_id=visit.caller.organization_id)
    if done.is_closed:
        return []
    [questionnaire_id] = await _questionnaires(visit, db)
    words = visit.words
    questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=questionnaire_id)
    has_starter = await starters.pipeline_of(db, **questionnaire.key)
    test = Step(
        words("Send yourself a test message and answer it"), f"{WELCOME}/{questionnaire_id}/message", done.has_tested
    )
    way_out, url = await _way_out(visit, db, questionnaire)
    mail_url = providers.PROVIDERS if visit.session.mail_fails else f"{providers.PROVIDERS}/new"
    steps = [
        *([test] if has_starter or done.has_tested else []),
        Step(words("Connect your mail server"), mail_url, not (visit.keeps_mail or visit.session.mail_fails)),
        Step(way_out, url, done.has_sent),
        Step(words("Hear about unhappy customers: create an alert"), alert_rules.NEW_PATH, done.has_alert),
        Step(words("Invite colleagues"), "/console/settings/people", done.has_colleagues),
    ]
    first = next((one for one in steps if not one.is_done), None)
    return [replace(one, is_next=one is first) for one in steps] if first else []


async def _way_out(visit: Visit, db: Database, questionnaire: Questionnaire) -> tuple[str, str]:
    words = visit.words
    if questionnaire.published_version_id is None:
        text = words("Finish “{title}” and publish it", title=questionnaire.display_name)
        return text, f"{QUESTIONNAIRES}/{questionnaire.questionnaire_id}"
    found = await pipelines_store.list_pipelines(db, **questionnaire.key, page=Page.first(pipelines.LISTED, limit=1))
    if not found.items:
        new = address(pipelines.NEW, questionnaire=questionnaire.questionnaire_id)
        return words("Choose who gets it: create a pipeline"), new
    first = found.items[0]
    if first.paused:
        return words("Switch the pipeline “{title}” on", title=first.title), pipelines.url_of(first)
    return words("Send it to a list of people"), pipelines.list_url_of(first)


async def _questionnaires(visit: Visit, db: Database) -> Collection[str]:
    """The newest one, if there is one."""
    return await questionnaires_store.list_owners(db, **visit.caller.part, questionnaire_ids=None, limit=1)


async def _organization(visit: Visit, db: Database) -> Organization:
    return await nouns.get(ORGANIZATION, db, caller=visit.caller, key=visit.caller.organization_id)


async def _change(visit: Visit, db: Database, changes: dict[str, Any]) -> None:
    key = visit.caller.organization_id
    await nouns.update(ORGANIZATION, db, key=key, changes=changes, **visit.acting)


async def _pipeline(visit: Visit, db: Database) -> str:
    questionnaire = await access.get(db, caller=visit.caller, **visit.ids)
    return errors.found(await starters.pipeline_of(db, **questionnaire.key), "This questionnaire has no such pipeline.")


def _name(text: str | None) -> str:
    return text if text in STARTERS else next(iter(STARTERS))


def _languages(default: str) -> Mapping[str, str]:
    """Those of the questionnaires here, and the one that was chosen before."""
    return {**LANGUAGES, default: LANGUAGES.get(default, default)}


def _organization_form(
    visit: Visit,
    given: dict[str, Any],
    refusal: errors.Refusal | None = None,
    *,
    logo: str | None,
    has_no_zone: bool = False,
) -> Response:
    languages = _languages(given["default_locale"])
    return _page(
        visit,
        "welcome_organization.html",
        title=visit.words("Your organization"),
        step=2,
        refusal=refusal,
        form=given,
        zones=ZONE_OPTIONS,
        has_no_zone=has_no_zone,
        script=static.url("console/zone.js"),
        languages=list(languages.items()),
        logo=logo,
        logo_megabytes=assets.UPLOAD_BYTES_MAX >> 20,
        logo_types=",".join(MEDIA_TYPES),
        address_characters_max=organizations.POSTAL_ADDRESS_CHARACTERS_MAX,
    )


def _questionnaire_form(visit: Visit, name: str, color: str, refusal: errors.Refusal | None = None) -> Response:
    return _page(
        visit,
        "welcome_questionnaire.html",
        title=visit.words("Your first questionnaire"),
        step=3,
        refusal=refusal,
        starters=STARTERS,
        chosen=name,
        color=color,
        shown=STARTERS[name][0],
    )


@routes.get(WELCOME + "/{questionnaire_id}/message", scope="Pipeline.Update")
async def _message_form(
    visit: Visit, refusal: errors.Refusal | None = None, *, sent: dict[str, Any] | None = None
) -> Response:
    async with visit.read() as db:
        await _pipeline(visit, db)
        questionnaire = await access.get(db, caller=visit.caller, **visit.ids)
    return _page(
        visit,
        "welcome_message.html",
        title=visit.words("A test message to yourself"),
        step=4,
        refusal=refusal,
        questionnaire=questionnaire,
        languages=[(one, LANGUAGES.get(one, one)) for one in questionnaire.locales],
        form={
            "email": visit.form.text("email") or visit.session.email,
            "locale": visit.form.text("locale") or visit.caller.default_locale,
        },
        sent=sent,
    )


def _page(
    visit: Visit, template: str, /, *, title: str, step: int, refusal: errors.Refusal | None, **values: Any
) -> Response:
    steps = [(number, visit.words(text)) for number, text in enumerate(STEPS, 1)]
    return visit.page(template, title=title, step=step, steps=steps, refusal=refusal, **values)
