"""Requests of existing v3.2 clients, byte for byte, and the organization that receives them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote_plus

from afterword.asking.questionnaires import service as questionnaires
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.sending.pipelines import service as pipelines
from afterword.tenants.organizations import service as accounts
from tests.conftest import EMAIL, House, build_house
from tests.making import make_token

FORM: Final = "application/x-www-form-urlencoded"
JSON: Final = "application/json"
YEAR: Final = datetime.now(UTC).year + 1

QUESTIONNAIRE: Final = """\
display_name: Order
title: Για την παραγγελία σας
default_locale: el
locales: [el, en]
translations:
  en:
    title: Your order
groups:
  - key: order
    display_name: Order
    questions:
      - key: score
        type: nps
        title: Θα μας συνιστούσατε;
        translations:
          en:
            title: Would you recommend us?
"""


def form(data: Mapping[str, object]) -> bytes:
    """As PHP's `http_build_query`: nested brackets and all else percent-encoded, no nulls, booleans as 0 and 1."""
    pairs = [pair for name, value in data.items() for pair in _pairs(name, value)]
    return "&".join(f"{quote_plus(name, safe='')}={quote_plus(text, safe='')}" for name, text in pairs).encode()


def php_json(data: object) -> bytes:
    """As PHP's `json_encode`: slashes escaped, all beyond ASCII too, an empty map is a list."""
    text = json.dumps(data, separators=(",", ":")).replace("/", "\\/")
    return text.replace("{}", "[]").encode()


def model(document: Mapping[str, Any], **changed: object) -> dict[str, object]:
    """A loaded entity as clients send it back: whatever is not null, and what they changed."""
    return {name: value for name, value in {**document, **changed}.items() if value is not None}


def _pairs(name: str, value: object) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [pair for key, each in value.items() for pair in _pairs(f"{name}[{key}]", each)]
    if isinstance(value, list):
        return [pair for index, each in enumerate(value) for pair in _pairs(f"{name}[{index}]", each)]
    if value is None:
        return []
    return [(name, str(int(value)) if isinstance(value, bool) else str(value))]


@dataclass(frozen=True)
class Shop:
    """The organization `demo` in Athens with one questionnaire, Greek and English, and a pipeline without delay."""

    house: House
    application_id: str
    questionnaire_id: str
    pipeline_id: str

    @property
    def headers(self) -> dict[str, str]:
        """Headers that the SDK and shop plugins send with each request."""
        return {"esat-domain": self.house.domain, "esat-auth": self.house.token}

    @property
    def questionnaire(self) -> str:
        return f"/v3.2/q/questionnaire/{self.questionnaire_id}"

    @property
    def pipeline(self) -> str:
        return f"{self.questionnaire}/pipeline/{self.pipeline_id}"

    @property
    def items(self) -> str:
        return f"{self.pipeline}/queue/item"


async def build_shop(pool: db.Pool) -> Shop:
    house = await build_house(pool, domain="demo")
    async with db.transaction(pool) as database:
        now, organization_id = database.clock.now(), house.organization_id
        application = await accounts.create_application(
            database, organization_id=organization_id, display_name="Web shop", now=now
        )
        imported = await questionnaires.import_file(
            database,
            organization_id=organization_id,
            application_id=application.application_id,
            text=QUESTIONNAIRE,
            slug="order",
            now=now,
        )
        questionnaire_id = imported.questionnaire.questionnaire_id
        pipeline = await pipelines.create_pipeline(
            database,
            organization_id=organization_id,
            now=now,
            questionnaire_id=questionnaire_id,
            channel_id=EMAIL,
            title="Invitation",
            sender_name="Demo",
            message_subject="Your order",
            message_body="How did it go?",
        )
    return Shop(house, application.application_id, questionnaire_id, pipeline.pipeline_id)


async def token_without(pool: db.Pool, shop: Shop, scope: str) -> str:
    """A token with all scopes but one."""
    return await make_token(pool, shop.house.organization_id, scopes=SCOPES - {scope})
