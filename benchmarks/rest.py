"""Cost of idle parts, seconds until they are ready, and memory of the web process."""

import asyncio
from pathlib import Path
from typing import Final

from benchmarks import queue, requests
from benchmarks.findings import Figure
from benchmarks.stage import SECRET, Stage, answers, free_port, running, temporary_folder

IDLE_PERCENT_MAX: Final = 2.0
READY_SECONDS_MAX: Final = 2.0
MEMORY_MB_MAX: Final = 110.0
SETTLING_SECONDS: Final = 2.0
IDLE_SECONDS: Final = 10.0
STARTS: Final = 3
_PROCESSES: Final = Path("/proc")
TICKS_PER_SECOND: Final = 100  # USER_HZ, a constant of Linux


async def idle_worker(stage: Stage) -> list[Figure]:
    """The share of a core that a worker takes with nothing due."""
    await queue.empty(stage)
    settings = {"database_url": stage.url, "data_dir": str(stage.folder / "worker"), "secret": SECRET}
    async with running("afterword", "worker", settings={**settings, "log_level": "warning"}) as process:
        await asyncio.sleep(SETTLING_SECONDS)
        before = _cpu_seconds(process.pid)
        await asyncio.sleep(IDLE_SECONDS)
        if process.returncode is not None or before is None:
            return []
        used = (_cpu_seconds(process.pid) or 0.0) - before
    return [Figure("Idle worker, share of a core", 100 * used / IDLE_SECONDS, IDLE_PERCENT_MAX, "%")]


async def warm_start() -> list[Figure]:
    """From the start of `afterword serve` to the first ready answer, on a folder that has been served before."""
    took: list[float] = []
    with temporary_folder() as folder:
        for _ in range(1 + STARTS):
            port = free_port()
            settings = {"data_dir": str(folder), "port": str(port), "log_level": "warning"}
            async with running("afterword", "serve", settings=settings) as process:
                took.append(await answers(f"http://127.0.0.1:{port}/readyz", process))
    warm = sorted(took[1:])
    return [Figure("`afterword serve` ready, warm data folder", warm[len(warm) // 2], READY_SECONDS_MAX, "s")]


async def memory_after_load(stage: Stage, pid: int, port: int, *, seconds: float) -> list[Figure]:
    """Memory of the web process after both loads."""
    await requests.load_both(stage, port, seconds=seconds)
    used = memory_mb(pid)
    return [] if used is None else [Figure("Web process after the load", used, MEMORY_MB_MAX, "MB")]


def _cpu_seconds(pid: int) -> float | None:
    """User and system time of a process; None where there is no /proc."""
    file = _PROCESSES / str(pid) / "stat"
    if not file.exists():
        return None
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def memory_mb(pid: int) -> float | None:
    """Memory of a process; None where there is no /proc."""
    file = _PROCESSES / str(pid) / "status"
    if not file.exists():
        return None
    line = next(line for line in file.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1000
