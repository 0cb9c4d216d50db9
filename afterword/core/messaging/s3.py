"""The signature of a request to a store that speaks S3 (AWS Signature Version 4, docs.aws.amazon.com), by path."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

_ALGORITHM: Final = "AWS4-HMAC-SHA256"


def object_url(endpoint: str, bucket: str, name: str) -> str:
    path = "/".join(quote(part, safe="") for part in (bucket, *name.split("/")))
    return f"{endpoint.rstrip('/')}/{path}"


def signed(
    method: str, url: str, *, content: bytes, now: datetime, region: str, access_key: str, secret: str
) -> Mapping[str, str]:
    """The headers of a request to an address without a query."""
    parts, moment = urlsplit(url), f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    digest, scope = hashlib.sha256(content).hexdigest(), f"{moment[:8]}/{region}/s3/aws4_request"
    headers = {"host": parts.netloc, "x-amz-content-sha256": digest, "x-amz-date": moment}
    names = ";".join(headers)
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    request = f"{method}\n{parts.path}\n\n{lines}\n{names}\n{digest}"
    text = f"{_ALGORITHM}\n{moment}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = _mac(key, part)
    authorization = (
        f"{_ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={_mac(key, text).hex()}"
    )
    return {**headers, "authorization": authorization}


def reply_of(body: bytes) -> str:
    """The code and the message of a refusal, as far as there are any."""
    text = body.decode("utf-8", "replace")
    found = [re.search(rf"<{name}>\s*([^<]+?)\s*</{name}>", text) for name in ("Code", "Message")]
    return " ".join(": ".join(one[1] for one in found if one).split())


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
