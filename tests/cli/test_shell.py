"""The commands that do one thing and end: seed, token, questionnaire import; and how a refusal looks in a shell."""

import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from unittest import mock

import pytest

from afterword import __main__, db, errors
from afterword.channels.base import Sent
from afterword.cli import questionnaires
from afterword.cli.demo import Form, ended
from afterword.cli.seed import Seeded, seed
from afterword.core.organizations.access import SCOPES
from afterword.core.wire.site import Site
from afterword.organizations import store as organizations_store
from afterword.organizations.tokens import access
from afterword.organizations.users import store as users_store
from afterword.providers.health import service as health
from afterword.queue.restores import service as guard
from afterword.settings import Settings
from tests.conftest import House
from tests.queue.conftest import Queue

SITE = Site("https://survey.example.com", b"k" * 32)
SECONDS_MAX = 60


async def opened_by(pool: db.Pool, token: str) -> frozenset[str]:
    async with db.connection(pool) as database:
        caller = await access.authenticate(
            database, authorization=f"Bearer {token}", esat_auth=None, esat_domain=None, query_names=()
        )
    return caller.scopes


def environment(url: str, tmp_path: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWORD_")}
    own = {"AFTERWORD_DATABASE_URL": url} if url else {}
    return {**inherited, **own, "AFTERWORD_DATA_DIR": str(tmp_path / "data"), "AFTERWORD_SECRET": SITE.secret.decode()}


def program(url: str, tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "afterword", *words],
        env=environment(url, tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def shell(url: str, tmp_path: Path, *words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
    """A command on a loop of its own, in this process: a program of its own takes most of a second to start."""
    out, err = io.StringIO(), io.StringIO()

    def run() -> int | None:
        try:
            return asyncio.run(__main__.run(words))
        except SystemExit as exited:  # words that cannot be understood
            return int(exited.code or 0)

    with (
        mock.patch.dict(os.environ, environment(url, tmp_path), clear=True),
        mock.patch("afterword.log.set_up"),
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode()))),
        contextlib.chdir(tmp_path),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        ThreadPoolExecutor(1) as thread,
    ):
        code = thread.submit(run).result(SECONDS_MAX)
    return subprocess.CompletedProcess(words, code or 0, out.getvalue(), err.getvalue())


