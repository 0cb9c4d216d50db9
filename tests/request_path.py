"""The length of a request's path: the files of one package whose functions it calls."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2

import afterword

SOURCE = Path(afterword.__file__).parent
WRITE_FILES_MAX = 5
REPORT_FILES_MAX = 6


@contextmanager
def executed(package: str) -> Generator[set[str]]:
    """Files of a package, by their path in it, with functions that are called meanwhile."""
    files: set[str] = set()
    folder = f"{SOURCE / package}/"

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and frame.f_code.co_name != "<module>" and path.startswith(folder):
            files.add(path.removeprefix(folder))

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(None)


async def crossing(
    package: str,
    http: httpx2.AsyncClient,
    method: str,
    path: str,
    *,
    status: int = 200,
    files_max: int = WRITE_FILES_MAX,
    **request: Any,
) -> httpx2.Response:
    """The response to a request that calls functions of at most `files_max` files of the package."""
    with executed(package) as files:
        response = await http.request(method, path, **request)
    assert status == response.status_code, response.text
    assert len(files) <= files_max, sorted(files)
    return response
