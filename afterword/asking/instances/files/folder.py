"""Files of responses in a folder: named by organization and file, written whole or not at all."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import structlog


def write(folder: Path, *, organization_id: str, file_id: str, content: bytes) -> None:
    path = _path(folder, organization_id, file_id)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync(path.parent)


def read(folder: Path, *, organization_id: str, file_id: str) -> bytes | None:
    with suppress(FileNotFoundError):
        return _path(folder, organization_id, file_id).read_bytes()
    return None


def delete(folder: Path, *, organization_id: str, file_id: str) -> None:
    path = _path(folder, organization_id, file_id)
    path.unlink(missing_ok=True)
    path.with_suffix(".part").unlink(missing_ok=True)


def _path(folder: Path, organization_id: str, file_id: str) -> Path:
    return folder / organization_id / file_id


def _sync(folder: Path) -> None:
    """The name of a new file is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


Result = Literal["clean", "harmful", "unchecked"]
RESULTS: dict[int, Result] = {0: "clean", 1: "harmful"}

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def scan(command: Sequence[str], content: bytes, *, seconds: float) -> Result:
    """Run the command without a shell. Any other status than 0 and 1, and no end in time, is no answer."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath)},  # not our secrets
        )
    except OSError as error:
        logger.warning("the scan of files cannot be started", error=str(error))
        return "unchecked"
    try:
        async with asyncio.timeout(seconds):
            await process.communicate(content)
    except TimeoutError:
        logger.warning("the scan of a file took too long", seconds=seconds)
        return "unchecked"
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode not in RESULTS:
        logger.warning("the scan of a file failed", status=process.returncode)
    return RESULTS.get(process.returncode or 0, "unchecked")
