"""The doctor: each fault is found, named and met with advice, and no secret is repeated."""
# ruff: noqa: ASYNC240  files are looked at one at a time

import asyncio
import errno
import os
import re
import shutil
import ssl
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, LiteralString

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from afterword.kit import db
from afterword.kit.db.hosts import open_session
from afterword.kit.transport.http import NotAsked, Resolver
from afterword.kit.zones import Releases
from afterword.listening.reports import comparison
from afterword.listening.reports.comparison import Comparison
from afterword.listening.reports.daily_counts.store import Span
from afterword.run import doctor
from afterword.run.backups import manifests
from afterword.run.doctor import Finding
from afterword.run.worker.guard import FILE_NAME as MARK_FILE
from afterword.sending.providers.domains import SenderRoute
from afterword.sending.queue import restores
from afterword.sending.queue.restores import SendingMark
from tests.conftest import SITE, House
from tests.kit.transport.name_server import name_server
from tests.poolers import pgbouncer
from tests.run.embedded.servers import needs_root, small_disk
from tests.sending.channels.receiver import closed_port
from tests.sending.providers.test_accounts import add as add_account
from tests.sending.queue.conftest import Queue

PASSWORD = "Pa55word"
is_root = os.geteuid() == 0


class TestDatabase:
    @pytest.mark.parametrize(
        ("url", "advice"),
        [
            ("{ours_with_another_password}", "Check the user and the password"),
            ("{ours_with_another_name}", "createdb"),
            (f"postgresql://u:{PASSWORD}@127.0.0.1:{{port}}/d", "Nothing listens there"),
            (f"postgresql://u:{PASSWORD}@/d?host={{folder}}", "Nothing listens there"),
            (f"postgresql://u:{PASSWORD}@absent.invalid/d", "The host in AFTERWORD_DATABASE_URL is not known"),
            *((f"postgresql://u:{PASSWORD}@localhost:{port}/d", "") for port in ("port", "99999", "-1")),
        ],
    )
    async def test_unusable(self, tmp_path: Path, database_url: str, unused_port: int, url: str, advice: str) -> None:
        values = {
            "ours_with_another_password": re.sub(r":[^:@]+@", f":{PASSWORD}@", database_url),
            "ours_with_another_name": re.sub(r"/test_\w+", "/absent", database_url),
            "port": unused_port,
            "folder": tmp_path,
        }
        finding = await fault("database", tmp_path, database_url=url.format(**values))
        assert advice in finding.advice

    @pytest.mark.parametrize(
        ("url", "proxies", "expected"),
        [
            ("https://absent.invalid", "", [False]),
            ("https://absent.invalid", "10.0.0.1", []),
            ("http://localhost:1", "", []),
        ],
    )
    async def test_trusted_proxies(self, tmp_path: Path, url: str, proxies: str, expected: list[bool]) -> None:
        found = await look(tmp_path, public_url=url, trusted_proxies=proxies)
        assert expected == [finding.ok for name, finding in found.items() if name == "trusted proxies"]

    async def test_silent_server(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("afterword.kit.db.hosts.CONNECT_TIMEOUT_SECONDS", 0.2)
        async with listening("") as port:
            url = f"postgresql://u:{PASSWORD}@127.0.0.1:{port}/d"
            finding = await fault("database", tmp_path, database_url=url)
        assert "the firewall" in finding.advice

    async def test_ok(self, tmp_path: Path, database_url: str) -> None:
        found = await look(tmp_path, database_url=database_url)
        names = ["database", "database version", "migrations", "sending", "queue", "senders", "mailboxes", "past",
                 "backups", "figures", "responses", "jobs", "transactions", "clock"]  # fmt: skip
        assert names == list(found)[: len(names)]
        assert all(found[name].ok for name in names)

    async def test_too_old(self, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "VERSION_MIN", 99)
        finding = (await look(tmp_path, database_url=database_url))["database version"]
        assert (False, "Upgrade the server to PostgreSQL 99 or newer.") == (finding.ok, finding.advice)


class TestJobs:
    async def test_one_that_takes_too_long(self, tmp_path: Path, pool: db.Pool, database_url: str) -> None:
        await execute(pool, "insert into job_timeout values ('prune', 7, now() - interval '2 days')")
        assert (await look(tmp_path, database_url=database_url))["jobs"].ok
        await execute(pool, "update job_timeout set last_time = now()")
        finding = await fault("jobs", tmp_path, database_url=database_url)
        assert "“prune”" in finding.detail


class TestPast:
    async def test_restored_before_a_worker_ran(self, tmp_path: Path, pool: db.Pool, database_url: str) -> None:
        """Files that workers wrote beside the database reveal a restored backup before one of them runs."""
        async with db.connection(pool) as database:
            standing = await restores.get_log_position(database)
        mark = SendingMark(standing.installation_id, standing.confirmed_time, standing.last_seq + 1)
        (tmp_path / MARK_FILE).write_bytes(msgspec.json.encode(mark))
        finding = await fault("past", tmp_path, database_url=database_url)
        assert "was put back to an earlier moment" in finding.detail
        assert "--confirm-sending" in finding.advice

    async def test_paused(self, tmp_path: Path, pool: db.Pool, database_url: str) -> None:
        await execute(pool, "update sending_guard set paused_time = now(), paused_reason = 'The log ends early.'")
        finding = await fault("past", tmp_path, database_url=database_url)
        assert "The log ends early." in finding.detail
        assert "doctor --confirm-sending" in finding.advice


class TestBackups:
    async def test_late(self, tmp_path: Path, house: House, pool: db.Pool, database_url: str) -> None:
        """None since the installation began, or the last one too long ago."""
        for statement in (
            "update organization set created_time = now() - interval '27 hours'",
            """insert into backup (backup_id, kind, started_time, finished_time, bytes)
               values ('one', 'whole', now() - interval '26.5 hours', now(), 1)""",
        ):
            await execute(pool, statement)
            finding = await fault("backups", tmp_path, database_url=database_url, backup_to="/backups")
            assert "afterword backup" in finding.advice
        assert (await look(tmp_path, database_url=database_url))["backups"].ok

    @pytest.mark.parametrize(
        ("founded", "saved", "expected"),
        [("1 hour", None, False), ("25 hours", None, True), ("1 year", "7 days", False), ("1 year", "9 days", True)],
    )
    async def test_nobody_makes_them(
        self,
        tmp_path: Path,
        house: House,
        pool: db.Pool,
        database_url: str,
        *,
        founded: str,
        saved: str | None,
        expected: bool,
    ) -> None:
        """Other programs may make them, so it is a warning, after the first day."""
        await execute(pool, "update organization set created_time = now() - $1::text::interval", founded)
        await execute(
            pool,
            """insert into backup (backup_id, kind, started_time, finished_time, bytes)
               select 'one', 'whole', now() - $1::text::interval, now(), 1 where $1::text is not null""",
            saved,
        )
        finding = (await look(tmp_path, database_url=database_url))["backups"]
        assert (True, expected) == (finding.ok, finding.is_warning)
        assert "Run `afterword backup`" in finding.advice

    async def test_in_time(self, tmp_path: Path, house: House, pool: db.Pool, database_url: str) -> None:
        await execute(
            pool, "insert into backup (backup_id, kind, finished_time, bytes) values ('one', 'whole', now(), 1)"
        )
        assert (await look(tmp_path, database_url=database_url, backup_to="/backups"))["backups"].ok


async def test_senders(tmp_path: Path, house: House, pool: db.Pool, database_url: str) -> None:
    await execute(pool, "update pipeline set sender_address = 'billing@other.example'")
    finding = await fault("senders", tmp_path, database_url=database_url)
    assert f"demo (pipeline {house.pipeline_id}: billing@other.example)" in finding.detail
    assert "afterword sender add" in finding.advice


async def test_mailboxes(tmp_path: Path, house: House, pool: db.Pool, database_url: str) -> None:
    """A fault of minutes, such as a server that is started anew, is none yet."""
    await execute(
        pool,
        """insert into alert_mailbox (organization_id, address, host, updated_time, problem, problem_time)
           values ($1, 'a@shop.example', 'imap.shop.example', now(), 'login_refused', now() - interval '5 minutes')""",
        house.organization_id,
    )
    assert (await look(tmp_path, database_url=database_url))["mailboxes"].ok
    await execute(pool, "update alert_mailbox set problem_time = now() - interval '2 hours'")
    finding = await fault("mailboxes", tmp_path, database_url=database_url)
    assert "demo (login_refused)" in finding.detail
    assert "Settings, Mailbox" in finding.advice


async def test_records_of_all_senders(
    tmp_path: Path, pool: db.Pool, house: House, database_url: str, unused_port: int
) -> None:
    """Each domain that a pipeline of any organization sends from, by the server of its account; none that is paused."""
    queue = Queue(pool, house, house.pipeline_id)
    account, _ = await add_account(queue, "smtp", {"url": "smtp://u:p@smtp.sendgrid.net:587"}, is_default=False)
    await queue.execute("update pipeline set sender_address = 'ask@own.example', account_id = $1", account.account_id)
    for domain, more in (
        ("plain.example", ""),
        ("paused.example", "paused = true,"),
        ("over.example", "end_time = now(),"),
    ):
        other = await queue.pipeline(questionnaire_id=house.questionnaire_id, channel_id=1, title=domain)
        await queue.execute(
            f"update pipeline set {more} sender_address = $1 where pipeline_id = $2", f"a@{domain}", other.pipeline_id
        )
    texts = {f"{name}.example": [] for name in ("own", "plain", "paused", "over", "house")}
    async with name_server(texts) as server:
        services = doctor.Services(
            mail_from="survey@house.example", name_servers=(("127.0.0.1", server.port),), site=SITE
        )
        found = await examine(
            tmp_path, database_url=database_url, smtp_url=f"smtp://127.0.0.1:{unused_port}", services=services
        )
    told = {one.detail.partition(":")[0]: one.advice for one in found if one.name == "DNS of sender"}
    assert {"own.example", "plain.example", "house.example"} == told.keys()
    assert "include:sendgrid.net" in told["own.example"]
    assert "a:127.0.0.1" in told["plain.example"]


class TestPooler:
    async def test_none_left(self, tmp_path: Path, database_url: str) -> None:
        with pgbouncer(database_url, pool_mode="session", default_pool_size=1) as url:
            async with open_session(url):
                finding = await fault("database", tmp_path, database_url=url)
        assert "gave no answer" in finding.detail
        assert "AFTERWORD_WORKER_POOL" in finding.advice

    async def test_a_number_that_is_not_used(self, tmp_path: Path, database_url: str) -> None:
        services = doctor.Services(statement_cache=100)
        with pgbouncer(database_url, pool_mode="transaction") as url:
            finding = (await look(tmp_path, database_url=url, services=services))["pooler"]
        assert finding.is_warning
        assert "AFTERWORD_STATEMENT_CACHE" in finding.advice

    async def test_found(self, tmp_path: Path, database_url: str) -> None:
        with pgbouncer(database_url, pool_mode="transaction") as url:
            finding = (await look(tmp_path, database_url=url))["pooler"]
        assert (True, "", False) == (finding.ok, finding.advice, finding.is_warning)


async def test_a_proxy_that_is_not_trusted(tmp_path: Path) -> None:
    """Another address than the proxy's is in the setting, as /healthz tells."""
    async with web("200 OK", ours=True, more="Afterword-Forwarded-For: ignored\r\n") as port:
        found = await look(tmp_path, public_url=f"http://localhost:{port}", trusted_proxies="10.0.0.9")
    assert found["public address"].ok
    assert not found["trusted proxies"].ok
    assert "(10.0.0.9)" in found["trusted proxies"].detail


async def test_messages_that_nobody_sends(tmp_path: Path, house: House, pool: db.Pool, database_url: str) -> None:
    queue = Queue(pool, house, house.pipeline_id)
    await queue.schedule()
    assert (await look(tmp_path, database_url=database_url))["queue"].ok
    await queue.execute("update queue_item set due_time = now() - interval '20 minutes'")
    finding = await fault("queue", tmp_path, database_url=database_url)
    assert f"demo (pipeline {house.pipeline_id})" in finding.detail
    assert "Start `afterword worker`" in finding.advice
    await queue.execute("update pipeline set paused = true")
    assert (await look(tmp_path, database_url=database_url))["queue"].ok


async def test_a_transaction_that_is_never_ended(
    tmp_path: Path, pool: db.Pool, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "TRANSACTION_SECONDS_MAX", 0)
    async with db.transaction(pool) as database:
        await database.fetch_value("select pg_current_xact_id()")
        finding = await fault("transactions", tmp_path, database_url=database_url)
    assert "pg_terminate_backend" in finding.advice


class TestMigrations:
    async def test_empty(self, tmp_path: Path, empty_database_url: str) -> None:
        finding = (await look(tmp_path, database_url=empty_database_url))["migrations"]
        assert Finding("migrations", False, "The database is empty.", "Run `afterword migrate`.") == finding

    async def test_an_encoding_that_lacks_letters(self, tmp_path: Path, ascii_database_url: str) -> None:
        finding = await fault("migrations", tmp_path, database_url=ascii_database_url)
        assert "has the encoding SQL_ASCII" in finding.detail
        assert "createdb --encoding UTF8" in finding.advice

    async def test_a_role_that_may_make_nothing(self, tmp_path: Path, guest_database_url: str) -> None:
        finding = await fault("migrations", tmp_path, database_url=guest_database_url)
        assert "The database is empty. The user may make no tables in it." == finding.detail
        assert "grant all on schema public" in finding.advice

    @pytest.mark.parametrize(
        ("revision", "needs", "advice"),
        [
            ("0000", "comment on table alembic_version is 'needs 0000'", "afterword migrate"),
            ("9999", "comment on table alembic_version is 'needs 9999'", "the newer release"),
        ],
    )
    async def test_another_revision(
        self, tmp_path: Path, pool: db.Pool, database_url: str, revision: str, needs: LiteralString, advice: str
    ) -> None:
        await execute(pool, "update alembic_version set version_num = $1", revision)
        await execute(pool, needs)
        finding = await fault("migrations", tmp_path, database_url=database_url)
        assert advice in finding.advice

    async def test_newer_and_leaves_room(self, tmp_path: Path, pool: db.Pool, database_url: str) -> None:
        await execute(pool, "update alembic_version set version_num = '9999'")
        finding = (await look(tmp_path, database_url=database_url))["migrations"]
        assert (True, "") == (finding.ok, finding.advice)
        assert "at 9999, newer than" in finding.detail


class TestFigures:
    """The compared figures are in tests/listening/reports/test_comparison.py."""

    async def test_a_difference(self, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        spans = [Span("o", f"q{number:02}", "", 1, "UTC", date(2026, 1, 9), datetime(2026, 1, 9, tzinfo=UTC))
                 for number in range(12)]  # fmt: skip

        async def compare(_: db.Database, *, now: datetime) -> Comparison:
            return Comparison(13, 1, [(span, date(2026, 1, 8)) for span in spans])

        monkeypatch.setattr(comparison, "compare", compare)
        finding = (await look(tmp_path, database_url=database_url))["figures"]
        assert "afterword doctor --recount" in finding.advice
        assert "2026-01-08 of questionnaire q00, 2026-01-08 of questionnaire q01" in finding.detail
        assert finding.detail.endswith("q09 and 2 more. 1 of 13 were not looked at.")

    async def test_ok(self, tmp_path: Path, database_url: str) -> None:
        finding = (await look(tmp_path, database_url=database_url))["figures"]
        assert (True, "Kept counts of the last 31 days equal the answers.") == (finding.ok, finding.detail)


class TestClock:
    @pytest.mark.parametrize("skew", [timedelta(seconds=-60), timedelta(hours=1), timedelta(seconds=6)])
    async def test_skewed(self, tmp_path: Path, database_url: str, skew: timedelta) -> None:
        finding = await fault("clock", tmp_path, database_url=database_url, skew=skew)
        assert "time server" in finding.advice

    async def test_ok(self, tmp_path: Path, database_url: str) -> None:
        assert (await look(tmp_path, database_url=database_url, skew=timedelta(seconds=2)))["clock"].ok


class TestMail:
    async def test_nothing_listens(self, tmp_path: Path, unused_port: int) -> None:
        finding = await fault("mail server", tmp_path, smtp_url=f"smtp://u:{PASSWORD}@127.0.0.1:{unused_port}")
        assert "AFTERWORD_SMTP_URL" in finding.advice

    async def test_unreadable_address(self, tmp_path: Path) -> None:
        """The sentence says which part is wrong, and never repeats the password."""
        for url, told in (
            (f"ftp://u:{PASSWORD}@127.0.0.1", "must begin with smtp:// or smtps://."),
            (f"smtp://u:{PASSWORD}@127.0.0.1?starttls=maybe", "must be offered, required or never."),
            (f"smtp://u:{PASSWORD}@127.0.0.1?tls=yes", "unknown option; known are starttls, ca, name."),
        ):
            finding = (await look(tmp_path, smtp_url=url))["mail server"]
            assert (False, told) == (finding.ok, finding.detail[-len(told) :])
            assert PASSWORD not in finding.detail
            assert "smtp://user:password@host:587" in finding.advice

    async def test_none(self, tmp_path: Path) -> None:
        finding = (await look(tmp_path))["mail server"]
        assert (True, "To send, set AFTERWORD_SMTP_URL.") == (finding.ok, finding.advice)
        assert "new passwords and notices stay in the operator's outbox" in finding.detail

    async def test_accounts_of_organizations_alone(
        self, tmp_path: Path, pool: db.Pool, house: House, database_url: str
    ) -> None:
        await add_account(Queue(pool, house, house.pipeline_id), "smtp", {"url": "smtp://u:p@relay.example:587"})
        finding = await fault("mail server", tmp_path, database_url=database_url)
        assert "Accounts of organizations do not send them. To send, set AFTERWORD_SMTP_URL." == finding.advice

    async def test_ok(self, tmp_path: Path) -> None:
        async with listening("220 hello\r\n", {"EHLO": "250 hello\r\n", "QUIT": "221 bye\r\n"}) as port:
            finding = (await look(tmp_path, smtp_url=f"smtp://127.0.0.1:{port}"))["mail server"]
        assert finding.ok, finding


class TestPublicAddress:
    @pytest.mark.parametrize(
        ("url", "advice"),
        [
            ("http://survey.example.com", "speaks TLS"),
            ("http://127.0.0.1:{port}", "Start `afterword serve`"),
            ("https://absent.invalid", "DNS record"),
        ],
    )
    async def test_nobody_there(self, tmp_path: Path, unused_port: int, url: str, advice: str) -> None:
        finding = await fault("public address", tmp_path, public_url=url.format(port=unused_port))
        assert advice in finding.advice

    async def test_container(self, tmp_path: Path, unused_port: int) -> None:
        """The engine publishes the port outside, where the doctor does not stand."""
        url = f"http://localhost:{unused_port}"
        async with web("200 OK", ours=False) as port:
            await fault("public address", tmp_path, public_url=url, services=doctor.Services(port=port))
        async with web("200 OK", ours=True) as port:
            found = await look(tmp_path, public_url=url, services=doctor.Services(port=port))
        assert found["public address"].ok
        assert f"at port {port}" in found["public address"].detail

    async def test_silent(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "WEB_SECONDS_MAX", 0.2)
        async with listening("") as port:
            finding = await fault("public address", tmp_path, public_url=f"http://127.0.0.1:{port}")
        assert "firewall" in finding.advice

    async def test_certificate(self, tmp_path: Path) -> None:
        async with listening("no TLS is spoken here\r\n") as port:
            finding = await fault("public address", tmp_path, public_url=f"https://127.0.0.1:{port}")
        assert "certificate" in finding.advice

    @pytest.mark.parametrize("status", ["200 OK", "404 Not Found", "302 Found\r\nLocation: https://example.com/"])
    async def test_another_program(self, tmp_path: Path, status: str) -> None:
        async with web(status, ours=False) as port:
            finding = await fault("public address", tmp_path, public_url=f"http://localhost:{port}")
        assert "answered by another program" in finding.detail

    async def test_we_are_ill(self, tmp_path: Path) -> None:
        async with web("503 Service Unavailable", ours=True) as port:
            finding = await fault("public address", tmp_path, public_url=f"http://127.0.0.1:{port}")
        assert "Look into the log" in finding.advice

    @pytest.mark.parametrize("answer", ["nonsense\r\n\r\n", "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"])
    async def test_not_http(self, tmp_path: Path, answer: str) -> None:
        async with listening("", {"GET": answer}) as port:
            await fault("public address", tmp_path, public_url=f"http://127.0.0.1:{port}")

    async def test_ok(self, tmp_path: Path) -> None:
        async with web("200 OK", ours=True) as port:
            finding = (await look(tmp_path, public_url=f"http://127.0.0.1:{port}/"))["public address"]
        assert finding.ok
        assert "Nobody outside this machine" in finding.advice


class TestFolder:
    @pytest.mark.skipif(is_root, reason="root may write everywhere")
    async def test_not_ours(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        finding = await fault("data folder", tmp_path)
        assert "chown" in finding.advice

    async def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("")
        assert not (await look(tmp_path / "data"))["data folder"].ok

    @pytest.mark.parametrize("name", ["secret", "postgresql/afterword.password"])
    async def test_open_secret(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "postgresql").mkdir()
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o640)
        finding = await fault("data folder", tmp_path)
        assert f"chmod 600 {tmp_path / name}" in finding.advice

    async def test_little_room(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "FREE_BYTES_MIN", 10**18)
        finding = await fault("data folder", tmp_path)
        assert "Make room" in finding.advice

    async def test_no_disk(self) -> None:
        """Nobody can write there, and it is no disk that could be full."""
        finding = await fault("data folder", Path("/proc/afterword"))
        assert "/proc cannot be written" in finding.detail

    async def test_absent(self, tmp_path: Path) -> None:
        finding = (await look(tmp_path / "a/b"))["data folder"]
        assert finding.ok
        assert "is made at the first start" in finding.detail
        assert not (tmp_path / "a").exists()

    async def test_ok(self, tmp_path: Path) -> None:
        assert (await look(tmp_path))["data folder"].ok


async def execute(pool: db.Pool, statement: LiteralString, *values: object) -> None:
    async with db.transaction(pool) as database:
        await database.execute(statement, *values)


async def look(folder: Path, **options: Any) -> dict[str, Finding]:
    """Findings by name."""
    return {finding.name: finding for finding in await examine(folder, **options)}


async def fault(name: str, folder: Path, **options: Any) -> Finding:
    """The finding of this name, which is one of something wrong."""
    finding = (await look(folder, **options))[name]
    assert not finding.ok
    return finding


async def examine(folder: Path, *, skew: timedelta = timedelta(0), **options: Any) -> list[Finding]:
    """All findings; each that is wrong has advice, and none holds the password."""
    nothing: dict[str, Any] = {"database_url": None, "smtp_url": None, "public_url": "", "trusted_proxies": "",
                               "backup_to": "", "services": doctor.Services()}  # fmt: skip
    found = await doctor.examine(**{**nothing, **options}, data_folder=folder, clock=lambda: datetime.now(UTC) + skew)
    for finding in found:
        assert finding.ok or finding.advice
        assert PASSWORD not in finding.detail + finding.advice
    return found


@pytest.fixture
def unused_port() -> Iterator[int]:
    with closed_port() as port:
        yield port


@asynccontextmanager
async def listening(greeting: str, answers: dict[str, str] | None = None) -> AsyncGenerator[int, None]:
    """A server that greets and answers lines by their first word; with neither it is silent."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting.encode())
        while line := await reader.readline():
            if answer := (answers or {}).get(line.decode(errors="replace").split(" ")[0].strip()):
                writer.write(answer.encode())
                if answer.startswith(("HTTP", "221", "nonsense", "\r")):
                    break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1")
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def web(status: str, *, ours: bool, more: str = "") -> AsyncGenerator[int, None]:
    header = f"X-Request-Id: 1\r\n{more}" if ours else ""
    answer = f'HTTP/1.1 {status}\r\n{header}Content-Length: 18\r\nConnection: close\r\n\r\n{{"status":"alive"}}'
    async with listening("", {"GET": answer}) as port:
        yield port


HOST = "mail.shop.org"
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.mark.parametrize(
    ("version", "advice"),
    [
        ((3, 11, 9), "Upgrade to Python 3.11.10 or newer."),
        ((3, 12, 5), "Upgrade to Python 3.12.6 or newer."),
        ((3, 11, 10), ""),
        ((3, 12, 6), ""),
        ((3, 13, 0), ""),
    ],
)
def test_python(version: tuple[int, ...], advice: str) -> None:
    finding = doctor.look_at_python(version)
    assert (True, advice) == (finding.ok, finding.advice)
    assert finding.is_warning is bool(advice)


@pytest.mark.parametrize(
    ("system", "package", "year", "detail", "is_warning"),
    [
        ("2025b", "2026f", 2026, "Release 2026f of the package tzdata is read; the system has 2025b", False),
        ("", "2026f", 2027, "Release 2026f of the package tzdata is read; the system does not say", False),
        ("2027a", "2026f", 2027, "Release 2027a of the system is read; the package tzdata has 2026f", False),
        ("2026f", "2026f", 2028, "Release 2026f of the system is read", True),
    ],
)
def test_zones(system: str, package: str, year: int, detail: str, *, is_warning: bool) -> None:
    now = datetime(year, 3, 1, tzinfo=UTC)
    finding = doctor.look_at_zones(Releases(system, package), now=now)
    assert (True, is_warning, detail) == (finding.ok, finding.is_warning, finding.detail[: len(detail)])


class TestScan:
    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ((), []),
            (("grep", "-q", "PDF"), [True]),
            (("false",), [False]),
            (("/nowhere/scanner",), [False]),
            (("sh", "-c", "exit 2"), [False]),
        ],
    )
    async def test_command(self, command: tuple[str, ...], expected: list[bool]) -> None:
        found = await doctor.look_at_scan(command, seconds=20)
        assert expected == [one.ok for one in found]
        assert all(one.ok or "AFTERWORD_SCAN_COMMAND" in one.advice for one in found)


class TestFileFolder:
    def test_none(self) -> None:
        assert [] == doctor.look_at_shared_folder(None)

    def test_ok(self, tmp_path: Path) -> None:
        assert [True] == [one.ok for one in doctor.look_at_shared_folder(tmp_path)]
        assert [] == list(tmp_path.iterdir())

    @pytest.mark.parametrize("name", ["file", "export"])
    async def test_missing(self, tmp_path: Path, name: str) -> None:
        given: dict[str, Any] = {f"{name}_folder": tmp_path / "absent"}
        found = await fault(f"{name} folder", tmp_path, services=doctor.Services(**given))
        assert f"Set AFTERWORD_{name.upper()}_FOLDER to a folder that this user can write." == found.advice

    def test_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(**_: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
        [found] = doctor.look_at_shared_folder(tmp_path)
        assert (False, True) == (found.ok, "chown" in found.advice)

    @needs_root
    def test_full_to_the_last_byte(self, tmp_path: Path) -> None:
        """The sample itself finds no room: this is no matter of rights."""
        with small_disk(tmp_path, megabytes=1):
            (tmp_path / "filler").write_bytes(bytes(shutil.disk_usage(tmp_path).free))
            [found] = doctor.look_at_shared_folder(tmp_path)
            assert (False, True) == (found.ok, "Make room" in found.advice)

    def test_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "FREE_BYTES_MIN", 10**18)
        [found] = doctor.look_at_shared_folder(tmp_path)
        assert (False, True) == (found.ok, "Make room" in found.advice)


class TestBackupFolder:
    def test_none(self) -> None:
        assert [] == doctor.look_at_backup_folder("")

    def test_elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A reason to refuse each backup there is a fault before the first one is due."""
        pytest.importorskip("obstore")
        place, keys = "s3://bucket/prefix", ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
        for name in (*keys, *manifests.ROLE_VARIABLES):
            monkeypatch.delenv(name, raising=False)
        [found] = doctor.look_at_backup_folder(place, is_encrypted=True)
        assert (False, True) == (found.ok, all(name in found.detail for name in keys))
        for name in keys:
            monkeypatch.setenv(name, "x")
        [found] = doctor.look_at_backup_folder(place, is_encrypted=False)
        assert (False, True) == (found.ok, "AFTERWORD_BACKUP_PASSPHRASE" in found.detail)
        assert [] == doctor.look_at_backup_folder(place, is_encrypted=True)

    def test_absent_and_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first backup makes it, where there is room."""
        place = str(tmp_path / "a/b")
        assert [True] == [one.ok for one in doctor.look_at_backup_folder(place)]
        assert [] == list(tmp_path.iterdir())
        monkeypatch.setattr(doctor, "FREE_BYTES_MIN", 10**18)
        [found] = doctor.look_at_backup_folder(place)
        assert (False, True) == (found.ok, "AFTERWORD_BACKUP_TO" in found.advice)


class TestSender:
    """Only the questions to name servers are answered here."""

    @pytest.fixture(autouse=True)
    def records(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
        known: dict[str, list[str]] = {}

        async def texts(_: object, name: str) -> list[str]:
            if name.endswith("silent.org"):
                raise NotAsked
            return known.get(name, [])

        monkeypatch.setattr(Resolver, "texts", texts)
        return known

    async def look(self, *ways: SenderRoute) -> list[doctor.Finding]:
        return list(await doctor.look_at_senders(ways, name_servers=()))

    async def test_no_domain(self) -> None:
        assert [] == await self.look(SenderRoute("localhost", HOST))

    async def test_missing(self) -> None:
        [found] = await self.look(SenderRoute("shop.org", HOST), SenderRoute("shop.org", HOST))
        assert not found.ok
        assert "There is no SPF record" in found.detail
        assert "shop.org TXT v=spf1 a:mail.shop.org ~all" in found.advice

    async def test_not_asked(self) -> None:
        [found] = await self.look(SenderRoute("silent.org", HOST))
        assert (True, True) == (found.ok, found.is_warning)
        assert "did not answer" in found.detail

    async def test_many(self) -> None:
        found = await self.look(*(SenderRoute(f"shop{number}.org", HOST) for number in range(25)))
        assert doctor.SENDERS_MAX == len({one.detail for one in found})


@pytest.mark.parametrize(
    ("url", "trusted", "forwarded", "expected"),
    [
        ("https://a.example", "10.0.0.9", "ignored", "AFTERWORD_TRUSTED_PROXIES (10.0.0.9)"),
        ("http://localhost:8080", "", "ignored", "is unknown"),
        ("https://a.example", "", None, "is unknown"),
        ("https://a.example", "10.0.0.9", "missing", "does not say for whom"),
        ("https://a.example", "10.0.0.9", None, None),
        ("http://localhost:8080", "", "missing", None),
    ],
)
def test_proxies(url: str, trusted: str, forwarded: str | None, expected: str | None) -> None:
    found = doctor.judge_proxies(url, trusted, forwarded)
    assert (expected is not None) == bool(found)
    assert all(not one.ok and one.advice and expected in one.detail for one in found if expected)


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of a server with a certificate that is good for 30 days, and that this process trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, NOW - timedelta(days=1), NOW + timedelta(days=30))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    certificate = made.add_extension(names, critical=False).sign(key, hashes.SHA256())
    pem = certificate.public_bytes(Encoding.PEM)
    (tmp_path / "certificate.pem").write_bytes(pem)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "both.pem").write_bytes(pem + secret)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


class TestCertificate:
    @pytest.mark.parametrize(("days", "expected"), [(0, True), (15, True), (17, False)])
    def test_days_left(self, address: str, days: int, *, expected: bool) -> None:
        [found] = doctor.look_at_certificate(address, now=NOW + timedelta(days=days))
        assert (expected, f"It is good until {NOW + timedelta(days=30):%Y-%m-%d}.") == (found.ok, found.detail)
        assert expected is not ("Renew it" in found.advice)

    def test_without_tls(self) -> None:
        assert [] == doctor.look_at_certificate("http://localhost", now=NOW)

    def test_nothing_there(self) -> None:
        assert [] == doctor.look_at_certificate("https://127.0.0.1:1", now=NOW)
