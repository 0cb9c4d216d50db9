from collections import Counter

from hypothesis import given, strategies as st

from afterword.core.scheduling.lanes import START, DueLane, next_cursor, share_slots

MANY = 200


def turn(organization: str, lane: str, *, account: str = "x", priority: int = 5, items_max: int = MANY) -> DueLane:
    return DueLane(organization, lane, account, priority, items_max)


class TestShareSlots:
    def test_nothing_due(self) -> None:
        assert {} == share_slots([], free=10, free_of_account={})

    def test_nothing_free(self) -> None:
        assert {} == share_slots([turn("a", "1")], free=0, free_of_account={})

    def test_a_full_account_gets_nothing(self) -> None:
        turns = [turn("a", "1"), turn("b", "1")]

        assert {("b", "1"): 4} == share_slots(turns, free=4, free_of_account={("a", "x"): 0})

    def test_organizations_share_alike_however_many_lanes_they_have(self) -> None:
        turns = [*(turn("a", str(number)) for number in range(9)), turn("b", "1")]

        shares = share_slots(turns, free=20, free_of_account={})

        assert 10 == shares["b", "1"]
        assert 10 == sum(share for (organization, _), share in shares.items() if organization == "a")
        assert {1, 2} == {share for (organization, _), share in shares.items() if organization == "a"}

    def test_one_organization_gets_all(self) -> None:
        assert {("a", "1"): 50} == share_slots([turn("a", "1")], free=50, free_of_account={})

    def test_priority_comes_first_but_everybody_gets_one(self) -> None:
        turns = [turn("a", "1", priority=9), turn("a", "2", priority=0), turn("a", "3", priority=9)]

        assert {("a", "1"): 1, ("a", "2"): 8, ("a", "3"): 1} == share_slots(turns, free=10, free_of_account={})
        assert {("a", "2"): 1} == share_slots(turns, free=1, free_of_account={})

    def test_lanes_of_one_account_share_its_slots_and_tokens(self) -> None:
        turns = [turn("a", "1", items_max=5), turn("a", "2", items_max=5)]

        assert 5 == sum(share_slots(turns, free=20, free_of_account={}).values())
        assert 3 == sum(share_slots(turns, free=20, free_of_account={("a", "x"): 3}).values())

    def test_a_probe_is_one_item(self) -> None:
        assert {("a", "1"): 1} == share_slots([turn("a", "1", items_max=1)], free=20, free_of_account={})


turns_of = st.lists(
    st.builds(
        DueLane,
        st.sampled_from("abcd"),
        st.sampled_from("123456"),
        st.sampled_from("xy"),
        st.integers(0, 9),
        st.sampled_from([1, 3, MANY]),
    ),
    unique_by=lambda turn: turn.key,
    max_size=20,
)


@given(turns_of, st.integers(0, 60), st.integers(0, 20))
def test_never_more_than_there_is(turns: list[DueLane], free: int, slots: int) -> None:
    free_of_account = {turn.account: slots for turn in turns}

    shares = share_slots(turns, free=free, free_of_account=free_of_account)

    accounts = Counter[tuple[str, str]]()
    for each in turns:
        accounts[each.account] += shares.get(each.key, 0)
    assert sum(shares.values()) <= free
    assert all(count <= slots for count in accounts.values())
    assert all(share > 0 for share in shares.values())


@given(turns_of, st.integers(1, 8))
def test_whoever_waits_is_served_within_a_few_turns(turns: list[DueLane], free: int) -> None:
    """Every organization gets a slot before any gets its second round of turns, wherever the cursor stands."""
    keys = sorted(turns, key=lambda turn: turn.key)
    cursor, served = START, set[str]()
    for _ in range(len(keys)):
        around = [t for t in keys if t.key > cursor] + [t for t in keys if t.key <= cursor]
        shares = share_slots(around, free=free, free_of_account={})
        served |= {organization for organization, _ in shares}
        cursor = next_cursor(around, shares)
    assert {turn.organization_id for turn in turns} == served


class TestNextCursor:
    def test_nothing_due(self) -> None:
        assert START == next_cursor([], {})

    def test_all_served(self) -> None:
        assert ("b", "1") == next_cursor([turn("a", "1"), turn("b", "1")], {("a", "1"): 1, ("b", "1"): 1})

    def test_an_organization_without_any_comes_first(self) -> None:
        turns = [turn("a", "1"), turn("a", "2"), turn("b", "1"), turn("c", "1")]

        assert ("b", "1") == next_cursor(turns, {("a", "1"): 1, ("b", "1"): 1})

    def test_then_a_lane_without_any(self) -> None:
        turns = [turn("a", "1"), turn("a", "2"), turn("a", "3")]

        assert ("a", "1") == next_cursor(turns, {("a", "1"): 1})
