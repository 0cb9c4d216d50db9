"""Scans a file by the operator's command: the file is its input, and its exit status is the answer."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import structlog

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
