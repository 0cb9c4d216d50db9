"""The share of samples whose interval holds the true value, for each figure; 95 in 100 is stated.

Shares are enumerated, and NPS of up to 100 answers; the others are drawn with a seed, so that each run prints the same.
A case is given by how many of the answers are equal; of the ways in which the others may lie the worst one counts.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from afterword.core.figures import metrics
from afterword.core.figures.metrics import Measure

DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "reports.md"
BEGIN: Final = "<!-- coverage, written by `python -m benchmarks coverage --record` -->\n"
END: Final = "<!-- end of coverage -->\n"
SIZES: Final = (5, 10, 30, 100, 1_000)
EQUAL: Final = (0.5, 0.8, 0.95)
FLOOR: Final = 0.91
SAMPLES: Final = 2_000  # of more than `ENUMERATED_MAX` answers a quarter of them
SHOWN_MIN: Final = 0.05  # of the samples; of fewer with an interval, none is told
ENUMERATED_MAX: Final = 100  # answers
CORRELATIONS: Final = (0.0, 0.2, 0.4, 0.6, 0.9)  # of the normal variables behind two ratings
SAME: Final = 0.6  # the correlation of a person's answers to several questions
PAIRED: Final = 20_000  # pairs that the true correlation is counted from
_SEED: Final = 20_261_123
Shares = Sequence[float]  # of the values of a scale, from its lowest


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of shown intervals that hold the true value, and the share of samples that show one."""

    held: float
    shown: float = 1.0

    @property
    def is_reached(self) -> bool:
        """Whether the floor is kept; where nothing is shown nothing can be wrong."""
        return self.shown < SHOWN_MIN or self.held >= FLOOR

    def __str__(self) -> str:
        """As a cell of the table."""
        if self.shown < SHOWN_MIN:
            return "none"
        return f"{100 * self.held:.1f}" + (f" ({100 - 100 * self.shown:.0f} % none)" if self.shown < 1 else "")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: the lowest coverage of a figure at each size; None where the figure is never shown."""

    figure: str
    equal: str
    cells: tuple[Coverage | None, ...]


def measure(*, sizes: Sequence[int] = SIZES, samples: int = SAMPLES) -> Iterator[Row]:
    """Each row as soon as it is known."""
    for equal in EQUAL:
        yield _row("share", equal, [_share([equal, 1 - equal], n) for n in sizes])
    shares = [number / 200 for number in range(10, 191)]
    yield Row("share, lowest", "5 to 95 %", tuple(_share(shares, n) for n in sizes))
    for equal in EQUAL:
        yield _row("NPS", equal, [_nps(_nps_cases(equal), n, samples) for n in sizes])
    for scale, equal in product(((1, 5), (0, 10)), EQUAL):
        cells = [_worst(_mean(shares, scale, n, samples) for shares in _cases(equal, scale)) for n in sizes]
        yield _row(f"mean, {scale[0]}-{scale[1]}", equal, cells)
    for equal in EQUAL:
        yield _row("correlation", equal, [_correlation(equal, n, samples) for n in sizes])
    for questions, equal in product((2, 5), EQUAL):
        for name, total in (("share", _of_share), ("NPS", _of_nps), ("mean", _of_mean)):
            cells = [_total(total, questions, equal, n, samples) for n in sizes]
            yield _row(f"{name} over {questions} questions", equal, cells)


def table(rows: Sequence[Row], sizes: Sequence[int] = SIZES) -> str:
    """The table as it stands in the documentation."""
    lines = [
        f"| Figure | Equal answers | {' | '.join(f'n = {n:,}' for n in sizes)} |",
        f"|---|---|{'---|' * len(sizes)}",
    ]
    return "\n".join([*lines, *map(line, rows)]) + "\n"


def line(row: Row) -> str:
    """A line of it."""
    return f"| {row.figure} | {row.equal} | {' | '.join(str(cell or '-') for cell in row.cells)} |"


def write(text: str) -> None:
    """Put the table into the documentation."""
    document = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _row(figure: str, equal: float, cells: Sequence[Coverage | None]) -> Row:
    return Row(figure, f"{100 * equal:.0f} %", tuple(cells))


def _worst(found: Iterator[Coverage]) -> Coverage:
    return min(found, key=lambda each: each.held if each.shown >= SHOWN_MIN else 1.0)


def _holds(found: Measure, true: float) -> bool:
    return found.interval is not None and found.interval.low - 1e-9 <= true <= found.interval.high + 1e-9


def _sampled(n: int, samples: int, draw: Callable[[random.Random], tuple[Measure, float]]) -> Coverage:
    """Of samples: the figure of each, and the true value."""
    source = random.Random(_SEED)  # noqa: S311  the same samples each time
    samples = samples if n <= ENUMERATED_MAX else samples // 4
    shown = held = 0
    for _ in range(samples):
        found, true = draw(source)
        shown += found.interval is not None
        held += _holds(found, true)
    return Coverage(held / shown if shown else 1.0, shown / samples)


# Shares and NPS ------------------------------------------------------------------------------------------------------


def _share(shares: Shares, n: int) -> Coverage:
    found = [metrics.share(hits, n, metric="share") for hits in range(n + 1)]

    def held(p: float) -> Coverage:
        return Coverage(math.fsum(_likely((k, n - k), (p, 1 - p)) for k in range(n + 1) if _holds(found[k], 100 * p)))

    return _worst(held(p) for p in shares)


def _likely(counts: Sequence[int], shares: Shares) -> float:
    """The probability of each kind occurring as often as this (multinomial)."""
    if any(count and share <= 0 for count, share in zip(counts, shares, strict=True)):
        return 0.0
    logarithm = math.lgamma(sum(counts) + 1) - math.fsum(math.lgamma(count + 1) for count in counts)
    return math.exp(logarithm + math.fsum(k * math.log(p) for k, p in zip(counts, shares, strict=True) if k))


def _nps_cases(equal: float) -> list[tuple[float, float]]:
    """Shares of promoters and detractors where one of the three kinds is `equal`."""
    rest = [part * (1 - equal) for part in (0.0, 0.1, 0.5, 0.9, 1.0)]
    return [
        *((equal, each) for each in rest),
        *((each, equal) for each in rest),
        *((each, 1 - equal - each) for each in rest),
    ]


def _nps(cases: Sequence[tuple[float, float]], n: int, samples: int) -> Coverage:
    if n > ENUMERATED_MAX:
        return _worst(_sampled(n, samples, lambda source, each=each: _drawn_nps(source, *each, n)) for each in cases)
    outcomes = [(p, d, n - p - d) for p in range(n + 1) for d in range(n + 1 - p)]
    found = {each: metrics.nps(each[0], each[1], n) for each in outcomes}

    def held(p: float, d: float) -> Coverage:
        kinds = (p, d, max(0.0, round(1 - p - d, 12)))
        return Coverage(math.fsum(_likely(each, kinds) for each in outcomes if _holds(found[each], 100 * (p - d))))

    return _worst(held(p, d) for p, d in cases)


def _drawn_nps(source: random.Random, p: float, d: float, n: int) -> tuple[Measure, float]:
    kinds = Counter(source.choices((1, -1, 0), (p, d, max(0.0, 1 - p - d)), k=n))
    return metrics.nps(kinds[1], kinds[-1], n), 100 * (p - d)


# Means and correlations ----------------------------------------------------------------------------------------------


def _cases(equal: float, scale: tuple[int, int]) -> list[Shares]:
    """The top value is given by `equal`; the others by all values, the lowest, the next one, or the outer two."""
    others = scale[1] - scale[0]
    shapes = ([1] * others, [1, *[0] * (others - 1)], [*[0] * (others - 1), 1], [1, *[0] * (others - 2), 3])
    return [[*((1 - equal) * each / sum(shape) for each in shape), equal] for shape in shapes]


def _mean(shares: Shares, scale: tuple[int, int], n: int, samples: int) -> Coverage:
    values = range(scale[0], scale[1] + 1)
    true = math.fsum(value * share for value, share in zip(values, shares, strict=True))

    def draw(source: random.Random) -> tuple[Measure, float]:
        return metrics.mean(Counter(source.choices(values, shares, k=n)), scale=scale), true

    return _sampled(n, samples, draw)


def _correlation(equal: float, n: int, samples: int) -> Coverage | None:
    """Of two ratings of 1 to 5, cut from two normal variables; both have as many equal answers."""
    if n < metrics.PAIRS_MIN:
        return None
    return _worst(_correlated(equal, correlation, n, samples) for correlation in CORRELATIONS)


def _correlated(equal: float, correlation: float, n: int, samples: int) -> Coverage:
    source = random.Random(_SEED)  # noqa: S311  the same samples each time
    cuts = [metrics.NormalDist().inv_cdf((1 - equal) * step / 4) for step in range(1, 5)]

    def rating(z: float) -> float:
        return 1.0 + sum(z > cut for cut in cuts)

    all_pairs: Counter[tuple[float, float]] = Counter()
    for _ in range(PAIRED):
        x, noise = source.gauss(), source.gauss()
        all_pairs[rating(x), rating(correlation * x + math.sqrt(1 - correlation**2) * noise)] += 1
    true = metrics.correlation(all_pairs).value or 0.0
    pairs, weights = list(all_pairs), list(all_pairs.values())

    def draw(drawing: random.Random) -> tuple[Measure, float]:
        return metrics.correlation(Counter(drawing.choices(pairs, weights, k=n))), true

    return _sampled(n, samples, draw)


# Totals over several questions of the same people --------------------------------------------------------------------


def _total(
    total: Callable[[Mapping[int, int], float], Measure], questions: int, equal: float, n: int, samples: int
) -> Coverage:
    """`n` people rate each question 5 (10 of NPS) with `equal`, else 1 to 4; with `SAME` they stay with one rating."""
    values = range(1, 6)
    shares = [*[(1 - equal) / 4] * 4, equal]
    true = total({value: round(1_000_000 * share) for value, share in zip(values, shares, strict=True)}, 1.0).value

    def draw(source: random.Random) -> tuple[Measure, float]:
        counts: Counter[int] = Counter()
        usual = source.choices(values, shares, k=n)
        for _ in range(questions):
            others = source.choices(values, shares, k=n)
            # Answers are equal by this chance on both sides, which makes their correlation its square.
            counts.update(
                mine if source.random() < math.sqrt(SAME) else other for mine, other in zip(usual, others, strict=True)
            )
        return total(counts, questions), true or 0.0

    return _sampled(n, samples, draw)


def _of_share(counts: Mapping[int, int], effect: float) -> Measure:
    return metrics.score("csat", counts, effect=effect)


def _of_nps(counts: Mapping[int, int], effect: float) -> Measure:
    return metrics.nps(counts.get(5, 0), counts.get(1, 0) + counts.get(2, 0), sum(counts.values()), effect=effect)


def _of_mean(counts: Mapping[int, int], effect: float) -> Measure:
    return metrics.mean(counts, scale=(1, 5), effect=effect)
