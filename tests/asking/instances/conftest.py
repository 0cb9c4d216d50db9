"""A small world for instances: one organization, two questionnaires, a caller who may do everything."""

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from afterword import ids
from afterword.asking.instances import issuing, service
from afterword.asking.instances.answers import Saved, lock_context, save_answers
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES, Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition
from afterword.core.wire.site import Site
from afterword.events.service import Event
from afterword.kit import db
from afterword.run.app import create_app
from afterword.tenants.organizations import service as accounts
from tests.event_log import list_events
from tests.making import make_application, make_token

NOW = datetime(2026, 11, 21, 16, 23, 45, tzinfo=UTC)
SECRET = b"k" * 32
PUBLIC_URL = "https://answers.example"

DOCUMENT: dict[str, Any] = {
    "default_locale": "el",
    "locales": ["el", "en", "pt-br"],
    "groups": [
        {
            "group_id": "G000000000000000000001",
            "title": "Ομάδα",
            "questions": [
                {
                    "question_id": "QNPS000000000000000001",
                    "type": "nps",
                    "title": "Πόσο;",
                    "display_name": "NPS",
                    "required": True,
                    "translations": {"en": {"title": "How likely?"}},
                    "jumps": [
                        {
                            "target_question_id": None,
                            "conditions": {
                                "subject": "question:QNPS000000000000000001",
                                "operator": "equal",
                                "value": 10,
                            },
                        }
                    ],
                },
            ],
        },
        {
            "group_id": "G000000000000000000002",
            "questions": [
                {
                    "question_id": "QSINGLE000000000000001",
                    "type": "single_choice",
                    "title": "Γιατί;",
                    "required": True,
                    "choices": [
                        {"value": 1, "label": "Τιμή"},
                        {"value": 2, "label": "Άλλο", "other": True},
                    ],
                    "translations": {"en": {"title": "Why?", "choices": {"1": "Price", "2": "Other"}}},
                },
                {
                    "question_id": "QMULTI0000000000000001",
                    "type": "multiple_choice",
                    "title": "Ποια;",
                    "choices": [{"value": 1, "label": "Πρώτο"}, {"value": 2, "label": "Δεύτερο"}],
                },
                {"question_id": "QSTATEMENT000000000001", "type": "statement", "title": "Ευχαριστούμε"},
                {"question_id": "QTEXT00000000000000001", "type": "text", "title": "Σχόλιο", "length_max": 20},
            ],
        },
    ],
}
NPS, SINGLE, MULTI, TEXT = (
    "QNPS000000000000000001",
    "QSINGLE000000000000001",
    "QMULTI0000000000000001",
    "QTEXT00000000000000001",
)


@dataclass(frozen=True)
class World:
    """Data and actions of the tests of instances."""

    pool: db.Pool
    caller: Caller
    application_id: str
    questionnaire_id: str
    version_id: str
    definition: Definition

    async def issue(
        self, request: IssueInput | None = None, *, now: datetime = NOW, caller: Caller | None = None
    ) -> Instance:
        async with db.transaction(self.pool) as database:
            instance, _ = await issuing.issue(
                database,
                caller=caller or self.caller,
                questionnaire_id=self.questionnaire_id,
                request=request or IssueInput(),
                now=now,
                secret=SECRET,
                draw=lambda: 0.0,
            )
        return instance

    async def save(
        self,
        instance: Instance,
        answers: Mapping[str, object],
        *,
        complete: bool = False,
        now: datetime = NOW,
    ) -> Saved:
        given = {
            question_id: value if value is None or isinstance(value, Given) else Given(value)  # pyrefly: ignore[bad-argument-type]
            for question_id, value in answers.items()
        }
        async with db.transaction(self.pool) as database:
            return await save_answers(
                database,
                context=await lock_context(database, instance_id=instance.instance_id),
                answers=given,
                complete=complete,
                now=now,
            )

    async def delete(self, instance: Instance, *, now: datetime = NOW) -> None:
        async with db.transaction(self.pool) as database:
            await service.delete(database, caller=self.caller, instance_id=instance.instance_id, now=now)

    async def stored(self, instance: Instance) -> Instance:
        async with db.connection(self.pool) as database:
            return await service.get(database, caller=self.caller, instance_id=instance.instance_id)

    async def set_questionnaire(self, **columns: object) -> None:
        for name, value in columns.items():
            assert name in {
                "active", "responses_max", "archived_time", "public_link", "published_version_id", "desktop_collapsed",
                "non_collapsed_questions_count",
            }  # fmt: skip
            async with db.transaction(self.pool) as database:
                await database.execute(  # a name from the list above
                    f"update questionnaire set {name} = $1 where questionnaire_id = $2",  # pyrefly: ignore[bad-argument-type]
                    value,
                    self.questionnaire_id,
                )

    async def events(self, subject_id: str) -> list[Event]:
        async with db.connection(self.pool) as database:
            return await list_events(database, organization_id=self.caller.organization_id, subject_id=subject_id)

    async def news(self, subject_id: str) -> list[str]:
        return [event.type.removeprefix("questionnaire_instance.") for event in await self.events(subject_id)]

    def stranger(self) -> Caller:
        return replace(self.caller, organization_id=ids.ordered(NOW))


