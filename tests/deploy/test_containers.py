"""Containers of deploy/, started by podman: the main job of each, and an orderly stop.

The order of starts is ours, since not every podman waits for health; so are the probes of Kubernetes, since none runs
here. Each container has the image, command, environment, user and limits of its file.
"""

import copy
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from release import images
from tests.deploy.engine import ANSWER_COUNT, DEPLOY, Engine, do_main_job, ready, seed
from tests.journeys.processes import free_port, until
from tests.sizes import lack

pytestmark = pytest.mark.nightly
PASSWORD, SECRET = "p" * 24, "s" * 64
DEFAULT = re.compile(r"\$\{\w+:[-?]([^}]*)\}")  # of a variable in a file of compose


@dataclass
class Project:
    """One file of compose, with its order of starts taken out."""

    engine: Engine
    file: Path
    values: Mapping[str, str]
    folder: Path
    name: str = field(init=False)
    services: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        document = yaml.safe_load(self.file.read_text())
        self.name = document["name"]
        self.services = copy.deepcopy(document["services"])
        (self.folder / "Caddyfile").write_text((DEPLOY / "Caddyfile").read_text())
        (self.folder / "values").write_text("".join(f"{name}={value}\n" for name, value in self.values.items()))
        for service in document["services"].values():
            service.pop("depends_on", None)
        (self.folder / "compose.yaml").write_text(yaml.safe_dump(document))

    def container(self, service: str) -> str:
        return f"{self.name}_{service}_1"

    def compose(self, *words: str) -> str:
        return self.engine.run("podman-compose", "--env-file", "values", *words, folder=self.folder)

    async def start(self) -> None:
        """All services, each after those that it depends on have come so far as it says."""
        started: set[str] = set()
        while waiting := self.services.keys() - started:
            for name in sorted(waiting):
                needed = self.services[name].get("depends_on", {})
                conditions = needed if isinstance(needed, dict) else {key: {"condition": "started"} for key in needed}
                if conditions.keys() <= started:
                    for other, condition in conditions.items():
                        await self._wait_for(other, condition["condition"])
                    self.compose("up", "--detach", name)
                    started.add(name)

    async def _wait_for(self, name: str, condition: str) -> None:
        container = self.container(name)
        if condition == "service_completed_successfully":
            assert "0" == self.engine.podman("wait", container).strip()
        if condition == "service_healthy":

            async def healthy() -> bool:
                try:
                    return "unhealthy" not in self.engine.podman("healthcheck", "run", container)
                except AssertionError:
                    return False

            await until(healthy, seconds=90, what=f"{name} is healthy")


@pytest.fixture
def project(request: pytest.FixtureRequest, engine: Engine, tmp_path: Path) -> Iterator[Project]:
    name, values = request.param
    chosen = {key: value() if callable(value) else value for key, value in values.items()}
    chosen = {key: value.format(**chosen) for key, value in chosen.items()}
    project = Project(engine, DEPLOY / name, chosen, tmp_path)
    yield project
    project.compose("down", "--volumes", "--timeout", "5")


def port() -> str:
    return str(free_port())


@pytest.mark.parametrize("project", [("compose.yaml", {"PORT": port})], indirect=True)
async def test_laptop(project: Project, engine: Engine) -> None:
    await project.start()
    site = f"http://localhost:{project.values['PORT']}"
    await ready(site)
    engine.podman("healthcheck", "run", "afterword_app_1")
    client = seed(engine, "afterword_app_1", site=site)
    assert ANSWER_COUNT == len(await do_main_job(client, site=site))
    assert site in engine.podman("exec", "afterword_app_1", "afterword", "setup")
    assert "cannot be tried from here" in engine.podman("exec", "afterword_app_1", "afterword", "doctor")
    await backed_up(engine, "afterword_app_1", place="/var/lib/afterword/backups")
    assert_stops(engine, "afterword_app_1", seconds=60)
    engine.podman("start", "afterword_app_1")  # what the volume keeps is there again
    await ready(site)
    assert "demo" in engine.podman("exec", "afterword_app_1", "afterword", "organization", "list")


PRODUCTION = {
    "HOST_NAME": "localhost",
    "CERTIFICATE_MAIL": "internal",
    "HTTP_PORT": port,
    "HTTPS_PORT": port,
    "DATABASE_PASSWORD": PASSWORD,
    "AFTERWORD_SECRET": SECRET,
    "AFTERWORD_BACKUP_PASSPHRASE": PASSWORD,
}


