import math
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from afterword.core.figures import metrics
from afterword.core.figures.metrics import Change, Measure
from benchmarks import coverage
from tests.sizes import one_of


def ends(measure: Measure) -> tuple[float, float]:
    assert measure.interval is not None
    return measure.interval.low, measure.interval.high


def rounded(measure: Measure) -> list[float]:
    return [round(end, 2) for end in ends(measure)]


def changed(now: Measure, before: Measure) -> Change:
    found = metrics.change(now, before)
    assert found is not None
    return found


class TestVectors:
    """Intervals worked out by other programs from the same sources, to the digits in which they are stated."""

    @pytest.mark.parametrize(
        ("promoters", "detractors", "n", "value", "interval"),
        [
            (50, 20, 100, 30.00, [13.87, 44.41]),
            (5, 2, 10, 30.00, [-24.24, 68.9]),
            (10, 0, 10, 100.0, [40.17, 100.0]),
            (0, 0, 5, 0.0, [-48.99, 48.99]),
            (0, 5, 5, -100.0, [-100.0, -2.02]),
            (1, 0, 1, 100.0, [-100.0, 100.0]),  # one person says nothing of the others
        ],
    )
    def test_nps(self, promoters: int, detractors: int, n: int, value: float, interval: list[float]) -> None:
        found = metrics.nps(promoters, detractors, n)
        assert (value, interval) == (found.value, rounded(found))
        assert ("score", n, (0, 10)) == (found.method, found.n, found.scale)

    @pytest.mark.parametrize(("n", "low"), [(15_374, 99.95), (20_000, 99.9616), (1_000_000, 99.99923)])
    def test_nps_of_very_many_equal_answers(self, n: int, low: float) -> None:
        """The interval does not collapse where its function is flat."""
        assert (pytest.approx(low, abs=1e-4), 100.0) == ends(metrics.nps(n, 0, n))
        assert (-100.0, pytest.approx(-low, abs=1e-4)) == ends(metrics.nps(0, n, n))

    def test_nps_change(self) -> None:
        now, before = metrics.nps(52, 12, 87), metrics.nps(52, 15, 94)
        assert (46, 39) == (round(now.value or 0), round(before.value or 0))
        change = changed(now, before)
        assert (0.583, 0.56, False) == (round(change.z or 0, 3), round(change.p or 0, 2), change.real)
        assert "nps_z" == change.method

    @pytest.mark.parametrize(
        ("hits", "n", "interval"),
        [
            (80, 100, [71.12, 86.66]), (10, 10, [72.25, 100.0]), (0, 5, [0.0, 43.45]),  # Wilson's own
            (8, 10, [49.02, 96.45]), (1, 10, [0.51, 40.42]), (2, 50, [0.71, 13.46]),  # two misses, or hits: Poisson's
            (47, 50, [83.78, 97.94]), (57, 60, [86.30, 98.64]),  # three: of more than 50
        ],
    )  # fmt: skip
    def test_csat(self, hits: int, n: int, interval: list[float]) -> None:
        found = metrics.score("csat", {5: hits, 2: n - hits})
        assert (100 * hits / n, interval, "modified_wilson") == (found.value, rounded(found), found.method)


class TestSegments:
    def test_nps_of_values(self) -> None:
        found = metrics.score("nps", {0: 1, 6: 2, 7: 3, 8: 4, 9: 5, 10: 6})
        assert {"promoter": 11, "passive": 7, "detractor": 3} == found.parts
        assert 21 == found.n

    def test_csat_counts_the_top_two_boxes(self) -> None:
        found = metrics.score("csat", {1: 1, 2: 2, 3: 3, 4: 4, 5: 5})
        assert {"satisfied": 9, "neutral": 3, "dissatisfied": 3} == found.parts
        assert 60.0 == found.value

    def test_ces_is_high_when_it_was_easy(self) -> None:
        found = metrics.score("ces", {1: 1, 4: 1, 5: 1, 7: 1})
        assert ({"easy": 2, "neutral": 1, "hard": 1}, 50.0) == (found.parts, found.value)

    def test_values_beside_the_scale_are_no_answers(self) -> None:
        assert 1 == metrics.score("nps", {11: 5, -1: 5, 3: 1}).n

    @pytest.mark.parametrize(
        "make",
        [partial(metrics.score, "nps"), partial(metrics.score, "csat"), partial(metrics.score, "ces"), metrics.mean],
    )
    def test_without_answers(self, make: Any) -> None:
        found = make({})
        assert (None, 0, None, "none") == (found.value, found.n, found.interval, found.method)


