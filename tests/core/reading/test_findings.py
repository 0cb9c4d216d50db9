"""The collector of errors: places, limits, refusals."""

import pytest

from afterword.core.reading.findings import FINDINGS_MAX, Findings, at_parameter, escape, unescape
from afterword.errors import Invalid


@pytest.mark.parametrize(
    ("path", "parameter"),
    [("/limit", "limit"), ("/filter_by/EQUAL/A~1b", "filter_by[EQUAL][A/b]"), ("/type/0", "type[0]")],
)
def test_parameters(path: str, parameter: str) -> None:
    findings = Findings(place=at_parameter)
    findings.error(path, "required", "This is required.")
    assert [(parameter, None)] == [(error.parameter, error.pointer) for error in findings.errors]


def test_a_warning_refuses_nothing() -> None:
    findings = Findings()
    findings.warning("/a", "outdated", "There is a newer one.")
    findings.check()
    findings.error("/b", "required", "This is required.")
    with pytest.raises(Invalid) as caught:
        findings.check()
    assert ["/b"] == [error.pointer for error in caught.value.errors]


def test_the_list_ends() -> None:
    findings = Findings()
    for number in range(FINDINGS_MAX + 1):
        findings.error(f"/{number}", "required", "This is required.")
    assert FINDINGS_MAX == len(findings.found)


def test_names_with_slashes() -> None:
    assert "a~1b~0c" == escape("a/b~c")
    assert "a/b~c" == unescape("a~1b~0c")
