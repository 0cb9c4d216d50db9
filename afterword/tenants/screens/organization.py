"""Settings: the organization and its applications."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import Options, document_of, form_page, read_as, same_version
from afterword.console.nouns import inputs_of, screens_of
from afterword.console.screens import Visit
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns import structs
from afterword.kit.texts import LANGUAGES, Texts
from afterword.kit.ui.text import NOTHING
from afterword.kit.web import html
from afterword.tenants.organizations.applications import APPLICATION, Application
from afterword.tenants.organizations.service import ORGANIZATION

SETTINGS: Final = "/console/settings"
PATH: Final = f"{SETTINGS}/organization"
APPLICATIONS: Final = f"{SETTINGS}/applications"
DOMAIN: Final = f"{PATH}/domain"
IDENTITY: Final = f"{PATH}/identity"
LOGINS: Final = f"{PATH}/logins"
NO_LANGUAGE: Final = ("", NOTHING)
# The least number of people stands last.
INPUTS: Final = sorted(inputs_of(ORGANIZATION), key=lambda one: one.name == "minimum_base")


async def _choices(visit: Visit, application: Application | None) -> Options:
    stored = (application.default_locale if application else None) or ""
    return {"default_locale": [NO_LANGUAGE, *_languages(visit.words, stored)]}


routes = screens_of(APPLICATION, options=_choices)


@routes.post(PATH, scope="Organization.Update", again=(errors.Invalid, errors.Stale))
async def save_organization(visit: Visit) -> Response:
    request = read_as(structs.update_of(ORGANIZATION), document_of(visit.form, INPUTS), visit)
    async with visit.write() as db:
        key, expect = visit.caller.organization_id, same_version(visit)
        await nouns.update(ORGANIZATION, db, key=key, changes=request.named(), expect=expect, **visit.acting)
    return html.redirect(f"{PATH}?done=saved")


@routes.get(PATH, scope="Organization.Update")
async def _organization(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    async with visit.read() as db:
        organization = await nouns.get(ORGANIZATION, db, caller=visit.caller, key=visit.caller.organization_id)
    return form_page(
        visit,
        title=words("Organization"),
        back=(words("Settings"), SETTINGS),
        inputs=INPUTS,
        stored=organization,
        version=organization.version,
        refusal=refusal,
        options={name: _languages(words, *organization.locales) for name in ("default_locale", "locales")},
        links=[
            (words("Host of your public pages"), DOMAIN),
            *(
                [(words("How people log in"), LOGINS), (words("Log-in through your own provider"), IDENTITY)]
                if visit.may_open(IDENTITY)
                else []
            ),
        ],
        thing=("organization", organization.organization_id),
        tab="organization",
    )


def _languages(words: Texts, *stored: str) -> list[tuple[str, str]]:
    """Those of our pages, and what is stored beside them."""
    return [(one, words.language_name(one)) for one in dict.fromkeys((*LANGUAGES, *filter(None, stored)))]
