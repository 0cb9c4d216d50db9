"""`make release` builds the files twice and proves them; here stands that its checks refuse what is wrong."""

import zipfile
from pathlib import Path

import pytest

from release import files


def test_a_wheel_without_a_template_is_refused(tmp_path: Path) -> None:
    names = files.tracked("afterword")
    template = next(name for name in names if name.endswith(".html"))
    wheel = tmp_path / "afterword.whl"
    for missing in (set[str](), {template}):
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in names - missing:
                archive.writestr(name, "")
        if missing:
            with pytest.raises(files.NotReleasable, match=template):
                files.require_complete(wheel, "afterword")
        else:
            files.require_complete(wheel, "afterword")


def test_sums_name_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"")
    files.write_sums(tmp_path)
    assert (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.whl\n"
        == (tmp_path / files.SUMS).read_text()
    )