async def add_questionnaire(
    database: db.Database,
    organization_id: str,
    application_id: str,
    document: Mapping[str, Any] = DOCUMENT,
    *,
    now: datetime = NOW,
    **settings: Any,
) -> tuple[str, str]:
    """The ids of a questionnaire and of its published version."""
    questionnaire = await questionnaires_store.insert_questionnaire(
        database,
        organization_id=organization_id,
        questionnaire_id=ids.ordered(now),
        application_id=application_id,
        slug=None,
        settings={
            "display_name": "After delivery",
            "title": "Πώς τα πήγαμε;",
            "valid_days": 30,
            "editable": False,
            "desktop_collapsed": False,
            "non_collapsed_questions_count": 1,
            "credits_accountable": True,
            "default_locale": document["default_locale"],
            "locales": document["locales"],
            "active": True,
            "public_link": True,
            **settings,
        },
        now=now,
        by=None,
    )
    assert questionnaire is not None
    key = {"organization_id": organization_id, "questionnaire_id": questionnaire.questionnaire_id}
    return key["questionnaire_id"], await publish(database, document, now=now, **key)


async def publish(
    database: db.Database, document: Mapping[str, Any], *, organization_id: str, questionnaire_id: str, now: datetime
) -> str:
    """The id of the next version, which is the published one from now on."""
    key = {"organization_id": organization_id, "questionnaire_id": questionnaire_id}
    version = questionnaires_store.Version(
        **key,
        version_id=ids.ordered(now),
        number=1 + await questionnaires_store.count_versions(database, **key),
        note=None,
        definition=core_definition.parse(dict(document)),
        checksum="sha256:" + "0" * 64,
        published_time=now,
        published_by=None,
    )
    await questionnaires_store.insert_version(database, version=version)
    await database.execute(
        "update questionnaire set published_version_id = $1 where questionnaire_id = $2",
        version.version_id,
        questionnaire_id,
    )
    return version.version_id


@pytest.fixture
async def world(pool: db.Pool) -> World:
    """An organization in Athens whose questionnaire speaks el, en and pt-br."""
    async with db.transaction(pool) as database:
        organization = await accounts.create_organization(
            database, domain="demo", display_name="Demo", now=NOW, time_zone="Europe/Athens", default_locale="el"
        )
        application = await accounts.create_application(
            database, organization_id=organization.organization_id, display_name="Shop", now=NOW
        )
        questionnaire_id, version_id = await add_questionnaire(
            database, organization.organization_id, application.application_id
        )
    caller = Caller(
        organization_id=organization.organization_id,
        token_id=ids.ordered(NOW),
        user_id=None,
        scopes=SCOPES,
        application_ids=(),
        domain="demo",
        time_zone="Europe/Athens",
        default_locale="el",
    )
    return World(
        pool, caller, application.application_id, questionnaire_id, version_id, core_definition.parse(DOCUMENT)
    )


@dataclass
class Shop:
    """A client of the API as one token has it."""

    world: World
    http: httpx2.AsyncClient
    token: str | None

    async def send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        headers = {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **options.pop("headers", {})}
        return await self.http.request(method, f"/v3.2{path}", headers=headers, **options)

    async def get(self, path: str, **options: Any) -> httpx2.Response:
        return await self.send("GET", path, **options)

    async def post(self, path: str, body: object = None, **options: Any) -> httpx2.Response:
        return await self.send("POST", path, json={} if body is None else body, **options)

    async def patch(self, path: str, body: object, **options: Any) -> httpx2.Response:
        return await self.send("PATCH", path, json=body, **options)

    async def delete(self, path: str, **options: Any) -> httpx2.Response:
        return await self.send("DELETE", path, **options)

    @property
    def instances(self) -> str:
        return f"/q/questionnaire/{self.world.questionnaire_id}/instance"

    async def issue(self, **body: Any) -> dict[str, Any]:
        response = await self.post(self.instances, body)
        assert 201 == response.status_code, response.text
        return response.json()

    async def with_token(
        self,
        *,
        scopes: Collection[str] = SCOPES,
        application_ids: Collection[str] = (),
        organization_id: str | None = None,
        test: bool = False,
    ) -> "Shop":
        text = await make_token(
            self.world.pool,
            organization_id or self.world.caller.organization_id,
            scopes=scopes,
            application_ids=list(application_ids),
            test=test,
        )
        return Shop(self.world, self.http, text)

    async def of_another_organization(self) -> "Shop":
        async with db.transaction(self.world.pool) as database:
            organization = await accounts.create_organization(database, domain="other", display_name="O", now=NOW)
        return await self.with_token(organization_id=organization.organization_id)

    async def of_another_application(self) -> "Shop":
        application_id = await make_application(self.world.pool, self.world.caller.organization_id, "Another")
        return await self.with_token(application_ids=[application_id])

    async def with_own_questionnaire(self) -> "Shop":
        """A token of another application, and a questionnaire there."""
        organization_id = self.world.caller.organization_id
        async with db.transaction(self.world.pool) as database:
            application = await accounts.create_application(
                database, organization_id=organization_id, display_name="Another", now=NOW
            )
            questionnaire_id, _ = await add_questionnaire(database, organization_id, application.application_id)
        confined = await self.with_token(application_ids=[application.application_id])
        return replace(confined, world=replace(self.world, questionnaire_id=questionnaire_id))


@pytest.fixture
async def shop(world: World) -> AsyncIterator[Shop]:
    app: Any = create_app(pool=world.pool, site=Site(PUBLIC_URL, SECRET))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=PUBLIC_URL) as http:
        yield await Shop(world, http, None).with_token()
