"""Ready reports: their parameters have one meaning each, their metrics are computed, and docs/reports.md lists them."""

import re
from pathlib import Path

import pytest

from afterword.core.figures.reports import BOUNCED, RATES, STAGES, TYPE_OF
from afterword.core.figures.templates import TEMPLATES, Template

PAGE = Path(__file__).parents[3].joinpath("docs/reports.md").read_text(encoding="utf-8")
EACH = pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)


@EACH
def test_parameters(template: Template) -> None:
    names = [parameter.name for parameter in template.parameters]
    assert len(set(names)) == len(names)
    assert {"questionnaire_id", "from_time", "to_time", "time_zone", "filter", "level"} < set(names)
    assert not [one.name for one in template.parameters if one.required and one.default is not None]
    [basis] = [one.default for one in template.parameters if one.name == "date_basis"]
    assert template.basis == basis


@EACH
def test_metrics_are_computed(template: Template) -> None:
    assert set() == set(template.metrics) - {*TYPE_OF, *RATES, *STAGES, BOUNCED}


def test_the_page_lists_them_all() -> None:
    table = PAGE.partition("| Template | What it shows |")[2].partition("\n\n")[0]
    told = [name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert list(TEMPLATES) == told
