"""Ids: their shape, their order, and that thousands at one moment are all different."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from afterword import ids
from tests.sizes import size

NOW = datetime(2026, 11, 21, 18, 23, 45, tzinfo=UTC)


class TestOrderedMany:
    @pytest.mark.parametrize("count", [0, 1, 2, 10_000])
    def test_as_many_as_wanted(self, count: int) -> None:
        found = ids.ordered_many(NOW, count)
        assert count == len(set(found)) == len(found)
        assert sorted(found) == found
        assert all(ids.is_id(each) for each in found)

    def test_over_the_end_of_a_block(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last four digits begin anew; order and shape stay."""
        monkeypatch.setattr("afterword.ids.secrets.randbits", lambda bits: (1 << bits) - 1)
        early = ids.ordered_many(NOW, 5)
        assert sorted(set(early)) == early

    def test_between_moments(self) -> None:
        later = ids.ordered_many(NOW + timedelta(milliseconds=1), 3)
        assert max(ids.ordered_many(NOW, 3)) < min(later)
        assert ids.ordered(NOW) < later[0]

    def test_two_batches_of_one_moment(self) -> None:
        assert not set(ids.ordered_many(NOW, 1_000)) & set(ids.ordered_many(NOW, 1_000))


class TestOrdered:
    def test_within_its_millisecond(self) -> None:
        """However the clock stands: not below the least id of its moment, and below the next one's."""
        for step in range(0, 100_000, 97):
            moment = NOW + timedelta(milliseconds=step)
            least, next_least = (ids.ordered_first(moment + timedelta(milliseconds=n)) for n in (0, 1))
            assert least <= ids.ordered(moment) < next_least


class TestSecret:
    def test_every_character_is_as_likely(self) -> None:
        """4,000 ids have 88,000 characters, 1,419 of each; seven standard deviations are 264."""
        counts = Counter("".join(ids.secret() for _ in range(4_000)))
        assert set(ids.ALPHABET) == set(counts)
        assert all(abs(count - 1_419) < 264 for count in counts.values())

    def test_every_bit_is_as_likely(self) -> None:
        """Of so many ids about half of the bits are ones; five standard deviations are 5 * sqrt(n) / 2."""
        count = size(2_000, 10_000)
        places = {letter: place for place, letter in enumerate(ids.ALPHABET)}
        numbers = [sum(places[one] * 62**at for at, one in enumerate(ids.secret())) for _ in range(count)]
        for bit in range(0, 120, 7):
            ones = sum(number >> bit & 1 for number in numbers)
            assert abs(ones - count / 2) < 2.5 * count**0.5, bit

    def test_shape(self) -> None:
        assert ids.is_id(ids.secret())
        assert ids.is_short_code(ids.short_code())
