"""The table of the bar and the tests that there are, docs/proof.md and the table: each held to the other."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import bar
from tests.bar import PROOFS, Proof

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "proof.md"
BEGIN, END = "<!-- proofs: made from tests/bar.py -->\n", "<!-- end of proofs -->\n"
WANTED = {*range(1, 23), *range(24, 31), 32, 38, *range(43, 48), *range(49, 52)}


def names_of(path: Path) -> Iterator[tuple[str, bool]]:
    """The tests and classes of a file by name, and whether each is for the night alone."""
    tree = ast.parse(path.read_text())
    nightly = any(
        isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node.targets[0]) and "nightly" in ast.unparse(node)
        for node in tree.body
    )
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, nightly or any("nightly" in ast.unparse(each) for each in node.decorator_list)
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield f"{node.name}::{each.name}", nightly


def found(proof: Proof) -> list[bool]:
    """Of each test of a proof, whether it is for the night alone; fails where there is no such test."""
    each: list[bool] = []
    for test in proof.tests:
        path, _, name = test.partition("::")
        known = dict(names_of(TESTS / path))
        assert known, f"{path} has no tests"
        assert not name or name in known, f"there is no {test}"
        each += [known[name]] if name else [night for one, night in known.items() if "test_" in one]
    return each


def test_every_number_is_there() -> None:
    assert sorted(f"T{number:02}" for number in WANTED) == [proof.number for proof in PROOFS]


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.number)
def test_its_tests_are_there(proof: Proof) -> None:
    """And what has a size in every run has a test in every run."""
    nightly = found(proof)
    assert proof.here is None or not all(nightly)


def test_the_page_says_the_same() -> None:
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    drawn, end, after = rest.partition(END)
    assert begin
    assert end
    if os.environ.get("REWRITE_SNAPSHOTS"):
        PAGE.write_text(before + begin + page() + end + after)
    assert page() == drawn


def page() -> str:
    """The table as the page has it."""
    rows = [
        f"| {proof.number} | {proof.fault} | {proof.here or '-'} | {proof.full} | {proof.figure} | {_links(proof)} |"
        for proof in PROOFS
    ]
    head = ["| | What is done | In every run | At night | What must come out | Tests |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _links(proof: Proof) -> str:
    return ", ".join(f"`{test}`" for test in proof.tests)


def report(nodeid: str, outcome: str = "passed", when: str = "call", **properties: Any) -> SimpleNamespace:
    item = SimpleNamespace(nodeid=f"tests/{nodeid}", user_properties=list(properties.items()))
    bar.mark([item])
    return SimpleNamespace(nodeid=item.nodeid, user_properties=item.user_properties, outcome=outcome, when=when)


CRASH = "tests/run/worker/faults/test_crash.py::test_killed_workers"
OTHERS = {f"tests/run/worker/faults/test_clocks.py::test_{number}" for number in range(8)}


class TestCosts:
    def test_a_run_has_time_for_a_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each has its turn; those of every change and those that cost nothing are never left out."""
        never = {"tests/test_tidy.py::test_tidy", CRASH}
        monkeypatch.setattr(bar, "costs", lambda: dict.fromkeys(OTHERS | never, 2.5))
        tests = OTHERS | never | {"tests/core/test_cheap.py::test_cheap"}
        found = [bar.left_out(tests, str(number), 5.0) for number in range(100)]
        assert {len(OTHERS) - 2} == {len(one) for one in found}
        assert OTHERS == set[str]().union(*found)
        assert OTHERS == set[str]().union(*(OTHERS - one for one in found))
        assert found[7] == bar.left_out(tests, "7", 5.0)
        last = max(found[7])
        assert last not in bar.left_out(tests, "7", 5.0, (last,))

    def test_what_a_run_keeps(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The seconds of all cases of a test, with what they share; and what is known of those that did not run."""
        (tmp_path / "costs.txt").write_text("9.0 tests/x.py::test_b\n7.0 tests/y.py::test_other\n")
        monkeypatch.setattr(bar, "COSTS", tmp_path / "costs.txt")
        bar.costs.cache_clear()
        spent = (("test_a[1]", 0.4), ("test_a[2]", 0.4), ("test_b", 0.2), ("TestC::test_d", 2.0))
        bar.write_costs(SimpleNamespace(nodeid=f"tests/x.py::{name}", duration=cost) for name, cost in spent)
        bar.costs.cache_clear()
        known = {"tests/x.py::TestC::test_d": 2.0, "tests/x.py::test_a": 0.8, "tests/y.py::test_other": 7.0}
        assert known == bar.costs()
        bar.costs.cache_clear()

    def test_each_is_there(self) -> None:
        texts = {path: (TESTS.parent / path).read_text(encoding="utf-8") for path, _ in map(_parts, bar.costs())}
        assert [] == [test for test in bar.costs() if f"def {_parts(test)[1]}(" not in texts[_parts(test)[0]]]


def _parts(test: str) -> tuple[str, str]:
    path, *_, name = test.split("::")
    return path, name


class TestLines:
    def test_a_number_is_told_by_its_tests(self) -> None:
        crash = "run/worker/faults/test_crash.py::test_killed_workers"
        lines = list(
            bar.lines(
                [
                    report(f"{crash}[good world]", figure="reconciler: 0"),
                    report(f"{crash}[bad world]", outcome="failed"),
                    report(f"{crash}[bad world]", when="teardown"),
                    report("run/worker/faults/test_crash.py::test_recovery", outcome="skipped", when="setup"),
                    report("core/answers/test_tags.py::test_tags"),
                ]
            )
        )
        assert [
            "T01  1 held, 1 FAILED",
            "     reconciler: 0  [test_killed_workers[good world]]",
            "T02  1 left out",
        ] == lines

    def test_counts_are_added_up(self) -> None:
        case = "sending/queue/test_days.py::test_days"
        told = [report(f"{case}[{n}]", figure=("{days} days, 0 wrong", {"days": 50 + n})) for n in range(2)]
        assert ["T43  2 held", "     101 days, 0 wrong  [test_days]"] == list(bar.lines(told))

    def test_the_largest_and_the_smallest(self) -> None:
        case, text = "sending/queue/test_endings.py::test_x", "{ends} ends: {fewest_events} to {most_events} events"
        told = [
            report(f"{case}[{n}]", figure=(text, {"ends": 1, "fewest_events": n, "most_events": n})) for n in (2, 1, 3)
        ]
        assert ["T10  3 held", "     3 ends: 1 to 3 events  [test_x]"] == list(bar.lines(told))

    @pytest.mark.parametrize(("cases", "said"), [(3, "3 right"), (2, "in part, 2 of 3 cases: 2 right")])
    def test_a_part_says_so(self, cases: int, said: str) -> None:
        case = "sending/channels/test_replies.py::test_replies"
        told = [report(f"{case}[{n}]", figure=("{right} right", {"right": 1, "whole": 3})) for n in range(cases)]
        assert [f"T20  {cases} held", f"     {said}  [test_replies]"] == list(bar.lines(told))

    def test_a_case_may_be_called_anything(self) -> None:
        case = "kit/transport/test_ssrf.py::TestAnswers::test_x"
        told = [report(f"{case}[{name}]", figure=("{n} forms", {"n": 1})) for name in ("[::1]", "a[b]", "::")]
        told.append(report(f"{case}[http://[::1]/]", figure="1 form"))
        assert ["T30  4 held", "     1 form  [test_x[http://[::1]/]]", "     3 forms  [test_x]"] == list(
            bar.lines(told)
        )

    def test_a_figure_may_name_its_number(self) -> None:
        lines = list(bar.lines([report("web/test_edge.py::test_x", figure="T45 p99 3 ms"), SimpleNamespace()]))
        assert ["T45  ", "     p99 3 ms  [test_x]"] == lines
