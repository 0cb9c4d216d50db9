"""Each kind of route is among those that are drawn, and in time each route is."""

from tests.contract.kinds import drawn, kind_of
from tests.contract.world import ROUTES, name_of


def test_one_of_each_kind() -> None:
    found = [kind_of(route) for route in drawn(ROUTES, "a commit")]
    assert len(found) == len(set(found)) == len({kind_of(route) for route in ROUTES})
    assert 12 <= len(found) <= 40


def test_the_same_for_one_commit_and_others_for_others() -> None:
    assert drawn(ROUTES, "a commit") == drawn(ROUTES, "a commit")
    assert {name_of(route) for route in ROUTES} == {name_of(r) for n in range(500) for r in drawn(ROUTES, str(n))}
