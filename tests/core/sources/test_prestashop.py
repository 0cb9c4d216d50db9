"""PrestaShop: the state of an order, by the role that the module gives it."""

import json
import re
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from afterword.core.sources import prestashop
from afterword.core.sources.parts import Happening
from tests.core.sources.calls import NOW, PRESTASHOP_ORDER, SECONDS, SECRET, URL, Call, changed, one

DOCUMENT = Path(__file__).parents[3] / "docs/sources.md"


@pytest.mark.parametrize(
    ("state", "what"),
    [
        ({"role": "created", "paid": "0"}, "order.created"),
        ({"role": "refunded", "paid": "1"}, "order.refunded"),
        ({"role": "", "paid": "1", "shipped": "1"}, "order.shipped"),
        ({"paid": 1, "shipped": 0}, "order.paid"),
        ({"paid": False, "delivery": True}, "other"),
    ],
)
def test_states(state: Any, what: str) -> None:
    assert what == one(Call("prestashop", {}, changed(PRESTASHOP_ORDER, state=state))).what


def test_false_is_nothing() -> None:
    """`Country::getIsoById` gives false for an address without a country."""
    found = one(Call("prestashop", {}, changed(PRESTASHOP_ORDER, country=False, phone=False, items=False, time=False)))
    assert ("", False, False) == (found.phone, "country" in found.values, "items" in found.values)


STUBS = Path(__file__).with_name("prestashop.php")
CALLS = """
$module = new Afterword();
$module->hookActionValidateOrder(['order' => new Order(), 'orderStatus' => new State()]);
$module->hookActionOrderStatusPostUpdate(['newOrderStatus' => new State(), 'id_order' => 31]);
"""


@pytest.mark.skipif(which("php") is None, reason="needs php")
def test_documented_module(tmp_path: Path) -> None:
    """The module of the document runs, and its calls are verified and read."""
    found = re.search(r"```php\n<\?php\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    script = tmp_path / "module.php"
    code = found[1].replace("a long random text", SECRET)
    script.write_text(f"<?php\n{STUBS.read_text(encoding='utf-8')}{code}{CALLS}", encoding="utf-8")
    command = ["/usr/bin/env", "php", str(script), SECONDS]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    happened: list[Happening] = []
    for line in ran.stdout.splitlines():
        sent, body = json.loads(line)
        headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in sent)}
        prestashop.KIND.verify(SECRET, headers, body.encode(), NOW, URL)
        happened += prestashop.KIND.read(headers, body.encode())
    assert ["order.created", "order.delivered"] == [each.what for each in happened]
    assert ["31-5-created", "31-5-delivered"] == [each.event_id for each in happened]
    assert ("XKB", "luc@example.com", "+33612345678", "fr") == (
        happened[1].subject,
        happened[1].email,
        happened[1].phone,
        happened[1].locale,
    )
    assert {"total": 61.8, "currency": "EUR", "items": 3, "store": "Atelier"}.items() <= happened[1].values.items()
