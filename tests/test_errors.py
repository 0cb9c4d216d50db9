"""Refusals: one HTTP status and default code each, errors that say their place, as many as a client can read."""

import pytest

from afterword import errors
from afterword.errors import ERRORS_MAX, FieldError, Invalid, Refusal

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Refusal)]
SPECIFIC = [kind for kind in KINDS if kind is not Refusal]


def test_each_status_is_one_kind() -> None:
    assert len(SPECIFIC) == len({kind.status for kind in SPECIFIC}) == len({kind.code_default for kind in SPECIFIC})
    assert all(400 <= kind.status < 600 for kind in SPECIFIC)


@pytest.mark.parametrize("kind", SPECIFIC)
def test_a_code_of_its_own_takes_the_place_of_the_default(kind: type[Refusal]) -> None:
    assert kind.code_default == kind("No.").code
    assert "closed" == kind("No.", "closed").code
    assert "No." == str(kind("No."))


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (FieldError("c", "m", pointer="/map/day~1month ~01"), "map.day/month ~1"),
        (FieldError("c", "m", pointer="/a/0/b"), "a.0.b"),
        (FieldError("c", "m", pointer=""), "the body"),
        (FieldError("c", "m", parameter="limit"), "limit"),
        (FieldError("c", "m", header="If-Match"), "If-Match"),
        (FieldError("c", "m"), "the request"),
    ],
)
def test_places_in_words(error: FieldError, place: str) -> None:
    assert f"1 field is wrong: {place}. m" == Invalid.of(error).detail


def test_places_are_named_once_and_errors_end() -> None:
    many = [FieldError("c", "m", pointer=f"/{number % 2}") for number in range(ERRORS_MAX + 1)]
    refusal = Invalid.of(*many)
    assert f"{ERRORS_MAX + 1} fields are wrong: 0, 1." == refusal.detail
    assert ERRORS_MAX == len(refusal.errors)


def test_check() -> None:
    errors.check([])
    with pytest.raises(Invalid) as caught:
        errors.check([FieldError("c", "m", pointer="/a")])
    assert ["/a"] == [error.pointer for error in caught.value.errors]
