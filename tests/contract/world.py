"""Two organizations with the same shape of data behind one application, and the table of all operations."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import pytest

from afterword import db
from afterword.accounts import service as accounts
from afterword.app import api_routes, create_app
from afterword.core.access import SCOPES
from afterword.core.site import Site
from afterword.instances import service as instances
from afterword.instances import store as instances_store
from afterword.instances.service import Given
from afterword.questionnaires import store as questionnaires_store
from afterword.responders import store as responders_store
from afterword.web.limits import Limits
from afterword.web.operations import Route
from tests.conftest import House, build_house
from tests.contract.wire import PUBLIC_URL, Reply, Wire

ABSENT: Final = "zzzzzzzzzzzzzzzzzzzzzz"
ADDRESS: Final = "ann@example.com"
ROUTES: Final = [route for group in api_routes() for route in group.all]


def name_of(route: Route) -> str:
    """How a test of the route is called."""
    return f"{route.method} {route.path}"


every_route = pytest.mark.parametrize("route", ROUTES, ids=name_of)
every_path = pytest.mark.parametrize("path", sorted({route.path for route in ROUTES}))
with_body = pytest.mark.parametrize("route", [route for route in ROUTES if route.body is not None], ids=name_of)
with_ids = pytest.mark.parametrize("route", [route for route in ROUTES if route.parameters], ids=name_of)
with_list = pytest.mark.parametrize("route", [route for route in ROUTES if route.listing is not None], ids=name_of)


@dataclass
class Tenant:
    """An organization; `ids` has one of everything that an operation can name, `deleted` what was there once."""

    house: House
    ids: dict[str, str]
    deleted: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def token(self) -> str:
        """Opens all of it."""
        return self.house.token

    def path(self, route: Route, **other: str) -> str:
        """The route's address with this organization's ids, or the `other` ones."""
        missing = [name for name in route.parameters if name not in self.ids]
        assert not missing, f"{name_of(route)} has no probe: say in tests/contract/world.py what {missing} are"
        return "/v3.2" + route.path.format_map({**self.ids, **other})


@dataclass
class World:
    """Ours asks, theirs must not be reached."""

    pool: db.Pool
    site: Site
    wire: Wire
    ours: Tenant
    theirs: Tenant
    tables: list[str] = field(default_factory=list[str])
    people: dict[str, str] = field(default_factory=dict[str, str])

    async def ask(self, method: str, target: str, *, token: str | None = "", **options: Any) -> Reply:
        """Ask as the owner of ours, unless there is another token; None: without one."""
        return await self.wire.ask(method, target, token=self.ours.token if token == "" else token, **options)

    async def token_for(
        self, scopes: Collection[str], *, user_id: str | None = None, maker_scopes: Collection[str] = SCOPES
    ) -> str:
        """The text of a new token of ours."""
        async with db.transaction(self.pool) as database:
            _, text = await accounts.create_token(
                database,
                organization_id=self.ours.house.organization_id,
                title="Probe",
                scopes=scopes,
                kind="user" if user_id else "organization",
                user_id=user_id,
                maker_scopes=maker_scopes,
                now=database.clock.now(),
            )
        return text

    async def token_of(self, role: str) -> str:
        """The text of a token with all scopes of a person in this role."""
        if role not in self.people:
            async with db.transaction(self.pool) as database:
                now, organization_id = database.clock.now(), self.ours.house.organization_id
                user = await accounts.create_user(
                    database, organization_id=organization_id, email=f"{role}@demo.test", role=role, now=now
                )
            self.people[role] = await self.token_for(SCOPES, user_id=user.user_id)
        return self.people[role]

    async def dead_tokens(self) -> Mapping[str, str]:
        """Tokens that ended, by the code that says how."""
        async with db.transaction(self.pool) as database:
            now = database.clock.now()
            organization_id = self.ours.house.organization_id
            options: dict[str, Any] = {
                "organization_id": organization_id, "title": "Ended", "scopes": SCOPES, "kind": "organization",
                "user_id": None,
            }  # fmt: skip
            early = now - timedelta(hours=2)
            _, expired = await accounts.create_token(
                database, now=early, expires_time=early + timedelta(hours=1), **options
            )
            token, revoked = await accounts.create_token(database, now=now, **options)
            await accounts.revoke_token(database, organization_id=organization_id, token_id=token.token_id, now=now)
        return {"token_expired": expired, "token_revoked": revoked}

    async def rows_of(self, tenant: Tenant) -> dict[str, list[str]]:
        """Everything that the database holds of an organization, but for the ticks of its tokens."""
        async with db.connection(self.pool) as database:
            if not self.tables:
                rows = await database.fetch(
                    """select table_name from information_schema.columns where table_schema = 'public'
                         and column_name = 'organization_id' and table_name <> 'token' order by table_name"""
                )
                self.tables += [row["table_name"] for row in rows]
            each = [
                f"select '{name}', array(select to_jsonb(t)::text from {name} t where organization_id = $1 order by 1)"
                for name in self.tables
            ]
            query: Any = " union all ".join(each)
            return dict([tuple(row) for row in await database.fetch(query, tenant.house.organization_id)])


async def build(pool: db.Pool) -> World:
    """Both organizations over a fresh database."""
    site = Site(PUBLIC_URL, b"k" * 32)
    wire = Wire(create_app(pool=pool, site=site, limits=Limits(0, 0, 0)))
    ours = await _tenant(pool, wire, domain="demo")
    theirs = await _tenant(pool, wire, domain="neighbour")
    return World(pool, site, wire, ours, theirs)


async def _tenant(pool: db.Pool, wire: Wire, *, domain: str) -> Tenant:
    house = await build_house(pool, domain=domain)
    ids = {
        "organization_id": house.organization_id,
        "application_id": house.application_id,
        "user_id": house.user_id,
        "token_id": house.token_id,
        "questionnaire_id": house.questionnaire_id,
        "version_id": house.version_id,
        "pipeline_id": house.pipeline_id,
    }
    tenant = Tenant(house, ids)
    async with db.connection(pool) as database:
        version = await questionnaires_store.get_version(
            database, organization_id=house.organization_id, version_id=house.version_id
        )
    ids["group_id"] = version.definition.groups[0].group_id
    ids["question_id"] = version.definition.groups[0].questions[0].question_id
    tenant.deleted |= await _things(wire, tenant)
    ids |= await _things(wire, tenant)
    del tenant.deleted["responder_id"]  # the same for both
    ids["reference_id"] = "order-1042"  # the same for both organizations
    await _answer(pool, tenant, version)
    for path in ("/q/instance/{instance_id}", "/q/queue/item/{item_id}"):
        reply = await wire.ask("DELETE", "/v3.2" + path.format_map(tenant.deleted), token=tenant.token)
        assert 204 == reply.status, reply
    return tenant


async def _things(wire: Wire, tenant: Tenant) -> dict[str, str]:
    """An instance, its responder and a queue item, by the names of their ids."""
    metadata = {"questionnaire": {"transaction_id": "1042"}, "responder": {"email": ADDRESS}}
    base = f"/v3.2/q/questionnaire/{tenant.ids['questionnaire_id']}"
    reply = await wire.ask("POST", f"{base}/instance", token=tenant.token, document={"metadata": metadata})
    assert 201 == reply.status, reply
    made = {name: reply.document[name] for name in ("instance_id", "responder_id")}
    made["code"] = reply.document["collection_url_short"].rpartition("/")[2]
    document = {"responder_channel_identifier": ADDRESS, "metadata": metadata}
    path = f"{base}/pipeline/{tenant.ids['pipeline_id']}/queue/item"
    reply = await wire.ask("POST", path, token=tenant.token, document=document)
    assert 201 == reply.status, reply
    return {**made, "item_id": reply.document["item_id"]}


async def _answer(pool: db.Pool, tenant: Tenant, version: questionnaires_store.Version) -> None:
    """One answer, so that lists of answers have a row."""
    organization_id, instance_id = tenant.house.organization_id, tenant.ids["instance_id"]
    async with db.transaction(pool) as database:
        instance = await instances_store.get_instance(
            database, organization_id=organization_id, instance_id=instance_id
        )
        assert instance is not None
        await instances.save_answers(
            database,
            instance=instance,
            definition=version.definition,
            answers={tenant.ids["question_id"]: Given(4)},
            complete=False,
            now=database.clock.now(),
        )
    async with db.connection(pool) as database:
        addresses = await responders_store.list_addresses(
            database, organization_id=organization_id, responder_id=tenant.ids["responder_id"]
        )
    tenant.ids["unsubscribe_id"] = addresses[0].unsubscribe_id