class TestContext:
    def test_a_database_that_is_away_is_a_sentence(self, tmp_path: Path) -> None:
        ended = program("postgresql://ann:hunter2@127.0.0.1:1/nowhere", tmp_path, "migrate")
        assert 1 == ended.returncode
        assert ended.stderr.startswith("afterword: The database cannot be used: ")
        assert "Traceback" not in ended.stderr
        assert "hunter2" not in ended.stderr

    @pytest.mark.parametrize(
        "words",
        [("organization", "list"), ("token", "create", "--scope", "all"), ("worker",), ("web",), ("doctor",),
         ("questionnaire", "import", "after_delivery"), ("resume",)],
    )  # fmt: skip
    def test_where_there_is_no_installation_none_is_made(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        ended = program("", tmp_path, *words) if words[0] in {"worker", "web"} else shell("", tmp_path, *words)
        assert 1 == ended.returncode
        assert "There is no installation here: " in ended.stderr + ended.stdout
        assert not (tmp_path / "data").exists()

    async def test_a_worker_on_an_empty_database(self, empty_database_url: str, tmp_path: Path) -> None:
        ended = await asyncio.to_thread(program, empty_database_url, tmp_path, "worker")
        assert (1, "afterword: The database is empty. Run: afterword migrate") == (
            ended.returncode,
            ended.stderr.strip().splitlines()[-1],
        )


class TestCheck:
    async def test_nothing_is_stored(self, database_url: str, pool: db.Pool, tmp_path: Path) -> None:
        await seed(pool, SITE)
        file = tmp_path / "mine.yaml"
        file.write_text(questionnaires.read(Path("relationship")).replace("type: nps", "type: npx", 1))
        bad = shell(database_url, tmp_path, "questionnaire", "import", str(file), "--check")
        assert (1, True) == (bad.returncode, "type" in bad.stderr)
        file.write_text(questionnaires.read(Path("relationship")))
        good = shell(database_url, tmp_path, "questionnaire", "import", str(file), "--check")
        assert (0, "Nothing is wrong; it would be version 1.\n") == (good.returncode, good.stdout)
        async with db.connection(pool) as database:
            assert 0 == await database.fetch_value("select count(*) from questionnaire where slug = 'mine'")

    @pytest.mark.parametrize(("public", "who"), [("true", "anybody, at http"), ("false", "people whom you ask.")])
    async def test_who_may_answer(
        self, database_url: str, pool: db.Pool, tmp_path: Path, public: str, who: str
    ) -> None:
        await seed(pool, SITE)
        file = tmp_path / "mine.yaml"
        file.write_text(f"public_link: {public}\n" + questionnaires.read(Path("relationship")))
        ended = shell(database_url, tmp_path, "questionnaire", "import", str(file))
        assert f"Who may answer: {who}" in ended.stdout, ended.stderr


class TestSeed:
    async def test_prints_what_the_first_request_needs(self, database_url: str, tmp_path: Path) -> None:
        ended = shell(database_url, tmp_path, "seed", "--json")
        assert 0 == ended.returncode, ended.stderr
        assert set(Seeded.__dataclass_fields__) == set(json.loads(ended.stdout))

    async def test_lines_for_a_shell(self, database_url: str, tmp_path: Path) -> None:
        lines = dict(line.split("=", 1) for line in shell(database_url, tmp_path, "seed").stdout.splitlines())
        assert "http://localhost:8080/v3.2" == lines["BASE_URL"]
        assert access.is_token(lines["TOKEN"])

    async def test_the_token_has_every_scope(self, pool: db.Pool) -> None:
        seeded = await seed(pool, SITE)
        assert await opened_by(pool, seeded.token) == SCOPES

    async def test_again_makes_a_token_and_nothing_else(self, pool: db.Pool) -> None:
        first, second = await seed(pool, SITE), await seed(pool, SITE)
        assert first.token != second.token
        differing = {name for name, value in asdict(first).items() if asdict(second)[name] != value}
        assert {"token"} == differing


class TestOrganization:
    async def test_wrong_fields_are_sentences(self, database_url: str, tmp_path: Path) -> None:
        words = ("Acme", "--name", "Acme", "--owner", "nobody", "--time-zone", "Mars")
        ended = shell(database_url, tmp_path, "organization", "create", *words)
        assert 1 == ended.returncode
        named = {line.strip().partition(":")[0] for line in ended.stderr.splitlines()[1:]}
        assert {"DOMAIN", "--time-zone", "--owner"} == named, ended.stderr

    def test_wrong_owner_founds_nothing(self, database_url: str, tmp_path: Path) -> None:
        words = ("organization", "create", "acme", "--name", "Acme", "--owner", "nobody")
        assert 1 == shell(database_url, tmp_path, *words).returncode
        assert "No organization.\n" == shell(database_url, tmp_path, "organization", "list").stdout

    def test_taken_domain(self, database_url: str, tmp_path: Path) -> None:
        found(database_url, tmp_path)
        ended = shell(database_url, tmp_path, "organization", "create", "acme", "--name", "A", "--owner", "a@b.example")
        assert (1, True) == (ended.returncode, "acme" in ended.stderr)

    async def test_ok(self, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        founded = found(database_url, tmp_path)
        assert ["ORGANIZATION_DOMAIN", "ORGANIZATION_ID", "APPLICATION_ID", "USER_ID"] == list(founded)
        organization_id = founded["ORGANIZATION_ID"]
        async with db.connection(pool) as database:
            owner = await users_store.get_user(database, organization_id=organization_id, user_id=founded["USER_ID"])
            first = await organizations_store.get_first_application_id(database, organization_id=organization_id)
        assert owner is not None
        assert ("owner", "ann@acme.example") == (owner.role, owner.email)
        assert first == founded["APPLICATION_ID"]
        listed = shell(database_url, tmp_path, "organization", "list").stdout
        assert ["acme"] == [line.split()[0] for line in listed.splitlines()]


def found(database_url: str, tmp_path: Path) -> dict[str, str]:
    words = ("organization", "create", "acme", "--name", "Acme", "--owner", "ann@acme.example")
    ended = shell(database_url, tmp_path, *words)
    assert 0 == ended.returncode, ended
    return dict(line.split("=", 1) for line in ended.stdout.splitlines())


class TestToken:
    def create(self, database_url: str, tmp_path: Path, *words: str, refused: str = "") -> str:
        """The text of a token; with `refused`, the sentence in which that stands."""
        ended = shell(database_url, tmp_path, "token", "create", *words)
        if refused:
            assert (1, True) == (ended.returncode, refused in ended.stderr), ended
            assert ended.stderr.startswith("afterword: ")
            return ended.stderr
        assert 0 == ended.returncode, ended
        return ended.stdout.strip()

    def test_no_organization(self, database_url: str, tmp_path: Path) -> None:
        self.create(database_url, tmp_path, "--scope", "Queue.Create", refused="afterword seed")

    def test_several_organizations(self, house: House, neighbour: House, database_url: str, tmp_path: Path) -> None:
        self.create(database_url, tmp_path, "--scope", "Queue.Create", refused="--organization")

    def test_unknown_organization(self, house: House, database_url: str, tmp_path: Path) -> None:
        words = ("--scope", "Queue.Create", "--organization", "nobody")
        self.create(database_url, tmp_path, *words, refused="“nobody”")

    @pytest.mark.parametrize("scope", ["Queue", "queue.create", "Queue.Create ", "*", ""])
    def test_unknown_scope(self, house: House, database_url: str, tmp_path: Path, scope: str) -> None:
        self.create(database_url, tmp_path, "--scope", "Queue.Create", "--scope", scope, refused="no such scope")

    async def test_ok(self, house: House, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        scopes = ["Queue.Create", "Questionnaire Instance.Update"]
        words = [word for scope in scopes for word in ("--scope", scope)]
        text = self.create(database_url, tmp_path, *words, "--organization", house.domain, "--days", "1")
        assert frozenset(scopes) == await opened_by(pool, text)
        async with db.connection(pool) as database:
            assert 1 == await database.fetch_value("select count(*) from token where expires_time > now()")

    async def test_of_a_user(self, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        founded = found(database_url, tmp_path)
        self.create(database_url, tmp_path, "--scope", "all", "--user", "Ann@ACME.example")
        async with db.connection(pool) as database:
            row = await database.fetch_row("select kind, user_id from token")
        assert {"kind": "user", "user_id": founded["USER_ID"]} == dict(row or {})

    def test_of_an_unknown_user(self, house: House, database_url: str, tmp_path: Path) -> None:
        self.create(database_url, tmp_path, "--scope", "all", "--user", "nobody@example.com", refused="e-mail address")

    def test_bad_setting_is_a_sentence(self, tmp_path: Path) -> None:
        ended = program("mysql://user:hunter2@host/x", tmp_path, "migrate")
        assert 2 == ended.returncode
        assert "AFTERWORD_DATABASE_URL" in ended.stderr
        assert "hunter2" not in ended.stderr
        assert "Traceback" not in ended.stderr


class TestRevoke:
    @pytest.mark.parametrize("beginning", ["", "afw_", "afw_1234567", "afw_12345678_", "%" * 8, "afw_" + "a" * 54])
    def test_another_shape(self, house: House, database_url: str, tmp_path: Path, beginning: str) -> None:
        ended = shell(database_url, tmp_path, "token", "revoke", beginning)
        assert (1, True) == (ended.returncode, "beginning" in ended.stderr)

    def test_unknown(self, house: House, database_url: str, tmp_path: Path) -> None:
        ended = shell(database_url, tmp_path, "token", "revoke", "afw_00000000")
        assert (1, "afterword: No token begins so.\n") == (ended.returncode, ended.stderr)

    async def test_ok(self, house: House, pool: db.Pool, database_url: str, tmp_path: Path) -> None:
        other = shell(database_url, tmp_path, "token", "create", "--scope", "Queue.Read").stdout.strip()
        assert "Revoked “Tests”.\n" == shell(database_url, tmp_path, "token", "revoke", house.token[:12]).stdout
        with pytest.raises(errors.Unauthorized):
            await opened_by(pool, house.token)
        assert frozenset({"Queue.Read"}) == await opened_by(pool, other)


class TestImport:
    def refused(self, database_url: str, tmp_path: Path, content: bytes | None) -> str:
        file = tmp_path / "mine.yaml"
        if content is not None:
            file.write_bytes(content)
        ended = shell(database_url, tmp_path, "questionnaire", "import", str(file))
        assert (1, True) == (ended.returncode, ended.stderr.startswith("afterword: ")), ended
        return ended.stderr

    def test_files(self, house: House, database_url: str, tmp_path: Path) -> None:
        assert "cannot be read" in self.refused(database_url, tmp_path, None)
        assert "UTF-8" in self.refused(database_url, tmp_path, b"\xff\xd8\xff")
        assert "1,048,576" in self.refused(database_url, tmp_path, b"#" * (questionnaires.FILE_BYTES_MAX + 1))

    def test_faults_name_line_and_field(self, house: House, database_url: str, tmp_path: Path) -> None:
        text = b"display_name: X\ndefault_locale: en\ngroups:\n  - key: a\n    questions:\n      - key: b\n"
        told = self.refused(database_url, tmp_path, text).splitlines()
        assert any("line 6" in line and "questions[0].type" in line for line in told)

    def test_an_edited_file_is_the_next_version(self, house: House, database_url: str, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        text = questionnaires.read(Path("relationship"))
        told: list[str] = []
        edited = text.replace("How likely are you", "How likely would you be")
        for content in (text, text, edited):
            file.write_text(content)
            told.append(shell(database_url, tmp_path, "questionnaire", "import", str(file)).stdout.partition(" of ")[0])
        assert ["Published as version 1", "Nothing new: already published as version 1",
                "Published as version 2"] == told  # fmt: skip


class TestForm:
    """What the demonstration posts in place of a browser."""

    def test_page_without_form(self) -> None:
        assert Form.of("<p>Thank you</p>") is None

    def test_best_of_a_scale_and_first_choice(self) -> None:
        form = Form.of(
            '<form action="/a/x"><input type=hidden name=page value=1><input type=radio name=q value=1>'
            "<input type=radio name=q value=5><input type=checkbox name=c value=a><input type=checkbox name=c value=b>"
            "<textarea name=t></textarea><button name=go value=back></button><button name=go value=next></button>"
        )
        assert form is not None
        assert "/a/x" == form.action
        filled = form.filled()
        assert (["1"], ["5"], ["a"], "next") == (filled["page"], filled["q"], filled["c"], filled["go"])


@pytest.mark.parametrize(
    ("url", "place"), [(None, "/srv/afterword: "), ("postgresql://ann:hunter2@host/x", "of AFTERWORD_DATABASE_URL: ")]
)
def test_a_demonstration_that_ends_names_the_place_of_its_data(url: str | None, place: str) -> None:
    sentence = ended(Settings(database_url=url, data_dir=Path("/srv/afterword")))
    assert f"The data stays in {'' if url is None else 'the database '}{place}" in sentence


class TestResume:
    async def test_none_paused(self, database_url: str, tmp_path: Path) -> None:
        ended = shell(database_url, tmp_path, "resume")
        assert (0, "None was paused.\n") == (ended.returncode, ended.stdout)

    async def test_paused_account_is_named_and_resumed(
        self, pool: db.Pool, house: House, database_url: str, tmp_path: Path
    ) -> None:
        async with db.transaction(pool) as database:
            account_id = await database.fetch_value(
                "select account_id from channel_account where organization_id = $1", house.organization_id
            )
            assert await health.pause(
                database, account=(house.organization_id, account_id), reason="535 wrong password"
            )
        examined = shell(database_url, tmp_path, "doctor")
        assert "535 wrong password" in examined.stdout
        assert f"account {account_id}: 535" in examined.stdout
        assert "leave a pause that a person wants. Then run `afterword account resume ID`" in examined.stdout
        ended = shell(database_url, tmp_path, "resume")
        assert "Resumed demo, channel 1.\n" == ended.stdout
        assert "No account is paused." in shell(database_url, tmp_path, "doctor").stdout


class TestConfirmSending:
    async def test_not_paused(self, database_url: str, tmp_path: Path) -> None:
        assert 0 == shell(database_url, tmp_path, "doctor", "--confirm-sending").returncode

    async def test_nothing_is_sent_until_it_is_confirmed(
        self, pool: db.Pool, house: House, database_url: str, tmp_path: Path
    ) -> None:
        queue = Queue(pool, house, house.pipeline_id)
        await queue.schedule()
        async with db.transaction(pool) as database:
            mark = (await guard.check_log(database, mark=None, is_first=False)).mark
            assert mark is not None
            view = await guard.check_log(database, mark=replace(mark, seq=10_000), is_first=False)
            assert view.is_new
        assert [] == await queue.worker().claim()
        assert "doctor --confirm-sending" in shell(database_url, tmp_path, "doctor").stdout
        assert [] == await queue.worker().claim()
        assert 0 == shell(database_url, tmp_path, "doctor", "--confirm-sending").returncode
        assert 1 == len(await queue.worker().send(Sent()))