@pytest.mark.parametrize("project", [("production.yaml", PRODUCTION)], indirect=True)
async def test_production(project: Project, engine: Engine) -> None:
    await project.start()
    site = f"https://localhost:{project.values['HTTPS_PORT']}"
    await ready(site, verify=False)
    client = seed(engine, "afterword_web_1", site=site, verify=False)
    assert ANSWER_COUNT == len(await do_main_job(client, site=site))
    async with httpx2.AsyncClient() as http:
        plain = await http.get(f"http://localhost:{project.values['HTTP_PORT']}/console")
    assert (308, "https://localhost/console") == (plain.status_code, plain.headers["location"])
    examined = engine.run("sh", "-c", "podman exec afterword_web_1 afterword doctor || true")
    assert "trusted proxies" not in examined
    await backed_up(engine, "afterword_worker_1")
    for service in ("worker", "web"):
        assert_stops(engine, f"afterword_{service}_1", seconds=40)


HA = {
    **dict.fromkeys(("SUPERUSER_PASSWORD", "REPLICATION_PASSWORD", "PATRONI_PASSWORD", "DATABASE_PASSWORD"), PASSWORD),
    "AFTERWORD_SECRET": SECRET,
    "PORT": port,
    "AFTERWORD_PUBLIC_URL": "http://localhost:{PORT}",
}


@pytest.mark.parametrize("project", [("ha/compose.yaml", HA)], indirect=True)
async def test_cluster(project: Project, engine: Engine) -> None:
    """It goes on when the container of its primary is killed, which follows the new one when it is back."""
    engine.build_cluster()

    def named(role: str, *, on: str) -> str | None:
        """The container with this role, as Patroni in another one tells."""
        words = ("patronictl", "-c", "/etc/patroni/config.yml", "list", "--format", "json", "afterword")
        roles = {one["Role"]: one["Member"] for one in json.loads(engine.podman("exec", project.container(on), *words))}
        return roles.get(role)

    await project.start()
    site = project.values["AFTERWORD_PUBLIC_URL"]
    await ready(site)
    # Orders that are acknowledged before are on the primary alone.
    standby = await until(lambda: named("Sync Standby", on="db1"), seconds=90, what="a synchronous standby")
    primary = await until(lambda: named("Leader", on=standby), what="a primary")
    client = seed(engine, project.container("web"), site=site)
    assert ANSWER_COUNT == len(await do_main_job(client, site=site))
    assert "cannot be tried from here" in engine.podman("exec", project.container("web"), "afterword", "doctor")

    engine.podman("kill", project.container(primary))
    await until(lambda: named("Leader", on=standby) == standby, seconds=90, what="the standby is the primary")
    await ready(site)
    assert ANSWER_COUNT == len(await do_main_job(client, site=site))
    engine.podman("start", project.container(primary))
    await until(lambda: named("Sync Standby", on=standby) == primary, seconds=90, what="the killed one follows")
    for service in ("worker", "web"):
        assert_stops(engine, project.container(service), seconds=40)


async def backed_up(engine: Engine, container: str, *, place: str = "/backups") -> None:
    """The worker makes a backup unasked, where the file says."""

    async def listed() -> bool:
        """A whole one: unfinished ones are not listed."""
        said = engine.podman("exec", container, "afterword", "restore", "--from", place, "--list")
        return re.search(r"\b\d{8}T\d{6}\S*Z", said) is not None

    await until(listed, seconds=120, what="a backup is there")


class Cluster:
    """Containers with everything that the manifests say of pods, beside a PostgreSQL."""

    network = "afterword-kubernetes"

    def __init__(self, engine: Engine, architecture: str) -> None:
        self.engine, self.architecture, self.image = engine, architecture, engine.image_for(architecture)
        self.documents = [
            one
            for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
            for one in yaml.safe_load_all(path.read_text())
        ]
        self.environment: dict[str, dict[str, str]] = {}
        for one in self.documents:
            if one["kind"] in {"ConfigMap", "Secret"}:
                self.environment[one["metadata"]["name"]] = {**one.get("data", {}), **one.get("stringData", {})}
        self.environment["afterword-secrets"]["AFTERWORD_SMTP_URL"] = ""  # none here: mails are captured
        engine.podman("network", "create", self.network)
        database = {"POSTGRES_USER": "afterword", "POSTGRES_PASSWORD": "password", "POSTGRES_DB": "afterword"}
        words = [word for name, value in database.items() for word in ("--env", f"{name}={value}")]
        engine.podman("run", "--detach", "--name", "postgresql", "--network", self.network, *words,
                      "docker.io/library/postgres:18")  # fmt: skip

    def document(self, kind: str, name: str) -> Any:
        return next(one for one in self.documents if (one["kind"], one["metadata"]["name"]) == (kind, name))

    def start(self, name: str, pod: Mapping[str, Any], *more: str) -> None:
        """The one container of a pod. What this cannot carry over fails."""
        [container] = pod["containers"]
        assert f"{images.TAG}:latest" == container["image"]
        known = {"name", "image", "args", "envFrom", "ports", "startupProbe", "readinessProbe", "livenessProbe",
                 "lifecycle", "resources", "securityContext", "volumeMounts"}  # fmt: skip
        assert set() == container.keys() - known
        sources = [next(iter(source.values()))["name"] for source in container["envFrom"]]
        variables = {key: value for source in sources for key, value in self.environment[source].items()}
        user = pod["securityContext"]
        empty = {one["name"]: self._empty_folder(user["fsGroup"]) for one in pod["volumes"] if one["emptyDir"] == {}}
        self.engine.podman(
            "run", "--detach", "--name", name, "--arch", self.architecture, "--network", self.network,
            "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            "--user", f"{user['runAsUser']}:{user['runAsGroup']}", *more,
            *(word for key, value in variables.items() for word in ("--env", f"{key}={value}")),
            *(word for mount in container["volumeMounts"]
              for word in ("--volume", f"{empty[mount['name']]}:{mount['mountPath']}")),
            self.image, *container["args"],
        )  # fmt: skip

    def remove(self) -> None:
        self.engine.podman("rm", "--all", "--force", "--volumes", "--time", "5")
        self.engine.podman("network", "rm", self.network)

    def _empty_folder(self, group: int) -> Path:
        """As an emptyDir of a pod with this fsGroup."""
        folder = Path(tempfile.mkdtemp(dir=self.engine.folder))
        os.chown(folder, 0, group)
        folder.chmod(0o2777)
        return folder

    async def probe(self, container: Mapping[str, Any], kind: str, site: str) -> None:
        get = container[kind]["httpGet"]
        async with httpx2.AsyncClient(timeout=container[kind].get("timeoutSeconds", 1)) as http:
            assert 200 == (await http.get(f"{site}{get['path']}")).status_code


