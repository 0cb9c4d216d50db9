"""The TypeScript client: generated from the present document, sound to the compiler, and right against the service."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from afterword.kit import db
from clients.typescript import generate
from tests.conftest import House, build_house
from tests.databases import fresh_database
from tests.journeys import processes

FOLDER = Path(__file__).parents[2] / "clients/typescript"
SECONDS_MAX = 120
pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node with npm")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built in a folder of its own."""
    folder = tmp_path_factory.mktemp("typescript") / "package"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    run(folder, "npm", "run", "build")
    return folder


def run(folder: Path, *command: str, **more: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def service(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[House, str]]:
    """A web process on a database of its own; its organization and its address."""
    async with fresh_database(server_url) as url:
        async with await db.open_pool(url, size_max=2) as pool:
            house = await build_house(pool, domain="demo")
        port = processes.free_port()
        folder = tmp_path_factory.mktemp("client")
        settings = {"database_url": url, "data_dir": folder, "port": port, "secret": "k" * 40}
        async with processes.command("web", folder=folder, **settings) as child:
            await processes.ready(f"http://localhost:{port}", child)
            yield house, f"http://localhost:{port}"


@pytest.mark.parametrize("name", ["models", "operations"])
def test_is_generated_from_the_present_document(name: str) -> None:
    document = json.loads(generate.DOCUMENT.read_text())
    assert getattr(generate, name)(document) == (generate.PACKAGE / f"{name}.ts").read_text(), "run `make client`"


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in (FOLDER / "package-lock.json").read_text()


def test_example_of_the_readme_fits_the_types(package: Path) -> None:
    (block,) = re.findall(r"```ts\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)
    known = "declare const questionnaireId: string, pipelineId: string;\n"
    program = block.replace('"afterword-client"', '"./index.js"')
    (package / "src/example.ts").write_text(f"{known}{program}")
    run(package, "npx", "tsc", "--noEmit", "--lib", "es2023,dom,dom.iterable")
    (package / "src/example.ts").write_text(f"{known}{program}".replace("item.item_id", "item.no_such_member"))
    with pytest.raises(AssertionError, match="no_such_member"):
        run(package, "npx", "tsc", "--noEmit")
    (package / "src/example.ts").unlink()


def test_the_package_holds_what_it_exports(package: Path) -> None:
    (packed,) = json.loads(run(package, "npm", "pack", "--dry-run", "--ignore-scripts", "--json"))
    files = {one["path"] for one in packed["files"]}
    assert {"README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/operations.d.ts"} <= files
    assert not [one for one in files if one.startswith(("src/", "tests/", "node_modules/"))]


def test_behaves(package: Path, service: tuple[House, str]) -> None:
    house, url = service
    ids = {"QUESTIONNAIRE_ID": house.questionnaire_id, "PIPELINE_ID": house.pipeline_id}
    run(package, "node", "--test", "tests/", BASE_URL=url, TOKEN=house.token, TOKEN_ID=house.token_id, **ids)
