"""Every block of code in the documents runs here, word for word, or says which test has it or why none can."""

import asyncio
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.contract.world import ROUTES
from tests.journeys import processes
from tests.journeys.inbox import Inbox
from tests.journeys.processes import ROOT
from tests.journeys.test_readme import documents
from tests.sending.channels.receiver import Receiver, Reply

BLOCK: Final = re.compile(
    r"^(?P<margin> *)```(?P<language>\w*)\n(?P<fenced>.*?)^(?P=margin)```$"
    r"|(?<=\n\n)(?P<indented>(?: {4}(?:afterword|curl) [^\n]*\n)+)",
    re.DOTALL | re.MULTILINE,
)
HTTP: Final = re.compile(r"(GET|POST|PUT|PATCH|DELETE) /v3\.2(/\S+)(?: HTTP/1\.1)?\n(.*)", re.DOTALL)
REQUEST: Final = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) ((?:/|…/)[^\s`),;?\[]*)")
DOCS: Final = sorted((ROOT / "docs").glob("*.md"))
PICTURE: Final = ROOT / "docs" / "images" / "answer-360.webp"
PAGE_SECONDS_MAX: Final = 120
REQUESTS_MIN: Final = 100

# Blocks of other languages, and those of the command line that another test runs.
ELSEWHERE: Final[Mapping[tuple[str, str], str]] = {
    ("alerts.md", "http"): "tests/cases/test_docs.py",
    ("assistants.md", "json"): "tests/extras/assistants/test_docs.py",
    ("assistants.md", "sh"): "tests/extras/assistants/test_docs.py",
    ("cluster.md", "sh"): "tests/deploy/test_cluster.py",
    ("cluster.md", "toml"): "tests/deploy/test_cluster.py",
    ("deliverability.md", "json"): "tests/sending/messages/test_deliverability_docs.py",
    ("exports.md", "python"): "tests/listening/exports/test_datasets.py",
    ("exports.md", "sql"): "tests/listening/exports/test_datasets.py",
    ("messages.md", "json"): "tests/sending/queue/test_docs.py",
    ("moving.md", "python"): "tests/journeys/test_moving.py",
    ("moving.md", "sh"): "tests/journeys/test_moving.py",
    ("proof.md", "text"): "tests/test_bar.py",
    ("questionnaires.md", "yaml"): "tests/asking/questionnaires/test_files.py",
    ("sources.md", "php"): "tests/core/sources/test_prestashop.py",
    ("sms.md", "toml"): "tests/sending/channels/test_accounts.py",
    ("webhooks.md", "json"): "tests/events/test_docs.py",
    ("webhooks.md", "http"): "tests/events/test_docs.py",
    ("webhooks.md", "php"): "tests/events/test_docs.py",
    ("webhooks.md", "python"): "tests/events/test_docs.py",
    ("webhooks.md", "sh"): "tests/events/test_docs.py",
}

# By page, and the line with which a block or a command of it begins.
NOT_RUN: Final[Mapping[tuple[str, str], str]] = {
    ("api.md", 'curl --globoff "$BASE_URL/q/instance?filter_by[NULL]'): "cut off with an ellipsis, to show brackets",
    ("api.md", '{"type": "https://survey'): "an answer, whose form tests/kit/web/test_problems.py has",
    (
        "api.md",
        'curl -u "$TOKEN_ID:$TOKEN"',
    ): "needs a certificate at your.host; tests/tenants/organizations test the grant",
    ("arriving.md", '{"external_id"'): "a line of a file, whose members tests/listening/imports/test_api.py sends",
    ("arriving.md", "afterword responses import"): "takes a file; tests/run/cli/test_responses.py imports some",
    ("backup.md", "AFTERWORD_BACKUP_TO"): "settings of a service, not commands",
    (
        "backup.md",
        "afterword database",
    ): "takes a stopped installation; tests/run/cli/test_databases.py moves both ways",
    ("backup.md", "afterword restore"): "takes an empty place; tests/run/backups restore in many ways",
    ("channels.md", "afterword account remove"): "refused while pipelines send through it, as its comment says",
    (
        "channels.md",
        '{\n  "type": "queue_item.dispatch"',
    ): "a document that Afterword sends; tests/sending/channels hold its members",
    ("channels.md", "from standardwebhooks"): "a library that is not ours; its way of signing is that of webhooks.md",
    ("questionnaires-of-others.md", "$ afterword questionnaire import"): (
        "takes a file; tests/run/cli/test_questionnaires.py imports some"
    ),
    ("questionnaires-of-others.md", 'curl -X POST "$BASE_URL/q/questionnaire/import'): (
        "takes a file; tests/asking/questionnaires/test_imports.py sends some"
    ),
    (
        "chats.md",
        "POST /v3.2/report/digest",
    ): "needs a token of a user; tests/run/worker/messages/test_chats.py sends one",
    ("chats.md", "PATCH /v3.2/alert/{alert_id}"): "needs an alert; tests/cases/test_chats.py has one tell chats",
    ("deliverability.md", "#!/bin/sh"): "a script for mail servers; tests/deploy/test_mail_servers.py has both run it",
    ("deliverability.md", '"|/usr/local'): "a file for mail servers, likewise",
    ("deliverability.md", "bounces: afterword"): "a file for mail servers, likewise",
    ("deliverability.md", "afterword inbound add provider"): "needs an account of SMS that has lost its address",
    ("deliverability.md", "afterword inbound add sns"): "needs a topic and a certificate of Amazon",
    ("installing.md", ""): "release/ installs the wheel so, in empty environments, and starts the image",
    ("proof.md", "make test"): "the run that this test belongs to",
    ("questionnaires.md", "<script"): "tests/browser/test_box.py shows the box on a page",
    ("reports.md", '{"metric"'): "a part of an answer; tests/core/figures compute it",
    ("sms.md", "/opt/afterword/bin/pip install"): "takes a package from an index; the tests of SMPP have it",
    ("source-rules.md", '{"what"'): "a rule with an id of its own; tests/sending/intake/sources/test_api.py makes some",
    ("sources.md", "{"): "a document that another system sends; tests/core/sources/test_general.py reads such ones",
    ("start.md", "make demo"): "tests/run/cli/test_demo.py runs the demonstration; the rest of it waits for Ctrl-C",
}

# Ids that a reader copies out of an answer, as the shell finds them there.
COPIED: Final[Mapping[str, str]] = {
    "{questionnaire_id}": "$QUESTIONNAIRE_ID",
    "{pipeline_id}": "$PIPELINE_ID",
    "afw_…": "$TOKEN",
    "{account_id}": "$ADDED",
    "INBOUND_ID": "$ADDED",
    "PLAN_ID": "$ADDED",
    " APPLICATION_ID": " $APPLICATION_ID",
    "$IMPORT_ID": "$(last import_id)",
    "$FOLLOW_UP_ID": "$QUESTIONNAIRE_ID",
    "$FOLLOW_UP_PIPELINE_ID": "$PIPELINE_ID",
    "$GROUP_ID": "$(first group_id)",
    "$QUESTION_ID": "$(first question_id)",
    "0QmCkLh2XnT7vRz9YbWd4e": "$RESPONDER_ID",
}
JSON_HEADERS: Final = ["Authorization: Bearer $TOKEN", "Content-Type: application/json"]
FUNCTIONS: Final = """
set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@" | tee -a answers; }
afterword() {
  local said; said=$("$PYTHON" -m afterword "$@"); printf '%s\\n' "$said"
  if [ "${2:-}" = add ]; then ADDED=$(grep -oE '\\b[0-9A-Za-z]{22}\\b' <<< "$said" | head -1 || true); fi
}
named() { grep -oE "\\"$1\\": ?\\"[^\\"]+\\"" answers | sed 's/.*"\\(.*\\)"/\\1/'; }
last() { named "$1" | tail -1; }
first() { named "$1" | sed -n 1p; }
eval "$SEEDED"
people=$(command curl --silent "$BASE_URL/q/responder" --header "Authorization: Bearer $TOKEN")
RESPONDER_ID=$(jq --raw-output '.results[0].responder_id' <<< "$people")
"""


@dataclass(frozen=True)
class Block:
    page: str
    language: str
    text: str

    def is_named(self, name: tuple[str, str]) -> bool:
        return self.page == name[0] and self.text.startswith(name[1])


def blocks_of(page: Path) -> Iterator[Block]:
    for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if found["indented"]:
            yield Block(page.name, "sh", re.sub("^ {4}", "", found["indented"], flags=re.MULTILINE))
        else:
            text = textwrap.dedent(found["fenced"])
            yield Block(page.name, found["language"] or ("http" if HTTP.match(text) else "sh"), text)


def script_of(page: Path) -> str:
    """The commands of a page that run here; empty where it has none."""
    mine = [name for name in NOT_RUN if name[0] == page.name]
    kept: list[str] = []
    for block in blocks_of(page):
        if (page.name, block.language) in ELSEWHERE or any(map(block.is_named, mine)):
            continue
        lines = [line for line in block.text.splitlines() if not any(line.startswith(begin) for _, begin in mine)]
        text = curl_of(block.text) if block.language == "http" else "\n".join(lines)
        for name, expression in COPIED.items():
            text = text.replace(name, expression)
        kept.append(text)
    return "\n".join(kept)


def curl_of(request: str) -> str:
    """The command for a request that a page shows as HTTP: with headers before a blank line, or with JSON alone."""
    found = HTTP.match(request)
    assert found is not None, request
    head, blank, form = found[3].partition("\n\n")
    headers, body = (head.splitlines(), form) if blank else (JSON_HEADERS, found[3])
    options = "".join(f' --header "{each}"' for each in headers) + (" --data @-" if body else "")
    return f'curl --globoff --request {found[1]} "$BASE_URL{found[2]}"{options} <<HTTP\n{body.strip()}\nHTTP'


SCRIPTS: Final = {page.name: script for page in DOCS if (script := script_of(page))}


async def test_pages(home: Path, tmp_path: Path, inbox: Inbox) -> None:
    """One service and one seed for all, since starting a program takes most of the time."""
    async with Receiver(lambda _: Reply(200, b'{"messages": [{"status": "accepted"}]}')) as gateway:
        _prepare(tmp_path, inbox, gateway)
        port = processes.free_port()
        settings = {"data_dir": home, "port": port, "outbound_networks": "127.0.0.0/8", "smtp_url": inbox.url,
                    "mail_from": "survey@demo.example"}  # fmt: skip
        async with processes.command("serve", folder=tmp_path, **settings) as serve:
            await processes.ready(f"http://localhost:{port}", serve)
            _, seeded = await _bash('"$PYTHON" -m afterword seed', tmp_path, settings)
            said = {name: await _bash(FUNCTIONS + script, tmp_path, settings, SEEDED=seeded)
                    for name, script in SCRIPTS.items()}  # fmt: skip
            failed = [f"{name}\n{text}" for name, (code, text) in said.items() if code != 0]
            assert not failed, "\n".join(failed)
            _look_at_queue(said["api.md"][1])
            assert 0 == await serve.stop(), serve.tail()


def _prepare(folder: Path, inbox: Inbox, gateway: Receiver) -> None:
    """The files that the pages speak of."""
    (folder / "customers.csv").write_text("responder_channel_identifier\nann@example.com\n")
    (folder / "shop.csv").write_text("E-mail,Notes\nben@example.com,none\n")
    (folder / "list.csv").write_text("identifier\nnobody@example.com\n")
    (folder / "smtp.toml").write_text(f'url = "{inbox.url}"\n')
    page = (ROOT / "docs/sms.md").read_text(encoding="utf-8")
    described = re.findall(r"```toml\n(url = .*?)```", page, re.DOTALL)[0]
    (folder / "gateway.toml").write_text(described.replace("https://api.gateway.example", gateway.url))
    (folder / "my_questionnaire.yaml").write_text(
        (ROOT / "afterword/asking/questionnaires/library/after_delivery.yaml").read_text(encoding="utf-8")
    )
    shutil.copy(PICTURE, folder / "logo.png")


async def _bash(script: str, folder: Path, settings: Mapping[str, object], **more: str) -> tuple[int, str]:
    (folder / "answers").write_text("")
    environment = {**processes.environment(**settings), "PYTHON": sys.executable, "PYTHONPATH": str(ROOT), **more}
    bash = await asyncio.create_subprocess_exec(
        *("bash", "-c", script),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await asyncio.wait_for(bash.communicate(), PAGE_SECONDS_MAX)
    except TimeoutError:
        bash.kill()
        await bash.wait()
        return 1, "it does not end"
    return bash.returncode or 0, said.decode()


def _look_at_queue(said: str) -> None:
    """The promises of docs/api.md about its examples hold."""
    _, batch, simulation, made, changed, read = list(documents(said))
    assert [201, 422, 409] == [row["status"] for row in batch["results"]]
    assert [(True, "go"), (False, None)] == [(row["valid"], row["verdict"]) for row in simulation["results"]]
    assert made["item_id"] == changed["item_id"]
    assert ("order 1044", "el", made["send_time"]) == tuple(
        changed[name] for name in ("external_reference", "locale", "send_time")
    )
    assert changed == read


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_each_block_has_its_test(page: Path) -> None:
    for block in blocks_of(page):
        if (test := ELSEWHERE.get((page.name, block.language))) is not None:
            assert page.name in (ROOT / test).read_text(encoding="utf-8"), f"{test} says nothing of {page.name}"
        elif not any(map(block.is_named, NOT_RUN)):
            assert block.language in {"http", "sh"}, f"{page.name}: no test has this block\n{block.text}"


def test_reasons_are_about_blocks_that_are_there() -> None:
    blocks = [block for page in DOCS for block in blocks_of(page)]
    lines = [Block(block.page, block.language, line) for block in blocks for line in block.text.splitlines()]
    assert [] == [name for name in NOT_RUN if not any(each.is_named(name) for each in [*blocks, *lines])]
    assert set() == set(ELSEWHERE) - {(block.page, block.language) for block in blocks}


def test_requests_are_routes() -> None:
    """Each request that a sentence names, such as `GET …/queue/hour`, is one that there is."""
    known = {(route.method, tuple(_parts(route.path))) for route in ROUTES} | {("GET", ("domains", "ask"))}
    found = [(page.name, *each) for page in DOCS for each in REQUEST.findall(page.read_text(encoding="utf-8"))]
    assert len(found) >= REQUESTS_MIN
    assert [] == [each for each in found if not any(_fits(each[1], each[2], *one) for one in known)]


def _parts(path: str) -> list[str]:
    return [part for part in re.sub(r"^/v3\.\d/", "/", path).split("/") if part]


def _fits(method: str, path: str, known: str, route: tuple[str, ...]) -> bool:
    parts = _parts(path)
    if parts[:1] == ["…"]:
        parts, route = parts[1:], route[len(route) - len(parts) + 1 :]
    return (
        method == known
        and len(parts) == len(route)
        and all(there.startswith("{") or part == there for part, there in zip(parts, route, strict=True))
    )
