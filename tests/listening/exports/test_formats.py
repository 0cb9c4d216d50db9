"""Formats whose packages are extras."""

import pytest

from afterword.listening.exports import formats
from tests.listening.exports.conftest import Shop


async def test_a_server_without_the_extra(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is refused with what to install, and a worker without it fails with the same sentence."""
    export = await shop.ask(format="sav")
    monkeypatch.setattr(formats, "find_spec", lambda _: None)
    [error] = (await shop.ask(422, format="parquet"))["errors"]
    assert ("/format", True) == (error["pointer"], "pip install 'afterword[parquet]'" in error["message"])
    assert 1 == await shop.write()
    failed = (await shop.get(f"/q/export/{export['export_id']}")).json()
    assert ("failed", True) == (failed["state"], "pip install 'afterword[spss]'" in failed["error"])
    await shop.ask(format="xlsx")
