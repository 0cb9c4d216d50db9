"""Two organizations with the same shape of data behind one application, and the table of all operations."""

import base64
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final
from uuid import uuid4

import pytest

from afterword import ids
from afterword.asking.instances import files
from afterword.asking.instances.answers import lock_context, save_answers
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.answers.files import NewFile
from afterword.core.answers.values import Given
from afterword.core.messaging.networks import NameServer
from afterword.core.organizations.access import SCOPES, Caller
from afterword.core.wire.site import Site
from afterword.ids import derived
from afterword.kit import db
from afterword.kit.transport.base import Retry
from afterword.kit.web.limits import Limits
from afterword.kit.web.operations import Route
from afterword.people.responders import store as responders_store
from afterword.run.app import api_routes, create_app
from afterword.sending import previews
from afterword.sending.providers import api
from afterword.sending.queue.lanes import SettingsCache
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.receipts import inbound
from afterword.tenants.organizations import plans, service as accounts
from tests.conftest import House, build_house
from tests.contract.alerting import alerting
from tests.contract.hooking import hooking
from tests.contract.reporting import reporting
from tests.contract.responding import responding
from tests.contract.ways import ways_in
from tests.contract.wire import PUBLIC_URL, Reply, Wire
from tests.dates import YEAR
from tests.making import make_token
from tests.sizes import share_of

