"""The figures of customer satisfaction from counts: NPS, shares, means, correlations, their intervals and changes.

Counts go in, numbers come out. Which answers count (no blank, skipped, provisional, test or deleted ones) is decided
by whoever counts. Sources: Rocks 2016 (adjusted Wald for NPS), Wilson 1927, Fisher 1921 and 1935.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Literal

LEVEL_DEFAULT: Final = 0.95
LEVEL_MIN: Final = 0.5
LEVEL_MAX: Final = 0.999
PAIRS_MIN: Final = 30  # a correlation of fewer pairs is not shown
FISHER_CELL_MIN: Final = 5  # of two shares with a smaller cell the exact test decides
REAL_P: Final = 0.05  # a change with a smaller p is called real
NPS_ANSWERS_ADDED: Final = 3.0
NPS_ENDS_ADDED: Final = 0.75

Unit = Literal["points", "percent", "mean", "correlation", "count"]
Method = Literal["adjusted_wald", "wilson", "t", "fisher_z", "none"]
Test = Literal["nps_z", "two_proportion_z", "fisher_exact", "none"]
Base = Literal["answers", "created", "sent", "delivered", "viewed", "started", "pairs"]
Scale = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the value of all customers lies with the confidence `level`."""

    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One figure with all that it needs to be understood; `value` is None where there is nothing to count.

    `population` is N where a finite correction was made; `hits` is the k of a share's k/n.
    """

    metric: str
    unit: Unit
    n: int
    base: Base = "answers"
    value: float | None = None
    interval: Interval | None = None
    method: Method = "none"
    scale: Scale | None = None
    parts: Mapping[str, int] | None = None
    population: int | None = None
    hits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a figure differs from an earlier one, and whether by more than chance makes."""

    previous: float
    difference: float
    z: float | None
    p: float | None
    method: Test
    real: bool


# Figures -------------------------------------------------------------------------------------------------------------


def nps(promoters: int, detractors: int, n: int, *, level: float = LEVEL_DEFAULT) -> Measure:
    """Net Promoter Score, -100 to 100, of `n` answers on 0-10: promoters 9 and 10, detractors 0 to 6.

    Its interval is adjusted Wald: three answers are added, a quarter to each end, and the result cut at the ends.
    """
    parts = {"promoter": promoters, "passive": n - promoters - detractors, "detractor": detractors}
    measure = Measure(metric="nps", unit="points", n=n, method="adjusted_wald", scale=(0, 10), parts=parts)
    if n == 0:
        return replace(measure, method="none")
    value = 100 * (promoters - detractors) / n
    score, variance = _adjusted(promoters, detractors, n)
    margin = _z(level) * math.sqrt(variance)
    # Added answers pull to the middle: of one or two answers the value itself could fall out of its interval.
    low = min(max(100 * (score - margin), -100.0), value)
    high = max(min(100 * (score + margin), 100.0), value)
    return replace(measure, value=value, interval=Interval(low, high, level))


def share(
    hits: int,
    n: int,
    *,
    metric: str,
    level: float = LEVEL_DEFAULT,
    base: Base = "answers",
    scale: Scale | None = None,
    parts: Mapping[str, int] | None = None,
    population: int | None = None,
) -> Measure:
    """`hits` of `n` in percent, with Wilson's interval; a known `population` of N narrows it by √((N-n)/(N-1))."""
    measure = Measure(
        metric=metric, unit="percent", n=n, base=base, scale=scale, parts=parts, hits=hits, population=population
    )
    if n == 0:
        return replace(measure, population=None)
    low, high = _wilson(hits, n, _z(level) * _finite(n, population))
    interval = Interval(100 * low, 100 * high, level)
    return replace(measure, value=100 * hits / n, interval=interval, method="wilson")


def csat(counts: Mapping[int, int], *, level: float = LEVEL_DEFAULT) -> Measure:
    """The share of 4 and 5 on 1-5 (top two boxes), in percent."""
    parts = {
        "satisfied": _between(counts, 4, 5),
        "neutral": _between(counts, 3, 3),
        "dissatisfied": _between(counts, 1, 2),
    }
    n = sum(parts.values())
    return share(parts["satisfied"], n, metric="csat", level=level, scale=(1, 5), parts=parts)


def ces(counts: Mapping[int, int], *, level: float = LEVEL_DEFAULT) -> Measure:
    """Customer Effort Score 2.0: the share of 5 to 7 on 1-7 (agreement that it was easy), in percent; high is good."""
    parts = {"easy": _between(counts, 5, 7), "neutral": _between(counts, 4, 4), "hard": _between(counts, 1, 3)}
    return share(parts["easy"], sum(parts.values()), metric="ces", level=level, scale=(1, 7), parts=parts)


