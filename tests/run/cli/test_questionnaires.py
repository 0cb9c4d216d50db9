"""`afterword questionnaire import`: what is wrong is told by its line, and each edit is the next version.

A file of another system becomes a draft with a report.
"""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from afterword.kit import db
from afterword.run.cli import questionnaires
from afterword.run.cli.demo import seed
from tests.conftest import House
from tests.core.foreign.lss import Q, survey
from tests.core.foreign.samples import SAMPLES
from tests.run.cli.shell import SITE, Operator

FILE = questionnaires.read(Path("relationship"))


def imported(operator: Operator, text: str, *words: str) -> "CompletedProcess[str]":
    file = operator.folder / "mine.yaml"
    file.write_text(text)
    return operator.run("questionnaire", "import", str(file), *words)


class TestCheck:
    async def test_nothing_is_stored(self, operator: Operator, pool: db.Pool) -> None:
        await seed(pool, SITE)
        bad = imported(operator, FILE.replace("type: nps", "type: npx", 1), "--check")
        assert (1, True) == (bad.returncode, "type" in bad.stderr)
        good = imported(operator, FILE, "--check")
        assert (0, "Nothing is wrong; it would be version 1.\n") == (good.returncode, good.stdout)
        async with db.connection(pool) as database:
            assert 0 == await database.fetch_value("select count(*) from questionnaire where slug = 'mine'")

    @pytest.mark.parametrize(("public", "who"), [("true", "anybody, at http"), ("false", "people whom you ask.")])
    async def test_who_may_answer(self, operator: Operator, pool: db.Pool, public: str, who: str) -> None:
        await seed(pool, SITE)
        assert f"Who may answer: {who}" in imported(operator, f"public_link: {public}\n{FILE}").stdout


class TestImport:
    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (None, "cannot be read"),
            (b"\xff\xd8\xff", "UTF-8"),
            (b"#" * (questionnaires.FILE_BYTES_MAX + 1), "1,048,576"),
        ],
        ids=["no file", "no text", "too large"],
    )
    def test_files(self, house: House, operator: Operator, content: bytes | None, sentence: str) -> None:
        file = operator.folder / "mine.yaml"
        if content is not None:
            file.write_bytes(content)
        assert sentence in operator.refused("questionnaire", "import", str(file))

    def test_faults_name_line_and_field(self, house: House, operator: Operator) -> None:
        text = "display_name: X\ndefault_locale: en\ngroups:\n  - key: a\n    questions:\n      - key: b\n"
        ended = imported(operator, text)
        assert (1, True) == (ended.returncode, ended.stderr.startswith("afterword: "))
        assert any("line 6" in line and "questions[0].type" in line for line in ended.stderr.splitlines())

    def test_an_edited_file_is_the_next_version(self, house: House, operator: Operator) -> None:
        edited = FILE.replace("How likely are you", "How likely would you be")
        told = [imported(operator, text).stdout.partition(" of ")[0] for text in (FILE, FILE, edited)]
        assert ["Published as version 1", "Nothing new: already published as version 1",
                "Published as version 2"] == told  # fmt: skip


class TestForeign:
    """Files of other systems."""

    def bring(
        self, operator: Operator, content: bytes, *words: str, name: str = "bakery.lss"
    ) -> "CompletedProcess[str]":
        file = operator.folder / name
        file.write_bytes(content)
        return operator.run("questionnaire", "import", str(file), *words)

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"<survey/>", "It reads its own YAML files (with a display_name), LimeSurvey (.lss, .txt)"),
            (b"PK\x03\x04", "cannot read bakery.lss"),
            (b"%PDF-1.7\n", "cannot read bakery.lss"),
            (b"Dear team,\nplease: import this", "cannot read bakery.lss"),
            (b"", "cannot read bakery.lss"),
            (b'{"questions": []}', "cannot read bakery.lss"),
            (SAMPLES["limesurvey"][:-99], "not a whole survey"),
            (SAMPLES["limesurvey"].replace(b"Bread", b"\xff"), "not UTF-8"),
            (b"<LimeSurveyDocType>" + bytes(5_000_000), "5,000,000"),
        ],
        ids=["unknown", "zip", "pdf", "letter", "empty", "json", "cut", "encoding", "too large"],
    )
    def test_refused(self, house: House, operator: Operator, content: bytes, told: str) -> None:
        ended = self.bring(operator, content)
        assert (1, True) == (ended.returncode, told in ended.stderr)

    async def test_check_stores_nothing(self, house: House, operator: Operator, pool: db.Pool) -> None:
        told = self.bring(operator, SAMPLES["limesurvey"], "--check")
        assert (0, "Nothing is stored.") == (told.returncode, told.stdout.splitlines()[-1])
        async with db.connection(pool) as database:
            assert 0 == await database.fetch_value("select count(*) from questionnaire where slug = 'bakery'")

    async def test_draft_and_report(self, house: House, operator: Operator, pool: db.Pool) -> None:
        content = survey([Q("a", "S"), Q("b", "?"), Q("c", "K", rows={"x": "X", "y": "Y"}, relevance="sum(a) > 1")])
        lines = self.bring(operator, content).stdout.splitlines()
        assert "taken: question a" in lines
        assert any(line.startswith("left out: question b: Afterword has no question of the type ?") for line in lines)
        assert any(line.startswith("taken differently: question c: It became 2 questions") for line in lines)
        assert any(line.startswith("left out: condition c: ") and "sum(a) > 1" in line for line in lines)
        assert "2 of 3 questions are whole, 0 of 1 conditions. 0 other things are left out." == lines[-2]
        assert lines[-1].startswith("Made the draft of questionnaire ")
        async with db.connection(pool) as database:
            found = await database.fetch_value(
                "select display_name from questionnaire where slug = 'bakery' and published_version_id is null"
            )
        assert "bakery" == found
        again = self.bring(operator, content)
        assert (1, True) == (again.returncode, "a questionnaire of this name already" in again.stderr)
        assert 0 == self.bring(operator, content, name="bakery 2.lss").returncode
