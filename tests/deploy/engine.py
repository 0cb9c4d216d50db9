"""Podman with a store of its own, and the images that the files of deploy/ name.

Debian's, PostgreSQL's and Caddy's are made from Debian's packages: no registry of images is asked. Podman is told to
use runc and Debian's networks, which work where cgroups are of the first version.
"""

import os
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import httpx2
import pytest

from afterword.run.cli.demo import Form
from release import files, images
from tests.journeys.client import Client, client_of
from tests.journeys.processes import until

DEPLOY: Final = files.ROOT / "deploy"
TOOLS: Final = Path(__file__).with_name("requirements.lock")
PROGRAMS: Final = ("podman", "buildah", "runc", "mmdebstrap", "iptables")
SECONDS_MAX: Final = 300
PAGES_MAX: Final = 10
ANSWER_COUNT: Final = 3  # of the questionnaire that `afterword seed` makes
OPEN_FILES: Final = 4096
POSTGRES: Final = """\
#!/bin/sh
# As the official image does: at the first start a cluster on the volume, with the user and database of its environment.
set -e
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres /var/lib/postgresql/18 /run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0"
fi
export PATH="$(echo /usr/lib/postgresql/*/bin):$PATH" PGDATA=/var/lib/postgresql/18/docker
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" > /tmp/password
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --locale=C.UTF-8 > /dev/null
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  pg_ctl -w start -o "-c listen_addresses=" > /dev/null
  PGPASSWORD="$POSTGRES_PASSWORD" createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -w stop > /dev/null
fi
exec postgres -c listen_addresses='*'
"""
CONTAINERFILES: Final[Mapping[str, str]] = {
    "docker.io/library/postgres:18": """\
FROM {base}
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql \\
    && ln -s /usr/lib/postgresql/*/bin/pg_isready /usr/local/bin
COPY --chmod=755 start.sh /usr/local/bin/start
STOPSIGNAL SIGINT
ENTRYPOINT ["start"]
""",
    "docker.io/library/caddy:2": """\
FROM {base}
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
""",
}


@dataclass(frozen=True)
class Engine:
    """Podman's store and settings in one folder."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """For podman, buildah and podman-compose."""
        own = {name: str(self.folder / name.lower()) for name in ("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF")}
        tools = {"PATH": f"{self.folder / 'tools' / 'bin'}:{os.environ['PATH']}"}
        return {**os.environ, **own, **tools}

    def set_up(self) -> None:
        """Write its settings, install the tools of the lock beside this file, and build the wheel and the images."""
        limits = f'["nofile={OPEN_FILES}:{OPEN_FILES}", "nproc={OPEN_FILES}:{OPEN_FILES}"]'
        (self.folder / "containers_conf").write_text(
            f'[containers]\ndefault_ulimits = {limits}\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n'
            f'[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "{self.folder / "networks"}"\n'
        )
        (self.folder / "containers_storage_conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder / "store"}"\nrunroot = "{self.folder / "run"}"\n'
        )
        uv = files.ROOT / ".venv" / "bin" / "uv"
        with self._building():
            files.run(uv, "venv", "--quiet", self.folder / "tools")
            python = self.folder / "tools" / "bin" / "python"
            files.run(uv, "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", TOOLS)
            files.build(self.folder / "dist")
            self._build_images()

    @contextmanager
    def _building(self) -> Generator[None]:
        """Run programs with its settings, and trust more than the servers of tests."""
        with pytest.MonkeyPatch.context() as patch:
            for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "STORAGE_DRIVER"):
                patch.delenv(name, raising=False)
            patch.setenv("UV_NATIVE_TLS", "true")
            for name, value in self.environment.items():
                patch.setenv(name, value)
            yield

    def run(self, *words: str | Path, folder: Path = DEPLOY, seconds: float = SECONDS_MAX) -> str:
        """The command's standard output; fails with all that it wrote."""
        done = subprocess.run(
            words, cwd=folder, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        assert 0 == done.returncode, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def podman(self, *words: str | Path) -> str:
        return self.run("podman", *words)

    def _build_images(self) -> None:
        """The image of the wheel, and those that stand for PostgreSQL's and Caddy's."""
        base = images.make_base()
        images.build(self._wheel(), architecture=images.HERE, base=base)
        context = self.folder / "context"
        context.mkdir()
        (context / "start.sh").write_text(POSTGRES)
        for name, text in CONTAINERFILES.items():
            (context / "Containerfile").write_text(text.format(base=base))
            self.build(name, context)

    def build(self, tag: str, context: Path) -> None:
        self.run("buildah", "bud", "--quiet", "--isolation", "chroot", "--tag", tag, context)

    def build_cluster(self) -> None:
        """The image of deploy/ha, as its Containerfile says, on the Debian that it names."""
        with self._building():
            images.make_base(suite="bookworm", tag="docker.io/library/debian:12-slim")
        self.build("localhost/afterword-ha", DEPLOY / "ha")

    def _wheel(self) -> Path:
        return next((self.folder / "dist").glob("afterword-*.whl"))

    def image_for(self, architecture: str) -> str:
        """The image for this machine, or a new one for another."""
        if architecture == images.HERE:
            return images.TAG
        with self._building():
            base = images.make_base(architecture)
            return images.build(self._wheel(), architecture=architecture, base=base, tag=f"{images.TAG}-{architecture}")

    def remove_all(self) -> None:
        """End every container, and remove the store."""
        self.podman("rm", "--all", "--force", "--volumes", "--time", "5")
        self.podman("network", "prune", "--force")
        self.podman("rmi", "--all", "--force")
        shutil.rmtree(self.folder, ignore_errors=True)


def seed(engine: Engine, container: str, *, site: str, verify: bool = True) -> Client:
    """A client of an organization that `afterword seed` makes in this container."""
    made = client_of(engine.podman("exec", container, "afterword", "seed", "--json"))
    return replace(made, base_url=f"{site}/v3.2", verify=verify)


async def ready(url: str, *, verify: bool = True, seconds: float = 120) -> None:
    """Wait until a web process answers there that it is ready."""
    async with httpx2.AsyncClient(timeout=5, verify=verify) as http:

        async def is_ready() -> bool:
            try:
                return (await http.get(f"{url}/readyz")).status_code == 200
            except httpx2.TransportError:
                return False

        await until(is_ready, seconds=seconds, what=f"{url} is ready")


async def do_main_job(client: Client, *, site: str) -> list[object]:
    """Schedule, let a worker send, answer on the page; the answers as the API gives them back."""
    item = await client.schedule("ann@example.com", locale="en")
    instance_id = (await client.sent(item["item_id"]))["questionnaire_instance_id"]
    async with httpx2.AsyncClient(timeout=20, verify=client.verify, follow_redirects=True) as http:
        page = await http.get(f"{site}/a/{instance_id}")
        for _ in range(PAGES_MAX):
            if (form := Form.of(page.text)) is None:
                break
            address = urljoin(str(page.url), form.action or "")
            page = await http.post(address, data=form.filled())
            assert 200 == page.status_code, page.text
    content = await client.get(f"/q/instance/{instance_id}/response/content")
    assert content["finalized"], content
    return [answer["value"] for answer in content["answers"]]
