"""The context of the commands: the secret in the data folder, and databases that are away or missing."""

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from afterword.kit import settings
from afterword.run.cli import CommandError, context
from tests.run.cli.shell import MORE, program, shell
from tests.sizes import one_of


async def secret_of(folder: Path, secret: str | None = None) -> bytes:
    chosen = settings.Settings(data_dir=folder, database_url="postgresql://nowhere/none", secret=secret)
    async with context.open_context(chosen, migrate=False) as opened:
        return opened.site.secret


class TestReader:
    async def test_none_is_named(self) -> None:
        async with context.open_reader(settings.Settings()) as reader:
            assert reader is None

    async def test_its_bound_is_the_setting(self, pool_url: str) -> None:
        chosen = settings.Settings(database_read_url=pool_url, database_read_lag_seconds=7)
        async with context.open_reader(chosen) as reader:
            assert reader is not None
            assert (0, 7) == (await reader.lag_within(), reader.lag_seconds_max)


class TestSecret:
    @pytest.mark.parametrize("content", ["", "short"])
    async def test_damaged(self, tmp_path: Path, content: str) -> None:
        (tmp_path / context.SECRET_FILE).write_text(content)
        with pytest.raises(CommandError, match="holds no secret"):
            await secret_of(tmp_path)

    async def test_readable_by_others(self, tmp_path: Path) -> None:
        file = tmp_path / context.SECRET_FILE
        file.write_text("s" * 64)
        file.chmod(0o644)
        with pytest.raises(CommandError, match="chmod 600"):
            await secret_of(tmp_path)

    async def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(CommandError, match="cannot be used"):
            await secret_of(tmp_path / "file" / "data")

    def test_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="cannot be written: "):
            context.write_whole(Path(__file__) / context.SECRET_FILE, "s")
        (tmp_path / context.SECRET_FILE / "in the way").mkdir(parents=True)
        with pytest.raises(CommandError, match="cannot be written"):
            context.write_whole(tmp_path / context.SECRET_FILE, "s")
        assert [context.SECRET_FILE] == [path.name for path in tmp_path.iterdir()]  # nobody finds the new one beside it

    async def test_made_once_and_kept(self, tmp_path: Path) -> None:
        first = await secret_of(tmp_path / "new")
        assert settings.SECRET_CHARACTERS_MIN <= len(first)
        assert first == await secret_of(tmp_path / "new")
        assert 0o600 == (tmp_path / "new" / context.SECRET_FILE).stat().st_mode & 0o777
        assert [context.SECRET_FILE] == [path.name for path in (tmp_path / "new").iterdir()]

    def test_processes_that_start_together_agree(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(8) as threads:
            made = set(threads.map(lambda _: context._make_secret(tmp_path / context.SECRET_FILE), range(32)))
        assert 1 == len(made)

    async def test_of_the_settings(self, tmp_path: Path) -> None:
        assert b"k" * 32 == await secret_of(tmp_path, "k" * 32)


class TestDataFolder:
    @pytest.mark.parametrize(
        ("mode", "is_root", "chosen", "expected"),
        [
            (0o700, True, "data", "/var/lib/afterword"),  # root in its home, where PostgreSQL's user cannot follow
            (0o711, True, "data", "data"),
            (0o700, False, "data", "data"),
            (0o700, True, "elsewhere", "elsewhere"),  # what somebody chose is never moved
        ],
    )
    def test_place(self, scratch: Path, mode: int, is_root: bool, chosen: str, expected: str) -> None:  # noqa: FBT001
        with tempfile.TemporaryDirectory(dir=scratch) as home:
            here = Path(home) / "afterword"
            here.mkdir()
            here.parent.chmod(mode)
            assert Path(expected) == context.data_folder(Path(chosen), here=here, is_root=is_root)


class TestContext:
    def test_a_database_that_is_away_is_a_sentence(self, tmp_path: Path) -> None:
        ended = program("postgresql://ann:hunter2@127.0.0.1:1/nowhere", tmp_path, "migrate")
        assert 1 == ended.returncode
        assert ended.stderr.startswith("afterword: The database cannot be used: ")
        assert "Traceback" not in ended.stderr
        assert "hunter2" not in ended.stderr

    @pytest.mark.parametrize("words", [("web",), ("worker",), ("doctor",), ("migrate",)])
    def test_keys_of_backups_are_read_first(
        self, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A wrong key would be told by the first backup, which is a day later."""
        monkeypatch.setitem(MORE, "AFTERWORD_BACKUP_RECIPIENTS", "age1hunter2")
        ended = shell("postgresql://127.0.0.1:1/nowhere", tmp_path, *words)
        assert (1, "AFTERWORD_BACKUP_RECIPIENTS must be public keys" in ended.stderr) == (ended.returncode, True)
        assert "hunter2" not in ended.stderr

    @pytest.mark.parametrize(
        "words",
        [("organization", "list"), ("token", "create", "--scope", "all"), *one_of([("worker",), ("web",)]), ("doctor",),
         ("questionnaire", "import", "after_delivery"), ("resume",)],
    )  # fmt: skip
    def test_where_there_is_no_installation_none_is_made(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        ended = program("", tmp_path, *words) if words[0] in {"worker", "web"} else shell("", tmp_path, *words)
        assert 1 == ended.returncode
        assert "There is no installation here: " in ended.stderr + ended.stdout
        assert not (tmp_path / "data").exists()

    async def test_a_worker_on_an_empty_database(self, empty_database_url: str, tmp_path: Path) -> None:
        ended = await asyncio.to_thread(program, empty_database_url, tmp_path, "worker")
        assert (1, "afterword: The database is empty. Run: afterword migrate") == (
            ended.returncode,
            ended.stderr.strip().splitlines()[-1],
        )
