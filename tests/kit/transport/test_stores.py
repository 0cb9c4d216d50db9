"""Stores of files: a real SFTP server and a real S3, the key of a server, and what a refusal is called."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from afterword.core.messaging.networks import networks_of
from afterword.kit.transport import stores
from afterword.kit.transport.stores import Failed, Target

NOW = datetime(2026, 11, 29, tzinfo=UTC)
LOCAL = networks_of("127.0.0.0/8")
PASSWORD = "a password"


class Server(asyncssh.SSHServer):
    """Takes one password, and one key."""

    def __init__(self, key: Any) -> None:
        self._key = key.export_public_key()

    def begin_auth(self, username: str) -> bool:
        return bool(username)

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return ("ann", PASSWORD) == (username, password)

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: Any) -> bool:
        return "ann" == username and self._key == key.export_public_key()


CLIENT_KEY: Any = asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture
async def sftp(tmp_path: Path) -> AsyncGenerator[Target]:
    """A server whose files are below the folder of the test."""
    host_key: Any = asyncssh.generate_private_key("ssh-ed25519")

    def root(connection: Any) -> Any:
        return asyncssh.SFTPServer(connection, chroot=str(tmp_path).encode())

    server: Any = await asyncssh.create_server(
        lambda: Server(CLIENT_KEY), "127.0.0.1", 0, server_host_keys=[host_key], sftp_factory=root
    )
    key = " ".join(host_key.export_public_key().decode().split()[:2])
    own: dict[str, Any] = {"destination": "sftp", "path": "incoming/answers", "folder": "", "username": "ann"}
    own |= {"host": "127.0.0.1", "port": server.get_port(), "secret": PASSWORD, "host_key": key}
    nothing: dict[str, Any] = dict.fromkeys(Target.__dataclass_fields__)
    yield Target(**(nothing | own))
    server.close()
    await server.wait_closed()


async def problem_of(target: Target, *, is_allowed: bool = True) -> str:
    with pytest.raises(Failed) as failed:
        await stores.check(target, allowed=LOCAL if is_allowed else (), now=NOW)
    assert PASSWORD not in failed.value.reply
    return failed.value.problem


class TestSftp:
    async def test_host_key(self, sftp: Target) -> None:
        """An unknown key is told and trusted by nobody; the password goes to the confirmed one alone."""
        assert "unknown_host_key" == await problem_of(replace(sftp, host_key=None))
        other: Any = asyncssh.generate_private_key("ssh-ed25519")
        wrong = replace(sftp, host_key=other.export_public_key().decode().strip())
        assert "wrong_host_key" == await problem_of(wrong)
        assert sftp.host_key == await stores.host_key_of(wrong, allowed=LOCAL)

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"secret": "another"}, "login_refused"),
            ({"username": "ben"}, "login_refused"),
            ({"secret": "-----BEGIN OPENSSH PRIVATE KEY-----\nx"}, "key_unreadable"),
            ({"port": 9}, "not_reached"),
        ],
    )
    async def test_refused(self, sftp: Target, changes: dict[str, Any], problem: str) -> None:
        assert problem == await problem_of(replace(sftp, **changes))

    async def test_private_network(self, sftp: Target) -> None:
        assert "blocked" == await problem_of(sftp, is_allowed=False)

    async def test_another_key(self, sftp: Target) -> None:
        key: Any = asyncssh.generate_private_key("ssh-ed25519")
        secret = key.export_private_key().decode()
        assert "login_refused" == await problem_of(replace(sftp, secret=secret))

    async def test_no_ssh(self, sftp: Target) -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            assert "no_answer" == await problem_of(replace(sftp, port=port))

    async def test_may_not_write(self, sftp: Target, tmp_path: Path) -> None:
        tmp_path.joinpath("incoming").write_text("a file in the place of the folder")
        assert await problem_of(sftp) in {"no_folder", "refused"}

    @pytest.mark.parametrize("secret", [PASSWORD, CLIENT_KEY.export_private_key().decode()], ids=["password", "key"])
    async def test_ok(self, sftp: Target, tmp_path: Path, secret: str) -> None:
        file, target = tmp_path / "file", replace(sftp, secret=secret)
        async with stores.opened(target, allowed=LOCAL, now=NOW) as store:
            for text in ("first", "second"):
                file.write_text(text)
                await store.put("responses/date=2026-11-29/part-00000.csv", file)
            has = [await store.has(f"responses/{name}") for name in ("date=2026-11-29/part-00000.csv", "none.csv")]
            assert [True, False] == has
            await store.delete("responses/none.csv")
        written = [one for one in tmp_path.joinpath("incoming").rglob("*") if one.is_file()]
        assert [("part-00000.csv", "second")] == [(one.name, one.read_text()) for one in written]
        await stores.check(target, allowed=LOCAL, now=NOW)
        assert written == [one for one in tmp_path.joinpath("incoming").rglob("*") if one.is_file()]

    async def test_server_cannot_rename_over(
        self, sftp: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def unsupported(*_: object) -> None:
            raise asyncssh.SFTPOpUnsupported("none")

        monkeypatch.setattr(asyncssh.SFTPClient, "posix_rename", unsupported)
        file = tmp_path / "file"
        async with stores.opened(sftp, allowed=LOCAL, now=NOW) as store:
            for text in ("first", "second"):
                file.write_text(text)
                await store.put("a.csv", file)
        assert ["a.csv"] == [one.name for one in tmp_path.joinpath("incoming/answers").iterdir()]
        assert "second" == tmp_path.joinpath("incoming/answers/a.csv").read_text()


class TestFingerprint:
    def test_ok(self) -> None:
        public = CLIENT_KEY.convert_to_public()
        assert public.get_fingerprint() == stores.fingerprint_of(public.export_public_key().decode())

    @pytest.mark.parametrize("text", ["", "ssh-ed25519", "ssh-ed25519 ????", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA=="])
    def test_no_key(self, text: str) -> None:
        with pytest.raises(ValueError, match=r".*"):
            stores.fingerprint_of(text)


async def test_without_the_package(sftp: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "asyncssh", None)
    with pytest.raises(Failed, match="no_extra"):
        await stores.check(sftp, allowed=LOCAL, now=NOW)
