"""The nodes for n8n: sound to n8n's own rules for community nodes, and right against the service."""

import shutil
from pathlib import Path

import pytest

from tests.clients.test_typescript_client import run, service  # noqa: F401  a fixture
from tests.conftest import House

FOLDER = Path(__file__).parents[2] / "clients/n8n"
pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node with npm")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built in a folder of its own."""
    folder = tmp_path_factory.mktemp("n8n") / "package"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps")
    run(folder, "npm", "run", "build")
    return folder


def test_the_lock_names_no_registry() -> None:
    assert '"resolved"' not in (FOLDER / "package-lock.json").read_text()


def test_passes_the_rules_of_n8n(package: Path) -> None:
    run(package, "npx", "eslint", "--max-warnings", "0", ".")
    node = package / "nodes/Afterword/Afterword.node.ts"
    node.write_text(node.read_text().replace("usableAsTool: true,", ""))
    with pytest.raises(AssertionError, match="node-usable-as-tool"):
        run(package, "npx", "eslint", ".")


def test_behaves(package: Path, service: tuple[House, str]) -> None:  # noqa: F811
    house, url = service
    ids = {"QUESTIONNAIRE_ID": house.questionnaire_id, "PIPELINE_ID": house.pipeline_id}
    run(package, "node", "--test", "tests/", BASE_URL=url, TOKEN=house.token, **ids)
