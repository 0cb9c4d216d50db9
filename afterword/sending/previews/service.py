"""Permissions to look at the page and the mail of a draft: sealed into their address, for an hour, stored nowhere."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from afterword import errors
from afterword.asking.instances import store
from afterword.asking.instances.answer_page import AnswerPage, head_of
from afterword.asking.questionnaires import access, editions
from afterword.asking.questionnaires.drafts import service
from afterword.asking.questionnaires.drafts import service as drafts
from afterword.asking.questionnaires.metadata import service as metadata
from afterword.core.answers import instances as core_instances
from afterword.core.answers.progress import PageSequence, draw_questions
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.visuals import Scheme, read_address
from afterword.core.reading.findings import Findings
from afterword.core.text import locales
from afterword.core.wire.site import Site
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.people.responders import store as responders_store
from afterword.sending.messages import email
from afterword.sending.messages.invitation import Authored, compile_invitation
from afterword.tenants.organizations import service as organizations
from afterword.tenants.organizations.applications import checked_brand

PREVIEW_SECONDS: Final = 3_600
CONTEXT: Final = "preview"
PATH: Final = "/preview/"
MAIL: Final = "/mail"
BrandLevel = Literal["organization", "application"]


class Ended(Exception):
    """The permission has ended."""


@dataclass(frozen=True, slots=True)
class Permission:
    """`ends`: Unix time in seconds. `responder_id`: the person as whom the draft is seen, if any.

    `brand` is shown in place of the stored one of `brand_level`.
    """

    organization_id: str
    questionnaire_id: str
    responder_id: str | None
    ends: int
    brand: Mapping[str, Any] | None = None
    brand_level: BrandLevel = "application"


async def permit(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    question_id: str | None,
    ending_id: str | None,
    responder_id: str | None,
    brand: Mapping[str, Any] | None,
    brand_level: BrandLevel,
    now: datetime,
) -> Permission:
    """Raises NoDraft, Invalid for an unknown id or a wrong brand, Forbidden for a responder."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    draft = await drafts.get(db, **questionnaire.key)
    definition = core_definition.read(draft.definition, Findings())
    if question_id and definition.question(question_id) is None:
        raise errors.Invalid.at("/question_id", "unknown_id", "There is no such question.")
    if ending_id and ending_id not in {one.ending_id for one in definition.endings}:
        raise errors.Invalid.at("/ending_id", "unknown_id", "There is no such ending.")
    if responder_id is not None:
        caller.require("Responder.Read")
        key = {"organization_id": caller.organization_id, "responder_id": responder_id}
        if await responders_store.get_responder(db, **key) is None:
            raise errors.Invalid.at("/responder_id", "unknown_id", "There is no such responder.")
    if brand is not None:
        brand = await checked_brand(db, organization_id=caller.organization_id, brand=brand)
        if read_address(brand.get("logo", "")) is None and "logo" in brand:
            message = "A preview shows a logo by the path of its picture."  # its address would be too long
            raise errors.Invalid.at("/brand/logo", "invalid_format", message)
    ends = int(now.timestamp()) + PREVIEW_SECONDS
    return Permission(
        organization_id=questionnaire.organization_id,
        questionnaire_id=questionnaire_id,
        responder_id=responder_id,
        ends=ends,
        brand=brand,
        brand_level=brand_level,
    )


def address_of(permission: Permission, *, site: Site) -> str:
    sealed = sealing.seal(msgspec.json.encode(asdict(permission)).decode(), secret=site.secret, context=CONTEXT)
    return site.public_url + PATH + base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def read(text: str, *, secret: bytes, now: datetime) -> Permission:
    """The permission in an address. Raises NotFound, Ended."""
    try:
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        permission = msgspec.json.decode(sealing.unseal(sealed, secret=secret, context=CONTEXT), type=Permission)
    except (binascii.Error, ValueError, sealing.Unreadable) as error:
        raise errors.NotFound("There is no such page.") from error
    if permission.ends <= now.timestamp():
        raise Ended
    return permission


async def page_of(
    db: Database, *, permission: Permission, locale: str | None, has_jumps: bool, scheme: Scheme | None = None
) -> AnswerPage:
    """The answer page of the draft as it stands now, without answers; nobody draws lots. Raises NotFound.

    Without a draft it is that of the published version, from which one would begin. `scheme` None: as the device says.
    """
    questionnaire = await store.get_public_questionnaire(db, questionnaire_id=permission.questionnaire_id)
    if questionnaire is None or questionnaire.organization_id != permission.organization_id:
        raise errors.NotFound("There is no such page.")
    if permission.brand is not None:
        shown = dict(permission.brand)
        questionnaire = (
            replace(questionnaire, organization_brand=shown)
            if permission.brand_level == "organization"
            else replace(questionnaire, application_brand=shown)
        )
    document = await service.begun(db, questionnaire=questionnaire)
    definition = editions.sound(core_definition.read(document, Findings()))
    if not has_jumps:
        definition = _without_jumps(definition)
    responder = permission.responder_id and await responders_store.get_responder(
        db, organization_id=permission.organization_id, responder_id=permission.responder_id
    )
    declared = await metadata.declared(
        db, organization_id=permission.organization_id, application_id=questionnaire.owner_application_id
    )
    facts = core_instances.facts_of({}, responder.metadata if responder else {}, declared)
    wanted = locale or (responder.locale if responder else None) or definition.default_locale
    head = head_of(questionnaire, definition, locales.match(wanted, definition.locales, definition.default_locale))
    head = replace(head, theme=replace(head.theme, scheme=scheme))
    asked = frozenset(draw_questions(definition, draw=lambda: 0.0))
    layout = "one_page" if definition.anonymous else head.theme.layout
    sequence = PageSequence(definition, asked, {}, facts, layout)
    return AnswerPage(head, sequence, permission.questionnaire_id)


async def mail_of(
    db: Database, *, permission: Permission, locale: str | None, scheme: Scheme | None, site: Site
) -> str:
    """The invitation mail with our own words, as HTML; its links lead to the preview of the page. Raises NotFound."""
    page = await page_of(db, permission=permission, locale=locale, has_jumps=True, scheme=scheme)
    organization = await organizations.get_organization(db, organization_id=permission.organization_id)
    head, definition = page.head, page.sequence.definition
    question_ids = [
        each.question_id for each in definition.questions() if each.question_id in page.sequence.question_ids
    ]
    address = organization.postal_address if organization else None
    invitation = compile_invitation(
        Authored(),
        question=email.first_question(definition, question_ids),
        minutes=length(definition, drawn=question_ids).minutes,
        locale=head.locale,
        with_address=bool(address),
        theme=head.theme,
        public_url=site.pages(permission.organization_id).public_url,
    )
    url = address_of(permission, site=site)
    values = {"organization": head.brand, "link": url, "unsubscribe_link": url, "postal_address": address or ""}
    return invitation.fill_html(values)


def _without_jumps(definition: Definition) -> Definition:
    groups = [
        replace(group, questions=tuple(replace(question, show_if=None, jumps=()) for question in group.questions))
        for group in definition.groups
    ]
    return replace(definition, groups=tuple(groups))