class TestMean:
    def test_table(self) -> None:
        """1, 2, 3, 4, 5: s = 1.5811, t(0.975, 4) = 2.776445."""
        found = metrics.mean({1: 1, 2: 1, 3: 1, 4: 1, 5: 1})
        assert (3.0, [1.04, 4.96], "t") == (found.value, rounded(found), found.method)

    def test_an_answer_is_added_at_each_end_of_a_scale(self) -> None:
        """Ten fives, a one and a five: m = 4.6667, s = 1.1547, t(0.975, 9) = 2.2622; no certainty of 5.0."""
        found = metrics.mean({5: 10}, scale=(1, 5))
        assert (5.0, 10, [3.91, 5.0]) == (found.value, found.n, rounded(found))

    def test_equal_answers_without_a_scale_have_no_interval(self) -> None:
        for counts in ({4: 10}, {4: 6, 1: 4}, {4: 95, 3: 5}):
            found = metrics.mean(counts)
            assert (None, "mostly_equal") == (found.interval, found.method), counts
        assert "t" == metrics.mean({4: 90, 3: 10}).method

    def test_one_answer_says_nothing_of_the_spread(self) -> None:
        found = metrics.mean({4: 1})
        assert (4.0, None, "none") == (found.value, found.interval, found.method)

    def test_is_cut_at_the_ends_of_the_scale(self) -> None:
        assert [1.0, 5.0] == rounded(metrics.mean({1: 1, 5: 1}, scale=(1, 5)))


class TestStudent:
    @pytest.mark.parametrize(
        ("probability", "freedom", "t"),
        [
            (0.975, 1, 12.7062), (0.975, 2, 4.3027), (0.975, 3, 3.1824), (0.975, 5, 2.5706), (0.975, 10, 2.2281),
            (0.975, 20, 2.0860), (0.975, 30, 2.0423), (0.975, 60, 2.0003), (0.975, 100, 1.9840), (0.975, 120, 1.9799),
            (0.95, 1, 6.3138), (0.95, 4, 2.1318), (0.95, 29, 1.6991), (0.90, 7, 1.4149), (0.75, 9, 0.7027),
            (0.995, 1, 63.6567), (0.995, 12, 3.0545), (0.9995, 1, 636.6192), (0.9995, 8, 5.0413), (0.9995, 40, 3.5510),
        ],
    )  # fmt: skip
    def test_quantiles_of_the_tables(self, probability: float, freedom: int, t: float) -> None:
        assert t == round(metrics.t_quantile(probability, freedom), 4)

    def test_many_degrees_are_normal(self) -> None:
        """To the last digit: the incomplete beta function loses some where its arguments are large."""
        for freedom in (100_001, 10_000_000, 500_000_000):
            assert 1.644853627 == pytest.approx(metrics.t_quantile(0.95, freedom), abs=2e-5)
            assert 0.95 == pytest.approx(metrics.t_cdf(1.644853627, freedom), abs=1e-9)
        assert 1.644853626951 == pytest.approx(metrics.t_quantile(0.95, 500_000_000), abs=1e-11)

    @given(t=st.floats(-50, 50), freedom=st.integers(1, 10_000))
    def test_symmetric(self, t: float, freedom: int) -> None:
        assert 1.0 == pytest.approx(metrics.t_cdf(t, freedom) + metrics.t_cdf(-t, freedom))

    @given(t=st.floats(-50, 50))
    def test_one_degree_is_cauchy(self, t: float) -> None:
        assert 0.5 + math.atan(t) / math.pi == pytest.approx(metrics.t_cdf(t, 1), abs=1e-12)

    @given(probability=st.floats(0.501, 0.9995), freedom=st.integers(1, 1_000_000))
    def test_quantile_inverts(self, probability: float, freedom: int) -> None:
        assert probability == pytest.approx(metrics.t_cdf(metrics.t_quantile(probability, freedom), freedom), abs=1e-9)


