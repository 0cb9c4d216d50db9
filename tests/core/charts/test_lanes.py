"""Lines that overlap have lanes of their own; short ones stand nearest to the list."""

from afterword.core import charts


def test_pieces() -> None:
    found, count = charts.pieces([(0, 3), (1, 2), (3, 4)], rows=5)
    assert 2 == count
    assert [[("begin", 7)], [("begin", 21), ("pass", 7)], [("end", 21), ("pass", 7)]] == [
        [(one.part, one.x) for one in row] for row in found[:3]
    ]
    assert {("end", 7.0), ("begin", 21.0)} == {(one.part, one.x) for one in found[3]}
    assert ([[], []], 0) == charts.pieces([], rows=2)


def test_many_lines() -> None:
    lines = [(0, row) for row in range(1, 30)]
    found, count = charts.pieces(lines, rows=30)
    assert charts.LANES_MAX == count
    assert len(lines) == len(found[0])
    assert all(0 < one.x < charts.width(count) for row in found for one in row)
