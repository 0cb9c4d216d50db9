"""The files of deploy/ name settings, commands and files that are there, and agree with each other."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from afterword import __main__
from afterword.kit import settings
from tests.deploy import crds
from tests.deploy.engine import DEPLOY

COMPOSE = [DEPLOY / "compose.yaml", DEPLOY / "production.yaml"]
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
VARIABLE = re.compile(r"\bAFTERWORD_[A-Z_]+\b")
OTHERS = {"AFTERWORD_IMAGE", "AFTERWORD_PORT", settings.CONFIG_VARIABLE}
KNOWN = {f"AFTERWORD_{each.name.upper()}" for each in fields(settings.Settings)} | OTHERS


def documents() -> Iterator[Mapping[str, Any]]:
    for path in KUBERNETES:
        yield from yaml.safe_load_all(path.read_text())


def pods() -> Iterator[Mapping[str, Any]]:
    yield from (one["spec"]["template"]["spec"] for one in documents() if "template" in one.get("spec", {}))


@pytest.mark.parametrize(
    "path", sorted(path for path in DEPLOY.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_settings(path: Path) -> None:
    assert set() == set(VARIABLE.findall(path.read_text())) - KNOWN


def test_settings_of_the_example() -> None:
    example = (DEPLOY / "systemd" / "afterword.toml").read_text()
    names = set(re.findall(r"^(?:# )?(\w+) = ", example, re.MULTILINE))
    assert {"data_dir", "database_url", "secret"} <= names
    assert set() == names - {each.name for each in fields(settings.Settings)}


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_services(path: Path) -> None:
    services = yaml.safe_load(path.read_text())["services"]
    ours = {name: one for name, one in services.items() if "AFTERWORD_IMAGE" in one["image"]}
    assert ours
    for one in ours.values():
        assert (True, ["ALL"]) == (one["read_only"], one["cap_drop"])
        assert one.get("command", ["serve"])[0] in __main__.parser()


def test_the_proxy_is_trusted() -> None:
    document = yaml.safe_load((DEPLOY / "production.yaml").read_text())
    [network] = document["networks"]["front"]["ipam"]["config"]
    assert network["subnet"] == document["services"]["web"]["environment"]["AFTERWORD_TRUSTED_PROXIES"]
    assert ["front"] == document["services"]["proxy"]["networks"]
    assert {"web", "proxy"} == {name for name, one in document["services"].items() if "front" in one["networks"]}


def test_values_of_production_are_asked_for() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "production.yaml").read_text()))
    given = set(re.findall(r"^(\w+)=", (DEPLOY / "production.env").read_text(), re.MULTILINE))
    images = {"AFTERWORD_IMAGE", "POSTGRES_IMAGE", "CADDY_IMAGE"}
    backups = {f"AFTERWORD_BACKUP_{name}" for name in ("TO", "RECIPIENTS", "HOURS", "KEEP_DAYS")}
    others = {"HTTP_PORT", "HTTPS_PORT", "AFTERWORD_SECRET_BEFORE", "AFTERWORD_MCP", "OTEL_EXPORTER_OTLP_ENDPOINT"}
    assert images | backups | others == asked - given
    assert set() == given - asked


def test_pods_are_confined() -> None:
    found = list(pods())
    assert ["web", "worker", "migrate"] == [pod["containers"][0]["name"] for pod in found]
    for pod in found:
        [container] = pod["containers"]
        assert container["args"][0] in __main__.parser()
        assert (False, False) == (pod["enableServiceLinks"], pod["automountServiceAccountToken"])
        assert (True, 10001) == (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"])
        limits = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
        assert limits == container["securityContext"]


def test_no_service_is_named_as_a_setting() -> None:
    """Kubernetes sets NAME_PORT in each pod, and AFTERWORD_PORT is a setting."""
    assert [] == [one for one in documents() if one["kind"] == "Service" and one["metadata"]["name"] == "afterword"]


class TestCloudNativePG:
    @pytest.fixture
    def database(self) -> Any:
        [found] = [one for one in documents() if one["kind"] == "Cluster"]
        return found

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"instances": "three"}, "$.spec.instances: 'three' is not of type 'integer'"),
            ({"instances": 0}, "$.spec.instances: 0 is less than the minimum of 1"),
            ({"replicas": 3}, "$.spec: Additional properties are not allowed ('replicas' was unexpected)"),
            ({"storage": {"site": "1Gi"}}, "$.spec.storage: Additional properties are not allowed ('site' was unexpected)"),
            ({"backup": {}}, "the schema of spec.backup was left out: add it to USED and write crds.json anew"),
        ],
    )  # fmt: skip
    def test_refused(self, database: Any, change: Mapping[str, Any], problem: str) -> None:
        database["spec"] |= change
        assert [problem] == list(crds.problems(database))

    def test_unknown_kind(self, database: Any) -> None:
        assert ["there is no schema of postgresql.cnpg.io/v1 Backup"] == list(
            crds.problems({**database, "kind": "Backup"})
        )

    def test_ok(self) -> None:
        assert [] == [problem for one in documents() for problem in crds.problems(one)]

    def test_names(self, database: Any) -> None:
        """The login of the address in afterword.yaml is the one that the cluster is made with."""
        secrets = {one["metadata"]["name"]: one["stringData"] for one in documents() if one["kind"] == "Secret"}
        [pooler] = [one for one in documents() if one["kind"] == "Pooler"]
        initial = database["spec"]["bootstrap"]["initdb"]
        login = secrets[initial["secret"]["name"]]
        url = urlsplit(secrets["afterword-secrets"]["AFTERWORD_DATABASE_URL"])
        assert (login["username"], login["password"], initial["database"]) == (
            url.username,
            url.password,
            url.path.removeprefix("/"),
        )
        assert initial["owner"] == url.username
        assert database["metadata"]["name"] == pooler["spec"]["cluster"]["name"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units(path: Path) -> None:
    [command] = re.findall(r"^ExecStart=/opt/afterword/bin/afterword (\w+)$", path.read_text(), re.MULTILINE)
    assert command in __main__.parser()