@pytest.fixture
def cluster(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Cluster]:
    if not images.can_run(request.param):
        lack(f"an emulator for {request.param}")
    cluster = Cluster(engine, request.param)
    yield cluster
    cluster.remove()


@pytest.mark.parametrize("cluster", sorted(images.PLATFORMS), indirect=True)
async def test_kubernetes(cluster: Cluster, engine: Engine) -> None:
    """On both architectures: PostgreSQL is this machine's, as an emulated one exceeds its time limits."""
    ports = [free_port(), free_port()]
    sites = [f"http://localhost:{one}" for one in ports]
    cluster.environment["afterword-settings"]["AFTERWORD_PUBLIC_URL"] = sites[0]

    async def migrated() -> bool:
        """A job is repeated after a failure, as its backoffLimit says; here until PostgreSQL listens."""
        engine.podman("rm", "--force", "--ignore", "migrate")
        cluster.start("migrate", cluster.document("Job", "afterword-migrate")["spec"]["template"]["spec"])
        return "0" == engine.podman("wait", "migrate").strip()

    await until(migrated, seconds=90, what="the database is migrated")
    web = cluster.document("Deployment", "afterword-web")["spec"]
    worker = cluster.document("Deployment", "afterword-worker")["spec"]
    assert (2, 2) == (web["replicas"], worker["replicas"])
    [container] = web["template"]["spec"]["containers"]
    inside = container["ports"][0]["containerPort"]
    for number, outside in enumerate(ports):
        cluster.start(f"web{number}", web["template"]["spec"], "--publish", f"127.0.0.1:{outside}:{inside}")
        cluster.start(f"worker{number}", worker["template"]["spec"])
    for site in sites:
        await ready(site, seconds=120 if cluster.architecture == images.HERE else 300)  # emulated
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            await cluster.probe(container, kind, site)
    engine.podman("healthcheck", "run", "web0")
    client = seed(engine, "web0", site=sites[0])
    assert ANSWER_COUNT == len(await do_main_job(client, site=sites[1]))

    grace = web["template"]["spec"]["terminationGracePeriodSeconds"]
    began = time.monotonic()
    engine.podman("exec", "web0", *container["lifecycle"]["preStop"]["exec"]["command"])
    await ready(sites[0])  # requests are answered until the signal comes
    assert_stops(engine, "web0", seconds=grace - (time.monotonic() - began))
    for name in ("worker0", "worker1"):
        assert_stops(engine, name, seconds=worker["template"]["spec"]["terminationGracePeriodSeconds"])


def assert_stops(engine: Engine, container: str, *, seconds: float) -> None:
    """With SIGTERM, by itself, in this time."""
    began = time.monotonic()
    engine.podman("stop", "--time", str(round(seconds)), container)
    assert "0" == engine.podman("inspect", "--format", "{{.State.ExitCode}}", container).strip()
    assert time.monotonic() - began < seconds


def test_schemas(engine: Engine) -> None:
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        engine.run("kubernetes-validate", "--strict", "--version", "1.34", path)
    for name in ("compose.yaml", "production.yaml", "ha/compose.yaml"):
        text = yaml.safe_dump(yaml.safe_load((DEPLOY / name).read_text()))  # without aliases, which it does not read
        check = "import compose_spec, sys; compose_spec.PyCompose.from_yaml(sys.argv[1]).validate()"
        engine.run("python", "-c", check, DEFAULT.sub(r"\1", text))
