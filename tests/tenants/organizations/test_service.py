"""Organizations, applications, users and tokens: what is refused, and what comes of the rest."""

from dataclasses import replace
from datetime import timedelta

import pytest

from afterword import errors
from afterword.core.organizations.access import SCOPES, installation
from afterword.kit import db
from afterword.tenants.organizations import service, users
from afterword.tenants.organizations.applications import CUSTOM_APPLICATION_TYPE_ID, get_application
from afterword.tenants.organizations.tokens import access, store as tokens_store

READER = replace(installation("o" * 22), scopes=frozenset({"Queue.Read"}))


def codes(refused: pytest.ExceptionInfo[errors.Invalid]) -> list[tuple[str | None, str]]:
    return [(error.pointer, error.code) for error in refused.value.errors]


class TestCreateOrganization:
    async def test_everything_wrong(self, database: db.Database) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await service.create_organization(
                database,
                domain="Demo Shop",
                display_name="",
                time_zone="Mars/Olympus",
                default_locale="!",
                postal_address="x" * 501,
                now=database.clock.now(),
            )
        assert [
            ("/domain", "invalid_format"),
            ("/time_zone", "unknown_value"),
            ("/default_locale", "invalid_locale"),
            ("/display_name", "too_short"),
            ("/postal_address", "too_long"),
        ] == codes(refused)

    async def test_no_time_zone_or_domain(self, database: db.Database) -> None:
        zones = [("demo", zone) for zone in ("", "/etc/passwd", "../UTC", "Europe/Athens\0", "Europe")]
        domains = [(domain, "UTC") for domain in ("", "-a", "a-", "a_b", "a.b", "a" * 64, "demo\n", "Demo")]
        for domain, time_zone in (*zones, *domains):
            with pytest.raises(errors.Invalid):
                await service.create_organization(
                    database, domain=domain, display_name="Demo", time_zone=time_zone, now=database.clock.now()
                )

    @pytest.mark.usefixtures("organization_id")
    async def test_domain_is_taken(self, database: db.Database) -> None:
        with pytest.raises(db.Taken):
            await service.create_organization(database, domain="demo", display_name="Demo", now=database.clock.now())

    async def test_ok(self, database: db.Database) -> None:
        organization = await service.create_organization(
            database,
            domain="shop-1",
            display_name="Shop",
            time_zone="Europe/Athens",
            default_locale="EL_gr",
            postal_address="1 Street",
            now=database.clock.now(),
        )
        assert "el-gr" == organization.default_locale
        assert organization == await service.get_organization(database, organization_id=organization.organization_id)
        assert organization == await service.get_organization_by_domain(database, domain="SHOP-1")
        assert [organization] == await service.list_organizations(database)