LOGO: Final = (  # one grey pixel
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
PIXEL: Final = base64.b64decode(LOGO.partition(",")[2])
ABSENT: Final = "zzzzzzzzzzzzzzzzzzzzzz"
ADDRESS: Final = "ann@example.com"
WEBSITE: Final = "https://shop.example"
edits: Final = count()
ROUTES: Final = [route for group in api_routes() for route in group.all]


def name_of(route: Route) -> str:
    """The id of a route's test."""
    return f"{route.method} {route.path}"


# The parameters for which an organization has something that was there once.
DELETED: Final = frozenset(
    {"alert_id", "batch_id", "code", "comment_id", "export_id", "import_id", "instance_id", "item_id", "report_id",
     "sequence_id", "status_id", "webhook_id"}
)  # fmt: skip

SHARE: Final = 1 / 3  # of the operations, where one declaration decides for all


def has_body(route: Route) -> bool:
    """Whether its body is one object; a body of many has tests of its own, in tests/kit/web/test_rows.py."""
    return route.body is not None and route.rows_max is None


def has_list(route: Route) -> bool:
    """Whether it answers with a list that can be filtered and ordered, and that no query must choose."""
    return route.listing is not None and route.shape != "one" and route.path != "/report/invitation"


def makes(route: Route, name: str) -> bool:
    """Whether the operation makes what this part of its path names."""
    return route.method == "PUT" and name in route.texts


def routes_where(is_wanted: Callable[[Route], object], *, share: float = 1.0) -> pytest.MarkDecorator:
    """A case for each operation like this, or for such a share of them."""
    found = {name_of(route): route for route in ROUTES if is_wanted(route)}
    drawn = share_of(list(found), share)
    return pytest.mark.parametrize("route", [found[name] for name in found if name in drawn], ids=name_of)


every_path = pytest.mark.parametrize("path", sorted({route.path for route in ROUTES}))
with_body = routes_where(has_body)
with_list = routes_where(has_list)
# For what one declaration of columns, or of members, decides for all operations.
some_with_body = routes_where(has_body, share=SHARE)
some_with_list = routes_where(has_list, share=SHARE)
some_with_columns = routes_where(lambda route: route.listing is not None and route.listing.columns, share=SHARE)
EXPORTS: Final = tempfile.TemporaryDirectory(prefix="afterword-exports-")  # is removed at the end of the process


@dataclass
class Tenant:
    """An organization; `ids` has one of everything that an operation can name, `deleted` what was there once."""

    house: House
    ids: dict[str, str]
    deleted: dict[str, str] = field(default_factory=dict[str, str])
    token: str = ""  # the owner's: opens all of it

    def path(self, route: Route, **other: str) -> str:
        """The route's address with this organization's ids, or the `other` ones."""
        missing = [name for name in route.parameters if name not in self.ids]
        assert not missing, f"{name_of(route)} has no probe: say in tests/contract/world.py what {missing} are"
        mine = {name: self.id_of(route, name) for name in route.parameters}
        return "/v3.2" + route.path.format_map({**mine, **other})

    def id_of(self, route: Route, name: str) -> str:
        """This organization's value for a parameter of the route."""
        is_responder = (
            name == "metadata_id" and "/metadata/responder" in route.path
        )  # one name for the ids of two kinds
        return self.ids["responder_metadata_id" if is_responder else name]


@dataclass
class World:
    """Ours asks, theirs must not be reached."""

    pool: db.Pool
    reader: db.Pool
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
        self,
        scopes: Collection[str],
        *,
        user_id: str | None = None,
        maker: Caller | None = None,
        test: bool = False,
    ) -> str:
        """The text of a new token of ours."""
        return await make_token(
            self.pool,
            self.ours.house.organization_id,
            scopes=scopes,
            user_id=user_id,
            maker=maker,
            test=test,
        )

    async def ready(self, route: Route) -> None:
        """Do what must just have happened for an operation to do something: a draft to publish, an erasure to end."""
        if "/draft/" in route.path or (route.method == "POST" and route.path.endswith("/version")):
            for tenant in (self.ours, self.theirs):
                await save_draft(self.wire, tenant)
        if route.method == "DELETE" and route.path.endswith("/tag/{tag}"):  # another operation has renamed it
            async with db.transaction(self.pool) as database:
                await database.execute(
                    """insert into instance_tag (organization_id, instance_id, tag) values ($1, $2, $3)
                       on conflict do nothing""",
                    *(self.ours.ids[name] for name in ("organization_id", "instance_id", "tag")),
                )
        if (route.method, route.path) == ("GET", "/coupon/pool/{pool_id}/code"):  # another operation has withdrawn them
            for tenant in (self.ours, self.theirs):
                document = {"codes": [f"A-of-{tenant.house.domain}"]}
                await self.ask("POST", tenant.path(route), token=tenant.token, document=document)
        if (route.method, route.path) == ("POST", "/export/schedule/{schedule_id}/run"):  # one is under way
            async with db.transaction(self.pool) as database:
                await database.execute(
                    "update export_run set state = 'done', finished_time = now() where state = 'queued'"
                )
        if (route.method, route.path) == ("POST", "/inbound"):  # an account has one of each form
            async with db.transaction(self.pool) as database:
                await database.execute(
                    "delete from inbound_endpoint where account_id = any($1)",
                    [tenant.ids["account_id"] for tenant in (self.ours, self.theirs)],
                )
        if route.path.endswith("/erasure"):
            await self.lift_holds()
            async with db.transaction(self.pool) as database:
                await database.execute(
                    """update erasure set state = 'done', finished_time = now(), checksum = '', salt = null
                       where state = 'running' and responder_id = any($1)""",
                    [tenant.ids["responder_id"] for tenant in (self.ours, self.theirs)],
                )

    async def lift_holds(self) -> None:
        """Lift the holds that other tests placed, as on all of an organization."""
        async with db.transaction(self.pool) as database:
            await database.execute(
                "delete from legal_hold where hold_id <> all($1)",
                [tenant.ids["hold_id"] for tenant in (self.ours, self.theirs)],
            )

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
        return await self._read_tables("array(select to_jsonb(t)::text {rows} order by 1)", tenant)

    async def digests_of(self, *tenants: Tenant) -> dict[str, str]:
        """The same in a tenth of the time, as the count of each table's rows and the sum of their hashes."""
        return await self._read_tables("(select count(*) || ' ' || sum(hashtextextended(t::text, 0)) {rows})", *tenants)

    async def _read_tables(self, each: str, *tenants: Tenant) -> dict[str, Any]:
        async with db.connection(self.reader) as database:
            if not self.tables:
                rows = await database.fetch(
                    """select table_name from information_schema.columns where table_schema = 'public'
                         and column_name = 'organization_id' and table_name <> 'token' order by table_name"""
                )
                self.tables += [row["table_name"] for row in rows]
            query: Any = " union all ".join(
                f"select '{name}', {each.format(rows=f'from {name} t where organization_id = any($1)')}"
                for name in self.tables
            )
            ids = [tenant.house.organization_id for tenant in tenants]
            return dict([tuple(row) for row in await database.fetch(query, ids)])


