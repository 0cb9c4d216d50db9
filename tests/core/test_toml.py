from pathlib import Path

import pytest

from afterword.core import toml


def test_tables_beside_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "of_shops"
    folder.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FileNotFoundError):
        toml.tables_of("of_shops.shop")
    (folder / "shop.toml").write_text('[words]\nopen = "Ανοιχτό"\n', encoding="utf-8")
    (folder / "paths.toml").write_text("[orders]\n", encoding="utf-8")
    assert {"words": {"open": "Ανοιχτό"}} == toml.tables_of("of_shops.shop")
    assert {"orders": {}} == toml.tables_of("of_shops.shop", "paths")
