"""Files for statistics programs, read back by them: labels, types, and nothing that is lost."""

import datetime as dt
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from afterword.core.answers.values import Given
from afterword.core.wire.exports import Column
from afterword.listening.exports import formats, frames
from afterword.listening.exports.formats import writer_of
from afterword.listening.exports.frames import variable_names
from afterword.listening.exports.writers import TooManyRows
from tests import programs
from tests.listening.exports.conftest import CSAT, REASONS, Shop
from tests.listening.exports.files import LONG, bytes_of, table_of


@pytest.fixture(scope="module")
def sav(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sav") / "a.sav"
    table, responses = table_of(is_split=True, values="codes")
    path.write_bytes(bytes_of(writer_of("sav", table, byte_order_mark=False), responses))
    return path


def read_sav(path: Path) -> tuple[Any, Any]:
    """The data, and what the file says of them."""
    return pyreadstat.read_sav(path)


def output(program: str, *arguments: str) -> str:
    command = [shutil.which(program) or program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class TestSav:
    def test_too_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table, responses = table_of(is_split=True, values="codes")
        for limit in ("SAV_BYTES_MAX", "SAV_FRAME_BYTES_MAX"):
            with monkeypatch.context() as patch:
                patch.setattr(frames, limit, 100_000)
                with pytest.raises(TooManyRows, match="choose fewer"):
                    bytes_of(writer_of("sav", table, byte_order_mark=False), responses)

    def test_values(self, sav: Path) -> None:
        """A long text goes on in further variables, and what is no number, boolean or day stands beside it."""
        data, _ = read_sav(sav)
        first, second, empty = data.to_dict("records")
        expected = {
            "nps": 9, "liked_1": 1, "liked_2": 1, "liked_4": 0, "branch": 2, "parts_speed": 2, "order_1": 2,
            "order_2": 1, "nights": 2.5, "day": dt.date(2026, 10, 25), "clock": dt.time(9, 30), "solved": 1,
            "moment": pd.Timestamp("2026-10-25 09:30"), "created_time": pd.Timestamp("2026-10-25 10:00"),
            "finalized": 1, "why": "a\u2028b", "questionnaire_sum": 1041.5, "questionnaire_paid": 1,
            "questionnaire_store": "007", "questionnaire_ordered": dt.date(2026, 10, 24),
        }  # fmt: skip
        assert expected == {name: first[name] for name in expected}
        assert (0, 1, "Soap", 0) == tuple(second[name] for name in ("liked_1", "liked_4", "liked_other", "solved"))
        assert all(pd.isna(empty[name]) for name in ("nps", "liked_1", "order_1", "solved", "questionnaire_sum"))
        assert LONG == "".join(first[name] for name in ("v_with", "v_with_2", "v_with_3", "v_with_4"))
        assert ("12345678901234567", "perhaps", "2026-10-24T10:00:00Z") == tuple(
            second[f"questionnaire_{name}_text"] for name in ("sum", "paid", "ordered")
        )

    def test_labels(self, sav: Path) -> None:
        _, read = read_sav(sav)
        labels, titles = read.variable_value_labels, read.column_names_to_labels
        assert labels.keys() == {  # the ends of a scale have none
            "liked_1", "liked_2", "liked_4", "branch", "parts_speed", "solved", "finalized", "questionnaire_paid",
        }  # fmt: skip
        assert {1: "Yes", 0: "No"} == labels["liked_1"]
        assert {1: "Bad", 2: "Good"} == labels["parts_speed"]
        assert ("Köln", "…") == (labels["branch"][2], labels["branch"][1][-1])
        assert ("What?: Flour, rye", "Why?", "why? [with]", "why? [with] (2)") == tuple(
            titles[name] for name in ("liked_1", "why", "v_with", "v_with_2")
        )
        assert "F8.0" == read.original_variable_types["nps"]

    def test_names_of_variables(self) -> None:
        for expected, texts in (
            (["Αξία", "Αξία_2", "αξία_3"], ["Αξία", "Αξία", "αξία"]),
            (["v_1", "v_and", "v", "v_2", "v_3"], ["1", "and", "?", "2", "__3"]),
            (["a" * 56, "a" * 56 + "_2"], ["a" * 500, "a" * 501]),
            (["ñ" * 28, "how_likely"], ["ñ" * 100, "how likely?"]),
        ):
            assert expected == variable_names([Column(text) for text in texts])

    @pytest.mark.nightly
    @pytest.mark.skipif(not programs.has_apt(), reason="it takes apt")
    def test_other_programs(self, sav: Path, tmp_path: Path) -> None:
        programs.install_packages("pspp", "Rscript")
        script = tmp_path / "a.sps"
        script.write_text(f"GET FILE='{sav}'.\nLIST VARIABLES=nps liked_1 nights created_time day clock.\n")
        assert "9,1,2.50,25-OCT-2026 10:00:00,25-OCT-2026,09:30:00" in output("pspp", "-O", "format=csv", str(script))
        names = ("v_with", "v_with_2", "v_with_3", "v_with_4")
        script.write_text(
            f"""d <- haven::read_sav("{sav}")
            cat(nrow(d), d$nps[1], names(attr(d$liked_1, "labels")), format(d$created_time[1]), class(d$day),
                is.null(attr(d$nps, "labels")), {", ".join(f"nchar(d${name}[1])" for name in names)})"""
        )
        read = output("Rscript", str(script)).split()
        assert ["3", "9", "Yes", "No", "2026-10-25", "10:00:00", "Date", "TRUE"] == read[:-4]
        assert len(LONG) == sum(map(int, read[-4:]))


class TestParquet:
    def test_values(self) -> None:
        table, responses = table_of(is_split=True, zone="+00:00")
        data = pd.read_parquet(io.BytesIO(bytes_of(writer_of("parquet", table, byte_order_mark=False), responses)))
        first, second, _ = data.to_dict("records")
        expected: dict[str, Any] = {
            "created_time": pd.Timestamp("2026-10-25 10:00", tz="UTC"), "finalized": True, "Recommend?": 9,
            "What?: Flour, rye": 1, "Where?": "Köln", "Where? [code]": 2, "What first?: Price": 2,
            "How many nights?": 2.5, "Which day?": dt.date(2026, 10, 25), "At what time?": dt.time(9, 30),
            "When?": pd.Timestamp("2026-10-25 09:30"), "Found everything?": True, "why? [with]": LONG,
            "questionnaire.sum": 1041.5, "questionnaire.ordered": dt.date(2026, 10, 24),
        }  # fmt: skip
        assert expected == {name: first[name] for name in expected}
        assert "12345678901234567" == second["questionnaire.sum [text]"]
        assert 3 == len(data)

    def test_without_responses(self) -> None:
        table, _ = table_of(is_split=True)
        data = pd.read_parquet(io.BytesIO(bytes_of(writer_of("parquet", table, byte_order_mark=False), [])))
        assert (0, table.headers) == (len(data), list(data.columns))


async def test_as_exports(shop: Shop, tmp_path: Path) -> None:
    """From the request to the file; times of SPSS are local ones, those of Parquet instants."""
    instance_id = await shop.respond({CSAT: Given(5), REASONS: Given([1])}, complete=True)
    created = dt.datetime.fromisoformat((await shop.get(f"/q/instance/{instance_id}")).json()["created_time"])
    for name in ("sav", "parquet"):
        export = await shop.ask(format=name)
        assert 1 == await shop.write()
        response = await shop.get(f"/q/export/{export['export_id']}/file")
        assert formats.MEDIA_TYPES[name] == response.headers["content-type"]
        assert f'.{name}"' in response.headers["content-disposition"]
        (tmp_path / name).write_bytes(response.content)
    data = pd.read_parquet(tmp_path / "parquet")
    assert (instance_id, created) == (data["instance_id"][0], data["created_time"][0])
    data, _ = read_sav(tmp_path / "sav")
    assert (instance_id, created.replace(tzinfo=None)) == (data["instance_id"][0], data["created_time"][0])