async def build(pool: db.Pool, *, reader: db.Pool | None = None, name_servers: tuple[NameServer, ...] = ()) -> World:
    """Both organizations over a fresh database. `reader` reads all tables again and again, and may keep one plan."""
    site = Site(PUBLIC_URL, b"k" * 32, name_servers=name_servers, export_folder=EXPORTS.name)
    wire = Wire(create_app(pool=pool, site=site, limits=Limits(0, 0, 0, 0, 0)))
    ours = await _tenant(pool, wire, domain="demo")
    theirs = await _tenant(pool, wire, domain="neighbour")
    return World(pool, reader or pool, site, wire, ours, theirs)


async def _tenant(pool: db.Pool, wire: Wire, *, domain: str) -> Tenant:
    house = await build_house(pool, domain=domain)
    ids = {
        "organization_id": house.organization_id,
        "application_id": house.application_id,
        "user_id": house.user_id,
        "token_id": house.token_id,
        "questionnaire_id": house.questionnaire_id,
        "version_id": house.version_id,
        "compared_id": house.version_id,
        "library_name": "event" if domain == "demo" else f"none-of-{domain}",
        "pipeline_id": house.pipeline_id,
    }
    tenant = Tenant(house, ids, token=await _owner_token(pool, house))
    async with db.transaction(pool) as database:
        await database.execute(
            "update questionnaire set public_link = true where organization_id = $1", house.organization_id
        )
    async with db.connection(pool) as database:
        version = await questionnaires_store.get_version(
            database, organization_id=house.organization_id, version_id=house.version_id
        )
    ids |= await _accounts(pool, wire, tenant)
    ids |= await _authoring(wire, tenant)
    ends = int(datetime.now(UTC).timestamp()) + 86_400
    seen = previews.Permission(house.organization_id, house.questionnaire_id, None, ends)
    ids["permission"] = previews.address_of(seen, site=Site(PUBLIC_URL, b"k" * 32)).rpartition("/")[2]
    ids["group_id"] = version.definition.groups[0].group_id
    ids["ending_id"] = ending_of(tenant)
    ids["question_id"] = ids["key_question_id"] = version.definition.groups[0].questions[0].question_id
    tenant.deleted |= await _things(wire, tenant)
    ids |= await _things(wire, tenant)
    del tenant.deleted["responder_id"], tenant.deleted["tag"]  # the same for both
    ids["reference_id"] = "order-1042"  # the same for both organizations
    ids["link_instance_id"] = await _begun_at_link(pool, wire, tenant)
    await _answer(pool, tenant, version)
    for path in ("/q/instance/{instance_id}", "/q/queue/item/{item_id}"):
        await wire.done("DELETE", "/v3.2" + path.format_map(tenant.deleted), token=tenant.token)
    ids["template_pipeline_id"] = ids["pipeline_id"]
    ids["external_reference"] = await _queue(pool, wire, tenant)
    ids |= await _left_alone(pool, wire, tenant)
    ids |= await _erased(wire, tenant)
    made, deleted = await alerting(pool, wire, house=house, token=tenant.token, version=version)
    ids |= made
    tenant.deleted |= deleted
    named = {name: ids[name] for name in ("instance_id", "question_id", "tag")}
    ids |= await responding(pool, wire, token=tenant.token, **named)
    made, deleted = await hooking(pool, wire, token=tenant.token)
    ids |= made
    tenant.deleted |= deleted
    made, deleted = await ways_in(pool, wire, token=tenant.token, secret=house.site.secret, ids=ids)
    ids |= made
    tenant.deleted |= deleted
    made, deleted = await reporting(
        wire, token=tenant.token, domain=house.domain, questionnaire_id=house.questionnaire_id
    )
    ids |= made
    tenant.deleted |= deleted
    return tenant


