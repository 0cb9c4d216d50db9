"""Suppressions over the API: refusals, the stored text, what wins over what, lifting, and the file of many."""

from typing import Any, Final

import httpx2
import msgspec

from afterword.core.wire.times import zone_of
from afterword.kit import db
from afterword.kit.nouns.structs import resource_of
from afterword.people.responders.suppressions import REASONS, SUPPRESSION
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
    async def test_wrong(self, client: httpx2.AsyncClient, house: House) -> None:
        wrong: tuple[tuple[dict[str, Any], str, str], ...] = (
            ({"identifier": "no address"}, "/identifier", "invalid_address"),
            ({"identifier": "ann@example.com\r\nBcc: x"}, "/identifier", "invalid_address"),
            ({"channel_id": 2, "identifier": "690 000 0000"}, "/identifier", "invalid_address"),  # of which country?
            ({"expires_time": "2020-01-01T00:00:00Z"}, "/expires_time", "out_of_range"),
        )
        for fields, pointer, code in wrong:
            reply = await add(client, house, **fields)
            found = [(each["pointer"], each["code"]) for each in reply.json()["errors"]]
            assert (422, [(pointer, code)]) == (reply.status_code, found)
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

    async def test_a_national_number_is_of_the_organizations_country(
        self, client: httpx2.AsyncClient, house: House, pool: db.Pool
    ) -> None:
        async with db.transaction(pool) as database:
            await database.execute("update organization set default_locale = 'el'")
        assert 201 == (await add(client, house, channel_id=2, identifier="690 000 0000")).status_code
        assert 409 == (await add(client, house, channel_id=2, identifier="+306900000000")).status_code


class TestLifting:
    async def test_ok(self, client: httpx2.AsyncClient, house: House, pool: db.Pool) -> None:
        for reason in REASONS:
            made = (await add(client, house, reason=reason)).json()
            path = f"{PATH}/{made['suppression_id']}"
            stale = await client.delete(path, headers={**house.headers, "If-Match": '"7"'})
            assert 412 == stale.status_code
            assert 204 == (await client.delete(path, headers=house.headers)).status_code
            assert 404 == (await client.delete(path, headers=house.headers)).status_code
            assert [] == await listed(client, house)
        async with db.connection(pool) as database:
            told = await list_events(database, organization_id=house.organization_id, type_name="suppression.deleted")
        assert [(reason, "token", house.token_id) for reason in REASONS] == [
            (one.data["reason"], one.actor_kind, one.actor_id) for one in told
        ]