class TestCreateApplication:
    async def test_wrong(self, database: db.Database, organization_id: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await service.create_application(
                database,
                organization_id=organization_id,
                display_name="x" * 201,
                description="x" * 2001,
                time_zone="Nowhere",
                default_locale="!",
                website_urls=["https://example.com"] * 51,
                now=database.clock.now(),
            )
        assert [
            ("/display_name", "too_long"),
            ("/description", "too_long"),
            ("/time_zone", "unknown_value"),
            ("/default_locale", "invalid_locale"),
            ("/website_urls", "too_many"),
        ] == codes(refused)

    async def test_ok(self, database: db.Database, organization_id: str) -> None:
        application = await service.create_application(
            database, organization_id=organization_id, display_name="Shop", now=database.clock.now()
        )
        assert CUSTOM_APPLICATION_TYPE_ID == application.application_type_id
        for among in ((), (application.application_id,)):
            assert application == await get_application(
                database, organization_id=organization_id, application_id=application.application_id, among=among
            )


class TestCreateUser:
    async def test_everything_wrong(self, database: db.Database, organization_id: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await service.create_user(
                database,
                organization_id=organization_id,
                email="ann@example.com\r\nBcc: eve@example.com",
                role="god",
                display_name="x" * 101,
                locale="!",
                time_zone="Nowhere",
                application_ids=["a" * 22],
                now=database.clock.now(),
            )
        assert [
            ("/email", "invalid_address"),
            ("/time_zone", "unknown_value"),
            ("/locale", "invalid_locale"),
            ("/display_name", "too_long"),
            ("/role", "unknown_value"),
            ("/application_ids/0", "unknown_id"),
        ] == codes(refused)

    async def test_address_is_taken(self, database: db.Database, organization_id: str) -> None:
        now = database.clock.now()
        await service.create_user(
            database, organization_id=organization_id, email="ann@example.com", role="owner", now=now
        )
        with pytest.raises(db.Taken):
            await service.create_user(
                database, organization_id=organization_id, email="Ann@Example.com", role="agent", now=now
            )

    async def test_ok(self, database: db.Database, organization_id: str) -> None:
        user = await service.create_user(
            database, organization_id=organization_id, email="ann@example.com", role="agent", now=database.clock.now()
        )
        assert user == await users.get_user(database, organization_id=organization_id, user_id=user.user_id)


class TestCreateToken:
    async def create(
        self, database: db.Database, organization_id: str, **changes: object
    ) -> tuple[tokens_store.Token, str]:
        wanted: dict[str, object] = {
            "title": "Shop",
            "scopes": ["Queue.Create"],
            "kind": "organization",
            "user_id": None,
            **changes,
        }
        return await service.create_token(
            database,
            organization_id=organization_id,
            now=database.clock.now(),
            **wanted,  # pyrefly: ignore[bad-argument-type]
        )

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"scopes": []}, ("/scopes", "too_few")),
            ({"scopes": "Queue.Create"}, ("/scopes", "too_many")),
            ({"scopes": ["x"] * 201}, ("/scopes", "too_many")),
            ({"scopes": ["Queue.Create", "queue.create"]}, ("/scopes/1", "unknown_scope")),
            ({"scopes": ["Queue.Create "]}, ("/scopes/0", "unknown_scope")),
            ({"scopes": ["*"]}, ("/scopes/0", "unknown_scope")),
            ({"maker": READER}, ("/scopes/0", "unknown_scope")),
            ({"title": ""}, ("/title", "too_short")),
            ({"kind": "user"}, ("/kind", "required")),
            ({"user_id": "u" * 22}, ("/kind", "required")),
            ({"kind": "user", "user_id": "u" * 22}, ("/user_id", "unknown_id")),
            ({"application_ids": ["a" * 22]}, ("/application_ids/0", "unknown_id")),
            ({"application_ids": ["a" * 22] * 101}, ("/application_ids", "too_many")),
        ],
    )
    async def test_wrong(
        self, database: db.Database, organization_id: str, changes: dict[str, object], expected: tuple[str, str]
    ) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await self.create(database, organization_id, **changes)
        assert [expected] == codes(refused)

    async def test_expired_from_the_start(self, database: db.Database, organization_id: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await self.create(database, organization_id, expires_time=database.clock.now())
        assert [("/expires_time", "out_of_range")] == codes(refused)

    async def test_other_organizations_things(self, database: db.Database, organization_id: str) -> None:
        now = database.clock.now()
        other = await service.create_organization(database, domain="other", display_name="Other", now=now)
        user = await service.create_user(
            database, organization_id=other.organization_id, email="a@b.c", role="owner", now=now
        )
        application = await service.create_application(
            database, organization_id=other.organization_id, display_name="Shop", now=now
        )
        for changes in (
            {"kind": "user", "user_id": user.user_id},
            {"application_ids": [application.application_id]},
        ):
            with pytest.raises(errors.Invalid):
                await self.create(database, organization_id, **changes)

    async def test_ok(self, database: db.Database, organization_id: str) -> None:
        token, text = await self.create(database, organization_id, scopes=SCOPES)
        assert access.is_token(text)
        assert sorted(SCOPES) == token.scopes
        assert [token] == await tokens_store.list_tokens_like(database, hint=token.selector, limit=2)
        row = await database.fetch_value("select to_jsonb(t)::text || t::text from token t")
        assert text[21:53] not in row


class TestRevokeToken:
    async def test_twice(self, database: db.Database, organization_id: str) -> None:
        token, _ = await TestCreateToken().create(database, organization_id)
        now = database.clock.now()
        for later in (now, now + timedelta(days=1)):
            revoked = await service.revoke_token(
                database, organization_id=organization_id, token_id=token.token_id, now=later
            )
            assert now == revoked.revoked_time
