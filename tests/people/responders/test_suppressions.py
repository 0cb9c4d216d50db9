"""Suppressions over the API: refusals, the stored text, what wins over what, lifting, and the file of many."""

from typing import Any, Final

import httpx2
import msgspec
import pytest

from afterword.core.wire.times import zone_of
from afterword.kit import db
from afterword.kit.nouns.structs import resource_of
from afterword.people.responders.suppressions import SUPPRESSION
from tests.conftest import TIME_ZONE, House
from tests.dates import YEAR
from tests.event_log import list_events

PATH: Final = "/v3.2/suppression"
ANN: Final = {"channel_id": 1, "identifier": "Ann@Example.com"}


async def add(client: httpx2.AsyncClient, house: House, **fields: Any) -> httpx2.Response:
    return await client.post(PATH, json={**ANN, **fields}, headers=house.headers)


async def listed(client: httpx2.AsyncClient, house: House, query: str = "") -> list[dict[str, Any]]:
    reply = await client.get(f"{PATH}{query}", headers=house.headers)
    assert 200 == reply.status_code, reply.text
    return reply.json()["results"]


class TestAdding:
    @pytest.mark.parametrize(
        ("fields", "pointer", "code"),
        [
            ({"identifier": "no address"}, "/identifier", "invalid_address"),
            ({"identifier": "ann@example.com\r\nBcc: x"}, "/identifier", "invalid_address"),
            ({"channel_id": 2, "identifier": "690 000 0000"}, "/identifier", "invalid_address"),  # of which country?
            ({"expires_time": "2020-01-01T00:00:00Z"}, "/expires_time", "out_of_range"),
        ],
    )
    async def test_wrong(
        self, client: httpx2.AsyncClient, house: House, fields: dict[str, Any], pointer: str, code: str
    ) -> None:
        reply = await add(client, house, **fields)
        assert (422, [(pointer, code)]) == (
            reply.status_code, [(each["pointer"], each["code"]) for each in reply.json()["errors"]],
        )  # fmt: skip
        assert [] == await listed(client, house)

    async def test_ok(self, client: httpx2.AsyncClient, house: House, pool: db.Pool) -> None:
        reply = await add(client, house, note="asked by phone")
        made = reply.json()
        assert 201 == reply.status_code, reply.text
        assert (1, "Ann@example.com", "blocked", None, "asked by phone", house.token_id) == (
            made["channel_id"], made["identifier"], made["reason"], made["expires_time"], made["note"],
            made["created_by"],
        )  # fmt: skip
        read = await client.get(reply.headers["location"], headers=house.headers)
        assert (made, reply.headers["etag"]) == (read.json(), read.headers["etag"])
        assert [made] == await listed(client, house)
        async with db.connection(pool) as database:
            rows = await list_events(database, organization_id=house.organization_id)
        [event] = [row for row in rows if row.type == "suppression.created"]
        assert made == msgspec.to_builtins(resource_of(SUPPRESSION).of_log(event.data, zone_of(TIME_ZONE)))

    async def test_it_is_there_already(self, client: httpx2.AsyncClient, house: House) -> None:
        made = (await add(client, house)).json()
        for identifier in ("ann@example.com", "ANN@EXAMPLE.COM.", "\uff21nn@example.com"):
            reply = await add(client, house, identifier=identifier)
            assert (409, "already_exists") == (reply.status_code, reply.json()["code"])
        assert [made] == await listed(client, house)

    @pytest.mark.parametrize("identifier", ["'+306900000000", "+306900000000.0", "\u202a+30 690 000 0000\u202c"])
    async def test_as_spreadsheets_write_it(self, client: httpx2.AsyncClient, house: House, identifier: str) -> None:
        reply = await add(client, house, channel_id=2, identifier=identifier)
        assert (201, "+306900000000") == (reply.status_code, reply.json()["identifier"])

    async def test_a_stronger_reason_or_a_longer_time_is_news(self, client: httpx2.AsyncClient, house: House) -> None:
        first = (await add(client, house, expires_time=f"{YEAR}-02-01T00:00:00Z")).json()
        for fields in ({"expires_time": f"{YEAR}-06-01T00:00:00Z"}, {}, {"reason": "unsubscribed"}):
            assert 201 == (await add(client, house, **fields)).status_code
        for fields in ({"expires_time": f"{YEAR + 1}-01-01T00:00:00Z"}, {"reason": "hard_bounce"}):
            assert 409 == (await add(client, house, **fields)).status_code
        [found] = await listed(client, house)
        assert (first["suppression_id"], "unsubscribed", None) == (
            found["suppression_id"], found["reason"], found["expires_time"],
        )  # fmt: skip

    async def test_each_organization_and_channel_has_its_own(
        self, client: httpx2.AsyncClient, house: House, neighbour: House
    ) -> None:
        for owner, fields in ((house, {}), (neighbour, {}), (house, {"channel_id": 3})):
            assert 201 == (await add(client, owner, **fields)).status_code
        assert (2, 1) == (len(await listed(client, house)), len(await listed(client, neighbour)))

    async def test_a_national_number_is_of_the_organizations_country(
        self, client: httpx2.AsyncClient, house: House, pool: db.Pool
    ) -> None:
        async with db.transaction(pool) as database:
            await database.execute("update organization set default_locale = 'el'")
        assert 201 == (await add(client, house, channel_id=2, identifier="690 000 0000")).status_code
        assert 409 == (await add(client, house, channel_id=2, identifier="+306900000000")).status_code


class TestLifting:
    @pytest.mark.parametrize("reason", ["unsubscribed", "hard_bounce", "complaint", "blocked", "erased"])
    async def test_ok(self, client: httpx2.AsyncClient, house: House, pool: db.Pool, reason: str) -> None:
        made = (await add(client, house, reason=reason)).json()
        path = f"{PATH}/{made['suppression_id']}"
        stale = await client.delete(path, headers={**house.headers, "If-Match": '"7"'})
        assert 412 == stale.status_code
        assert 204 == (await client.delete(path, headers=house.headers)).status_code
        assert 404 == (await client.delete(path, headers=house.headers)).status_code
        assert [] == await listed(client, house)
        async with db.connection(pool) as database:
            told = await list_events(database, organization_id=house.organization_id)
        lifted = told[-1]
        assert ("suppression.deleted", reason, "token", house.token_id) == (
            lifted.type, lifted.data["reason"], lifted.actor_kind, lifted.actor_id,
        )  # fmt: skip
        assert 201 == (await add(client, house)).status_code
