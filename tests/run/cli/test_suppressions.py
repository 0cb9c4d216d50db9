"""`afterword suppression import`: files of addresses that are not written to."""

from pathlib import Path
from subprocess import CompletedProcess

import httpx2

from tests.conftest import House
from tests.people.responders.test_suppressions import listed
from tests.run.cli.shell import shell


class TestFile:
    """`afterword suppression import`."""

    def read(self, database_url: str, file: Path, text: str | None, *words: str) -> "CompletedProcess[str]":
        if text is not None:
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
        return shell(database_url, file.parent, "suppression", "import", str(file), *words)

    def test_wrong(self, house: House, database_url: str, tmp_path: Path) -> None:
        file = tmp_path / "a.csv"
        for text, words, code, said in (
            ("ann@example.com", ("--channel", "fax"), 2, "channel"), ("x", ("--reason", "because"), 2, "reason"),
            (None, ("--organization", "nobody"), 1, "nobody"), ("%PDF-1.7\n", (), 1, "neither a CSV file"),
            ("Name;Town\nAnn;Athens\n", (), 1, "none has addresses"),
        ):  # fmt: skip
            ended = self.read(database_url, file, text, *words)
            assert (code, True) == (ended.returncode, said in ended.stderr), (words, ended)
        file.unlink()
        assert "cannot be read" in self.read(database_url, file, None).stderr

    async def test_ok(self, house: House, client: httpx2.AsyncClient, database_url: str, tmp_path: Path) -> None:
        text = (
            "\ufeffName,Email,Reason,Note\r\n"
            "Ann,ann@example.com,,\r\n"
            'Bob,bob@example.com,complaint,"called, twice"\r\n'
            "Nobody,,,\r\n"
            "Wrong,not an address,,\r\n"
            "Odd,odd@example.com,because,\r\n"
            "Ann,ANN@example.com,,\r\n"
        )
        done = self.read(database_url, tmp_path / "a.csv", text)
        assert (1, "5 rows: 2 addresses newly suppressed, 2 rows wrong.\n") == (done.returncode, done.stdout)
        assert ["line 5", "line 6"] == [each.split(":")[0] for each in done.stderr.splitlines()]
        assert "not an address" not in done.stderr
        found = {each["identifier"].lower(): each for each in await listed(client, house)}
        assert ("blocked", "complaint", "called, twice") == (
            found["ann@example.com"]["reason"], found["bob@example.com"]["reason"], found["bob@example.com"]["note"],
        )  # fmt: skip
        again = self.read(database_url, tmp_path / "a.csv", text)
        assert "5 rows: 0 addresses newly suppressed, 2 rows wrong.\n" == again.stdout

    def test_bare_lines(self, house: House, database_url: str, tmp_path: Path) -> None:
        text = "".join(f"p{number}@example.com\n" for number in range(2_500))
        done = self.read(database_url, tmp_path / "a.csv", text, "--reason", "unsubscribed")
        assert (0, "2,500 rows: 2,500 addresses newly suppressed, 0 rows wrong.\n") == (done.returncode, done.stdout)

    def test_as_spreadsheets_write_it(self, house: House, database_url: str, tmp_path: Path) -> None:
        """The column is found by its values, wherever it stands and whatever is above it."""
        text = "sep=;\r\nKunde;Kontakt\r\n\udcc4nne;ann@example.com\r\nBo;bo@example.com\r\nCy;nobody\r\n"
        done = self.read(database_url, tmp_path / "a.csv", text)
        assert (1, "3 rows: 2 addresses newly suppressed, 1 rows wrong.\n") == (done.returncode, done.stdout)
        assert done.stderr.startswith("line 5: ")

    async def test_marks_of_spreadsheets(
        self, house: House, client: httpx2.AsyncClient, database_url: str, tmp_path: Path
    ) -> None:
        """Each row that is taken suppresses the number that is meant; the others are told."""
        text = (
            "phone_number\n"
            "'+306912345671\n"
            "\u202a+306912345672\u202c\n"
            "+306912345673.0\n"
            "6912345674.0\n"  # of which country, no locale says
            "+30691234567.45\n"
            "6.91235E+09\n"
        )
        done = self.read(database_url, tmp_path / "a.csv", text, "--channel", "sms")
        assert (1, "6 rows: 3 addresses newly suppressed, 3 rows wrong.\n") == (done.returncode, done.stdout)
        assert ["line 5", "line 6", "line 7"] == [each.split(":")[0] for each in done.stderr.splitlines()]
        plain = "phone_number\n+306912345671\n+306912345672\n+306912345673\n"
        again = self.read(database_url, tmp_path / "a.csv", plain, "--channel", "sms")
        assert "3 rows: 0 addresses newly suppressed, 0 rows wrong.\n" == again.stdout
