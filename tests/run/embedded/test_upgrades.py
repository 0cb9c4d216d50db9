"""The swap of two clusters, killed between any two of its steps."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from afterword.run import embedded, embedded as upgrades


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """An old cluster, and a new one that is ready."""
    for folder, major in ((tmp_path, 15), (tmp_path / "upgrade", 18)):
        cluster = folder / "postgresql/cluster"
        cluster.mkdir(parents=True)
        (cluster / "PG_VERSION").write_text(f"{major}\n")
    upgrades.set_ready(tmp_path)
    return tmp_path


def is_swapped(data_folder: Path) -> bool:
    kept = data_folder / "postgresql-15/cluster/PG_VERSION"
    return 18 == upgrades.major_of(data_folder) and kept.exists() and not (data_folder / "upgrade").exists()


@pytest.mark.parametrize("steps", range(4))
def test_killed_after(data_folder: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Nothing starts meanwhile, least of all a new cluster where none stands for a moment."""
    with monkeypatch.context() as patch:
        left = [steps]

        def counted(real: Any) -> Any:
            def step(*arguments: Any) -> Any:
                if left[0] == 0:
                    raise KeyboardInterrupt
                left[0] -= 1
                return real(*arguments)

            return step

        patch.setattr(Path, "rename", counted(Path.rename))
        patch.setattr(shutil, "rmtree", counted(shutil.rmtree))
        if steps < 3:
            with pytest.raises(KeyboardInterrupt):
                upgrades.swap(data_folder)
        else:
            upgrades.swap(data_folder)
    assert (steps < 3) is upgrades.is_ready(data_folder)
    if steps < 3:
        with pytest.raises(embedded.EmbeddedError, match="afterword database upgrade"):
            embedded._prepare(data_folder, None, {})
        assert data_folder / "postgresql-15" == upgrades.swap(data_folder)
    assert is_swapped(data_folder)


def test_an_older_one_is_kept_too(data_folder: Path) -> None:
    (data_folder / "postgresql-15").mkdir()
    assert data_folder / "postgresql-15-2" == upgrades.swap(data_folder)
