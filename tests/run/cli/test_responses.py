"""`afterword responses import`: lines of JSON, checked or brought in, and gone on with where it was interrupted."""

import json
from pathlib import Path
from typing import Any

import pytest

from afterword.kit import db
from afterword.listening.imports import files, service
from afterword.run.cli import responses
from tests.conftest import House
from tests.run.cli.shell import Operator, program

TIME = "2024-05-01T10:00:00Z"


@pytest.fixture
async def asked(pool: db.Pool, house: House) -> str:
    """The first question of the questionnaire with a score."""
    async with db.connection(pool) as database:
        return await database.fetch_value(
            """select q ->> 'question_id' from questionnaire_version v,
                 jsonb_array_elements(v.definition -> 'groups') g, jsonb_array_elements(g -> 'questions') q
               where v.questionnaire_id = $1 and q ->> 'type' in ('nps', 'csat', 'ces') limit 1""",
            house.questionnaire_id,
        )


def line(asked: str, place: int, value: object = 5, **members: Any) -> str:
    return json.dumps({"external_id": f"R-{place}", "completed_time": TIME, "answers": {asked: value}, **members})


def write(operator: Operator, *lines: str) -> Path:
    file = operator.folder / "past.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8-sig")
    return file


async def counted(pool: db.Pool) -> list[tuple[int, ...]]:
    """The responses, and of each import what was read and made."""
    async with db.connection(pool) as database:
        count = await database.fetch_value("select count(*) from questionnaire_instance where external_id is not null")
        rows = await database.fetch("select rows_read, rows_created from response_import order by created_time")
    return [(count,), *[tuple(row) for row in rows]]


class TestImport:
    def test_refused(self, house: House, operator: Operator) -> None:
        words = ("responses", "import")
        file = str(write(operator, "{}"))
        assert "cannot be read" in operator.refused(*words, "nowhere.jsonl", "--questionnaire", house.questionnaire_id)
        assert "There is no such questionnaire" in operator.refused(*words, file, "--questionnaire", house.pipeline_id)
        assert "questionnaire" in operator.run(*words, file).stderr

    async def test_lines(self, house: House, operator: Operator, pool: db.Pool, asked: str) -> None:
        long = line(asked, 4, person={"external_id": "x" * 70_000})
        file = write(
            operator, line(asked, 1), "", line(asked, 2, 99), "{", long, line(asked, 5), line(asked, 6, colour="red"),
            line(asked, 1), line(asked, 1, 4),
        )  # fmt: skip
        words = ("responses", "import", str(file), "--questionnaire", house.questionnaire_id)
        checked = operator.run(*words, "--check")
        told = "8 rows: 2 new, 1 there already, 5 wrong."
        assert (1, f"{told} Nothing was stored.\n") == (checked.returncode, checked.stdout)
        assert [(0,)] == await counted(pool)
        done = operator.run(*words, "--title", "Before")
        assert (1, f"{told}\n") == (done.returncode, done.stdout)
        lines = [one.partition(":")[0] for one in done.stderr.splitlines() if one.startswith("line")]
        assert [f"line {number}" for number in (3, 4, 5, 7, 9)] == lines
        assert [(2,), (8, 2)] == await counted(pool)

    async def test_standard_input(self, house: House, operator: Operator, pool: db.Pool, asked: str) -> None:
        text = f"{line(asked, 1)}\n{line(asked, 2)}\n"
        for told in ("2 new, 0 there already", "0 new, 2 there already"):
            done = operator.run("responses", "import", "-", "--questionnaire", house.questionnaire_id, typed=text)
            assert told in done.stdout, done.stderr
        assert [(2,), (2, 2), (2, 0)] == await counted(pool)

    async def test_what_is_removed_by_age(self, house: House, operator: Operator, pool: db.Pool, asked: str) -> None:
        async with db.transaction(pool) as database:
            await database.execute("update organization set texts_days = 90")
        file = str(write(operator, line(asked, 1)))
        done = operator.run("responses", "import", file, "--questionnaire", house.questionnaire_id)
        assert "Text in answers are removed after 90 days" in done.stderr


