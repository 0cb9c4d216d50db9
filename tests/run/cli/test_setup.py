import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterword.core import keys
from afterword.core.keys import Secret
from afterword.kit import db, sealing
from afterword.kit.settings import Settings
from afterword.run import embedded, migrations
from afterword.run.cli import context, setup
from tests.run.backups.conftest import contents, differing, done, old_postgresql, refused
from tests.run.cli.shell import MORE, Operator
from tests.run.embedded.servers import running, value
from tests.tenants.logins.conftest import found


def test_the_link_to_the_first_owner(operator: Operator) -> None:
    assert "/console/setup/" in operator.done("setup")


async def test_there_is_an_owner(pool: db.Pool, operator: Operator) -> None:
    await found(pool)
    assert "There is an owner already" in operator.refused("setup")
    await found(pool, domain="patras", email="pan@patras.example")
    assert "--organization" in operator.refused("setup")
    assert "“nobody”" in operator.refused("setup", "--organization", "nobody")


async def test_migrate(empty_database_url: str, tmp_path: Path) -> None:
    """An empty database is brought to this release's schema, and again changes nothing."""
    told = {Operator(empty_database_url, tmp_path).done("migrate") for _ in range(2)}
    async with await db.open_pool(empty_database_url, size_max=1) as pool, db.connection(pool) as database:
        assert {f"The schema is at {await migrations.current(database.fetch_value)}.\n"} == told
        assert await migrations.is_usable(database)


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
    def test_nothing_to_retire(self, folder: Path, operator: Operator) -> None:
        assert "no secret of before" in operator.refused("secret", "retire")

    async def test_too_early(self, pool: db.Pool, folder: Path, operator: Operator) -> None:
        await add_logins(pool, secret_in(folder), number=3)
        operator.done("secret", "rotate")
        assert "3 values are still sealed with a secret of before" in operator.refused("secret", "retire")

    def test_file_that_is_no_list(self, folder: Path, operator: Operator) -> None:
        (folder / "data/secret.before").write_text("nonsense")
        assert "cannot be read" in operator.refused("secret", "reseal")


async def test_doctor_tells_of_another_secret(pool: db.Pool, folder: Path, operator: Operator) -> None:
    await add_logins(pool, secret_in(folder), number=3)
    assert "another secret" not in operator.run("doctor").stdout
    (folder / "data/secret").write_text("g" * 64)
    examined = operator.run("doctor").stdout
    assert "FAULT  secret           3 values (logins of providers, keys of webhooks, second factors) are" in examined
    assert "Set AFTERWORD_SECRET to that one again, or put its file back into the data folder" in examined
    assert "3 values are opened by no secret that is known here" in operator.refused("secret", "reseal")


async def test_doctor_tells_of_unused_tokens(pool: db.Pool, folder: Path, operator: Operator) -> None:
    operator.done("seed")
    assert "valid ones were not used" not in operator.run("doctor").stdout
    async with db.transaction(pool) as database:
        await database.execute("update token set created_time = now() - interval '91 days', last_used_time = null")
    assert "1 valid ones were not used for 90 days" in operator.run("doctor").stdout


class TestRotation:
    async def test_by_file(self, pool: db.Pool, folder: Path, operator: Operator) -> None:
        """A process of before goes on, both ways; addresses keep their hashes; in the end the new one is alone."""
        running = secret_in(folder)
        await add_logins(pool, running, number=250)
        operator.done("secret", "rotate")
        new = secret_in(folder)
        assert (FIRST.encode(), True) == (keys.addresses_of(new), bytes(new) != FIRST.encode())
        assert [0o600] * 2 == [(folder / f"data/{name}").stat().st_mode & 0o777 for name in ("secret", "secret.before")]
        assert (250, 250) == (await opened(pool, running), await opened(pool, new))
        assert "250 values are sealed with a secret of before" in operator.run("doctor").stdout
        assert "login.totp_secret: 250 sealed anew" in operator.done("secret", "reseal")
        assert 250 == await opened(pool, running)  # it looked at the file again
        operator.done("secret", "retire")
        alone = secret_in(folder)
        assert (bytes(new), (), FIRST.encode()) == (bytes(alone), tuple(alone.before), keys.addresses_of(alone))
        assert 250 == await opened(pool, alone)
        operator.done("secret", "rotate")
        assert (FIRST.encode(), [bytes(new)]) == (keys.addresses_of(secret_in(folder)), list(secret_in(folder).before))

    async def test_by_settings(self, operator: Operator) -> None:
        """At each restart the processes of before and after open what the other sealed. The command changes nothing."""
        old = Settings(secret="k" * 32)
        first, second = steps_of(operator.done("secret", "rotate"))
        half_way = Settings(secret=old.secret, secret_before=first["AFTERWORD_SECRET_BEFORE"])
        new = Settings(secret=second["AFTERWORD_SECRET"], secret_before=second["AFTERWORD_SECRET_BEFORE"])
        assert {"AFTERWORD_SECRET_BEFORE"} == set(first)
        for pair in ((old, half_way), (half_way, new)):
            for one, other in (pair, pair[::-1]):
                sealed = sealing.seal("hunter2", secret=context.secret_of(one), context="account")
                assert "hunter2" == sealing.unseal(sealed, secret=context.secret_of(other), context="account")
        assert {b"k" * 32} == {keys.addresses_of(context.secret_of(one)) for one in (old, half_way, new)}
        assert not (operator.folder / "data/secret").exists()

    def test_backup_has_all(self, folder: Path, operator: Operator) -> None:
        operator.done("secret", "rotate")
        secret = secret_in(folder)
        elsewhere = Settings(data_dir=folder / "elsewhere")
        context.take_secret(elsewhere, keys.packed(secret))
        taken = context.secret_of(elsewhere)
        assert (bytes(secret), secret.addresses) == (bytes(taken), taken.addresses)
        assert list(secret.before) == list(taken.before)


