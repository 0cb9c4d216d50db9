"""The files of an export on a timetable: what a run writes anew, what it removes, and what readers find there."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.kit.transport import stores
from afterword.listening.exports import datasets
from tests.listening.exports.conftest import COMMENT, CSAT, REASONS, Timetable

PAGE = Path("docs/exports.md").read_text(encoding="utf-8").partition("## On a timetable")[2]


class TestFolder:
    async def test_no_folder(self, timetable: Timetable) -> None:
        schedule = await timetable.schedule()
        timetable.site = replace(timetable.site, export_folder=f"{timetable.site.export_folder}/missing")
        run = await timetable.run(schedule)
        assert ("failed", "no_folder") == (run["state"], run["error"])

    async def test_link_leads_elsewhere(self, timetable: Timetable, tmp_path_factory: pytest.TempPathFactory) -> None:
        schedule = await timetable.schedule()
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        timetable.folder.mkdir()
        timetable.folder.joinpath("delivery").symlink_to(elsewhere)
        run = await timetable.run(schedule)
        assert ("failed", "not_allowed", []) == (run["state"], run["error"], list(elsewhere.iterdir()))

    async def test_disk_is_full(self, timetable: Timetable, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        schedule = await timetable.schedule()
        monkeypatch.setattr(stores.os, "fsync", full)
        run = await timetable.run(schedule)
        assert ("failed", "no_space", "No space left on device") == (run["state"], run["error"], run["reply"])
        assert "no_space" == (await timetable.get_schedule(schedule))["problem"]

    async def test_lost(self, timetable: Timetable) -> None:
        """A run writes all days anew where the files are gone, such as by another disk, also after a killed run."""
        schedule = await timetable.schedule()
        instance = await timetable.respond({CSAT: Given(1)})
        await timetable.shift(instance, 3)
        await timetable.respond({CSAT: Given(2)})
        assert 2 == (await timetable.run(schedule))["days_written"]
        names = timetable.files
        shutil.rmtree(timetable.folder)
        assert (2, names) == ((await timetable.run(schedule))["days_written"], timetable.files)
        assert 0 == (await timetable.run(schedule))["days_written"]

    @pytest.mark.parametrize("format_", ["csv", "parquet"])
    async def test_late_removed_and_unchanged(self, timetable: Timetable, format_: str) -> None:
        first, second, third = [await timetable.respond({CSAT: Given(n)}) for n in (1, 2, 3)]
        old, older = await timetable.shift(second, 3), await timetable.shift(third, 9)
        schedule = await timetable.schedule(format=format_)
        run = await timetable.run(schedule)
        assert ("done", 3, 3, 3, 3) == tuple(
            run[name] for name in ("state", "day_count", "days_written", "file_count", "row_count")
        )
        names = [f"delivery/responses/date={day}/part-00000.{format_}" for day in (older, old)]
        assert ["delivery/codebook.json", *names] == timetable.files[:3]
        assert 0 == (await timetable.run(schedule))["days_written"]
        async with db.transaction(timetable.pool) as database:
            await database.execute("update answer set value = '5' where instance_id = $1", second)
            await database.execute(
                "update questionnaire_instance set version = version + 1 where instance_id = $1", second
            )
        await timetable.delete(f"/q/instance/{third}")
        run = await timetable.run(schedule)
        assert (2, 1, 1) == (run["days_written"], run["file_count"], run["row_count"])  # one was removed
        assert names[0] not in timetable.files
        rows = read(timetable.folder / "delivery", format_)
        assert {first: 1, second: 5} == {one["instance_id"]: one["delivery_csat"] for one in rows}

    async def test_erased_person(self, timetable: Timetable) -> None:
        """A file has no words that were taken out of a response."""
        instance_id = await timetable.respond({CSAT: Given(1), COMMENT: Given("Ring Ann, 555")})
        schedule = await timetable.schedule()
        await timetable.run(schedule)
        path = timetable.folder / "delivery"
        assert ["Ring Ann, 555"] == [one["delivery_comment"] for one in read(path, "parquet")]
        async with db.transaction(timetable.pool) as database:
            await database.execute(
                "delete from answer where instance_id = $1 and jsonb_typeof(value) = 'string'", instance_id
            )
        assert 1 == (await timetable.run(schedule))["days_written"]
        assert [None] == [one["delivery_comment"] for one in read(path, "parquet")]

    async def test_columns_stay(self, timetable: Timetable) -> None:
        await timetable.respond(
            {CSAT: Given(4), REASONS: Given([1, 90], "Rain")}, metadata={"questionnaire": {"way": "7"}}
        )
        schedule = await timetable.schedule()
        await timetable.run(schedule)
        book = json.loads(timetable.folder.joinpath("delivery/codebook.json").read_text())
        columns = {one["column"]: one for one in book["columns"]}
        frame = pd.read_parquet(timetable.folder / "delivery/responses")
        assert [*columns, "date"] == list(frame.columns)
        choice, title = columns["delivery_reasons_1"]["choice"], columns["delivery_csat"]["question"]["de"]
        assert (1, "Schnelligkeit der Lieferung") == (choice["value"], choice["label"]["de"])
        assert "Wie zufrieden sind Sie mit der Lieferung Ihrer Bestellung?" == title
        [row] = frame.to_dict("records")
        names = ("delivery_csat", "delivery_reasons_1", "delivery_reasons_2", "delivery_reasons_other")
        assert [4, 1, 0, "Rain"] == [row[name] for name in names]

    async def test_parts(self, timetable: Timetable, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(datasets, "PART_ROWS_MAX", 1)
        monkeypatch.setattr(datasets.service, "BATCH_ROWS", 1)
        monkeypatch.setattr(datasets, "SCANNED_MAX", 2)
        ids = [await timetable.respond({CSAT: Given(n)}) for n in (1, 2, 3)]
        schedule = await timetable.schedule(format="csv")
        assert 3 == (await timetable.run(schedule))["file_count"]
        await timetable.delete(f"/q/instance/{ids[1]}")
        assert 2 == (await timetable.run(schedule))["file_count"]
        assert ["part-00000.csv", "part-00001.csv"] == [Path(name).name for name in timetable.files[1:]]

    async def test_sav(self, timetable: Timetable) -> None:
        import pyreadstat  # noqa: PLC0415

        schedule = await timetable.schedule(format="sav")
        assert 1 == (await timetable.run(schedule))["file_count"]  # of no response
        await timetable.respond({CSAT: Given(4)})
        assert 1 == (await timetable.run(schedule))["row_count"]
        found: Any = pyreadstat.read_sav(timetable.folder / "delivery/responses.sav")
        assert [4.0] == list(found[0]["delivery_csat"])


class TestDocs:
    async def test_readers(
        self, timetable: Timetable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The blocks of the page, run where the files are."""
        for days, score in ((0, 5), (0, 3), (4, 1)):
            await timetable.shift(await timetable.respond({CSAT: Given(score)}), days)
        await timetable.run(await timetable.schedule())
        [query], [program] = (re.findall(rf"```{name}\n(.*?)```", PAGE, re.DOTALL) for name in ("sql", "python"))
        monkeypatch.chdir(timetable.folder / "delivery")
        table: Any = duckdb.sql(query)
        rows = table.fetchall()
        assert [(1, 1.0), (2, 4.0)] == [(count, mean) for _, count, mean in rows]
        exec(compile(program, "docs/exports.md", "exec"), {})  # noqa: S102
        assert "How satisfied are you with the delivery of your order?" in capsys.readouterr().out


def read(folder: Path, format_: str) -> list[dict[str, Any]]:
    """The rows of a data set as data frames have them."""
    frame: Any
    if format_ == "parquet":
        frame = pd.read_parquet(folder / "responses")
    else:
        frame = pd.concat([pd.read_csv(path) for path in folder.glob("responses/*/*.csv")])
    return [{name: None if pd.isna(cell) else cell for name, cell in row.items()} for row in rows_of(frame)]


def rows_of(frame: Any) -> list[dict[str, Any]]:
    return frame.to_dict("records")