class TestCorrelation:
    def test_of_pairs(self) -> None:
        """Fisher's z is the wider one where both sides vary: atanh(0) ± 1.96/√27."""
        found = metrics.correlation({(1, 1): 10, (2, 2): 10, (3, 1): 10})
        assert found.value is not None
        assert (0.0, 30, "pairs", "jackknife_z") == (round(found.value, 9), found.n, found.base, found.method)
        assert [-0.36, 0.36] == rounded(found)

    def test_jackknife(self) -> None:
        """80 of 100 give five twice: the jackknife is the wider one; leaving each pair out by hand gives the same."""
        pairs: dict[tuple[float, float], int] = {(5, 5): 80, (1, 1): 8, (1, 5): 6, (5, 1): 6}
        found = metrics.correlation(pairs)
        without = [
            (math.atanh(metrics.correlation({**pairs, left: count - 1}).value or 0), count)
            for left, count in pairs.items()
        ]
        middle = sum(value * count for value, count in without) / 100
        error = math.sqrt(0.99 * sum(count * (value - middle) ** 2 for value, count in without))
        margin = metrics.t_quantile(0.975, 13) * error
        assert math.tanh(math.atanh(found.value or 0) - margin) == pytest.approx(ends(found)[0], abs=1e-9)
        assert margin > 1.96 / math.sqrt(97)

    def test_perfect(self) -> None:
        assert [1.0, 1.0] == rounded(metrics.correlation({(1, 1): 19, (2, 2): 19}))

    @pytest.mark.parametrize(
        ("pairs", "method"),
        [
            ({(5, 5): 25, (1, 1): 9}, "mostly_equal"),
            ({(5, 5): 25, (1, 1): 10}, "jackknife_z"),
            ({(5, 5): 400, (1, 1): 40}, "mostly_equal"),  # under a tenth
            ({(5, 5): 400, (1, 1): 45}, "jackknife_z"),
            ({(5, 5): 4_000, (1, 1): 100}, "jackknife_z"),
        ],
    )
    def test_where_nearly_all_are_equal_there_is_no_interval(
        self, pairs: dict[tuple[float, float], int], method: str
    ) -> None:
        found = metrics.correlation(pairs)
        assert (1.0, method, method == "jackknife_z") == (found.value, found.method, found.interval is not None)

    @pytest.mark.parametrize("pairs", [{}, {(1, 1): 50}, {(1, 2): 3, (1, 3): 4}])
    def test_where_one_side_never_varies(self, pairs: dict[tuple[float, float], int]) -> None:
        assert metrics.correlation(pairs).value is None

    @given(st.dictionaries(st.tuples(st.integers(1, 5), st.integers(0, 10)), st.integers(1, 50), min_size=2))
    def test_contains_and_is_symmetric(self, pairs: dict[tuple[float, float], int]) -> None:
        found = metrics.correlation(pairs)
        turned = metrics.correlation({(y, x): k for (x, y), k in pairs.items()})
        if found.value is None or turned.value is None:
            assert found.value is turned.value is None
            return
        assert found.value == pytest.approx(turned.value)
        if found.interval:
            assert -1 <= found.interval.low <= found.value <= found.interval.high <= 1


