"""The parameters of an address: what is none of ours is left out, and the best known stands for what is missing."""

from afterword.listening.screens.forms import given_of


def test_given() -> None:
    assert {} == given_of({"days": "31", "compare": "everything", "other": "x"})
    assert {"period": "30", "metric": "nps", "compare": "rest"} == given_of(
        {"days": "30", "metric": "nps", "compare": "rest", "bucket": ""}
    )
    dates = {"period": "dates", "first": "2026-11-29", "last": "2026-11-01"}
    assert {"period": "dates", "first": "2026-11-01", "last": "2026-11-29"} == given_of(dates)
    assert (
        {}
        == given_of({"period": "dates", "first": "2026-02-30"})
        == given_of({"period": "dates", "last": "0001-01-01"})
    )
    assert {"period": "last_month"} == given_of({"period": "last_month", "days": "30"})
    assert 300 == len(given_of({"metadata": "x" * 500})["metadata"])
