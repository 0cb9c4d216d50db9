"""Sender domains: an organization's mails come from its own domains, and no tenant writes as another."""

from typing import Any, Final

import pytest

from afterword import errors
from afterword.kit import db
from afterword.run import migrations
from afterword.sending.pipelines import service as pipelines
from afterword.tenants.organizations import senders as organizations_senders
from tests.conftest import House

EMAIL: Final = 1
OURS: Final = "billing@demo.example"


async def save(pool: db.Pool, house: House, sender_address: str | None, **fields: Any) -> str:
    async with db.transaction(pool) as database:
        wanted: dict[str, Any] = {"channel_id": EMAIL, "title": "x", "sender_address": sender_address, **fields}
        pipeline = await pipelines.create_pipeline(
            database,
            organization_id=house.organization_id,
            questionnaire_id=house.questionnaire_id,
            now=database.clock.now(),
            **wanted,
        )
    return pipeline.pipeline_id


async def change(pool: db.Pool, house: House, pipeline_id: str, **changes: Any) -> None:
    async with db.transaction(pool) as database:
        await pipelines.change_pipeline(
            database,
            caller=house.caller,
            questionnaire_id=house.questionnaire_id,
            pipeline_id=pipeline_id,
            changes=changes,
            now=database.clock.now(),
        )


async def allow(pool: db.Pool, house: House, text: str) -> str:
    async with db.transaction(pool) as database:
        return await organizations_senders.allow_sender(database, organization_id=house.organization_id, text=text)


async def senders(pool: db.Pool, house: House) -> list[str]:
    async with db.connection(pool) as database:
        return await organizations_senders.list_senders(database, organization_id=house.organization_id)


def refused(refusal: pytest.ExceptionInfo[errors.Invalid]) -> list[tuple[str | None, str]]:
    return [(error.pointer, error.code) for error in refusal.value.errors]


class TestSave:
    async def test_domain_of_another_organization(self, pool: db.Pool, house: House, neighbour: House) -> None:
        await allow(pool, house, "demo.example")
        with pytest.raises(errors.Invalid) as refusal:
            await save(pool, neighbour, OURS)
        assert [("/sender_address", "unknown_value")] == refused(refusal)
        assert "afterword sender add" in refusal.value.errors[0].message
        assert [] == await senders(pool, neighbour)

    async def test_change_to_another(self, pool: db.Pool, house: House, neighbour: House) -> None:
        with pytest.raises(errors.Invalid) as refusal:
            await change(pool, neighbour, neighbour.pipeline_id, sender_address=OURS)
        assert [("/sender_address", "unknown_value")] == refused(refusal)

    async def test_copy_of_one_that_may_no_longer(self, pool: db.Pool, house: House, neighbour: House) -> None:
        """A template's sender is judged as one that is written."""
        await allow(pool, house, "demo.example")
        template = await save(pool, house, OURS)
        async with db.transaction(pool) as database:
            await organizations_senders.forbid_sender(
                database, organization_id=house.organization_id, text="demo.example"
            )
        with pytest.raises(errors.Invalid) as refusal:
            await save(pool, house, OURS, template_pipeline_id=template)
        assert [("/sender_address", "unknown_value")] == refused(refusal)

    async def test_invalid_address_is_said_once(self, pool: db.Pool, house: House, neighbour: House) -> None:
        with pytest.raises(errors.Invalid) as refusal:
            await save(pool, house, "nobody")
        assert [("/sender_address", "invalid_address")] == refused(refusal)

    async def test_own(self, pool: db.Pool, house: House, neighbour: House) -> None:
        for allowed, address in (
            ("demo.example", OURS),
            ("DEMO2.Example", "billing@demo2.EXAMPLE"),
            ("ελληνικά.example", "info@ελληνικά.example"),
            ("ann@mail.example", "Ann@mail.example"),
        ):
            await allow(pool, house, allowed)
            assert await save(pool, house, address)

    @pytest.mark.parametrize(
        ("allowed", "address"),
        [
            ("ann@mail.example", "eve@mail.example"),
            ("demo.example", "billing@mail.demo.example"),
            ("mail.demo.example", OURS),
            ("demo.example", "billing@notdemo.example"),
            ("demo.example", '"x@demo.example"@evil.example'),
        ],
    )
    async def test_near_it(self, pool: db.Pool, house: House, neighbour: House, allowed: str, address: str) -> None:
        await allow(pool, house, allowed)
        with pytest.raises(errors.Invalid):
            await save(pool, house, address)

    async def test_sender_that_stays(self, pool: db.Pool, house: House, neighbour: House) -> None:
        """A pipeline whose domain is no longer allowed can be paused."""
        await allow(pool, house, "demo.example")
        pipeline_id = await save(pool, house, OURS)
        async with db.transaction(pool) as database:
            await organizations_senders.forbid_sender(
                database, organization_id=house.organization_id, text="demo.example"
            )
        await change(pool, house, pipeline_id, paused=True)

    async def test_alone_on_the_installation(self, pool: db.Pool, house: House) -> None:
        """Nothing is to be set up, and what it sent from stays its own when others come."""
        pipeline_id = await save(pool, house, OURS)
        await change(pool, house, pipeline_id, sender_address="shop@second.example")
        assert ["demo.example", "second.example"] == await senders(pool, house)


class TestAllow:
    async def test_not_a_domain(self, pool: db.Pool, house: House) -> None:
        for text in ("", "demo", "a b.example", "@", "a@b@c.example", "x" * 400 + ".example"):
            with pytest.raises(errors.Invalid, match=r"Give a domain such as example\.com"):
                await allow(pool, house, text)

    async def test_too_many(self, pool: db.Pool, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(organizations_senders, "SENDERS_MAX", 1)
        assert ["one.example", "one.example"] == [await allow(pool, house, "one.example") for _ in range(2)]
        with pytest.raises(errors.Invalid, match="at most 1"):
            await allow(pool, house, "two.example")

    async def test_forbid_what_is_not_there(self, pool: db.Pool, house: House, neighbour: House) -> None:
        await allow(pool, house, "demo.example")
        with pytest.raises(errors.NotFound):
            async with db.transaction(pool) as database:
                await organizations_senders.forbid_sender(
                    database, organization_id=neighbour.organization_id, text="demo.example"
                )
        assert ["demo.example"] == await senders(pool, house)


async def test_migration_takes_over_what_pipelines_have(pool: db.Pool, house: House, neighbour: House) -> None:
    """Of a domain that two organizations send from each gets its own addresses."""
    for owner, addresses in ((house, ("a@One.example", "Ann@shared.example", "b@one.example")),
                             (neighbour, ("eve@shared.example", "c@ελληνικά.example"))):  # fmt: skip
        for address in addresses:
            pipeline_id = await save(pool, owner, None)
            async with db.transaction(pool) as database:
                await database.execute(
                    "update pipeline set sender_address = $2 where pipeline_id = $1", pipeline_id, address
                )
    file = (migrations.FOLDER / "0028_sender_domains.sql").read_text(encoding="utf-8")
    async with db.transaction(pool) as database:
        await database.execute(file[file.index("insert into") :].rstrip().removesuffix(";"))  # pyrefly: ignore[bad-argument-type]
        assert [] == await pipelines.list_refused_senders(database)
    assert ["ann@shared.example", "one.example"] == await senders(pool, house)
    assert ["eve@shared.example", "ελληνικά.example"] == await senders(pool, neighbour)
