"""The figures of customer satisfaction from counts: NPS, shares, means, correlations, their intervals and changes.

The caller decides which answers count (no blank, skipped, provisional, test or deleted ones). `python -m benchmarks
coverage` measures how often each interval holds the true value.

Sources: Brown, Cai and DasGupta 2001 (modified Wilson); Tango 1998 (score interval of a difference of paired shares);
Agresti and Caffo 2000 (an answer added at each end); Fisher 1921 and 1935; Tukey 1958 (jackknife); Kish 1965 (design
effect); Rocks 2016 (adjusted values of two NPS); Holm 1979 (many comparisons).
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from afterword.core.questionnaires.question_types import TYPES

LEVEL_DEFAULT: Final = 0.95
PAIRS_MIN: Final = 30  # a correlation of fewer pairs is not shown
FISHER_CELL_MIN: Final = 5  # of two shares with a smaller cell the exact test decides
REAL_P: Final = 0.05  # a change with a smaller p is called real
NPS_ANSWERS_ADDED: Final = 3.0
NPS_ENDS_ADDED: Final = 0.75
POISSON_HITS_MAX: Final = 3  # Wilson's bound is replaced for as few hits; of up to 50 answers, for one fewer
POISSON_SMALL_MAX: Final = 50
FREEDOM_MAX: Final = 100_000  # of more degrees of freedom Student's t is the normal distribution
OTHERS_MIN: Final = 10  # answers beside the most frequent one, below which a spread is not estimated
OTHERS_SHARE_MIN: Final = 0.1  # of a side of a correlation, unless there are `OTHERS_ENOUGH`
OTHERS_ENOUGH: Final = 100

_PERFECT: Final = 1e-12  # so near to 1 a correlation is 1
_ROOT_NEAR: Final = 1e-12  # of the function's size at the end of the search: where it is flat, it is small all over
_STEP: Final = 1e-9  # off the value itself, where the variance may be 0

Unit = Literal["points", "percent", "mean", "correlation", "count"]
Method = Literal["score", "modified_wilson", "t", "jackknife_z", "mostly_equal", "none"]
Test = Literal["nps_z", "two_proportion_z", "fisher_exact", "none"]
Base = Literal["answers", "created", "sent", "delivered", "viewed", "started", "pairs"]
Scale = tuple[int, int]


class Interval(msgspec.Struct, frozen=True):
    """The range that holds the value of all customers, with the confidence `level`."""

    low: float
    high: float
    level: float


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure with everything that explains it; `value` is None where there is nothing to count.

    `hits` is the k of a share's k/n. `effect` is how many times fewer people than answers the interval is of: Kish's
    design effect at its greatest, as if a person always gave the same answer. The method "mostly_equal" says that there
    is no interval, because nearly all answers are the same.
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
    hits: int | None = None
    effect: float = 1.0


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The difference from the period before; `real` where p is below 0.05."""

    previous: float
    difference: float
    z: float | None
    p: float | None
    method: Test
    real: bool


# Figures -------------------------------------------------------------------------------------------------------------


def nps(promoters: int, detractors: int, n: int, *, level: float = LEVEL_DEFAULT, effect: float = 1.0) -> Measure:
    """Net Promoter Score, -100 to 100, of `n` answers on 0-10: promoters 9 and 10, detractors 0 to 6.

    Its interval is Tango's score interval, with the variance of n - 1.
    """
    parts = {"promoter": promoters, "passive": n - promoters - detractors, "detractor": detractors}
    measure = Measure(metric="nps", unit="points", n=n, scale=(0, 10), parts=parts, effect=effect)
    if n == 0:
        return measure
    value = 100 * (promoters - detractors) / n
    low, high = _score(promoters / effect, detractors / effect, n / effect, _z(level))
    interval = Interval(min(100 * low, value), max(100 * high, value), level)
    return replace(measure, value=value, interval=interval, method="score")


def share(
    hits: int,
    n: int,
    *,
    metric: str,
    level: float = LEVEL_DEFAULT,
    base: Base = "answers",
    scale: Scale | None = None,
    parts: Mapping[str, int] | None = None,
    effect: float = 1.0,
) -> Measure:
    """`hits` of `n` in percent, with the modified Wilson interval."""
    measure = Measure(metric=metric, unit="percent", n=n, base=base, scale=scale, parts=parts, hits=hits, effect=effect)
    if n == 0:
        return measure
    low, high = _wilson(hits / effect, n / effect, level)
    interval = Interval(100 * low, 100 * high, level)
    return replace(measure, value=100 * hits / n, interval=interval, method="modified_wilson")


