"""`afterword mcp`: tools for an assistant on this machine. It is a client of the API and reads no settings."""

import os
import secrets
import time
from typing import Final
from urllib.parse import urlsplit

import httpx2

from afterword.core.wire.site import API_PREFIX
from afterword.extras.assistants.client import REQUEST_SECONDS_MAX, Api
from afterword.extras.assistants.tools import Confirmations
from afterword.kit.settings import TOKEN_VARIABLE, URL_VARIABLE
from afterword.run.cli import CommandError

MISSING: Final = "This needs the extra “mcp”: pip install 'afterword[mcp]'."
KEY_BYTES: Final = 32


async def mcp() -> None:
    """Serve an assistant over standard input and output.

    AFTERWORD_URL is the address of an Afterword, AFTERWORD_TOKEN a token of its API. The tools can do what the token
    can do.
    """
    url, token = _base_url(os.environ.get(URL_VARIABLE, "")), os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise CommandError(f"{TOKEN_VARIABLE} must be a token of the API, such as afw_….")
    try:
        from afterword.extras.assistants import server  # noqa: PLC0415  an extra
    except ModuleNotFoundError as error:
        raise CommandError(MISSING) from error
    confirmations = Confirmations(secrets.token_bytes(KEY_BYTES), clock=time.time)
    async with httpx2.AsyncClient(base_url=url, timeout=REQUEST_SECONDS_MAX) as client:
        await server.serve_stdio(Api(client, headers={"Authorization": f"Bearer {token}"}), confirmations)


def _base_url(given: str) -> str:
    """The address of the API, from the public address of an installation. Raises CommandError."""
    try:
        parts = urlsplit(given.strip())
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    path = parts.path.rstrip("/")
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or path not in {"", API_PREFIX}
        or "@" in parts.netloc
    ):
        raise CommandError(f"{URL_VARIABLE} must be the address of an Afterword, as in https://survey.example.com.")
    return f"{parts.scheme}://{parts.netloc}{API_PREFIX}"
