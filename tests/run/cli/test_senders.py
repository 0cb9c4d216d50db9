"""`afterword sender`: what operators type, and what they read."""

from pathlib import Path

from tests.conftest import House
from tests.run.cli.shell import shell


async def test_domains_of_an_organization(house: House, neighbour: House, database_url: str, tmp_path: Path) -> None:
    def run(*words: str) -> tuple[int, str]:
        ended = shell(database_url, tmp_path, "sender", *words)
        return ended.returncode, ended.stdout or ended.stderr

    assert 1 == run("add", "demo.example")[0]  # of two organizations one is named
    assert (0, "demo may send from demo.example.\n") == run("add", "Demo.Example", "--organization", "demo")
    assert (0, "demo.example\n") == run("list", "--organization", "demo")
    assert (0, "None: its mails come from AFTERWORD_MAIL_FROM.\n") == run("list", "--organization", "neighbour")
    assert 1 == run("remove", "demo.example", "--organization", "neighbour")[0]
    assert "afterword doctor" in run("remove", "demo.example", "--organization", "demo")[1]
