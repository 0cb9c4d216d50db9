"""The files of deploy/ name settings, commands and files that are there, and agree with each other."""

import configparser
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

HA = DEPLOY / "ha"
COMPOSE = [DEPLOY / "compose.yaml", DEPLOY / "production.yaml", HA / "compose.yaml"]
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


class TestCluster:
    """The files of deploy/ha, which tests/deploy/test_cluster.py runs."""

    def test_the_page_names_each(self) -> None:
        page = (DEPLOY.parent / "docs" / "cluster.md").read_text(encoding="utf-8")
        files = [path.relative_to(HA).as_posix() for path in HA.rglob("*") if path.is_file()]
        assert [] == [file for file in files if file not in page]

    def test_no_password(self) -> None:
        for file in HA.glob("*.env"):
            found = re.findall(r"^(\w*(?:PASSWORD|SECRET)\w*)=(.*)$", file.read_text(), re.MULTILINE)
            assert [] == [name for name, value in found if value], file
        assert [] == re.findall(r"^\s*password:", (HA / "patroni.yml").read_text(), re.MULTILINE)

    def test_times_of_patroni(self) -> None:
        """Patroni changes the values itself where they are too short for each other."""
        dcs = yaml.safe_load((HA / "patroni.yml").read_text())["bootstrap"]["dcs"]
        assert dcs["loop_wait"] + 2 * dcs["retry_timeout"] <= dcs["ttl"]
        assert dcs["synchronous_mode"]

    def test_variables_of_compose(self) -> None:
        """Those of patroni.env and etcd.env, each of the same name; the rest is asked for in compose.env."""
        document = yaml.safe_load((HA / "compose.yaml").read_text())
        for service, file in (("db1", "patroni.env"), ("db2", "patroni.env"), ("etcd1", "etcd.env")):
            names = set(re.findall(r"^(\w+)=", (HA / file).read_text(), re.MULTILINE))
            assert names == document["services"][service]["environment"].keys()
        asked = set(re.findall(r"\$\{(\w+)", (HA / "compose.yaml").read_text()))
        given = set(re.findall(r"^(\w+)=", (HA / "compose.env").read_text(), re.MULTILINE))
        assert {"AFTERWORD_IMAGE", "HA_IMAGE", "PORT"} == asked - given
        assert set() == given - asked

    def test_poolers_agree(self) -> None:
        """Both PgBouncers take the same settings of clients, those that docs/operating.md names among them."""
        ours = configparser.ConfigParser(interpolation=None)
        ours.read(HA / "pgbouncer.ini")
        [pooler] = [one for one in documents() if one["kind"] == "Pooler"]
        theirs = pooler["spec"]["pgbouncer"]
        values = ours["pgbouncer"]
        assert values["pool_mode"] == theirs["poolMode"]
        for name, value in theirs["parameters"].items():
            assert values[name] == value
        assert "jit" in values["ignore_startup_parameters"].split(", ")


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
            ({"storage": {"of": ""}}, "$.spec.storage: Additional properties are not allowed ('of' was unexpected)"),
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
