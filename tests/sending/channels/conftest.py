"""A message to send, and a certificate that only its own authority file vouches for."""

import shutil
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from afterword.kit.transport.base import EMAIL, Message

MESSAGE = Message(
    item_id="0ITEM7Hq3kLmN9pRsTuVwX",
    organization_id="0ORG97Hq3kLmN9pRsTuVwX",
    channel_id=EMAIL,
    recipient="ann@example.org",
    sender="survey@shop.example",
    sender_name="Shop",
    reply_to=None,
    subject="How was it?",
    html="<p>How was it?</p>",
    text="How was it?",
    locale="en",
    composed_time=datetime(2026, 11, 2, 12, 30, tzinfo=UTC),
    headers={"List-Unsubscribe": "<https://ask.example/u/x>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
)
MakeMessage = Callable[[int], Message]


@dataclass(frozen=True)
class Certificate:
    """Files of a certificate for 127.0.0.1 and its key."""

    file: Path
    key: Path

    @property
    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate of this test")
    folder = tmp_path_factory.mktemp("certificate")
    found = Certificate(folder / "certificate.pem", folder / "key.pem")
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command += [
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-addext",
        "keyUsage=digitalSignature,keyCertSign",
    ]
    subprocess.run([*command, "-keyout", str(found.key), "-out", str(found.file)], check=True, capture_output=True)
    return found


@pytest.fixture
def make_message() -> MakeMessage:
    return lambda number: replace(MESSAGE, item_id=f"{number:022d}")
