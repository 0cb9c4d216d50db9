"""The alert rules and the dashboard of deploy/ ask for metrics, labels and values that /metrics has."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from afterword.kit import db
from tests.conftest import House
from tests.deploy.engine import DEPLOY
from tests.run.test_app import client_of
from tests.sizes import lack

RULES: Final = DEPLOY / "monitoring" / "alerts.yaml"
DASHBOARD: Final = DEPLOY / "monitoring" / "grafana.json"
NAME: Final = re.compile(r"\bafterword_\w+")
MATCHER: Final = re.compile(r'(afterword_\w+)\{(\w+)="([^"]+)"\}')
GROUPING: Final = re.compile(r"by \(([\w, ]+)\) \((?:\w+\()*(afterword_\w+)")
OF_REQUESTS: Final = {"status"}  # values that clients cause


def expressions() -> Iterator[str]:
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.fixture
async def exposed(pool: db.Pool, house: House) -> Mapping[str, list[Mapping[str, str]]]:
    """The labels of all samples by name, once a request, a reader and a removed item were counted."""
    async with db.transaction(pool) as database:
        await database.execute("insert into event_cursor (reader) values ('test') on conflict do nothing")
        await database.execute("insert into pruned_total (status, total) values (4, 1) on conflict do nothing")
    async with client_of(pool, metrics_access="all", backup_every=timedelta(days=1)) as client:
        await client.get("/nowhere")
        text = (await client.get("/metrics")).text
    found: dict[str, list[Mapping[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def test_every_metric_is_exposed(exposed: Mapping[str, list[Mapping[str, str]]]) -> None:
    asked = {name for expression in expressions() for name in NAME.findall(expression)}
    assert len(asked) > 10
    assert set() == asked - exposed.keys()


def test_every_label_is_there(exposed: Mapping[str, list[Mapping[str, str]]]) -> None:
    matchers = {found for expression in expressions() for found in MATCHER.findall(expression)}
    assert matchers
    for name, label, value in matchers:
        values = {labels.get(label) for labels in exposed[name]}
        assert None not in values, (name, label)
        assert label in OF_REQUESTS or value in values, (name, label, value)
    for labels, name in {found for expression in expressions() for found in GROUPING.findall(expression)}:
        wanted = {label.strip() for label in labels.split(",")} - {"le"}
        assert wanted <= exposed[name][0].keys(), (name, labels)


def test_every_figure_is_on_the_dashboard(exposed: Mapping[str, list[Mapping[str, str]]]) -> None:
    panels = DASHBOARD.read_text()
    assert [] == [name for name in exposed if name.startswith("afterword_") and name not in panels]


@pytest.mark.nightly
def test_prometheus_reads_the_rules() -> None:
    program = shutil.which("promtool") or lack("promtool")
    done = subprocess.run([program, "check", "rules", str(RULES)], capture_output=True, text=True, check=False)
    assert (0, True) == (done.returncode, "SUCCESS" in done.stdout), done.stderr


def test_each_rule_says_what_to_do() -> None:
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            assert {"summary", "advice"} == rule["annotations"].keys(), rule["alert"]
            assert rule["labels"]["severity"] in {"critical", "warning"}