def nps_of(counts: Mapping[int, int], *, level: float = LEVEL_DEFAULT) -> Measure:
    """The NPS of how often each value was given."""
    return nps(_between(counts, 9, 10), _between(counts, 0, 6), _between(counts, 0, 10), level=level)


def mean(
    counts: Mapping[float, int] | Mapping[int, int],
    *,
    metric: str = "mean",
    level: float = LEVEL_DEFAULT,
    scale: Scale | None = None,
) -> Measure:
    """Σx/n of how often each value was given, with the t interval, cut at the ends of the scale if there is one.

    One answer has no interval: nothing says how answers spread.
    """
    n = sum(counts.values())
    measure = Measure(metric=metric, unit="mean", n=n, scale=scale)
    if n == 0:
        return measure
    value = math.fsum(x * count for x, count in counts.items()) / n
    if n == 1:
        return replace(measure, value=value)
    squares = math.fsum(count * (x - value) ** 2 for x, count in counts.items())
    margin = t_quantile((1 + level) / 2, n - 1) * math.sqrt(squares / (n - 1) / n)
    low, high = value - margin, value + margin
    if scale is not None:
        low, high = max(low, float(scale[0])), min(high, float(scale[1]))
    return replace(measure, value=value, interval=Interval(min(low, value), max(high, value), level), method="t")


def count(number: int, *, metric: str, of: int, base: Base = "created") -> Measure:
    """A number of cases, of `of` that it was counted among."""
    return Measure(metric=metric, unit="count", n=of, base=base, value=float(number))


def correlation(pairs: Mapping[tuple[float, float], int], *, level: float = LEVEL_DEFAULT) -> Measure:
    """Pearson's r of an attribute's rating with the outcome, with Fisher's z interval.

    The value is None where one side never varies. Whoever shows it hides it below `PAIRS_MIN` pairs.
    """
    n = sum(pairs.values())
    measure = Measure(metric="correlation", unit="correlation", n=n, base="pairs")
    if n == 0:
        return measure
    mean_x = math.fsum(x * k for (x, _), k in pairs.items()) / n
    mean_y = math.fsum(y * k for (_, y), k in pairs.items()) / n
    xx = math.fsum(k * (x - mean_x) ** 2 for (x, _), k in pairs.items())
    yy = math.fsum(k * (y - mean_y) ** 2 for (_, y), k in pairs.items())
    xy = math.fsum(k * (x - mean_x) * (y - mean_y) for (x, y), k in pairs.items())
    if xx <= 0 or yy <= 0:
        return measure
    r = max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))
    interval = fisher_z(r, n, level=level)
    return replace(measure, value=r, interval=interval, method="fisher_z" if interval else "none")


def fisher_z(r: float, n: int, *, level: float = LEVEL_DEFAULT) -> Interval | None:
    """The interval of a correlation of `n` pairs: atanh(r) ± z/√(n-3), turned back; None for fewer than four."""
    if n <= 3:  # noqa: PLR2004  of the formula
        return None
    if abs(r) >= 1:
        return Interval(r, r, level)
    margin = _z(level) / math.sqrt(n - 3)
    middle = math.atanh(r)
    return Interval(min(math.tanh(middle - margin), r), max(math.tanh(middle + margin), r), level)


def margin_of(hits: float, n: int, *, level: float = LEVEL_DEFAULT, population: int | None = None) -> float:
    """The margin of error that polls print, in points: z·√(p(1-p)/n) and the finite factor; for planning a size."""
    p = hits / n
    return 100 * _z(level) * math.sqrt(p * (1 - p) / n) * _finite(n, population)


# Changes -------------------------------------------------------------------------------------------------------------


def change(now: Measure, before: Measure) -> Change | None:
    """How a figure changed against the same one earlier; None where one of them has no value."""
    if now.value is None or before.value is None:
        return None
    z: float | None = None
    p: float | None = None
    method: Test = "none"
    if now.metric == "nps" and now.parts and before.parts:
        z, p = nps_z(_ends(now), _ends(before))
        method = "nps_z"
    elif now.hits is not None and before.hits is not None:
        z, p, method = two_proportions((now.hits, now.n), (before.hits, before.n))
    real = p is not None and p < REAL_P
    difference = now.value - before.value
    return Change(previous=before.value, difference=difference, z=z, p=p, method=method, real=real)


