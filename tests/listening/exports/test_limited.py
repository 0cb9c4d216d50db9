"""Exports for somebody who sees one branch: each format has the responses of that branch, and nothing of the others."""

import io
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.listening.responses import rows
from tests.listening.exports.conftest import COMMENT, CSAT, Shop
from tests.making import make_token


@pytest.mark.parametrize("format_", ["csv", "jsonl", "xlsx", "parquet", "sav"])
async def test_one_branch(shop: Shop, format_: str, tmp_path: Path) -> None:
    for store in ("north", "south", "north"):
        values = {"questionnaire": {"store_id": store}}
        await shop.respond({CSAT: Given(5), COMMENT: Given(f"Words of {store}")}, metadata=values, complete=True)
    async with db.transaction(shop.pool) as database:
        await rows.follow(database, now=database.clock.now())
    options = {"only_where": "store_id", "only_values": ["south"]}
    token = await make_token(shop.pool, shop.house.organization_id, scopes=SCOPES, **options)
    headers = {"Authorization": f"Bearer {token}"}
    request = {"format": format_}
    assert 403 == (await shop.client.post(shop.path, json=request, headers=headers)).status_code
    asked = await shop.client.post("/v3.2/q/response/export", json=request, headers=headers)
    assert 201 == asked.status_code, asked.text
    assert 1 == await shop.write()
    path = f"/v3.2/q/export/{asked.json()['export_id']}/file"
    content = (await shop.client.get(path, headers=headers)).content
    text = read(content, format_, tmp_path)
    assert (1, 0) == (text.count("Words of south"), text.count("north"))


def read(content: bytes, format_: str, folder: Path) -> str:
    """All cells as one text."""
    match format_:
        case "xlsx":
            sheets = load_workbook(io.BytesIO(content)).worksheets
            return str([list(sheet.values) for sheet in sheets])
        case "parquet":
            return pd.read_parquet(io.BytesIO(content)).to_csv()
        case "sav":
            (folder / "a.sav").write_bytes(content)
            return pd.read_spss(folder / "a.sav").to_csv()
        case _:
            return content.decode()
