import re
from pathlib import Path

from afterword.console import done

CONSOLE = Path(done.__file__).parent
NAMED = re.compile(r"[?&]done=(\w+)|done=[\"'](\w+)[\"']")


def test_each_act_has_its_sentence() -> None:
    sources = [path.read_text() for path in CONSOLE.rglob("*.py") if path.name != "done.py"]
    named = {name for one in sources for match in NAMED.finditer(one) for name in match.groups() if name}
    assert len(named) > 20
    assert named <= set(done.TEXTS), "acts that say nothing"
    unused = {name for name in done.TEXTS if not any(re.search(rf"\b{name}\b", one) for one in sources)}
    assert not unused, "sentences that no act says"