def score(metric: str, counts: Mapping[int, int], *, level: float = LEVEL_DEFAULT, effect: float = 1.0) -> Measure:
    """The `nps`, `csat` or `ces` of how often each value was given; the latter two are the share of their top segment.

    That is 4 and 5 on 1-5 for CSAT (top two boxes), and 5 to 7 on 1-7 for CES 2.0 (agreement that it was easy).
    """
    question_type = TYPES[metric]
    parts = {
        name: sum(number for value, number in counts.items() if low <= value <= high)
        for name, low, high in reversed(question_type.segments)
    }
    n = sum(parts.values())
    if question_type.score is not None and question_type.score.is_net:
        return nps(parts["promoter"], parts["detractor"], n, level=level, effect=effect)
    hits = next(iter(parts.values()))
    return share(hits, n, metric=metric, level=level, scale=question_type.scale, parts=parts, effect=effect)


def mean(
    counts: Mapping[float, int] | Mapping[int, int],
    *,
    metric: str = "mean",
    level: float = LEVEL_DEFAULT,
    scale: Scale | None = None,
    effect: float = 1.0,
) -> Measure:
    """Σx/n of how often each value was given, with the t interval.

    On a scale an answer is added at each of its ends, so that equal answers do not pass for certainty; the interval is
    cut there. Without a scale there is none where more than half of the answers are the same and few are others. One
    answer has no interval: nothing says how answers spread.
    """
    n = sum(counts.values())
    measure = Measure(metric=metric, unit="mean", n=n, scale=scale, effect=effect)
    if n == 0:
        return measure
    value = math.fsum(x * count for x, count in counts.items()) / n
    measure = replace(measure, value=value)
    if n / effect < 2:  # noqa: PLR2004  one person
        return measure
    others = n - max(counts.values())
    if scale is None and others < min(OTHERS_MIN, n / 2):
        return replace(measure, method="mostly_equal")
    weights = {float(x): count / effect for x, count in counts.items()}
    for end in scale or ():
        weights[end] = weights.get(end, 0.0) + 1
    size = math.fsum(weights.values())
    middle = math.fsum(x * weight for x, weight in weights.items()) / size
    squares = math.fsum(weight * (x - middle) ** 2 for x, weight in weights.items())
    margin = t_quantile((1 + level) / 2, n / effect - 1) * math.sqrt(squares / (size - 1) / size)
    low, high = middle - margin, middle + margin
    if scale is not None:
        low, high = max(low, float(scale[0])), min(high, float(scale[1]))
    return replace(measure, interval=Interval(min(low, value), max(high, value), level), method="t")


def count(number: int, *, metric: str, of: int) -> Measure:
    """A number of cases, of `of` that it was counted among."""
    return Measure(metric=metric, unit="count", n=of, base="created", value=float(number))


def correlation(
    pairs: Mapping[tuple[float, float], int], *, level: float = LEVEL_DEFAULT, effect: float = 1.0
) -> Measure:
    """Pearson's r of an attribute's rating with the outcome, with the wider of two intervals.

    They are Fisher's z and that of the jackknife on the same scale: Fisher's presumes normal data, the jackknife has
    seen too little where both sides rarely vary together. Where nearly all answers of a side are the same there is
    none. The value is None where one side never varies. Reports hide it below `PAIRS_MIN` pairs.
    """
    n = sum(pairs.values())
    measure = Measure(metric="correlation", unit="correlation", n=n, base="pairs", effect=effect)
    if n == 0:
        return measure
    mean_x = math.fsum(x * k for (x, _), k in pairs.items()) / n
    mean_y = math.fsum(y * k for (_, y), k in pairs.items()) / n
    centred = [(x - mean_x, y - mean_y, k) for (x, y), k in pairs.items()]
    xx = math.fsum(k * x * x for x, _, k in centred)
    yy = math.fsum(k * y * y for _, y, k in centred)
    xy = math.fsum(k * x * y for x, y, k in centred)
    if xx <= 0 or yy <= 0:
        return measure
    r = max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))
    measure = replace(measure, value=r)
    others = min(_others(pairs, 0), _others(pairs, 1)) / effect
    if others < OTHERS_MIN or others < min(OTHERS_SHARE_MIN * n / effect, OTHERS_ENOUGH):
        return replace(measure, method="mostly_equal")
    if abs(r) >= 1 - _PERFECT:
        return replace(measure, interval=Interval(r, r, level), method="jackknife_z")
    jackknife = math.sqrt(effect * _jackknifed(centred, n, xx, yy, xy))
    fisher = _z(level) / math.sqrt(n / effect - 3)
    margin = max(fisher, t_quantile((1 + level) / 2, others - 1) * jackknife)
    low, high = math.tanh(math.atanh(r) - margin), math.tanh(math.atanh(r) + margin)
    return replace(measure, interval=Interval(low, high, level), method="jackknife_z")


