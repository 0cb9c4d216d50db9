"""Every removal asks first, by a page with the same scope, unless the page that follows takes it back."""

import re
from pathlib import Path

from afterword.console import removals
from afterword.run.console import screens

EDITOR = "/console/questionnaires/{questionnaire_id}/edit"
TAKEN_BACK = frozenset(
    {"/console/responses/tags/removal"}
    | {f"{EDITOR}/{below}/removal" for below in ("{question_id}", "page/{group_id}", "endings/{ending_id}")}
)

TITLE = re.compile(r'^removal\((?:.*\n)*?    title="([^"]+)"|\bremoval="([^"]+)"', re.MULTILINE)


def test_each_title_asks() -> None:
    modules = [path.read_text(encoding="utf-8") for path in Path(removals.__file__).parents[1].rglob("*.py")]
    titles = [first or second for text in modules for first, second in TITLE.findall(text)]
    assert len(titles) > 20
    assert [] == [title for title in titles if not title.endswith("?")]


def test_each_act_has_its_page() -> None:
    pages = {one.path: one for one in screens() if one.method == "GET"}
    acts = [one for one in screens() if one.method == "POST" and one.path.endswith("/removal")]
    acts = [one for one in acts if one.path not in TAKEN_BACK]
    assert len(acts) > 5
    for act in acts:
        assert act.path in pages, act.path
        assert act.scope == pages[act.path].scope, act.path
