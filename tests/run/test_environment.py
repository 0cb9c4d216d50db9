"""The doctor on the certificate, the sender's DNS records, the file folder and the virus scan."""

import errno
import shutil
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from afterword.kit.transport.http import NotAsked, Resolver
from afterword.kit.zones import Releases
from afterword.run import doctor
from afterword.sending.providers.domains import SenderRoute
from tests.run.embedded.servers import needs_root, small_disk

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
        assert [] == doctor.look_at_file_folder(None)

    def test_ok(self, tmp_path: Path) -> None:
        assert [True] == [one.ok for one in doctor.look_at_file_folder(tmp_path)]
        assert [] == list(tmp_path.iterdir())

    def test_missing(self, tmp_path: Path) -> None:
        [found] = doctor.look_at_file_folder(tmp_path / "absent")
        assert (False, True) == (found.ok, "Set AFTERWORD_FILE_FOLDER" in found.advice)

    def test_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(**_: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
        [found] = doctor.look_at_file_folder(tmp_path)
        assert (False, True) == (found.ok, "chown" in found.advice)

    @needs_root
    def test_full_to_the_last_byte(self, tmp_path: Path) -> None:
        """The sample itself finds no room: this is no matter of rights."""
        with small_disk(tmp_path, megabytes=1):
            (tmp_path / "filler").write_bytes(bytes(shutil.disk_usage(tmp_path).free))
            [found] = doctor.look_at_file_folder(tmp_path)
            assert (False, True) == (found.ok, "Make room" in found.advice)

    def test_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "FREE_BYTES_MIN", 10**18)
        [found] = doctor.look_at_file_folder(tmp_path)
        assert (False, True) == (found.ok, "Make room" in found.advice)


class TestBackupFolder:
    @pytest.mark.parametrize("place", ["", "s3://bucket/prefix"])
    def test_none(self, place: str) -> None:
        assert [] == doctor.look_at_backup_folder(place)

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
