"""The formats of a file: what a program reads in it, and what no spreadsheet takes for a formula."""

import csv
import hashlib
import io
import json
import re
import zipfile
from datetime import datetime, timedelta

from afterword.core.answers.values import Given
from tests.exports.conftest import COMMENT, CSAT, REASONS, Shop, table


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

    async def test_xlsx(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(5), COMMENT: Given("=1+1")})
        export = await shop.ask(format="xlsx")
        await shop.write()
        response = await shop.get(f"/q/export/{export['export_id']}/file")
        with zipfile.ZipFile(io.BytesIO(response.content)) as file:
            sheet = file.read("xl/worksheets/sheet1.xml").decode()
        assert "<f>" not in sheet
        assert "<v>5</v>" in sheet
        assert ">=1+1<" in sheet
        assert 2 == sheet.count("<row ")

    async def test_xlsx_has_dates_and_widths(self, shop: Shop) -> None:
        """Times are numbers in the organization's zone with a format, so that a spreadsheet sorts and groups them."""
        instance_id = await shop.respond({CSAT: Given(5)}, complete=True)
        export = await shop.ask(format="xlsx")
        await shop.write()
        content = (await shop.get(f"/q/export/{export['export_id']}/file")).content
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            sheet = file.read("xl/worksheets/sheet1.xml").decode()
            styles = file.read("xl/styles.xml").decode()
        created = (await shop.get(f"/q/instance/{instance_id}")).json()["created_time"]
        local = datetime.fromisoformat(created)
        [days] = re.findall(r'<c r="F2" s="1"><v>([0-9.]+)</v>', sheet)
        assert abs(timedelta(days=float(days)) - (local - datetime(1899, 12, 30, tzinfo=local.tzinfo))) < timedelta(
            seconds=1
        )
        assert 'formatCode="yyyy-mm-dd hh:mm:ss"' in styles
        assert re.search('<col min="6" max="11" width="20', sheet)

    async def test_a_byte_order_mark(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(4)})
        assert (await shop.file(byte_order_mark=True)).startswith("\ufeffinstance_id,")
        assert (await shop.file()).startswith("instance_id,")