async def _owner_token(pool: db.Pool, house: House) -> str:
    return await make_token(pool, house.organization_id, user_id=house.user_id)


async def _accounts(pool: db.Pool, wire: Wire, tenant: Tenant) -> dict[str, str]:
    """A token that nobody here needs, and a plan that never ends."""
    path = f"/v3.2/organization/{tenant.house.organization_id}/domain"
    await wire.done("PUT", path, token=tenant.token, document={"host": "ask.shop.example"})
    path = f"/v3.2/organization/{tenant.house.organization_id}/identity"
    document = {"issuer": "https://login.shop.example", "client_id": "afterword"}
    await wire.done("PUT", path, token=tenant.token, document=document)
    document = {
        "address": f"answers@{tenant.house.domain}.example",
        "host": "imap.shop.invalid",
        "username": "us",
        "password": "pw",
    }
    await wire.done("PATCH", "/v3.2/alert/mailbox", token=tenant.token, document=document)
    document = {"title": "Spare", "scopes": ["Queue.Read"]}
    answer = await wire.done("POST", "/v3.2/token", token=tenant.token, document=document)
    async with db.transaction(pool) as database:
        now = database.clock.now()
        await database.execute(
            """insert into retention_run (organization_id, run_id, kind, days, before_time, due_time, started_time,
                 finished_time, state) values ($1, $2, 'texts', 400, $3, $3, $3, $3, 'done')""",
            *(tenant.house.organization_id, tenant.ids["version_id"], now),
        )
        plan = await plans.add_plan(
            database,
            organization_id=tenant.house.organization_id,
            title="Unlimited",
            kind="unlimited",
            start_time=now,
            now=now,
        )
    return {"token_id": answer["token_id"], "plan_id": plan.plan_id}


async def _authoring(wire: Wire, tenant: Tenant) -> dict[str, str]:
    """Declared names, a visual and a draft, as authors make them."""
    made: dict[str, str] = {}
    base = f"/v3.2/q/questionnaire/{tenant.ids['questionnaire_id']}"
    declared = {"name": "basket", "title": "Basket", "type": "number", "level": "organization"}
    configuration = {"color_primary": "#0b6e4f", "logo": LOGO}
    visual = {"title": "Green", "active": True, "configuration": configuration}
    for name, id_name, path, document in (
        ("metadata_id", "metadata_id", "/v3.2/q/metadata/questionnaire", declared),
        ("responder_metadata_id", "metadata_id", "/v3.2/q/metadata/responder", declared),
        ("visual_id", "visual_id", f"{base}/visual", visual),
    ):
        answer = await wire.done("POST", path, token=tenant.token, document=document)
        made[name] = answer[id_name]
    answer = await wire.done("POST", "/v3.2/asset", token=tenant.token, file=PIXEL)
    made["asset_id"] = answer["asset_id"]
    for link in ({"title": "Poster"}, {"title": "Tablet", "box": {}, "kiosk": {}, "kiosk_pin": "4711"}):
        document = {"takes_reference": True, **link}
        answer = await wire.done("POST", f"{base}/link", token=tenant.token, document=document)
        made.setdefault("link_id", answer["link_id"])  # of the one that nobody answers, so that it can go
        made["link_key"] = answer["url"].rpartition("/")[2]
    made["pool_key"] = f"thanks_{tenant.house.domain.replace('-', '_')}"
    pool = {"key": made["pool_key"], "title": "Ten percent"}
    answer = await wire.done("POST", "/v3.2/coupon/pool", token=tenant.token, document=pool)
    made["pool_id"] = answer["pool_id"]
    made["owner_application_id"] = tenant.ids["application_id"]
    made["template_questionnaire_id"] = tenant.ids["questionnaire_id"]
    await save_draft(wire, tenant)
    return made


def ending_of(tenant: Tenant) -> str:
    """The id of the ending of its draft."""
    return derived(f"ending of {tenant.ids['questionnaire_id']}")