@pytest.fixture
def place(scratch: Path) -> Iterator[Path]:
    """A folder with a short path that every user can pass; its folder `data` is the data folder."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t", dir=scratch))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


class TestMoveRefusals:
    async def test_embedded_already(self, place: Path) -> None:
        assert "AFTERWORD_DATABASE_URL to yours" in await refused("", place, "database", "move", "embedded")

    @pytest.mark.parametrize("address", ["mysql://a/b", "http://[", "elsewhere"])
    async def test_no_address(self, place: Path, address: str) -> None:
        assert "ddress" in await refused("", place, "database", "move", address)

    async def test_nothing_here(self, place: Path) -> None:
        assert "nothing to move" in await refused("", place, "database", "move", "postgresql://a@localhost/b")
        assert "no installation here" in await refused("", place, "database", "upgrade")

    async def test_ones_own_server(self, database_url: str, place: Path) -> None:
        assert "yours to change" in await refused(database_url, place, "database", "upgrade")


async def test_there_and_back(empty_database_url: str, place: Path) -> None:
    """Each place refuses to be used once another one has the data."""
    await done("", place, "migrate")
    Operator("", place).found()
    async with running(place / "data") as server:
        before = await contents(server.url)
    text = await done("", place, "database", "move", empty_database_url)
    assert re.search(r"Moved to the database test_\w+ at the socket of this machine\.", text)
    assert text == await done("", place, "database", "move", empty_database_url)
    assert {} == differing(before, await contents(empty_database_url))
    assert "acme" in await done(empty_database_url, place, "organization", "list")
    assert "There is no installation here" in await refused("", place, "organization", "list")

    before = await contents(empty_database_url)
    assert "Unset AFTERWORD_DATABASE_URL" in await done(empty_database_url, place, "database", "move", "embedded")
    assert "acme" in await done("", place, "organization", "list")
    assert "has the data now" in await refused(empty_database_url, place, "organization", "list")
    async with running(place / "data") as server:
        assert {} == differing(before, await contents(server.url))


async def test_no_newer_one(place: Path) -> None:
    await done("", place, "migrate")
    assert "is the newest that is here" in await done("", place, "database", "upgrade")


class TestUpgrade:
    async def test_rows_and_versions(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = await old_cluster(place, monkeypatch)
        text = await done("", place, "database", "upgrade")
        assert f"Remove {place / 'data/postgresql-15'} once all is well." in text
        async with running(place / "data") as server:
            assert server.binaries.major > 15
            assert {} == differing(before, await contents(server.url))
        assert "acme" in await done("", place, "organization", "list")
        assert "is the newest that is here" in await done("", place, "database", "upgrade")

    @pytest.mark.parametrize("step", ["set_ready", "swap"])
    async def test_killed(self, place: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        before = await old_cluster(place, monkeypatch)
        with monkeypatch.context() as patch:

            def kill(_: Path) -> None:
                raise OSError("the power failed")

            patch.setattr(setup.embedded, step, kill)
            with pytest.raises(OSError, match="the power failed"):
                await done("", place, "database", "upgrade")
        assert "afterword database upgrade" in await refused("", place, "organization", "list")
        await done("", place, "database", "upgrade")
        async with running(place / "data") as server:
            assert {} == differing(before, await contents(server.url))


async def old_cluster(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """An installation under PostgreSQL 15; its contents."""
    folder = old_postgresql()
    with monkeypatch.context() as patch:
        patch.setitem(MORE, "AFTERWORD_POSTGRES_BIN", str(folder))
        await done("", place, "migrate")
        Operator("", place).found()
    assert 15 == int((place / "data/postgresql/cluster/PG_VERSION").read_text())
    async with await embedded.start(place / "data", bin_folder=folder) as server:
        assert 15 == int(await value(server.url, "show server_version_num")) // 10_000
        return await contents(server.url)
