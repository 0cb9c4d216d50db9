"""The signature of requests to S3, as the library of its makers signs them."""

from datetime import UTC, datetime
from typing import Any
from unittest import mock

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from afterword.core.messaging import s3

NOW = datetime(2026, 11, 29, 12, 30, 45, tzinfo=UTC)


@pytest.mark.parametrize(
    ("method", "name", "content"),
    [
        ("PUT", "a/responses/date=2026-11-29/part-00000.csv", b"a,b"),
        ("DELETE", "with blank and é.csv", b""),
    ],
)
def test_as_its_makers_sign(method: str, name: str, content: bytes) -> None:
    url = s3.object_url("https://s3.eu-central-1.amazonaws.com/", "answers", name)
    given = s3.signed(method, url, content=content, now=NOW, region="eu-central-1", access_key="AKIA", secret="s/e+c")
    request: Any = AWSRequest(method=method, url=url, data=content)
    with mock.patch.object(auth, "get_current_datetime", return_value=NOW.replace(tzinfo=None)):
        auth.S3SigV4Auth(Credentials("AKIA", "s/e+c"), "s3", "eu-central-1").add_auth(request)
    assert request.headers["Authorization"] == given["authorization"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            b"<Error><Code>NoSuchBucket</Code><Message>There is\n none.</Message></Error>",
            "NoSuchBucket: There is none.",
        ),
        (b"<Code>AccessDenied</Code>", "AccessDenied"),
        (b"\xff no XML", ""),
    ],
)
def test_reply(body: bytes, expected: str) -> None:
    assert expected == s3.reply_of(body)
