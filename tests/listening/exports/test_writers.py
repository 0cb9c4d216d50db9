"""The formats for programs: what a program reads in them, and what no spreadsheet takes for a formula."""

import csv
import hashlib
import io
import json
import re

from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.listening.exports.writers import Csv, JsonLines
from tests.listening.exports.conftest import COMMENT, CSAT, REASONS, Shop, table
from tests.listening.exports.files import LONG, WHY, bytes_of, table_of


class TestFormats:
    async def test_csv(self, shop: Shop) -> None:
        metadata = {"questionnaire": {"store_id": "=7", "colour": "red"}, "responder": {"email": "ann@example.com"}}
        answers = {CSAT: Given(5), REASONS: Given([1, 2]), COMMENT: Given('=cmd "x",\r\ny')}
        instance_id = await shop.respond(answers, metadata=metadata, complete=True)
        export = await shop.ask()
        await shop.write()
        done = (await shop.get(f"/q/export/{export['export_id']}")).json()
        response = await shop.get(f"/q/export/{export['export_id']}/file")
        [row] = table(response.content.decode())

        assert ("done", 100, 1, len(response.content)) == tuple(
            done[name] for name in ("state", "progress", "row_count", "bytes")
        )
        assert f"sha256:{hashlib.sha256(response.content).hexdigest()}" == done["checksum"]
        assert "text/csv; charset=utf-8" == response.headers["content-type"]
        assert str(len(response.content)) == response.headers["content-length"]
        assert f'attachment; filename="{done["file_name"]}"' == response.headers["content-disposition"]
        assert (instance_id, "true", "5", "'=7", "ann@example.com") == (
            row["instance_id"], row["finalized"], row["Satisfaction with the delivery"],
            row["questionnaire.store_id"], row["responder.email"],
        )  # fmt: skip
        assert '{"colour":"red"}' == row["questionnaire metadata, undeclared"]
        assert '\'=cmd "x",\ny' in {value.replace("\r\n", "\n") for value in row.values()}
        assert "1;2" in row.values()

    async def test_csv_that_is_cut_at_another_separator(self, shop: Shop) -> None:
        await shop.respond({COMMENT: Given("fine;=cmd|'/c calc'!A0;x")})
        text = await shop.file()
        assert "fine;'=cmd|''/c calc'!A0;x" in text
        assert not any(cell.startswith("=") for row in csv.reader(io.StringIO(text), delimiter=";") for cell in row)

    async def test_json_lines(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(4)})
        [line] = (await shop.file(format="jsonl")).splitlines()
        document = json.loads(line)
        assert [{"type": "csat", "value": 4}] == [
            {name: answer[name] for name in ("type", "value")} for answer in document["answers"].values()
        ]
        assert {"questionnaire", "responder"} == document["metadata"].keys()

    async def test_a_byte_order_mark(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(4)})
        assert (await shop.file(byte_order_mark=True)).startswith("\ufeffinstance_id,")
        assert (await shop.file()).startswith("instance_id,")

    async def test_times_have_one_offset(self, shop: Shop) -> None:
        """One response before the change of clocks, and one after it: data frames read no column of two offsets."""
        await shop.respond({CSAT: Given(4)})
        await shop.respond({CSAT: Given(5)})
        async with db.transaction(shop.pool) as database:
            await database.execute(
                """update questionnaire_instance set created_time = '2026-07-01 10:00+00'
                   where instance_id = (select min(instance_id) from questionnaire_instance)"""
            )
        for line in (await shop.file()).splitlines()[1:]:
            assert {"+00:00"} == set(re.findall(r"\d\d:\d\d:\d\d(.*?),", line))
        assert "2026-07-01T10:00:00+00:00" in await shop.file(format="jsonl")


class TestTypes:
    """Declared metadata and answers as their types have them; what does not fit stays text."""

    def test_json_lines(self) -> None:
        options, responses = table_of()
        first, second, _ = map(json.loads, bytes_of(JsonLines(options), responses).splitlines())
        assert {"sum": 1041.5, "paid": True, "ordered": "2026-10-24", "store": "007"} == first["metadata"][
            "questionnaire"
        ]
        assert ("12345678901234567", "perhaps") == tuple(
            second["metadata"]["questionnaire"][name] for name in ("sum", "paid")
        )


class TestNothingIsLost:
    def test_lines_in_json(self) -> None:
        """Readers that take U+2028 or U+0085 for the end of a line read every row."""
        options, responses = table_of()
        text = bytes_of(JsonLines(options), responses).decode()
        assert 3 == len(text.splitlines())
        assert "a\u2028b" == json.loads(text.splitlines()[0])["answers"][WHY]["value"]

    def test_headers_and_choices_in_csv(self) -> None:
        options, responses = table_of()
        first, *_ = table(bytes_of(Csv(options), responses).decode())
        assert ("a\u2028b", LONG) == (first["Why?"], first["why? [with]"])
        assert [["Flour, rye", '"=Tools"']] == list(csv.reader([first["What?"]], skipinitialspace=True))
