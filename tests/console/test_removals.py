"""Every removal that is declared asks first: its address has a page and an act, with the same scope."""

from afterword.run.console import screens


def test_each_act_has_its_page() -> None:
    pages = {one.path: one for one in screens() if one.method == "GET"}
    acts = [one for one in screens() if one.method == "POST" and one.path.endswith("/removal")]
    assert len(acts) > 5
    for act in acts:
        assert act.path in pages, act.path
        assert act.scope == pages[act.path].scope, act.path
