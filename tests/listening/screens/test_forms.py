"""The parameters of an address: what is none of ours is left out, and the best known stands for what is missing."""

from afterword.listening.screens.forms import given_of


def test_given() -> None:
    assert {} == given_of({"days": "31", "compare": "everything", "other": "x"})
    assert {"days": "30", "metric": "nps", "compare": "rest"} == given_of(
        {"days": "30", "metric": "nps", "compare": "rest", "bucket": ""}
    )
    assert 300 == len(given_of({"metadata": "x" * 500})["metadata"])
