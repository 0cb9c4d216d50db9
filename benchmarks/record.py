"""Keeps what each part found last in results.json, and writes results.md from all of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from afterword.run.embedded import find_binaries
from benchmarks import findings
from benchmarks.findings import Finding, Ratio

KEPT: Final = Path(__file__).with_name("results.json")
RESULTS: Final = Path(__file__).with_name("results.md")


def write(
    found: Mapping[str, Sequence[Finding]], *, order: Sequence[str], rounds: int, seconds: float, busy: float
) -> None:
    """Put these parts in the place of what was known of them."""
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept |= {part: _rows(each) for part, each in found.items()}
    kept = {part: kept[part] for part in order if part in kept}
    KEPT.write_text(f"{json.dumps(kept, ensure_ascii=False, indent=1)}\n", encoding="utf-8")
    ratios = [row for rows in kept.values() for row in rows["ratios"]]
    figures = [row for rows in kept.values() for row in rows["figures"]]
    missed = [what for rows in kept.values() for what in rows["missed"]]
    postgres = next(find_binaries()).major
    text = findings.results(ratios, figures, missed, rounds=rounds, seconds=seconds, postgres=postgres, busy=busy)
    RESULTS.write_text(text, encoding="utf-8")


def _rows(found: Sequence[Finding]) -> dict[str, list[str]]:
    return {
        "ratios": [each.as_row() for each in found if isinstance(each, Ratio)],
        "figures": [each.as_row() for each in found if not isinstance(each, Ratio)],
        "missed": [each.what for each in found if not each.is_reached],
    }
