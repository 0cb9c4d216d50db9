"""`afterword suppression import`: files of addresses that are not written to."""

from subprocess import CompletedProcess

import httpx2
import pytest

from tests.conftest import House
from tests.people.responders.test_suppressions import listed
from tests.run.cli.shell import Operator


def suppress(operator: Operator, text: str, *words: str) -> "CompletedProcess[str]":
    file = operator.folder / "a.csv"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return operator.run("suppression", "import", str(file), *words)


class TestFile:
    @pytest.mark.parametrize(
        ("text", "words", "code", "said"),
        [
            ("ann@example.com", ("--channel", "fax"), 2, "channel"),
            ("x", ("--reason", "because"), 2, "reason"),
            ("ann@example.com", ("--organization", "nobody"), 1, "nobody"),
            ("%PDF-1.7\n", (), 1, "neither a CSV file"),
            ("Name;Town\nAnn;Athens\n", (), 1, "none has addresses"),
        ],
    )
    def test_wrong(
        self, house: House, operator: Operator, text: str, words: tuple[str, ...], code: int, said: str
    ) -> None:
        ended = suppress(operator, text, *words)
        assert code == ended.returncode
        assert said in ended.stderr

    def test_no_file(self, house: House, operator: Operator) -> None:
        assert "cannot be read" in operator.refused("suppression", "import", "nowhere.csv")

    @pytest.mark.parametrize(
        ("text", "words", "expected", "wrong"),
        [
            (
                "".join(f"p{number}@example.com\n" for number in range(2_500)),
                ("--reason", "unsubscribed"), "2,500 rows: 2,500 addresses newly suppressed, 0 rows wrong.\n", [],
            ),
            (  # as spreadsheets write it: the column is found by its values, wherever it stands and whatever is above
                "sep=;\r\nKunde;Kontakt\r\n\udcc4nne;ann@example.com\r\nBo;bo@example.com\r\nCy;nobody\r\n",
                (), "3 rows: 2 addresses newly suppressed, 1 rows wrong.\n", ["line 5"],
            ),
            (  # of which country the second one is, no locale says
                "phone_number\n'+306912345671\n6912345674.0\n6.91235E+09\n",
                ("--channel", "sms"), "3 rows: 1 addresses newly suppressed, 2 rows wrong.\n", ["line 3", "line 4"],
            ),
        ],
        ids=["bare lines", "spreadsheet", "phone numbers"],
    )  # fmt: skip
    def test_forms(
        self, house: House, operator: Operator, text: str, words: tuple[str, ...], expected: str, wrong: list[str]
    ) -> None:
        done = suppress(operator, text, *words)
        assert (int(bool(wrong)), expected) == (done.returncode, done.stdout)
        assert wrong == [each.split(":")[0] for each in done.stderr.splitlines()]

    async def test_ok(self, house: House, client: httpx2.AsyncClient, operator: Operator) -> None:
        text = (
            "\ufeffName,Email,Reason,Note\r\n"
            "Ann,ann@example.com,,\r\n"
            'Bob,bob@example.com,complaint,"called, twice"\r\n'
            "Nobody,,,\r\n"
            "Wrong,not an address,,\r\n"
            "Odd,odd@example.com,because,\r\n"
            "Ann,ANN@example.com,,\r\n"
        )
        done = suppress(operator, text)
        assert (1, "5 rows: 2 addresses newly suppressed, 2 rows wrong.\n") == (done.returncode, done.stdout)
        assert ["line 5", "line 6"] == [each.split(":")[0] for each in done.stderr.splitlines()]
        assert "not an address" not in done.stderr
        found = {each["identifier"].lower(): each for each in await listed(client, house)}
        assert ("blocked", "complaint", "called, twice") == (
            found["ann@example.com"]["reason"], found["bob@example.com"]["reason"], found["bob@example.com"]["note"],
        )  # fmt: skip
        again = suppress(operator, text)
        assert "5 rows: 0 addresses newly suppressed, 2 rows wrong.\n" == again.stdout
