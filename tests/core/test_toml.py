from pathlib import Path

import pytest

from afterword.core import toml


def test_tables_beside_a_module(tmp_path: Path) -> None:
    module = str(tmp_path / "shop.py")
    with pytest.raises(FileNotFoundError):
        toml.tables_of(module)
    (tmp_path / "shop.toml").write_text('[words]\nopen = "Ανοιχτό"\n', encoding="utf-8")
    (tmp_path / "paths.toml").write_text("[orders]\n", encoding="utf-8")
    assert {"words": {"open": "Ανοιχτό"}} == toml.tables_of(module)
    assert {"orders": {}} == toml.tables_of(module, "paths")
