"""The figures of `docs/questionnaires-of-others.md` can be measured again."""

from pathlib import Path

from tests.core.foreign import shares
from tests.core.foreign.samples import SAMPLES


def test_each_file_and_all(tmp_path: Path) -> None:
    for name, content in [*SAMPLES.items(), ("broken", SAMPLES["qualtrics"][:-9])]:
        (tmp_path / name).write_bytes(content)
    told = shares.main([str(tmp_path / name) for name in ("qualtrics", "broken")]).splitlines()
    assert told[0].endswith("2 of 2 questions (100.0%), 1 of 1 conditions (100.0%)")
    assert "refused: " in told[1]
    assert told[2].startswith("2 files, 1 refused: 2 of 2 questions")
    *_, total = shares.main([str(tmp_path / name) for name in SAMPLES]).splitlines()
    assert "7 files, 0 refused: 14 of 14 questions (100.0%), 7 of 7 conditions (100.0%)" == total