# Changes -------------------------------------------------------------------------------------------------------------


def change(now: Measure, before: Measure) -> Change | None:
    """The change from the same figure earlier; None where one of them has no value."""
    if now.value is None or before.value is None:
        return None
    z: float | None = None
    p: float | None = None
    method: Test = "none"
    if now.unit == "points" and now.parts and before.parts:
        z, p = nps_z(_ends(now), _ends(before))
        method = "nps_z"
    elif now.hits is not None and before.hits is not None:
        now_of_people = now.hits / now.effect, now.n / now.effect
        z, p, method = two_proportions(now_of_people, (before.hits / before.effect, before.n / before.effect))
    real = p is not None and p < REAL_P
    difference = now.value - before.value
    return Change(previous=before.value, difference=difference, z=z, p=p, method=method, real=real)


def corrected(changes: Sequence[Change | None]) -> list[Change | None]:
    """The same changes, of which so many are real that chance makes a single one of them in one of twenty tables.

    Holm 1979. Each p stays as it is.
    """
    tested = sorted((each.p, index) for index, each in enumerate(changes) if each is not None and each.p is not None)
    real: set[int] = set()
    for rank, (p, index) in enumerate(tested):
        if p * (len(tested) - rank) >= REAL_P:
            break
        real.add(index)
    return [each and replace(each, real=index in real) for index, each in enumerate(changes)]


def nps_z(now: tuple[float, float, float], before: tuple[float, float, float]) -> tuple[float, float]:
    """The z and p (two-sided) of two NPS, each of promoters, detractors and n, on the adjusted values."""
    score_now, variance_now = _adjusted(*now)
    score_before, variance_before = _adjusted(*before)
    spread = math.sqrt(variance_now + variance_before)
    z = (score_now - score_before) / spread if spread else 0.0
    return z, two_sided(z)


def two_proportions(now: tuple[float, float], before: tuple[float, float]) -> tuple[float | None, float, Test]:
    """The z, p and test of two shares, each k of n: pooled z, or Fisher's exact test when a cell is under 5."""
    (hits, n), (hits_before, n_before) = now, before
    if min(hits, n - hits, hits_before, n_before - hits_before) < FISHER_CELL_MIN:
        return None, fisher_exact(*map(round, (hits, n, hits_before, n_before))), "fisher_exact"
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
    return math.erfc(abs(z) / math.sqrt(2))


# Student's t ---------------------------------------------------------------------------------------------------------


def t_cdf(t: float, freedom: float) -> float:
    """The probability of a value up to `t` under Student's t with `freedom` degrees of freedom."""
    if freedom > FREEDOM_MAX:
        return NormalDist().cdf(t)
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t), t * t / (freedom + t * t))
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4_096)
def t_quantile(probability: float, freedom: float) -> float:
    """The t below which `probability` (0.5 to 0.9995) lies, by Newton's method, from below: never past it."""
    t = NormalDist().inv_cdf(probability)
    if freedom > FREEDOM_MAX:
        return t
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    for _ in range(100):
        density = math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (probability - t_cdf(t, freedom)) / density
        t += step
        if step <= _ROOT_NEAR * t:
            break
    return t


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


@lru_cache(maxsize=64)
def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _adjusted(promoters: float, detractors: float, n: float) -> tuple[float, float]:
    """Score and variance of an NPS with three answers added, a quarter of them promoters, a quarter detractors."""
    size = n + NPS_ANSWERS_ADDED
    p, d = (promoters + NPS_ENDS_ADDED) / size, (detractors + NPS_ENDS_ADDED) / size
    return p - d, (p + d - (p - d) ** 2) / size