async def save_draft(wire: Wire, tenant: Tenant) -> None:
    """A draft that can be published and says something new."""
    path = f"/v3.2/q/questionnaire/{tenant.ids['questionnaire_id']}"
    version = await wire.done("GET", f"{path}/version/{tenant.house.version_id}", token=tenant.token)
    definition = version["definition"]
    definition["groups"][0]["description"] = f"Edit {next(edits)}"
    definition["endings"] = [{"ending_id": ending_of(tenant), "title": "Thank you"}]
    await wire.done("PUT", f"{path}/draft", token=tenant.token, document=definition)


async def _things(wire: Wire, tenant: Tenant) -> dict[str, str]:
    """An instance, its responder and a queue item, by the names of their ids."""
    metadata = {"questionnaire": {"transaction_id": "1042"}, "responder": {"email": ADDRESS}}
    base = f"/v3.2/q/questionnaire/{tenant.ids['questionnaire_id']}"
    answer = await wire.done("POST", f"{base}/instance", token=tenant.token, document={"metadata": metadata})
    made = {name: answer[name] for name in ("instance_id", "responder_id")}
    made["code"] = answer["collection_url_short"].rpartition("/")[2]
    document = {"responder_channel_identifier": ADDRESS, "metadata": metadata}
    path = f"{base}/pipeline/{tenant.ids['pipeline_id']}/queue/item"
    answer = await wire.done("POST", path, token=tenant.token, document=document)
    made["item_id"] = answer["item_id"]
    made["tag"] = f"vip-of-{tenant.house.domain}"
    path = f"/v3.2/q/instance/{made['instance_id']}/tag"
    await wire.done("POST", path, token=tenant.token, document={"tag": made["tag"]})
    return made


async def _begun_at_link(pool: db.Pool, wire: Wire, tenant: Tenant) -> str:
    """The id of an instance that began at the public link; a response that began there is held back."""
    base = f"/v3.2/q/questionnaire/{tenant.ids['questionnaire_id']}"
    address = f"/v3.2/application/{tenant.ids['application_id']}"
    await wire.done("PATCH", address, token=tenant.token, document={"website_urls": [WEBSITE]})
    found: list[str] = []
    for _ in range(2):
        instance = await wire.done("POST", f"{base}/instance", token=tenant.token, document={})
        found.append(instance["instance_id"])
    async with db.transaction(pool) as database:
        await database.execute(
            """update questionnaire_instance set link_id = (select link_id from public_link where key = $2)
               where instance_id = any($1)""",
            *(found, tenant.ids["link_key"]),
        )
        await database.execute(
            """update questionnaire_instance
               set flags = '{burst}', judgement = 'held', held_submitted_time = now() where instance_id = $1""",
            found[1],
        )
    return found[0]


async def _queue(pool: db.Pool, wire: Wire, tenant: Tenant) -> str:
    """An attempt at the queue item, which goes on waiting; and the business key of another one."""
    async with db.transaction(pool) as database:
        lease = sending.Lease(owner=uuid4(), seconds=60, margin_seconds=5)
        lane = tenant.house.organization_id, tenant.house.pipeline_id
        prepared = await sending.claim(
            database,
            shares={lane: 10},
            metered=frozenset(),
            lease=lease,
            cache=SettingsCache(),
            secret=tenant.house.site.secret,
            draw=lambda: 0.5,
        )
        await sending.begin(database, dispatches=prepared.dispatches, lease=lease)
        results = [
            sending.Result(each, Retry("recipient", f"busy: {tenant.house.domain}", reply_code=450), Waits())
            for each in prepared.dispatches
        ]
        assert results, "the item was due"
        await sending.settle(database, results=results, now=database.clock.now())
    reference = f"order-of-{tenant.house.domain}"
    path = f"/v3.2/q/questionnaire/{lane_path(tenant)}/queue/reference/{reference}"
    document = {"responder_channel_identifier": ADDRESS, "send_time": f"{YEAR}-07-01T09:00:00+03:00"}
    await wire.done("PUT", path, token=tenant.token, document=document)
    return reference