class TestInterrupted:
    async def test_it_goes_on_where_it_stopped(
        self, house: House, operator: Operator, pool: db.Pool, asked: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However it ends between two parts, the second call makes the rest and nothing twice."""
        file = str(write(operator, *[line(asked, place) for place in range(25)]))
        words = ("responses", "import", file, "--questionnaire", house.questionnaire_id)
        monkeypatch.setattr(responses, "ROWS_A_STATEMENT", 10)
        add, calls = service.add, 0

        async def failing(*args: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            outcomes = await add(*args, **named)
            if calls == 2:
                raise RuntimeError("ended")  # before its transaction commits
            return outcomes

        with monkeypatch.context() as patched:
            patched.setattr(service, "add", failing)
            with pytest.raises(RuntimeError, match="ended"):
                operator.run(*words)
        assert [(10,), (10, 10)] == await counted(pool)
        done = operator.run(*words)
        assert "Going on after 10 rows." in done.stderr
        assert "15 rows: 15 new" in done.stdout
        assert [(25,), (25, 25)] == await counted(pool)
        assert "25 rows: 0 new, 25 there already" in operator.run(*words).stdout

    async def test_a_file_that_cannot_be_read_on(
        self, house: House, operator: Operator, pool: db.Pool, asked: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Says what was stored before the row that is refused, and leaves no import open."""
        monkeypatch.setattr(responses, "ROWS_A_STATEMENT", 2)
        monkeypatch.setattr(files, "SAMPLE_ROWS", 2)
        file = operator.folder / "past.csv"
        rows = [f"R-{place},5,{TIME}" for place in range(4)]
        file.write_text("\n".join([f"ResponseId,{asked},EndDate", *rows, f'R-5,"5,{TIME}\n']))
        done = operator.run("responses", "import", str(file), "--questionnaire", house.questionnaire_id)
        assert (1, "4 rows: 4 new, 0 there already, 0 wrong.\n") == (done.returncode, done.stdout)
        assert "A quotation mark is opened in row 6 and never closed." in done.stderr
        assert [(4,), (4, 4)] == await counted(pool)
        async with db.connection(pool) as database:
            assert ["done"] == await database.fetch_column("select state from response_import")

    async def test_as_a_program(
        self, house: House, operator: Operator, database_url: str, tmp_path: Path, pool: db.Pool, asked: str
    ) -> None:
        file = str(write(operator, *[line(asked, place) for place in range(2_500)]))
        words = ("responses", "import", file, "--questionnaire", house.questionnaire_id)
        done = program(database_url, tmp_path, *words)
        assert (0, "2,500 rows: 2,500 new, 0 there already, 0 wrong.\n") == (done.returncode, done.stdout), done.stderr
        assert [(2_500,), (2_500, 2_500)] == await counted(pool)


class TestFilesOfOthers:
    async def test_a_table(self, house: House, operator: Operator, pool: db.Pool, asked: str) -> None:
        """Asks what it does not know, stores what it is told, once, with the ids of the file or its row numbers."""
        file = operator.folder / "past.csv"
        words = ("responses", "import", str(file), "--questionnaire", house.questionnaire_id)
        file.write_text(f"ResponseId;{asked};EndDate;Colour\nR_1;5 - good;01/05/2024;red\nR_2;1;02/05/2024;blue\n")
        assert "Say what these columns mean" in operator.refused(*words)
        assert "--map takes NAME=MEANING" in operator.refused(*words, "--map", "Colour")
        assert "day or the month comes first" in operator.refused(*words, "--map", "Colour=")
        assert [(0,)] == await counted(pool), "a refused file left an import"
        rest = ("--map", "Colour=", "--dates", "day")
        assert "2 new" in operator.done(*words, *rest, "--check")
        assert [(0,)] == (await counted(pool))[:1]
        assert "2 new" in operator.done(*words, *rest)
        assert "0 new" in operator.done(*words, *rest)
        file.write_text(f"{asked},EndDate,Email\n4,2024-05-03,\n99,2024-05-03,nobody\n4,2024-05-03,,5\n")
        done = operator.run(*words)
        assert "1 new, 0 there already, 2 wrong" in done.stdout
        assert f"line 3: “{asked}”: A number from 1 to 5 is expected. “Email”: This is no" in done.stderr
        assert "line 4: Cells in this row: 4, in the header: 3." in done.stderr
        assert responses.UNNAMED in done.stderr
        long = file.rename(operator.folder / f"{'a' * 100}.csv")
        told = operator.run("responses", "import", str(long), "--questionnaire", house.questionnaire_id, "--check")
        assert "1 new, 0 there already, 2 wrong" in told.stdout
        async with db.connection(pool) as database:
            names = await database.fetch_column("select external_id from questionnaire_instance order by external_id")
            assert {"csv"} == {*await database.fetch_column("select format from response_import")}
        assert ["R_1", "R_2", "past 2"] == [name for name in names if name]