def nps_z(now: tuple[int, int, int], before: tuple[int, int, int]) -> tuple[float, float]:
    """The z and p (two-sided) of two NPS, each of promoters, detractors and n, on the adjusted values."""
    score_now, variance_now = _adjusted(*now)
    score_before, variance_before = _adjusted(*before)
    spread = math.sqrt(variance_now + variance_before)
    z = (score_now - score_before) / spread if spread else 0.0
    return z, two_sided(z)


def two_proportions(now: tuple[int, int], before: tuple[int, int]) -> tuple[float | None, float, Test]:
    """The z, p and test of two shares, each k of n: pooled z, or Fisher's exact test when a cell is under 5."""
    (hits, n), (hits_before, n_before) = now, before
    if min(hits, n - hits, hits_before, n_before - hits_before) < FISHER_CELL_MIN:
        return None, fisher_exact(hits, n, hits_before, n_before), "fisher_exact"
    pooled = (hits + hits_before) / (n + n_before)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_before))
    z = (hits / n - hits_before / n_before) / spread
    return z, two_sided(z), "two_proportion_z"


def fisher_exact(hits: int, n: int, hits_before: int, n_before: int) -> float:
    """The p (two-sided) of two shares: all tables with these margins that are no likelier than this one.

    Walks from the likeliest table both ways until what is left cannot matter, so that large margins stay cheap.
    """
    total, column = n + n_before, hits + hits_before
    low, high = max(0, column - n_before), min(n, column)
    if low == high:
        return 1.0
    peak = max(low, min(high, (n + 1) * (column + 1) // (total + 2)))
    weight_peak = _log_table(peak, n, column, total)
    limit = math.exp(_log_table(hits, n, column, total) - weight_peak) * (1 + 1e-7)
    as_rare = everything = 0.0
    for step, first in ((1, peak), (-1, peak - 1)):
        k = first
        while low <= k <= high:
            weight = math.exp(_log_table(k, n, column, total) - weight_peak)
            everything += weight
            as_rare += weight if weight <= limit else 0.0
            if weight < 1e-20:  # noqa: PLR2004  of the likeliest one
                break
            k += step
    return min(1.0, as_rare / everything)


def two_sided(z: float) -> float:
    """How likely chance alone makes a z as far from 0."""
    return math.erfc(abs(z) / math.sqrt(2))


# Student's t ---------------------------------------------------------------------------------------------------------


def t_cdf(t: float, freedom: float) -> float:
    """The probability of a value up to `t` under Student's t with `freedom` degrees of freedom."""
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t), t * t / (freedom + t * t))
    return 1 - tail if t > 0 else tail


def t_quantile(probability: float, freedom: float) -> float:
    """The t below which `probability` (0.5 to 0.9995) lies, by halving: the t distribution has no closed inverse."""
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < probability:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b) (DLMF 8.17.22), from the side that converges fast.

    `rest` is 1 - x, which subtraction would lose where x is nearly 1.
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, rest) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d or tiny)
    value = d
    for m in range(1, 1000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:  # noqa: PLR2004  the last factor changes nothing any more
            break
    return value


# Parts of the formulas -----------------------------------------------------------------------------------------------


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _adjusted(promoters: int, detractors: int, n: int) -> tuple[float, float]:
    """Score and variance of an NPS with three answers added, a quarter of them promoters, a quarter detractors."""
    size = n + NPS_ANSWERS_ADDED
    p, d = (promoters + NPS_ENDS_ADDED) / size, (detractors + NPS_ENDS_ADDED) / size
    return p - d, (p + d - (p - d) ** 2) / size


def _wilson(hits: int, n: int, z: float) -> tuple[float, float]:
    p, weight = hits / n, z * z / n
    middle = (p + weight / 2) / (1 + weight)
    margin = z / (1 + weight) * math.sqrt(p * (1 - p) / n + weight / (4 * n))
    return max(0.0, min(middle - margin, p)), min(1.0, max(middle + margin, p))


def _finite(n: int, population: int | None) -> float:
    if population is None or population <= 1:
        return 1.0
    return math.sqrt(max(0, population - n) / (population - 1))


def _between(counts: Mapping[int, int], low: int, high: int) -> int:
    return sum(number for value, number in counts.items() if low <= value <= high)


def _ends(measure: Measure) -> tuple[int, int, int]:
    parts = measure.parts or {}
    return parts["promoter"], parts["detractor"], measure.n


def _log_table(k: int, n: int, column: int, total: int) -> float:
    """The logarithm of how likely `k` of the `column` hits fall to the first `n` of `total`."""
    return _log_comb(n, k) + _log_comb(total - n, column - k) - _log_comb(total, column)


def _log_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
