"""`afterword inbound`: what operators type, and what they read; a key is printed this once."""

from pathlib import Path

from tests.conftest import House
from tests.run.cli.shell import shell


def test_life_of_an_address(house: House, neighbour: House, database_url: str, tmp_path: Path) -> None:
    def run(*words: str, organization: str = house.domain) -> tuple[int, str]:
        ended = shell(database_url, tmp_path, "inbound", *words, "--organization", organization)
        return ended.returncode, ended.stdout or ended.stderr

    assert 1 == run("add", "standard", "--account", "z" * 22)[0]
    assert 1 == run("add", "sns", "--certificate", "nowhere.pem")[0]
    code, made = run("add", "standard")
    told = dict(line.split("=", 1) for line in made.splitlines())
    assert (0, {"url", "key"}) == (code, {name.lower() for name in told})
    url, key = (value.strip("'") for value in told.values())
    listed = run("list")[1]
    assert f"{url}  standard, email, account " in listed
    assert key not in listed
    inbound_id = url.rpartition("/")[2]
    assert (0, "None is open.\n") == run("list", organization=neighbour.domain)
    assert 1 == run("close", inbound_id, organization=neighbour.domain)[0]
    assert (0, "Closed.\n") == run("close", inbound_id)
    assert (0, "None is open.\n") == run("list")