async def _left_alone(pool: db.Pool, wire: Wire, tenant: Tenant) -> dict[str, str]:
    """A suppressed address, where its provider calls back, and what was reported of the item."""
    document = {"channel_id": 1, "identifier": f"blocked@{tenant.house.domain}.example"}
    answer = await wire.done("POST", "/v3.2/suppression", token=tenant.token, document=document)
    organization_id = tenant.house.organization_id
    async with db.transaction(pool) as database:
        now = database.clock.now()
        account_id = await database.fetch_value(
            "select account_id from pipeline where pipeline_id = $1", tenant.house.pipeline_id
        )
        inbound_id, _ = await inbound.open_endpoint(
            database, organization_id=organization_id, account_id=account_id, adapter="standard",
            site=tenant.house.site, now=now,
        )  # fmt: skip
        await api.keep_references(
            database,
            references=[(organization_id, account_id, f"receipt-of-{tenant.house.domain}", tenant.ids["item_id"])],
            now=now,
        )
        await database.execute(
            """insert into delivery_report (organization_id, item_id, kind, is_hard, is_proven, code, said)
               values ($1, $2, 'delivered', false, true, '', '')""",
            *(organization_id, tenant.ids["item_id"]),
        )
    settings = {"host": f"smtp.{tenant.house.domain}.example", "username": "us", "password": "pw"}
    document = {"kind": "smtp", "title": f"Relay of {tenant.house.domain}", "settings": settings}
    account = await wire.done("POST", "/v3.2/provider", token=tenant.token, document=document)
    return {
        "suppression_id": answer["suppression_id"],
        "inbound_id": inbound_id,
        "account_id": account["account_id"],
    }


async def _erased(wire: Wire, tenant: Tenant) -> dict[str, str]:
    """An erasure that nobody works on, of somebody whom nothing else is about, and a hold on the same."""
    path = f"/v3.2/q/questionnaire/{tenant.ids['questionnaire_id']}/instance"
    document = {"metadata": {"responder": {"email": f"gone@{tenant.house.domain}.example"}}}
    answer = await wire.done("POST", path, token=tenant.token, document=document)
    responder_id = answer["responder_id"]
    erased = await wire.done("POST", f"/v3.2/q/responder/{responder_id}/erasure", token=tenant.token, document={})
    path = f"/v3.2/organization/{tenant.house.organization_id}/retention/hold"
    document = {"reason": f"Suit of {tenant.house.domain}", "responder_id": responder_id}
    held = await wire.done("POST", path, token=tenant.token, document=document)
    return {"erasure_id": erased["erasure_id"], "hold_id": held["hold_id"]}


def lane_path(tenant: Tenant) -> str:
    """The part of an address that names the pipeline."""
    return f"{tenant.ids['questionnaire_id']}/pipeline/{tenant.ids['pipeline_id']}"


async def _answer(pool: db.Pool, tenant: Tenant, version: questionnaires_store.Version) -> None:
    """One answer, so that lists of answers have a row."""
    organization_id, instance_id = tenant.house.organization_id, tenant.ids["instance_id"]
    async with db.transaction(pool) as database:
        await save_answers(
            database,
            context=await lock_context(database, instance_id=instance_id),
            answers={tenant.ids["question_id"]: Given(4)},
            complete=False,
            now=database.clock.now(),
        )
        now = database.clock.now()
        note = NewFile(
            file_id=ids.ordered(now),
            name="note.txt",
            media_type="text/plain",
            content=b"Thanks",
            content_hash=b"h" * 32,
        )
        await files.insert_file(
            database,
            organization_id=organization_id,
            instance_id=instance_id,
            question_id=tenant.ids["question_id"],
            file=note,
            now=now,
        )
        tenant.ids["file_id"] = note.file_id
    async with db.connection(pool) as database:
        addresses = await responders_store.list_addresses(
            database, organization_id=organization_id, responder_id=tenant.ids["responder_id"]
        )
    tenant.ids["unsubscribe_id"] = addresses[0].unsubscribe_id
