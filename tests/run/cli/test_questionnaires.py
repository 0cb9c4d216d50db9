"""`afterword questionnaire import`: what is wrong is told by its line, and each edit is the next version."""

from pathlib import Path

import pytest

from afterword.kit import db
from afterword.run.cli import questionnaires
from afterword.run.cli.demo import seed
from tests.conftest import House
from tests.run.cli.shell import SITE, shell


class TestCheck:
    async def test_nothing_is_stored(self, database_url: str, pool: db.Pool, tmp_path: Path) -> None:
        await seed(pool, SITE)
        file = tmp_path / "mine.yaml"
        file.write_text(questionnaires.read(Path("relationship")).replace("type: nps", "type: npx", 1))
        bad = shell(database_url, tmp_path, "questionnaire", "import", str(file), "--check")
        assert (1, True) == (bad.returncode, "type" in bad.stderr)
        file.write_text(questionnaires.read(Path("relationship")))
        good = shell(database_url, tmp_path, "questionnaire", "import", str(file), "--check")
        assert (0, "Nothing is wrong; it would be version 1.\n") == (good.returncode, good.stdout)
        async with db.connection(pool) as database:
            assert 0 == await database.fetch_value("select count(*) from questionnaire where slug = 'mine'")

    @pytest.mark.parametrize(("public", "who"), [("true", "anybody, at http"), ("false", "people whom you ask.")])
    async def test_who_may_answer(
        self, database_url: str, pool: db.Pool, tmp_path: Path, public: str, who: str
    ) -> None:
        await seed(pool, SITE)
        file = tmp_path / "mine.yaml"
        file.write_text(f"public_link: {public}\n" + questionnaires.read(Path("relationship")))
        ended = shell(database_url, tmp_path, "questionnaire", "import", str(file))
        assert f"Who may answer: {who}" in ended.stdout, ended.stderr


class TestImport:
    def refused(self, database_url: str, tmp_path: Path, content: bytes | None) -> str:
        file = tmp_path / "mine.yaml"
        if content is not None:
            file.write_bytes(content)
        ended = shell(database_url, tmp_path, "questionnaire", "import", str(file))
        assert (1, True) == (ended.returncode, ended.stderr.startswith("afterword: ")), ended
        return ended.stderr

    def test_files(self, house: House, database_url: str, tmp_path: Path) -> None:
        assert "cannot be read" in self.refused(database_url, tmp_path, None)
        assert "UTF-8" in self.refused(database_url, tmp_path, b"\xff\xd8\xff")
        assert "1,048,576" in self.refused(database_url, tmp_path, b"#" * (questionnaires.FILE_BYTES_MAX + 1))

    def test_faults_name_line_and_field(self, house: House, database_url: str, tmp_path: Path) -> None:
        text = b"display_name: X\ndefault_locale: en\ngroups:\n  - key: a\n    questions:\n      - key: b\n"
        told = self.refused(database_url, tmp_path, text).splitlines()
        assert any("line 6" in line and "questions[0].type" in line for line in told)

    def test_an_edited_file_is_the_next_version(self, house: House, database_url: str, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        text = questionnaires.read(Path("relationship"))
        told: list[str] = []
        edited = text.replace("How likely are you", "How likely would you be")
        for content in (text, text, edited):
            file.write_text(content)
            told.append(shell(database_url, tmp_path, "questionnaire", "import", str(file)).stdout.partition(" of ")[0])
        assert ["Published as version 1", "Nothing new: already published as version 1",
                "Published as version 2"] == told  # fmt: skip
