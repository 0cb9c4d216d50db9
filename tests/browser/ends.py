"""Pages that few people see: endings of each kind, and the pages of public links around the questions."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from afterword.asking.coupons import POOL, add
from afterword.asking.instances import answers
from afterword.asking.links import public_links
from afterword.asking.links.public_links import PublicLink
from afterword.asking.questionnaires import service as questionnaires, store as questionnaires_store
from afterword.core.answers.values import Given
from afterword.core.organizations.access import installation
from afterword.kit import db
from afterword.kit.nouns import service
from tests.browser.conftest import Shop

ENDS: Final = Path(__file__).with_name("ends.yaml").read_text(encoding="utf-8")
ANONYMOUS: Final = f"anonymous: true\n{ENDS.partition('endings:')[0]}".replace("editable: true", "editable: false")
LINK: Final[dict[str, Any]] = {
    "title": "Counter", "metadata": {}, "parameters": [], "takes_reference": False, "active": True,
    "opens_time": None, "closes_time": None, "one_response_per": None, "locale": None, "kiosk": None,
}  # fmt: skip
KIOSK: Final[dict[str, Any]] = {
    "kiosk": {"idle_seconds": 30, "thanks_seconds": 5, "layout": "one_page"},
    "kiosk_pin": "4711",
}
PIN: Final = KIOSK["kiosk_pin"]
CODE: Final = "SUMMER-2026-KALAMATA"
SCORES: Final = {"full quota": 0, "call-back form": 3, "coupon": 9, "button and review": 10}


async def addresses_of(shop: Shop, *, locale: str = "en") -> dict[str, str]:
    """The address of each such page, by its name."""
    ends, anonymous = await questionnaire_of(shop, "ends", ENDS), await questionnaire_of(shop, "anonymous", ANONYMOUS)
    async with db.transaction(shop.pool) as database:
        now, caller = database.clock.now(), installation(shop.organization_id)
        columns = {"key": "thanks", "title": "Ten percent", "low_count": 0}
        made = await service.create(POOL, database, caller=caller, columns=columns, site=shop.site, now=now)
        await add(database, caller=caller, pool_id=made.record.pool_id, codes=[CODE], now=now)
    await ended(ends, SCORES["full quota"], locale)  # takes the only place
    kiosk, asking = await link_of(ends, **KIOSK), await link_of(ends, one_response_per="address")
    return {
        **{name: await ended(ends, score, locale) for name, score in SCORES.items()},
        "anonymous": f"{shop.url}/p/{anonymous.questionnaire_id}?locale={locale}",
        "address confirmation": f"{shop.url}/l/{asking.key}?lang={locale}",
        "leaving a kiosk": f"{shop.url}/l/{kiosk.key}/kiosk/leave",
    }


async def link_of(shop: Shop, **columns: Any) -> PublicLink:
    async with db.transaction(shop.pool) as database:
        return await public_links.create(
            database,
            caller=installation(shop.organization_id),
            questionnaire_id=shop.questionnaire_id,
            columns=LINK | columns,
            site=shop.site,
            now=database.clock.now(),
        )


async def questionnaire_of(shop: Shop, slug: str, text: str) -> Shop:
    """The same shop with another questionnaire."""
    async with db.transaction(shop.pool) as database:
        application_id = await database.fetch_value(
            "select owner_application_id from questionnaire where questionnaire_id = $1", shop.questionnaire_id
        )
        imported = await questionnaires.import_file(
            database,
            organization_id=shop.organization_id,
            application_id=application_id,
            text=text,
            slug=slug,
            now=database.clock.now(),
        )
        found = imported.questionnaire
        assert found.published_version_id is not None
        version = await questionnaires_store.get_version(
            database, organization_id=shop.organization_id, version_id=found.published_version_id
        )
    return replace(shop, questionnaire_id=found.questionnaire_id, definition=version.definition)


async def ended(shop: Shop, score: int, locale: str) -> str:
    instance = await shop.issue(locale=locale)
    async with db.transaction(shop.pool) as database:
        context = await answers.lock_context(database, instance_id=instance.instance_id)
        await answers.save_answers(
            database,
            context=context,
            answers={shop.question_id("score"): Given(score)},
            complete=True,
            now=database.clock.now(),
        )
    return f"{shop.url}/a/{instance.instance_id}"
