"""The command line of the queue: `afterword queue import` and `resolve`."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
import uvloop
from cyclopts import Parameter

from afterword.cli import context, item_imports, items
from afterword.cli.item_imports import ImportOptions

app = cyclopts.App(name="queue", help="Queue items: from files, and of unknown outcome.")


@app.command(name="import")
def import_items(
    file: Path | None = None,
    /,
    *,
    questionnaire: str | None = None,
    pipeline: str | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    map_: Annotated[list[str] | None, Parameter(name="--map", negative="")] = None,
    separator: str = ",",
    on_conflict: Literal["error", "update", "skip"] = "error",
    resume: str | None = None,
    organization: str | None = None,
) -> None:
    """Put the rows of a CSV file into the queue of a pipeline. Ends with 0, or with 3 when rows failed.

    Parameters
    ----------
    file
        In UTF-8, with a header: responder_channel_identifier, locale, send_time, external_reference,
        metadata.questionnaire.NAME, metadata.responder.NAME.
    questionnaire
        The id of the questionnaire.
    pipeline
        The id of its pipeline.
    dry_run
        Check every row and write no item.
    map_
        NAME=COLUMN: what a column of another name is; NAME= leaves it out; repeatable.
    separator
        Between cells: , ; | or tab.
    on_conflict
        What a row does whose external_reference a live item has.
    resume
        The id of an import that was interrupted or has failed: go on where it stopped.
    organization
        The organization's domain; needed when there are several.
    """
    wanted = ImportOptions(
        file=file,
        questionnaire_id=questionnaire,
        pipeline_id=pipeline,
        domain=organization,
        resume=resume,
        dry_run=dry_run,
        mapping=map_ or (),
        separator=separator,
        on_conflict=on_conflict,
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.exit(runner.run(_run(wanted)))


@app.command
def resolve(
    item: str, /, *, sent: Annotated[bool, Parameter(negative="--not-sent")], organization: str | None = None
) -> None:
    """Say what became of an item that failed with an unknown outcome, once you have found out.

    Parameters
    ----------
    item
        Its id.
    sent
        What you found out.
    organization
        The organization's domain; needed when there are several.
    """

    async def run() -> None:
        async with context.pooled(context.read_settings()) as (_, pool):
            print(await items.resolve(pool, domain=organization, item_id=item, is_sent=sent))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


async def _run(wanted: ImportOptions) -> int:
    stop, is_terminal = asyncio.Event(), sys.stderr.isatty()
    item_imports.listen(stop)

    def progress(line: str) -> None:
        if is_terminal:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def tell(line: str) -> None:
        if is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        print(line, flush=True)

    async with context.pooled(context.read_settings()) as (standing, pool):
        return await item_imports.import_items(
            pool, site=standing.site, wanted=wanted, tell=tell, progress=progress, stop=stop
        )
