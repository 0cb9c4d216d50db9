import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.requests import Request

from afterword.console.screens import Guest, flash_of
from afterword.core.wire.site import Site
from afterword.kit.ui import text

SOURCE = Path(text.__file__).parents[2]
NAMED = re.compile(r"[?&]done=(\w+)|done=[\"'](\w+)[\"']")


def test_each_act_has_its_sentence() -> None:
    paths = (*SOURCE.glob("console/*.py"), *SOURCE.glob("*/screens/*.py"))
    sources = [path.read_text() for path in paths]
    named = {name for one in sources for match in NAMED.finditer(one) for name in match.groups() if name}
    assert len(named) > 20
    assert named <= set(text.TEXTS), "acts that say nothing"
    unused = {name for name in text.TEXTS if not any(re.search(rf"\b{name}\b", one) for one in sources)}
    assert not unused, "sentences that no act says"


@pytest.mark.parametrize("name", [*sorted(text.MAILED), "saved"])
def test_a_mail_that_nobody_sends(name: str) -> None:
    """Without a mail server the page does not say that a mail is on its way."""
    said = []
    for sends_mail in (True, False):
        site = Site("http://localhost", b"k" * 32, sends_mail=sends_mail)
        scope = {"type": "http", "query_string": f"done={name}".encode(), "headers": [], "state": {"site": site}}
        said.append(flash_of(Guest(Request(scope), datetime(2026, 12, 1, tzinfo=UTC))))
    assert [text.TEXTS[name], text.KEPT if name in text.MAILED else text.TEXTS[name]] == said