@lru_cache(maxsize=8_192)  # the bins of a trend are those of the last time, but for the newest
def _score(promoters: float, detractors: float, n: float, z: float) -> tuple[float, float]:
    """Tango's score interval of p - d: every difference that the data do not refute at `z`.

    `n` are people. The variance is that of n - 1, as Miettinen and Nurminen have it; of one person all is possible.
    """
    if n <= 1:
        return -1.0, 1.0
    p, d, square = promoters / n, detractors / n, z * z / (n - 1)
    value = p - d

    def refuted(difference: float) -> float:
        """Above 0 where this difference is refuted; `least` is its likeliest share of detractors."""
        odd = difference * (1 - difference)
        b = (2 - value) * difference - p - d
        least = (math.sqrt(max(0.0, b * b + 8 * d * odd)) - b) / 4
        return (value - difference) ** 2 - square * (2 * least + odd)

    near = 1.2 * math.sqrt(square * (p + d - value * value)) + square  # Wald's margin and some more
    return _root(refuted, value, max(-1.0, value - near), -1.0), _root(refuted, value, min(1.0, value + near), 1.0)


def _root(function: Callable[[float], float], below: float, near: float, above: float) -> float:
    """The root of a function that is negative just above `below` and positive at `above` (Illinois method).

    `near` lies between them, the nearer to the root the better: the function's size there says what is nearly 0.
    """
    start, whole = below, above - below
    below += _STEP * whole
    low, high = function(below), function(near)
    while high <= 0 and near != above:
        near = above if 2 * abs(near - start) >= abs(whole) or near == start else near + near - start
        high = function(near)
    above = near
    if low >= 0 or high <= 0:
        return above if high <= 0 else below
    side, enough = 0, _ROOT_NEAR * high
    for _ in range(100):
        middle = (below * high - above * low) / (high - low)
        found = function(middle)
        if abs(found) <= enough:
            return middle
        if found < 0:
            below, low = middle, found
            high, side = (high / 2 if side < 0 else high), -1
        else:
            above, high = middle, found
            low, side = (low / 2 if side > 0 else low), 1
    return (below * high - above * low) / (high - low)


def _wilson(hits: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's interval; few hits or few misses follow Poisson's law, and Wilson's bound is too near to them."""
    z = _z(level)
    p, weight = hits / n, z * z / n
    middle = (p + weight / 2) / (1 + weight)
    margin = z / (1 + weight) * math.sqrt(p * (1 - p) / n + weight / (4 * n))
    low, high = max(0.0, middle - margin), min(1.0, middle + margin)
    few = POISSON_HITS_MAX - (n <= POISSON_SMALL_MAX)
    if hits <= few:
        low = min(low, _least_poisson(math.floor(hits), level) / n)
    if n - hits <= few:
        high = max(high, 1 - _least_poisson(math.floor(n - hits), level) / n)
    return min(low, p), max(high, p)


@lru_cache(maxsize=64)
def _least_poisson(hits: int, level: float) -> float:
    """The least rate at which as many hits, or more, are as likely as 1 - level."""

    def too_likely(rate: float) -> float:
        return level - math.exp(-rate) * math.fsum(rate**k / math.factorial(k) for k in range(hits))

    return _root(too_likely, 0.0, hits, hits) if hits else 0.0


def _others(pairs: Mapping[tuple[float, float], int], side: int) -> int:
    """Count pairs whose value on this side is not the most frequent one."""
    counts: Counter[float] = Counter()
    for pair, count in pairs.items():
        counts[pair[side]] += count
    return counts.total() - max(counts.values())


def _jackknifed(centred: Sequence[tuple[float, float, int]], n: int, xx: float, yy: float, xy: float) -> float:
    """The variance of atanh(r), from what it is without each pair in turn; the sums are about the means of all."""
    change = n / (n - 1)  # of a sum of squares by the pair left out
    without: list[tuple[float, int]] = []
    for x, y, count in centred:
        spread = math.sqrt(max(0.0, xx - change * x * x) * max(0.0, yy - change * y * y))
        r = (xy - change * x * y) / spread if spread else 1.0
        without.append((math.atanh(max(_PERFECT - 1, min(1 - _PERFECT, r))), count))
    middle = math.fsum(value * count for value, count in without) / n
    return (n - 1) / n * math.fsum(count * (value - middle) ** 2 for value, count in without)


def _ends(measure: Measure) -> tuple[float, float, float]:
    parts, effect = measure.parts or {}, measure.effect
    return parts["promoter"] / effect, parts["detractor"] / effect, measure.n / effect


def _log_table(k: int, n: int, column: int, total: int) -> float:
    """The logarithm of how likely `k` of the `column` hits fall to the first `n` of `total`."""
    return _log_comb(n, k) + _log_comb(total - n, column - k) - _log_comb(total, column)


def _log_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
