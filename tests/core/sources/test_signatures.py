"""Signatures and secrets: refusals first, then those that the documents of systems give with key, body and result."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from afterword.core.sources import signatures
from afterword.core.sources.parts import NotSigned
from tests.core.sources.calls import NOW, SECRET, URL, base64_of, standard

BODY = '{"name": "Ζωή"}'.encode()
# Of https://www.standardwebhooks.com and its libraries
KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
GIVEN = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
THEN = datetime.fromtimestamp(1614265330, UTC)


def basic(text: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


class TestStandard:
    def refusal(self, headers: dict[str, str], secret: str = SECRET, body: bytes = BODY) -> str:
        with pytest.raises(NotSigned) as caught:
            signatures.by_standard(secret, headers, body, NOW, URL)
        return str(caught.value)

    @pytest.mark.parametrize("name", list(GIVEN))
    def test_each_header_is_needed(self, name: str) -> None:
        headers = {key: value for key, value in standard(BODY).items() if key != name}
        assert f"The header {name} is missing." == self.refusal(headers)

    @pytest.mark.parametrize("time", ["x", "-1", "1e9", "٣", "12.5", "9" * 400])
    def test_no_time(self, time: str) -> None:
        assert "time" in self.refusal(standard(BODY, time=time)) or "clocks" in self.refusal(standard(BODY, time=time))

    @pytest.mark.parametrize("version", ["v1a,", "v2,", ""])
    def test_other_versions(self, version: str) -> None:
        headers = standard(BODY)
        headers["webhook-signature"] = headers["webhook-signature"].replace("v1,", version)
        assert signatures.WRONG == self.refusal(headers)

    def test_too_many_signatures(self) -> None:
        headers = standard(BODY)
        headers["webhook-signature"] = "v1,x " * 10 + headers["webhook-signature"]
        assert signatures.WRONG == self.refusal(headers)

    def test_documented(self) -> None:
        signatures.by_standard(KEY, GIVEN, b'{"test": 2432232314}', THEN, URL)
        assert signatures.WRONG == self.refusal_at(b'{"test": 2432232315}')

    def refusal_at(self, body: bytes) -> str:
        with pytest.raises(NotSigned) as caught:
            signatures.by_standard(KEY, GIVEN, body, THEN, URL)
        return str(caught.value)

    @pytest.mark.parametrize("secret", ["whsec_c2VjcmV0", "whsec_c2VjcmV0MQ==", "whsec_c2VjcmV0MQ"])
    def test_its_own_library(self, secret: str) -> None:
        signature = Webhook(secret).sign("msg_1", NOW, BODY.decode())
        headers = {**standard(BODY), "webhook-signature": signature}
        assert signature.startswith("v1,")
        signatures.by_standard(secret, headers, BODY, NOW, URL)

    def test_the_second_signature(self) -> None:
        headers = standard(BODY)
        headers["webhook-signature"] = f"v1a,x v1,{'A' * 43}= {headers['webhook-signature']}"
        assert 3 == len(headers["webhook-signature"].split())
        signatures.by_standard(SECRET, headers, BODY, NOW, URL)

    def test_a_secret_of_one_own(self) -> None:
        """Only what begins with whsec_ is base64; broken base64 is taken as it is."""
        for secret in ("c2VjcmV0", "whsec_no base64!"):
            signed = base64_of(b"msg_1." + str(int(NOW.timestamp())).encode() + b"." + BODY, secret.encode())
            headers = {**standard(BODY), "webhook-signature": f"v1,{signed}"}
            signatures.by_standard(secret, headers, BODY, NOW, URL)
            assert signatures.WRONG == self.refusal(headers, "another")


class TestHmac:
    @pytest.mark.parametrize("given", ["", "x", "sha256=x", "é", "A" * 43 + "="])
    def test_wrong(self, given: str) -> None:
        with pytest.raises(NotSigned):
            signatures.by_hmac("X-Sign")(SECRET, {"x-sign": given}, BODY, NOW, URL)

    @pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512"])
    @pytest.mark.parametrize("encoding", ["hex", "base64"])
    def test_ok(self, algorithm: str, encoding: str) -> None:
        digest = hmac.digest(SECRET.encode(), BODY, getattr(hashlib, algorithm))
        text = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode()
        verify = signatures.by_hmac("X-Sign", algorithm=algorithm, encoding=encoding, prefix="sig=")
        verify(SECRET, {"x-sign": f" sig={text} "}, BODY, NOW, URL)
        with pytest.raises(NotSigned):
            verify(SECRET, {"x-sign": f"sig={text[:-2]}AA"}, BODY, NOW, URL)

    def test_letters_of_base_16(self) -> None:
        """Systems write them small or great; of base 64 they are two numbers."""
        digest = hmac.digest(SECRET.encode(), BODY, hashlib.sha256)
        great = base64_of(BODY).swapcase()
        with pytest.raises(NotSigned):
            signatures.by_hmac("X-Sign")(SECRET, {"x-sign": great}, BODY, NOW, URL)
        for text in (digest.hex(), digest.hex().upper()):
            signatures.by_hmac("X-Sign", encoding="hex")(SECRET, {"x-sign": text}, BODY, NOW, URL)


class TestHeader:
    verify = staticmethod(signatures.by_header("X-Afterword-Secret", "Authorization"))

    @pytest.mark.parametrize(
        "headers",
        [
            {"x-afterword-secret": SECRET[:-1]},
            {"x-afterword-secret": SECRET.upper()},
            {"authorization": "Bearer another"},
            basic("user:another"),
            {"authorization": "Basic %%%"},
            {"authorization": "Basic /w=="},
            {"authorization": f"Digest {SECRET}"},
        ],
    )
    def test_wrong(self, headers: dict[str, str]) -> None:
        with pytest.raises(NotSigned, match="another one"):
            self.verify(SECRET, headers, BODY, NOW, URL)

    def test_missing(self) -> None:
        with pytest.raises(NotSigned, match="X-Afterword-Secret is missing"):
            self.verify(SECRET, {"x-other": SECRET}, BODY, NOW, URL)

    def test_empty_never_holds(self) -> None:
        for headers in (basic(":"), {"x-afterword-secret": "x"}, {"authorization": "Bearer "}):
            with pytest.raises(NotSigned, match="no secret"):
                self.verify("", headers, BODY, NOW, URL)

    @pytest.mark.parametrize(
        "headers",
        [
            {"x-afterword-secret": SECRET},
            {"x-afterword-secret": f" {SECRET} "},
            {"authorization": SECRET},
            {"authorization": f"bearer {SECRET}"},
            basic(f"anybody:{SECRET}"),
            basic(f"{SECRET}:X"),
        ],
    )
    def test_ok(self, headers: dict[str, str]) -> None:
        self.verify(SECRET, headers, BODY, NOW, URL)
        with pytest.raises(NotSigned):
            self.verify(f"{SECRET}2", headers, BODY, NOW, URL)
