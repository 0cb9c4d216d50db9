"""The command line of erasures: `afterword erasure export` and `replay`."""

import sys
from pathlib import Path

import cyclopts

from afterword.cli import context, erasures
from afterword.cli.returns import run_command

app = cyclopts.App(name="erasure", help="The ledger of erased people: keep it apart, replay it after a restore.")


@app.command
def export() -> None:
    """Print the ledger, a line of JSON for each erasure: ids and hashes, nothing that says who anybody was.

    Keep it where the backups are not, for as long as the oldest of them.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (_, pool):
            async for line in erasures.lines(pool):
                sys.stdout.write(f"{line}\n")

    run_command(run())


@app.command
def replay(file: Path, /) -> None:
    """Erase again whoever was erased since a restored backup was taken; before `afterword serve`. Can be repeated.

    Parameters
    ----------
    file
        What `afterword erasure export` printed last.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (standing, pool):
            done, left = await erasures.replay(pool, file=file, secret=standing.site.secret)
        print(f"{done:,} erased again, {left:,} were erased already or belong to no organization here.")

    run_command(run())
