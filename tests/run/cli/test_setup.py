"""`afterword setup`: the link to the first owner, and no second one."""

from pathlib import Path

from afterword.kit import db
from tests.run.cli.shell import shell
from tests.tenants.logins.conftest import found


def test_ok(database_url: str, tmp_path: Path) -> None:
    ended = shell(database_url, tmp_path, "setup")
    assert 0 == ended.returncode, ended
    assert "/console/setup/" in ended.stdout


async def test_there_is_an_owner(pool: db.Pool, database_url: str, tmp_path: Path) -> None:
    await found(pool)
    ended = shell(database_url, tmp_path, "setup")
    assert (1, True) == (ended.returncode, "There is an owner already" in ended.stderr), ended


async def test_several_organizations(pool: db.Pool, database_url: str, tmp_path: Path) -> None:
    await found(pool)
    await found(pool, domain="patras", email="pan@patras.example")
    ended = shell(database_url, tmp_path, "setup")
    assert (1, True) == (ended.returncode, "--organization" in ended.stderr), ended
    unknown = shell(database_url, tmp_path, "setup", "--organization", "nobody")
    assert (1, True) == (unknown.returncode, "“nobody”" in unknown.stderr), unknown
