"""Settings: the brand of the organization and of each application, with its contrasts and a preview."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.store import Questionnaire
from afterword.console.inputs import placed, same_version
from afterword.console.screens import Form, Screens, Visit
from afterword.core.organizations.access import Part
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.visuals import Contrast, Theme, read_address
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, tables_of
from afterword.kit.ui.lists import address
from afterword.kit.ui.text import LIGHT, LOOKS, PHONE, SHADES
from afterword.kit.web import html
from afterword.sending import previews
from afterword.sending.previews import BrandLevel
from afterword.tenants.organizations import assets
from afterword.tenants.organizations.applications import APPLICATION
from afterword.tenants.organizations.service import ORGANIZATION
from afterword.tenants.screens import pictures
from afterword.tenants.screens.members import applications_of

BRAND: Final = "/console/settings/brand"
ONE: Final = f"{BRAND}/{{application_id}}"
KEPT: Final = "kept"  # in place of a logo that has no address
OFFERED_MAX: Final = 12  # pictures
_TEXTS: Final[Mapping[str, Mapping[str, Marked]]] = tables_of(__name__)
PAIR: Final = frozenset({"color_background", "color_text"})
LABELS: Final = {**_TEXTS["colors"], **_TEXTS["labels"]}

routes = Screens()


class Branded(msgspec.Struct, frozen=True, kw_only=True):
    """The organization or the application with its stored brand. `base`: the look that it inherits."""

    url: str
    level: BrandLevel
    name: str
    brand: Mapping[str, Any]
    base: Theme
    version: int
    application_id: str | None = None


@routes.post(ONE, scope="Application.Update")
@routes.post(BRAND, scope="Organization.Update")
async def _save(visit: Visit) -> Response:
    """Save the brand, or keep an uploaded picture and show what the form says."""
    brand: Mapping[str, Any] | None = None
    try:
        logo = await pictures.encoded(visit.form, "file")
        async with visit.write() as db:
            branded = await _branded(visit, db)
            brand = _typed(visit.form, branded)
            if logo is not None:
                visit.caller.require("Asset.Create")
                asset = await assets.keep(db, caller=visit.caller, picture=logo, title=None, now=visit.now)
                brand["logo"] = asset.path
            if visit.form.text("go") == "show":
                return html.redirect(_address(branded, brand, _seen(visit.form)))
            change: dict[str, Any] = {"changes": {"brand": brand}, "expect": same_version(visit), **visit.acting}
            if branded.application_id is None:
                await nouns.update(ORGANIZATION, db, key=visit.caller.organization_id, **change)
            else:
                await nouns.update(APPLICATION, db, key=branded.application_id, **change)
    except (errors.Invalid, errors.Stale) as refusal:
        return await _show(visit, refusal, typed=brand)
    return html.redirect(address(branded.url, _seen(visit.form), done="saved"))


async def _branded(visit: Visit, db: Database) -> Branded:
    caller = visit.caller
    organization = await nouns.get(ORGANIZATION, db, caller=caller, key=caller.organization_id)
    if "application_id" not in visit.request.path_params:
        names: dict[str, Any] = {"name": organization.display_name, "brand": organization.brand}
        return Branded(url=BRAND, level="organization", base=visuals.DEFAULT, version=organization.version, **names)
    application = await nouns.get(APPLICATION, db, caller=caller, key=visit.id("application_id"))
    return Branded(
        url=f"{BRAND}/{application.application_id}",
        level="application",
        name=application.display_name,
        brand=application.brand,
        base=visuals.inherited(organization.brand),
        version=application.version,
        application_id=application.application_id,
    )


def _look(base: Theme) -> dict[str, str]:
    """The colours that a page has which sets none, in light."""
    colors = visuals.colors_of(base, "light")
    own = base.color_primary or colors["accent"]
    return {"color_primary": own, "color_background": colors["paper"], "color_text": colors["ink"]}


def _typed(form: Form, branded: Branded) -> dict[str, Any]:
    """The brand of a form. A colour that is the inherited one is not set, for a field of colour is never empty."""
    look, inherited = _look(branded.base), form.all("inherit")
    brand: dict[str, Any] = {}
    colors = {name: form.text(name).lower() or look[name] for name in look}
    if colors["color_primary"] != look["color_primary"] and "color_primary" not in inherited:
        brand["color_primary"] = colors["color_primary"]
    if any(colors[name] != look[name] for name in PAIR) and "surface" not in inherited:
        brand |= {name: colors[name] for name in sorted(PAIR)}
    radius = form.text("corner_radius")
    brand |= {name: form.text(name) for name in ("font", "density", "logo") if form.text(name)}
    if radius:
        brand["corner_radius"] = int(radius) if radius.isascii() and radius.isdigit() else radius
    if brand.get("logo") == KEPT:
        brand["logo"] = branded.brand.get("logo")
    return brand


def _seen(form: Form) -> dict[str, str]:
    return {name: form.text(name) for name in ("questionnaire", "language", "look", "shade") if form.text(name)}


def _address(branded: Branded, brand: Mapping[str, Any], seen: Mapping[str, str], **changed: object) -> str:
    shown = {**brand, **changed}
    if shown.get("logo") and read_address(str(shown["logo"])) is None:
        shown["logo"] = KEPT
    return address(branded.url, {"typed": 1, **shown, **seen})


@routes.get(ONE, scope="Application.Update")
@routes.get(BRAND, scope="Organization.Update")
async def _show(
    visit: Visit, refusal: errors.Refusal | None = None, *, typed: Mapping[str, Any] | None = None
) -> Response:
    words, form = visit.words, visit.form
    query = Form({name: [value] for name, value in visit.query.items()})
    seen = _seen(form if form.values else query)
    async with visit.read() as db:
        branded = await _branded(visit, db)
        applications = await applications_of(visit, db)
        offered = await assets.list_asset_records(
            db, organization_id=visit.caller.organization_id, page=Page.first(pictures.PICTURES, limit=OFFERED_MAX)
        )
        own = [branded.application_id] if branded.application_id else visit.caller.application_ids
        part = Part(organization_id=visit.caller.organization_id, application_ids=own)
        questionnaires = await access.offered(db, part, also=[seen.get("questionnaire", "")])
    brand = dict(branded.brand)
    if form.values:
        brand = dict(typed) if typed is not None else _typed(form, branded)
    elif "typed" in visit.query:
        brand = _typed(query, branded)
    is_stale = isinstance(refusal, errors.Stale)
    theme, _ = visuals.read(brand, base=branded.base)
    title = words("Brand") if branded.level == "organization" else words("Brand of “{name}”", name=branded.name)
    return visit.page(
        "brand.html",
        title=title,
        branded=branded,
        version=form.text("version") if form.values and not is_stale else branded.version,
        is_changed=brand != branded.brand,
        theirs=[(words(LABELS[name]), str(branded.brand.get(name) or "–")) for name in visuals.BRAND_KEYS  # noqa: RUF001
                if is_stale and name != "logo" and branded.brand.get(name) != brand.get(name)],
        colors=_colors(visit, branded, brand, theme, seen),
        choices=_choices(visit, branded, brand),
        logos=_logos(branded, brand, [one.path for one in offered.items]),
        logo_hint=_inherited(visit, branded, "") if branded.base.logo else "",
        types=",".join(assets.MEDIA_TYPES),
        megabytes=assets.UPLOAD_BYTES_MAX >> 20,
        applications=[
            (one.display_name, f"{BRAND}/{one.application_id}", bool(one.brand)) for one in applications
        ] if branded.level == "organization" else [],
        preview=_preview(visit, branded, brand, seen, [one for one in questionnaires if not one.archived_time]),
        refusal=placed(refusal, lambda pointer: f"/{pointer.rpartition('/')[2]}") if refusal else None,
    )  # fmt: skip


def _inherited(visit: Visit, branded: Branded, text: str) -> str:
    """The name of the choice that sets nothing; `text`: the inherited value."""
    words = visit.words
    if branded.level == "application":
        return words("As the organization ({value})", value=text) if text else words("As the organization")
    return words("Default ({value})", value=text) if text else words("None")


def _colors(
    visit: Visit, branded: Branded, brand: Mapping[str, Any], theme: Theme, seen: Mapping[str, str]
) -> list[dict[str, Any]]:
    words, look = visit.words, _look(branded.base)
    found = visuals.contrasts(theme)
    return [
        {
            "name": name,
            "label": words(label),
            "hint": words(_TEXTS["hints"].get(name, "")),
            "value": brand.get(name) or look[name],
            "is_own": bool(brand.get(name)),
            "inherit": "color_primary" if name == "color_primary" else "surface" if name == "color_text" else "",
            "findings": [
                _finding(visit, branded, brand, each, seen)
                for each in found
                if (each.subject == "text") == (name == "color_text") and name != "color_background"
            ],
        }
        for name, label in _TEXTS["colors"].items()
    ]


def _finding(
    visit: Visit, branded: Branded, brand: Mapping[str, Any], one: Contrast, seen: Mapping[str, str]
) -> dict[str, Any]:
    """A contrast in words, with the colour that can be read and the address of the form with it."""
    words = visit.words
    values = {
        "subject": words(_TEXTS["subjects"][one.subject]),
        "scheme": words("in light") if one.scheme == "light" else words("in dark"),
        "ratio": words.number(one.ratio),
        "needed": words.number(visuals.CONTRAST_MIN),
        "shown": one.shown,
        "background": one.background,
        "color": one.color,
    }
    if one.is_enough:
        text = words("{subject}, {scheme}: {ratio} to 1, which can be read.", **values)
        return {"text": text, "color": one.color, "background": one.background, "url": "", "is_enough": True}
    text = words(
        "{subject}, {scheme}: {color} on {background} has {ratio} to 1, and {needed} to 1 is needed. "
        "Pages show {shown} instead.",
        **values,
    )
    name = "color_text" if one.subject == "text" else "color_primary"
    url = _address(branded, brand, seen, **{name: one.shown})
    return {"text": text, "color": one.shown, "background": one.background, "url": url, "is_enough": False}


def _choices(visit: Visit, branded: Branded, brand: Mapping[str, Any]) -> list[dict[str, Any]]:
    words, base = visit.words, branded.base
    radius = "10" if base.corner_radius is None else str(base.corner_radius)
    found: list[dict[str, Any]] = []
    for name, options, inherited in (
        ("font", "fonts", base.font),
        ("corner_radius", "corners", radius),
        ("density", "densities", base.density),
    ):
        value = "" if brand.get(name) is None else str(brand[name])
        texts = {key: words(text) for key, text in _TEXTS[options].items()}
        shown = texts.get(inherited, words("{n} pixels", n=inherited))
        extra = [] if not value or value in texts else [(value, words("{n} pixels", n=value))]
        found.append(
            {
                "name": name,
                "label": words(LABELS[name]),
                "value": value,
                "options": [("", _inherited(visit, branded, shown)), *texts.items(), *extra],
            }
        )
    return found


def _logos(branded: Branded, brand: Mapping[str, Any], paths: list[str]) -> list[dict[str, Any]]:
    chosen = brand.get("logo")
    rest = [{"value": path, "src": path, "is_chosen": False} for path in paths if path != chosen]
    if not chosen:
        return rest
    value = chosen if read_address(chosen) else KEPT
    stored = branded.brand.get("logo") if value == KEPT else chosen
    return [{"value": value, "src": stored, "is_chosen": True}, *rest]


def _preview(
    visit: Visit,
    branded: Branded,
    brand: Mapping[str, Any],
    seen: Mapping[str, str],
    questionnaires: list[Questionnaire],
) -> dict[str, Any] | None:
    """The page and the mail of a questionnaire as they would be, signed; None without a questionnaire."""
    chosen = next((one for one in questionnaires if one.questionnaire_id == seen.get("questionnaire")), None)
    if chosen is None and not questionnaires:
        return None
    chosen = chosen or questionnaires[0]
    language = seen.get("language", "")
    language = language if language in chosen.locales else chosen.default_locale
    shown = {name: value for name, value in brand.items() if name != "logo" or read_address(value) is not None}
    permission = previews.Permission(
        **chosen.key,
        responder_id=None,
        ends=int(visit.now.timestamp()) + previews.PREVIEW_SECONDS,
        brand=shown,
        brand_level=branded.level,
    )
    words = visit.words
    look, shade = seen.get("look", PHONE), seen.get("shade", LIGHT)
    shade = shade if shade in SHADES else LIGHT
    url = previews.address_of(permission, site=visit.site).removeprefix(visit.site.public_url)  # a frame of this site
    query = f"?{urlencode({'locale': language, 'scheme': shade})}"
    return {
        "url": url + query,
        "mail_url": url + previews.MAIL + query,
        "questionnaire": chosen.questionnaire_id,
        "questionnaires": [(one.questionnaire_id, one.display_name) for one in questionnaires],
        "language": language,
        "languages": [(one, words.language_name(one)) for one in chosen.locales],
        "look": look if look in LOOKS else PHONE,
        "looks": [(name, words(text)) for name, text in LOOKS.items()],
        "shade": shade,
        "shades": [(name, words(text)) for name, text in SHADES.items()],
    }
