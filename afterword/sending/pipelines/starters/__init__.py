"""Takes a questionnaire of the library over into an organization, with a pipeline by e-mail and its texts."""

from collections.abc import Collection
from datetime import datetime
from importlib import resources
from typing import Any, Final

import msgspec
import yaml

from afterword import errors
from afterword.asking.questionnaires import library, service as questionnaires
from afterword.core.messaging.addresses import CHANNEL_EMAIL
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.sending.pipelines import service as pipelines, store as pipelines_store

PIPELINE_SLUG: Final = "email"
INVITATIONS: Final = "invitations.yaml"
NAMES: Final = (  # with an invitation
    "after_delivery", "support_case", "relationship", "store_visit", "restaurant_visit", "appointment",
)  # fmt: skip


class Started(msgspec.Struct, frozen=True):
    questionnaire_id: str
    pipeline_id: str


async def start(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    name: str,
    now: datetime,
    caller: Caller | None = None,
    locales: Collection[str] = (),
    display_name: str = "",
    pipeline_title: str = "",
) -> Started:
    """Import `name` of the library and give it a pipeline, if it has none yet. `caller`: None for the operator.

    `locales`: the languages that are taken over, besides that of the original; none: all. `display_name`,
    `pipeline_title`: names for the team, which are English without them.

    Once more changes nothing. Raises NotFound and Archived.
    """
    if name not in NAMES:
        raise errors.NotFound("There is no such questionnaire in the library.")
    imported = await questionnaires.import_file(
        db,
        organization_id=organization_id,
        application_id=application_id,
        text=_taken(library.text(name), locales, display_name),
        slug=name,
        now=now,
        actor=caller,
    )
    questionnaire = imported.questionnaire
    there = await pipeline_of(db, organization_id=organization_id, questionnaire_id=questionnaire.questionnaire_id)
    if there is not None:
        return Started(questionnaire.questionnaire_id, there)
    text = (resources.files("afterword.sending.pipelines.starters") / INVITATIONS).read_text(encoding="utf-8")
    first, *others = yaml.safe_load(text)[name].items()
    made = await pipelines.create_pipeline(
        db,
        organization_id=organization_id,
        questionnaire_id=questionnaire.questionnaire_id,
        slug=PIPELINE_SLUG,
        channel_id=CHANNEL_EMAIL,
        title=pipeline_title or f"{questionnaire.display_name} by e-mail",
        message_subject=first[1]["subject"],
        message_body=first[1]["body"],
        messages=dict(others),
        caller=caller,
        now=now,
    )
    return Started(questionnaire.questionnaire_id, made.pipeline_id)


async def pipeline_of(db: Database, *, organization_id: str, questionnaire_id: str) -> str | None:
    return await pipelines_store.get_pipeline_id_by_slug(
        db, organization_id=organization_id, questionnaire_id=questionnaire_id, slug=PIPELINE_SLUG
    )


def _taken(text: str, locales: Collection[str], display_name: str) -> str:
    """The file under this name, if one is given, and without the translations into other languages, if some are."""
    document = yaml.safe_load(text)
    document["display_name"] = display_name or document["display_name"]
    if locales:
        document = _in_languages(document, locales)
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False)


def _in_languages(document: Any, locales: Collection[str]) -> Any:
    kept = {document["default_locale"], *(locale.partition("-")[0] for locale in locales)}
    others = set(document["locales"]) - kept
    document["locales"] = [each for each in document["locales"] if each in kept]
    return _without(document, others)


def _without(value: Any, others: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_without(each, others) for each in value]
    if isinstance(value, dict):
        return {name: _without(each, others) for name, each in value.items() if name not in others}
    return value
