"""A questionnaire with every kind of score, and responses written as the service would, at any time one likes."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import httpx2
import pytest

from afterword import ids
from afterword.asking.instances import issuing, service as instances, spam
from afterword.asking.instances.answers import Start, lock_context, save_answers
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.spam import Decision
from afterword.asking.instances.store import Instance
from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES, Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import Changes
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.listening.responses import rows
from afterword.run.app import create_app
from afterword.tenants.organizations import service as accounts
from tests.asking.instances.conftest import add_questionnaire, publish
from tests.conftest import settled
from tests.making import make_token, make_user

SECRET = b"k" * 32
PUBLIC_URL = "https://reports.example"
ZONE = "Europe/Athens"
MADE = datetime(2026, 1, 1, tzinfo=UTC)  # its questionnaires
NPS, CSAT, CES, CHOICE, MANY, MATRIX, NUMBER, TEXT, CONSENT, RANKING = (
    f"Q{name:0<21}"
    for name in ("NPS", "CSAT", "CES", "CHOICE", "MANY", "MATRIX", "NUMBER", "TEXT", "CONSENT", "RANKING")
)
ROW = f"{'ROWONE':0<22}"
_CHOICES = [{"value": value, "label": f"Choice {value}"} for value in (1, 2, 3)]
DOCUMENT: dict[str, Any] = {
    "default_locale": "en",
    "locales": ["en", "el"],
    "groups": [
        {
            "group_id": f"{'GONE':0<22}",
            "questions": [
                {"question_id": NPS, "type": "nps", "title": "How likely?"},
                {"question_id": CSAT, "type": "csat", "title": "How satisfied?"},
                {"question_id": CES, "type": "ces", "title": "How easy?"},
                {"question_id": CHOICE, "type": "single_choice", "title": "Which?", "choices": _CHOICES},
                {"question_id": MANY, "type": "multiple_choice", "title": "Which all?", "choices": _CHOICES},
                {
                    "question_id": MATRIX,
                    "type": "matrix",
                    "title": "Each",
                    "rows": [{"row_id": ROW, "label": "Food"}],
                    "choices": _CHOICES,
                },
                {"question_id": NUMBER, "type": "number", "title": "How many?", "decimals": 1},
                {"question_id": TEXT, "type": "text", "title": "Why?"},
                {"question_id": CONSENT, "type": "consent", "title": "May we?"},
                {"question_id": RANKING, "type": "ranking", "title": "Which first?", "choices": _CHOICES},
            ],
        }
    ],
}

_COPIES: tuple[LiteralString, ...] = (
    """insert into responder
       select (jsonb_populate_record(r, jsonb_build_object(
         'responder_id', left(responder_id, 18) || lpad(n::text, 4, '0')))).*
       from responder r join questionnaire_instance using (organization_id, responder_id), generate_series(1, $2) n
       where instance_id = $1 and $3::interval is not null""",
    """insert into questionnaire_instance
       select (jsonb_populate_record(i, jsonb_build_object(
         'instance_id', left(instance_id, 18) || lpad(n::text, 4, '0'),
         'responder_id', left(responder_id, 18) || lpad(n::text, 4, '0'),
         'short_code', left(short_code, 8) || lpad(n::text, 4, '0'),
         'created_time', created_time - n * $3::interval, 'sent_time', sent_time - n * $3::interval,
         'viewed_time', viewed_time - n * $3::interval, 'submitted_time', submitted_time - n * $3::interval,
         'completed_time', completed_time - n * $3::interval))).*
       from questionnaire_instance i, generate_series(1, $2) n where instance_id = $1""",
    """insert into answer
       select (jsonb_populate_record(a, jsonb_build_object(
         'instance_id', left(instance_id, 18) || lpad(n::text, 4, '0'),
         'answered_time', answered_time - n * $3::interval))).*
       from answer a, generate_series(1, $2) n where instance_id = $1""",
)


@dataclass
class House:
    """An organization, its questionnaire, a client of the API."""

    pool: db.Pool
    caller: Caller
    application_id: str
    questionnaire_id: str
    definition: Definition
    http: httpx2.AsyncClient
    token: str

    async def respond(
        self,
        answers: Mapping[str, object],
        *,
        now: datetime,
        metadata: Mapping[str, str] | None = None,
        person: Mapping[str, str] | None = None,
        complete: bool = True,
        questionnaire_id: str | None = None,
        responder_id: str | None = None,
        locale: str = "en",
        start: Start | None = None,
        count: int = 1,
        every: timedelta = timedelta(),
    ) -> Instance:
        """Issue an instance and answer it, as a person would; without `responder_id` a new one.

        Of a `count` the others are copies of the first one, by other people, each `every` before the last. No event
        tells of them.
        """
        async with db.transaction(self.pool) as database:
            instance, _ = await issuing.issue(
                database,
                caller=self.caller,
                questionnaire_id=questionnaire_id or self.questionnaire_id,
                request=IssueInput(
                    responder_id=responder_id,
                    locale=locale,
                    sent_time=now,
                    metadata=Changes(questionnaire=dict(metadata or {}), responder=dict(person or {})),
                ),
                now=now,
                secret=SECRET,
                draw=lambda: 0.0,
            )
        if answers:
            await self.answer(instance, answers, now=now, complete=complete, start=start)
        if count > 1:
            async with db.transaction(self.pool) as database:
                for statement in _COPIES:
                    await database.execute(statement, instance.instance_id, count - 1, every)
        return instance

    async def publish(self, question_id: str, **members: Any) -> None:
        """Publish the next version, with other members of a question."""
        changed = [
            {**group, "questions": [
                {**one, **members} if one["question_id"] == question_id else one for one in group["questions"]
            ]} for group in DOCUMENT["groups"]
        ]  # fmt: skip
        key = {"organization_id": self.caller.organization_id, "questionnaire_id": self.questionnaire_id}
        async with db.transaction(self.pool) as database:
            await publish(database, {**DOCUMENT, "groups": changed}, now=MADE, **key)

    async def answer(
        self,
        instance: Instance,
        answers: Mapping[str, object],
        *,
        now: datetime,
        complete: bool = False,
        start: Start | None = None,
    ) -> None:
        given: dict[str, Given | None] = {
            question_id: None if value is None else Given(value)  # pyrefly: ignore[bad-argument-type]
            for question_id, value in answers.items()
        }
        async with db.transaction(self.pool) as database:
            await save_answers(
                database,
                context=await lock_context(database, instance_id=instance.instance_id),
                answers=given,
                complete=complete,
                now=now,
                start=start,
            )

    async def judge(self, *there: Instance, decision: Decision, now: datetime) -> int:
        async with db.transaction(self.pool) as database:
            ids = [one.instance_id for one in there]
            return await spam.judge(database, caller=self.caller, instance_ids=ids, decision=decision, now=now)

    async def add_user(self, email: str = "reader@demo.example") -> str:
        return await make_user(self.pool, self.caller.organization_id, email)

    async def follow(self) -> None:
        """Write the rows of responses, as a worker does."""
        await settled(self.pool)
        async with db.transaction(self.pool) as database:
            while await rows.follow(database, now=database.clock.now()):
                pass

    async def write_rows(self) -> None:
        """Write the rows of all instances, also of copies, of which no event tells."""
        async with db.transaction(self.pool) as database:
            ids = await database.fetch_column("select instance_id from questionnaire_instance")
            await rows.write(database, keys=[(self.caller.organization_id, one) for one in ids])

    async def delete(self, instance: Instance, *, now: datetime) -> None:
        async with db.transaction(self.pool) as database:
            await instances.delete(database, caller=self.caller, instance_id=instance.instance_id, now=now)

    async def get(self, path: str, *, token: str | None = None, **parameters: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return await self.http.get(f"/v3.2{path}", params=parameters, headers=headers)

    async def send(self, method: str, path: str, body: object = None, **headers: str) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", **headers}
        return await self.http.request(method, f"/v3.2{path}", json=body, headers=headers)

    async def template(self, template_id: str, **parameters: Any) -> dict[str, Any]:
        """The result of a template over this questionnaire."""
        given = {"questionnaire_id": self.questionnaire_id, **parameters}
        response = await self.get(f"/report/template/{template_id}", **given)
        assert 200 == response.status_code, response.text
        return response.json()

    async def refused(self, template_id: str, **parameters: Any) -> list[tuple[str, str]]:
        """Parameters and codes of a refusal."""
        given = {"questionnaire_id": self.questionnaire_id, **parameters}
        response = await self.get(f"/report/template/{template_id}", **given)
        assert 422 == response.status_code, response.text
        return [(error["parameter"], error["code"]) for error in response.json()["errors"]]

    async def token_for(
        self, *, application_ids: Sequence[str] = (), test: bool = False, scopes: Collection[str] = SCOPES
    ) -> str:
        return await make_token(
            self.pool,
            self.caller.organization_id,
            scopes=frozenset(scopes),
            application_ids=list(application_ids),
            test=test,
        )

    async def execute(self, query: LiteralString, *values: object) -> None:
        async with db.transaction(self.pool) as database:
            await database.execute(query, *values)

    async def set_organization(self, *, time_zone: str | None = None, minimum_base: int | None = None) -> None:
        await self.execute(
            """update organization set time_zone = coalesce($2, time_zone), minimum_base = coalesce($3, minimum_base)
               where organization_id = $1""",
            *(self.caller.organization_id, time_zone, minimum_base),
        )


async def make_questionnaire(
    database: db.Database, organization_id: str, application_id: str, document: Mapping[str, Any] = DOCUMENT
) -> str:
    keys = (organization_id, application_id)
    questionnaire_id, _ = await add_questionnaire(database, *keys, document, now=MADE, valid_days=0, editable=True)
    return questionnaire_id


async def now_of(house: House) -> datetime:
    async with db.connection(house.pool) as database:
        return database.clock.now()


@pytest.fixture
async def now(house: House) -> datetime:
    return await now_of(house)


@pytest.fixture
async def house(pool: db.Pool) -> AsyncIterator[House]:
    """An organization in Athens with one questionnaire."""
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await accounts.create_organization(
            database, domain="demo", display_name="Demo", now=now, time_zone=ZONE
        )
        application = await accounts.create_application(
            database, organization_id=organization.organization_id, display_name="Shop", now=now
        )
        questionnaire_id = await make_questionnaire(database, organization.organization_id, application.application_id)
    caller = Caller(
        organization_id=organization.organization_id,
        token_id=ids.ordered(now),
        user_id=None,
        scopes=SCOPES,
        application_ids=(),
        domain="demo",
        time_zone=ZONE,
        default_locale="en",
    )
    app: Any = create_app(pool=pool, site=Site(PUBLIC_URL, SECRET))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=PUBLIC_URL) as http:
        house = House(
            pool,
            caller,
            application.application_id,
            questionnaire_id,
            core_definition.parse(DOCUMENT),
            http,
            "",
        )
        house.token = await house.token_for()
        yield house
