"""`afterword secret`: a new one while everything works; killing it is in tests/journeys."""

import re
from pathlib import Path

import pytest

from afterword.core import keys
from afterword.core.keys import Secret
from afterword.kit import db, sealing
from afterword.kit.settings import Settings
from afterword.run.cli import context
from tests.run.cli.shell import MORE, shell

FIRST = "f" * 64


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose secret stands in a file."""
    monkeypatch.setitem(MORE, "AFTERWORD_SECRET", "")
    (tmp_path / "data").mkdir()
    file = tmp_path / "data/secret"
    file.write_text(FIRST)
    file.chmod(0o600)
    return tmp_path


def secret_in(folder: Path) -> Secret:
    return context.secret_of(Settings(data_dir=folder / "data"))


def steps_of(printed: str) -> list[dict[str, str]]:
    """The settings of each step that `secret rotate` printed."""
    parts = re.split(r"^\d\. ", printed, flags=re.MULTILINE)[1:]
    found = [dict(line.split("=", 1) for line in part.splitlines() if line.startswith("AFTERWORD_")) for part in parts]
    return [step for step in found if step]


async def add_logins(pool: db.Pool, secret: bytes, *, number: int) -> None:
    names = [f"{one:022}" for one in range(number)]
    values = [sealing.seal(name, secret=secret, context=f"totp:{name}") for name in names]
    async with db.transaction(pool) as database:
        await database.execute(
            """insert into login (login_id, email, password_hash, totp_secret)
               select n, n || '@a.example', 'x', v from unnest($1::text[], $2::bytea[]) as t (n, v)""",
            names,
            values,
        )


async def opened(pool: db.Pool, secret: Secret) -> int:
    """The number of values that this secret decrypts."""
    async with db.connection(pool) as database:
        rows = await database.fetch("select login_id, totp_secret from login")
    for row in rows:
        context_of_row = f"totp:{row['login_id']}"
        assert row["login_id"] == sealing.unseal(row["totp_secret"], secret=secret, context=context_of_row)
    return len(rows)


class TestRefusals:
    def test_nothing_to_retire(self, folder: Path, database_url: str) -> None:
        assert "no secret of before" in shell(database_url, folder, "secret", "retire").stderr

    async def test_too_early(self, pool: db.Pool, folder: Path, database_url: str) -> None:
        await add_logins(pool, secret_in(folder), number=3)
        assert 0 == shell(database_url, folder, "secret", "rotate").returncode
        refused = shell(database_url, folder, "secret", "retire")
        assert (1, True) == (refused.returncode, "3 values are still sealed with a secret of before" in refused.stderr)

    def test_file_that_is_no_list(self, folder: Path, database_url: str) -> None:
        (folder / "data/secret.before").write_text("nonsense")
        assert "cannot be read" in shell(database_url, folder, "secret", "reseal").stderr


async def test_doctor_tells_of_unused_tokens(pool: db.Pool, folder: Path, database_url: str) -> None:
    made = shell(database_url, folder, "seed")
    assert 0 == made.returncode, made.stderr
    assert "valid ones were not used" not in shell(database_url, folder, "doctor").stdout
    async with db.transaction(pool) as database:
        await database.execute("update token set created_time = now() - interval '91 days', last_used_time = null")
    assert "1 valid ones were not used for 90 days" in shell(database_url, folder, "doctor").stdout


class TestRotation:
    async def test_by_file(self, pool: db.Pool, folder: Path, database_url: str) -> None:
        """A process of before goes on, both ways; addresses keep their hashes; in the end the new one is alone."""
        running = secret_in(folder)
        await add_logins(pool, running, number=250)
        assert 0 == shell(database_url, folder, "secret", "rotate").returncode
        new = secret_in(folder)
        assert (FIRST.encode(), True) == (keys.addresses_of(new), bytes(new) != FIRST.encode())
        assert [0o600] * 2 == [(folder / f"data/{name}").stat().st_mode & 0o777 for name in ("secret", "secret.before")]
        assert (250, 250) == (await opened(pool, running), await opened(pool, new))
        assert "250 values are sealed with a secret of before" in shell(database_url, folder, "doctor").stdout
        resealed = shell(database_url, folder, "secret", "reseal")
        assert (0, True) == (resealed.returncode, "login.totp_secret: 250 sealed anew" in resealed.stdout)
        assert 250 == await opened(pool, running)  # it looked at the file again
        assert 0 == shell(database_url, folder, "secret", "retire").returncode
        alone = secret_in(folder)
        assert (bytes(new), (), FIRST.encode()) == (bytes(alone), tuple(alone.before), keys.addresses_of(alone))
        assert 250 == await opened(pool, alone)
        assert 0 == shell(database_url, folder, "secret", "rotate").returncode
        assert (FIRST.encode(), [bytes(new)]) == (keys.addresses_of(secret_in(folder)), list(secret_in(folder).before))

    async def test_by_settings(self, database_url: str, tmp_path: Path) -> None:
        """At each restart the processes of before and after open what the other sealed. The command changes nothing."""
        old = Settings(secret="k" * 32)
        first, second = steps_of(shell(database_url, tmp_path, "secret", "rotate").stdout)
        half_way = Settings(secret=old.secret, secret_before=first["AFTERWORD_SECRET_BEFORE"])
        new = Settings(secret=second["AFTERWORD_SECRET"], secret_before=second["AFTERWORD_SECRET_BEFORE"])
        assert {"AFTERWORD_SECRET_BEFORE"} == set(first)
        for pair in ((old, half_way), (half_way, new)):
            for one, other in (pair, pair[::-1]):
                sealed = sealing.seal("hunter2", secret=context.secret_of(one), context="account")
                assert "hunter2" == sealing.unseal(sealed, secret=context.secret_of(other), context="account")
        assert {b"k" * 32} == {keys.addresses_of(context.secret_of(one)) for one in (old, half_way, new)}
        assert not (tmp_path / "data/secret").exists()

    def test_backup_has_all(self, folder: Path, tmp_path: Path, database_url: str) -> None:
        shell(database_url, folder, "secret", "rotate")
        secret = secret_in(folder)
        elsewhere = Settings(data_dir=tmp_path / "elsewhere")
        context.take_secret(elsewhere, keys.packed(secret))
        taken = context.secret_of(elsewhere)
        assert (bytes(secret), list(secret.before), secret.addresses) == (
            bytes(taken),
            list(taken.before),
            taken.addresses,
        )
