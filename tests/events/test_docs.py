"""docs/webhooks.md: its ways to verify a signature work, its requests too, and it names every type of event."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from afterword.core.messaging import webhooks as rules
from afterword.core.messaging.notices import TYPES
from tests.events.conftest import Desk

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
BODY = '{"answers": "Καλημέρα", "event": {}}'.encode()
EVENT_ID = "0QmCkLh2XnT7vRz9YbWd4e"


def block(language: str) -> str:
    """The page's code in this language."""
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert 1 == len(found)
    return found[0]


def signed(*secrets: str, timestamp: int) -> dict[str, str]:
    return dict(rules.sign(BODY, event_id=EVENT_ID, timestamp=timestamp, keys=secrets))


def secret(delivery: str) -> str:
    return rules.secret_of(delivery.encode() * rules.SECRET_BYTES)


class TestPython:
    def test_it_verifies(self) -> None:
        space: dict[str, Any] = {}
        exec(block("python"), space)  # noqa: S102  our own page
        verify, now = space["verify"], int(time.time())
        for secrets in ((secret("a"),), (secret("b"), secret("a"))):
            assert verify(BODY, signed(*secrets, timestamp=now), secret("a"))
        assert not verify(BODY, signed(secret("b"), timestamp=now), secret("a"))
        assert not verify(BODY + b" ", signed(secret("a"), timestamp=now), secret("a"))
        assert not verify(BODY, signed(secret("a"), timestamp=now - 301), secret("a"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_shell(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(BODY)
    headers = signed(secret("a"), timestamp=1_800_000_000)
    given = {"secret": secret("a"), "id": EVENT_ID, "timestamp": "1800000000", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    found = subprocess.run(
        ["/bin/sh", "-c", block("sh")], cwd=tmp_path, env=given, capture_output=True, text=True, check=True
    )
    assert headers["webhook-signature"] == found.stdout.strip()


@pytest.mark.skipif(shutil.which("php") is None, reason="needs php")
def test_php() -> None:
    headers = json.dumps(signed(secret("b"), secret("a"), timestamp=int(time.time())))
    call = "echo verify($argv[1], json_decode($argv[2], true), $argv[3]) ? 'yes' : 'no';"
    verdicts = [
        subprocess.run(
            ["/usr/bin/env", "php", "-r", block("php") + call, "--", body.decode(), headers, secret("a")],
            capture_output=True, text=True, check=True,
        ).stdout
        for body in (BODY + b" ", BODY)
    ]  # fmt: skip
    assert ["no", "yes"] == verdicts


async def test_requests(desk: Desk) -> None:
    (made, read) = re.findall(r"```http\n(\w+) /v3\.2(/\S+)\n(.*?)```", PAGE, re.DOTALL)
    webhook = await desk.ask(made[0], made[1], status=201, json=json.loads(made[2]))
    assert webhook["secret"]
    await desk.ask(read[0], read[1])


def test_every_type_is_told() -> None:
    named = re.findall(r"^\| `(\w+\.\w+)` \|", PAGE, re.MULTILINE)
    assert set(TYPES) == set(named)
    assert len(named) == len(set(named))
