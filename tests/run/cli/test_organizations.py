"""`afterword organization`: what operators type, and what they read."""

from pathlib import Path

from afterword.kit import db
from afterword.tenants.organizations import users
from afterword.tenants.organizations.applications import get_first_application_id
from tests.run.cli.shell import found, shell


class TestOrganization:
    async def test_wrong_fields_are_sentences(self, database_url: str, tmp_path: Path) -> None:
        words = ("Acme", "--name", "Acme", "--owner", "nobody", "--time-zone", "Mars")
        ended = shell(database_url, tmp_path, "organization", "create", *words)
        assert 1 == ended.returncode
        named = {line.strip().partition(":")[0] for line in ended.stderr.splitlines()[1:]}
        assert {"DOMAIN", "--time-zone", "--owner"} == named, ended.stderr

    def test_wrong_owner_founds_nothing(self, database_url: str, tmp_path: Path) -> None:
        words = ("organization", "create", "acme", "--name", "Acme", "--owner", "nobody")
        assert 1 == shell(database_url, tmp_path, *words).returncode
        assert "No organization.\n" == shell(database_url, tmp_path, "organization", "list").stdout

    def test_taken_domain(self, database_url: str, tmp_path: Path) -> None:
        found(database_url, tmp_path)
        ended = shell(database_url, tmp_path, "organization", "create", "acme", "--name", "A", "--owner", "a@b.example")
        assert (1, True) == (ended.returncode, "acme" in ended.stderr)

    async def test_ok(self, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        founded = found(database_url, tmp_path)
        assert ["ORGANIZATION_DOMAIN", "ORGANIZATION_ID", "APPLICATION_ID", "USER_ID"] == list(founded)
        organization_id = founded["ORGANIZATION_ID"]
        async with db.connection(pool) as database:
            owner = await users.get_user(database, organization_id=organization_id, user_id=founded["USER_ID"])
            first = await get_first_application_id(database, organization_id=organization_id)
        assert owner is not None
        assert ("owner", "ann@acme.example") == (owner.role, owner.email)
        assert first == founded["APPLICATION_ID"]
        listed = shell(database_url, tmp_path, "organization", "list").stdout
        unlocked = shell(database_url, tmp_path, "organization", "unlock", "acme")
        assert "log in from anywhere" in unlocked.stdout
        assert 0 != shell(database_url, tmp_path, "organization", "unlock", "nobody").returncode
        assert ["acme"] == [line.split()[0] for line in listed.splitlines()]
