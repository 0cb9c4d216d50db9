"""The worked examples of CONTRIBUTING.md, each applied to a copy of the repository and run there."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
SECONDS_MAX: Final = 300
BLOCK: Final = re.compile(r"^   ```(?:python|sql|diff|html)\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """An example may touch so many files, and passes these checks.

    `files_max`: of the product, the catalogues of all languages as one. `test`: the file that takes the first block,
    which is a test.
    """

    files_max: int
    checks: Sequence[str]
    test: str = ""


EXAMPLES: Final[Mapping[str, Example]] = {
    "One change, from the API to the table": Example(
        4,  # migration (SQL and its module), record with its statement, resource
        (
            "tests/sending/queue/test_api.py::TestNote",
            "tests/contract/test_openapi.py::test_everything_has_words",
            "tests/privacy/test_rows.py::TestColumns::test_every_column_is_judged",
        ),
        test="tests/sending/queue/test_api.py",
    ),
    "One question type, in one entry": Example(
        2,  # entry, template
        (
            "tests/asking/instances/test_every_type.py::test_the_whole_way[agreement]",
            "tests/asking/instances/test_every_type.py::test_an_answer[agreement]",
            "tests/contract/test_openapi.py::test_everything_has_words",
        ),
    ),
    "One measure, where it is computed and where it is counted": Example(
        4,  # measure, count, name, catalogue
        (
            "tests/listening/reports/test_results.py::TestViewOfSent",
            "tests/console/test_texts.py",
            "tests/contract/test_openapi.py::test_snapshot",
        ),
        test="tests/listening/reports/test_results.py",
    ),
    "One screen, made by hand": Example(
        3,  # route, template, catalogue
        (
            "tests/listening/screens/test_channels.py",
            "tests/console/test_texts.py",
            "tests/contract/test_screens.py::test_lists_show_nothing_of_ours",
        ),
    ),
    "One source, in one file": Example(
        1,
        (
            "tests/core/sources/test_kinds.py",
            "tests/core/sources/test_kiosk.py",
            "tests/sending/screens/test_sources.py",
            "tests/console/test_texts.py::test_complete",
            "tests/test_tidy_tests.py::test_each_module_has_its_test",
        ),
    ),
    "One noun, in one file": Example(
        5,  # migration, declaration, routes, screens, the words of its id
        (
            "tests/console/test_nouns.py::test_screens[call_script]",
            "tests/kit/nouns/test_statements.py::test_rows_of_others_stay[call_script]",
            "tests/kit/nouns/test_structs.py",
            "tests/contract/test_openapi.py::test_everything_has_words",
            "tests/privacy/test_rows.py::TestColumns::test_every_column_is_judged",
        ),
    ),
}


def applied(text: str, hunk: str) -> str:
    """The text after one hunk, whose old lines stand in it once."""
    lines = hunk.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if not line.startswith("+"))
    after = "".join(line[1:] for line in lines if not line.startswith("-"))
    assert 1 == text.count(before), before
    return text.replace(before, after)


def blocks_of(title: str) -> list[str]:
    last = max(path.name[:4] for path in (ROOT / "afterword/run/migrations").glob("[0-9]*.sql"))
    page = (ROOT / "CONTRIBUTING.md").read_text().replace("NNNN", f"{int(last) + 1:04}").replace("MMMM", last)
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [textwrap.dedent(block) for block in BLOCK.findall(section)]


def changed(place: str, root: Path) -> tuple[Path, str]:
    """The file of a block below this root, and its text with the hunks of the block."""
    head, _, body = place.partition("\n")
    path = root / head.split()[1]
    if not path.exists():
        return path, body
    text = path.read_text()
    for hunk in body.split("@@\n"):
        text = applied(text, hunk)
    return path, text


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_fits(title: str) -> None:
    """In every run: whoever changes a line that an example quotes changes the example."""
    for place in blocks_of(title)[1 if EXAMPLES[title].test else 0 :]:
        assert changed(place, ROOT)[1]


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_works(tmp_path: Path, title: str) -> None:
    example = EXAMPLES[title]
    copy = tmp_path / "copy"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "site")
    for name in ("afterword", "tests", "pyproject.toml", "CONTRIBUTING.md"):
        source = ROOT / name
        shutil.copytree(source, copy / name, ignore=ignored) if source.is_dir() else shutil.copy(source, copy / name)
    places = blocks_of(title)
    if example.test:
        with (copy / example.test).open("a") as file:
            file.write(f"\n\n{places.pop(0)}")
    for place in places:
        path, text = changed(place, copy)
        path.write_text(text)

    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *example.checks]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    run = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )

    assert 0 == run.returncode, run.stdout[-4000:] + run.stderr[-2000:]
    files = [place.split()[1] for place in places]
    of_product = {"catalogues" if "/locale/" in file else file for file in files if file.startswith("afterword/")}
    assert 0 < len(of_product) <= example.files_max