class TestChangeOfShares:
    def test_pooled(self) -> None:
        """60 of 100 against 45 of 100: pooled 0.525, z = 0.15 / 0.07062."""
        z, p, method = metrics.two_proportions((60, 100), (45, 100))
        assert z is not None
        assert (2.124, 0.0337, "two_proportion_z") == (round(z, 3), round(p, 4), method)

    @pytest.mark.parametrize(
        ("now", "before", "p"),
        [((8, 10), (1, 6), 0.0350), ((3, 4), (1, 4), 0.4857), ((0, 5), (5, 5), 0.0079), ((10, 10), (10, 10), 1.0)],
    )
    def test_fisher(self, now: tuple[int, int], before: tuple[int, int], p: float) -> None:
        z, found, method = metrics.two_proportions(now, before)
        assert (None, p, "fisher_exact") == (z, round(found, 4), method)

    @given(st.integers(1, 14), st.integers(1, 14), st.data())
    def test_fisher_equals_the_sum_of_all_tables(self, n: int, n_before: int, data: st.DataObject) -> None:
        hits, hits_before = data.draw(st.integers(0, n)), data.draw(st.integers(0, n_before))
        column = hits + hits_before
        tables = {
            k: Fraction(math.comb(n, k) * math.comb(n_before, column - k), math.comb(n + n_before, column))
            for k in range(max(0, column - n_before), min(n, column) + 1)
        }
        expected = float(sum(each for each in tables.values() if each <= tables[hits]))
        assert expected == pytest.approx(metrics.fisher_exact(hits, n, hits_before, n_before), rel=1e-6)

    def test_fisher_of_millions_is_quick(self) -> None:
        assert metrics.fisher_exact(3, 1_000_000, 500_000, 1_000_000) < 1e-12
        assert metrics.fisher_exact(500_000, 1_000_000, 500_000, 1_000_000) == pytest.approx(1.0)

    def test_means_have_no_test(self) -> None:
        change = changed(metrics.mean({4: 10}), metrics.mean({3: 10}))
        assert (1.0, None, None, "none", False) == (change.difference, change.z, change.p, change.method, change.real)

    def test_without_a_value_there_is_no_change(self) -> None:
        assert metrics.change(metrics.nps(0, 0, 0), metrics.nps(1, 0, 1)) is None
        assert metrics.change(metrics.nps(1, 0, 1), metrics.nps(0, 0, 0)) is None

    @given(*(st.integers(0, 60) for _ in range(2)), *(st.integers(60, 200) for _ in range(2)))
    def test_turned_round(self, hits: int, other: int, n: int, m: int) -> None:
        z, p, _ = metrics.two_proportions((hits, n), (other, m))
        turned_z, turned_p, _ = metrics.two_proportions((other, m), (hits, n))
        assert p == pytest.approx(turned_p)
        assert 0 <= p <= 1
        if z is not None and turned_z is not None:
            assert z == pytest.approx(-turned_z)


class TestManyComparisons:
    def changes(self, *ps: float | None) -> list[Change | None]:
        return [
            None if p is None else Change(previous=0, difference=1, z=None, p=p, method="nps_z", real=p < 0.05)
            for p in ps
        ]

    def test_holm(self) -> None:
        """Each p is multiplied by the number of those that are not smaller, up to the first that is not real."""
        found = metrics.corrected(self.changes(0.03, 0.001, None, 0.02, 0.9))
        assert [False, True, None, False, False] == [each and each.real for each in found]
        assert [True, True] == [each and each.real for each in metrics.corrected(self.changes(0.02, 0.03))]
        assert [] == metrics.corrected([])


class TestPeople:
    """An interval is of people: `effect` times fewer than answers."""

    def test_answers_of_one_person_are_one(self) -> None:
        for once, often in (
            (metrics.nps(5, 2, 10), metrics.nps(15, 6, 30, effect=3.0)),
            (metrics.score("csat", {5: 8, 2: 2}), metrics.score("csat", {5: 24, 2: 6}, effect=3.0)),
            (metrics.mean({5: 8, 2: 2}, scale=(1, 5)), metrics.mean({5: 24, 2: 6}, scale=(1, 5), effect=3.0)),
        ):
            assert (once.value, 3 * once.n, rounded(once)) == (often.value, often.n, rounded(often))

    def test_correlation(self) -> None:
        pairs: dict[tuple[float, float], int] = {(5, 5): 80, (1, 1): 40, (1, 5): 16, (5, 1): 16}
        assert rounded(metrics.correlation(pairs, effect=2.0)) != rounded(metrics.correlation(pairs))
        few = metrics.correlation(pairs, effect=8.0)
        assert (None, "mostly_equal") == (few.interval, few.method)

    def test_one_person_has_no_mean_interval(self) -> None:
        found = metrics.mean({5: 3, 4: 2}, scale=(1, 5), effect=5.0)
        assert (4.6, None, "none") == (found.value, found.interval, found.method)

    def test_changes(self) -> None:
        """Sixty answers of twelve people are no more than twelve."""
        sure = changed(metrics.nps(40, 5, 60), metrics.nps(20, 20, 60))
        unsure = changed(metrics.nps(40, 5, 60, effect=5.0), metrics.nps(20, 20, 60, effect=5.0))
        assert (True, False) == (sure.real, unsure.real)
        shares = changed(
            metrics.score("csat", {5: 50, 1: 10}, effect=5.0), metrics.score("csat", {5: 35, 1: 25}, effect=5.0)
        )
        assert ("fisher_exact", metrics.fisher_exact(10, 12, 7, 12)) == (shares.method, shares.p)


