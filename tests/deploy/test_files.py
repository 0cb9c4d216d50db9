"""The files of deploy/ name settings, commands and files that are there, and agree with each other."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from afterword import __main__
from afterword.kit import settings
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


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units(path: Path) -> None:
    [command] = re.findall(r"^ExecStart=/opt/afterword/bin/afterword (\w+)$", path.read_text(), re.MULTILINE)
    assert command in __main__.parser()
