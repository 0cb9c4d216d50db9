"""`afterword token`: made with the scopes that are named, and revoked by its beginning."""

from pathlib import Path

import pytest

from afterword import errors
from afterword.kit import db
from tests.conftest import House
from tests.run.cli.shell import found, opened_by, program, shell


class TestToken:
    def create(self, database_url: str, tmp_path: Path, *words: str, refused: str = "") -> str:
        """The text of a token; with `refused`, the sentence in which that stands."""
        ended = shell(database_url, tmp_path, "token", "create", *words)
        if refused:
            assert (1, True) == (ended.returncode, refused in ended.stderr), ended
            assert ended.stderr.startswith("afterword: ")
            return ended.stderr
        assert 0 == ended.returncode, ended
        return ended.stdout.strip()

    def test_no_organization(self, database_url: str, tmp_path: Path) -> None:
        self.create(database_url, tmp_path, "--scope", "Queue.Create", refused="afterword seed")

    def test_several_organizations(self, house: House, neighbour: House, database_url: str, tmp_path: Path) -> None:
        self.create(database_url, tmp_path, "--scope", "Queue.Create", refused="--organization")

    def test_unknown_organization(self, house: House, database_url: str, tmp_path: Path) -> None:
        words = ("--scope", "Queue.Create", "--organization", "nobody")
        self.create(database_url, tmp_path, *words, refused="“nobody”")

    @pytest.mark.parametrize("scope", ["Queue", "queue.create", "Queue.Create ", "*", ""])
    def test_unknown_scope(self, house: House, database_url: str, tmp_path: Path, scope: str) -> None:
        self.create(database_url, tmp_path, "--scope", "Queue.Create", "--scope", scope, refused="no such scope")

    async def test_ok(self, house: House, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        scopes = ["Queue.Create", "Questionnaire Instance.Update"]
        words = [word for scope in scopes for word in ("--scope", scope)]
        text = self.create(database_url, tmp_path, *words, "--organization", house.domain, "--days", "1")
        assert frozenset(scopes) == await opened_by(pool, text)
        async with db.connection(pool) as database:
            assert 1 == await database.fetch_value("select count(*) from token where expires_time > now()")

    async def test_of_a_user(self, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        founded = found(database_url, tmp_path)
        self.create(database_url, tmp_path, "--scope", "all", "--user", "Ann@ACME.example")
        async with db.connection(pool) as database:
            row = await database.fetch_row("select kind, user_id from token")
        assert {"kind": "user", "user_id": founded["USER_ID"]} == dict(row or {})

    def test_of_an_unknown_user(self, house: House, database_url: str, tmp_path: Path) -> None:
        self.create(database_url, tmp_path, "--scope", "all", "--user", "nobody@example.com", refused="e-mail address")

    def test_bad_setting_is_a_sentence(self, tmp_path: Path) -> None:
        ended = program("mysql://user:hunter2@host/x", tmp_path, "migrate")
        assert 2 == ended.returncode
        assert "AFTERWORD_DATABASE_URL" in ended.stderr
        assert "hunter2" not in ended.stderr
        assert "Traceback" not in ended.stderr


class TestRevoke:
    @pytest.mark.parametrize("beginning", ["", "afw_", "afw_1234567", "afw_12345678_", "%" * 8, "afw_" + "a" * 54])
    def test_another_shape(self, house: House, database_url: str, tmp_path: Path, beginning: str) -> None:
        ended = shell(database_url, tmp_path, "token", "revoke", beginning)
        assert (1, True) == (ended.returncode, "beginning" in ended.stderr)

    def test_unknown(self, house: House, database_url: str, tmp_path: Path) -> None:
        ended = shell(database_url, tmp_path, "token", "revoke", "afw_00000000")
        assert (1, "afterword: No token begins so.\n") == (ended.returncode, ended.stderr)

    async def test_ok(self, house: House, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        other = shell(database_url, tmp_path, "token", "create", "--scope", "Queue.Read").stdout.strip()
        assert "Revoked “Tests”.\n" == shell(database_url, tmp_path, "token", "revoke", house.token[:12]).stdout
        with pytest.raises(errors.Unauthorized):
            await opened_by(pool, house.token)
        assert frozenset({"Queue.Read"}) == await opened_by(pool, other)