answers = st.tuples(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500)).filter(any)
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


def of_nps(counts: tuple[int, int, int], level: float = 0.95) -> Measure:
    return metrics.nps(counts[0], counts[2], sum(counts), level=level)


def width(measure: Measure) -> float:
    low, high = ends(measure)
    return high - low


class TestProperties:
    @given(answers, levels)
    def test_nps_contains_its_value_and_stays_in_range(self, counts: tuple[int, int, int], level: float) -> None:
        found = of_nps(counts, level)
        low, high = ends(found)
        assert found.value is not None
        assert -100 <= low <= found.value <= high <= 100

    @given(answers)
    def test_nps_is_symmetric(self, counts: tuple[int, int, int]) -> None:
        found, turned = of_nps(counts), of_nps((counts[2], counts[1], counts[0]))
        assert found.value == pytest.approx(-(turned.value or 0))
        assert ends(found)[0] == pytest.approx(-ends(turned)[1])

    @given(answers, st.integers(2, 50))
    def test_more_of_the_same_narrows_nps(self, counts: tuple[int, int, int], times: int) -> None:
        more = (counts[0] * times, counts[1] * times, counts[2] * times)
        # Where the ends of the scale cut the interval, or the added answers outweigh, width says nothing.
        if sum(counts) >= 5 and width(of_nps(counts)) < 99:
            assert width(of_nps(more)) <= width(of_nps(counts)) + 1e-9

    @given(answers)
    def test_higher_level_is_wider(self, counts: tuple[int, int, int]) -> None:
        widths = [width(of_nps(counts, level)) for level in (0.5, 0.8, 0.95, 0.999)]
        assert widths == sorted(widths)

    @given(st.integers(0, 1000), st.integers(1, 1000), levels)
    def test_share_contains_its_value_and_stays_in_range(self, hits: int, more: int, level: float) -> None:
        n = hits + more - 1 or 1
        found = metrics.share(hits, max(n, hits), metric="share", level=level)
        low, high = ends(found)
        assert found.value is not None
        assert 0 <= low <= found.value <= high <= 100

    @given(st.integers(0, 100), st.integers(0, 100), st.integers(2, 100))
    def test_share_is_symmetric_and_narrows(self, hits: int, misses: int, times: int) -> None:
        n = hits + misses
        assume(n > 0)
        found, turned = metrics.share(hits, n, metric="share"), metrics.share(misses, n, metric="share")
        assert ends(found)[0] == pytest.approx(100 - ends(turned)[1])
        assert width(metrics.share(hits * times, n * times, metric="share")) <= width(found) + 1e-9

    @given(st.dictionaries(st.integers(1, 5), st.integers(1, 300), min_size=1), levels, st.integers(2, 20))
    def test_mean(self, counts: dict[int, int], level: float, times: int) -> None:
        found = metrics.mean(dict(counts), level=level, scale=(1, 5))
        assert found.value is not None
        if found.interval is None:
            assert 1 == found.n
            return
        assert 1 - 1e-9 <= found.interval.low <= found.value <= found.interval.high <= 5 + 1e-9
        more = metrics.mean({value: number * times for value, number in counts.items()}, level=level, scale=(1, 5))
        assert width(more) <= width(found) + 1e-9


def test_no_interval_says_more_than_it_knows() -> None:
    """At least 91 of 100 where 95 are stated, up to 95 % equal answers; or no interval."""
    rows = list(coverage.measure(sizes=one_of((5, 30, 60)), samples=200))
    assert 34 == len(rows)
    assert [] == [
        (row.figure, row.equal, str(cell)) for row in rows for cell in row.cells if cell and not cell.is_reached
    ]
