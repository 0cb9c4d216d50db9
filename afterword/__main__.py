"""The command line: what there is to run, with which options. Each command lives in `commands/`."""

import asyncio
import json
import shlex
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from afterword import __version__, errors, settings
from afterword.commands import CommandError

EXIT_REFUSED = 1
EXIT_SETTING = 2

app = cyclopts.App(
    name="afterword",
    help="Customer-satisfaction questionnaires: scheduled, sent, answered and measured.",
    version=__version__,
    help_flags=["--help", "-h"],
)
token_app = cyclopts.App(name="token", help="Tokens for the API.")
questionnaire_app = cyclopts.App(name="questionnaire", help="Questionnaires as files.")
app.command(token_app)
app.command(questionnaire_app)


def main() -> None:
    """Run a command; a bad setting or a refusal is one sentence on standard error, not a traceback."""
    try:
        app()
    except settings.SettingError as error:
        _fail(str(error), EXIT_SETTING)
    except CommandError as error:
        _fail(str(error), EXIT_REFUSED)
    except errors.Refusal as refusal:
        _fail("\n".join([refusal.detail, *(f"  {wrong.message}" for wrong in refusal.errors)]), EXIT_REFUSED)


@app.command
def serve() -> None:
    """Run all of it: API, pages, worker, and an embedded PostgreSQL when no database URL is set."""
    from afterword.commands import ground, serve

    _run(serve.serve(ground.read_settings()))


@app.command
def web() -> None:
    """Run a web process: the API and the pages."""
    from afterword.commands import ground, web

    _run(web.web(ground.read_settings()))


@app.command
def worker() -> None:
    """Run a worker process: sends what is due and does what is periodic."""
    from afterword.commands import ground, worker

    _run(worker.worker(ground.read_settings()))


@app.command
def migrate() -> None:
    """Bring the database's schema to this version."""
    from afterword.commands import ground

    async def run() -> None:
        async with ground.stand(ground.read_settings()) as standing:
            print(f"The schema is at {standing.revision}.")

    _run(run())


@app.command
def demo(*, once: bool = False) -> None:
    """Show the whole journey: schedule, send, answer, read back.

    Parameters
    ----------
    once
        Do it all without a person, print each step with its time, and end.
    """
    from afterword.commands import demo, ground

    _run(demo.demo(ground.read_settings(), once=once))


@app.command
def seed(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> None:
    """Create a small real organization when there is none, and a token with every scope.

    Parameters
    ----------
    as_json
        Print JSON instead of lines that a shell can `eval`.
    """
    from afterword.commands import ground, seed

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (standing, pool):
            document = (await seed.seed(pool, standing.site)).as_document()
        if as_json:
            print(json.dumps(document, indent=2))
        else:
            print("\n".join(f"{name.upper()}={shlex.quote(value)}" for name, value in document.items()))

    _run(run())


@token_app.command(name="create")
def create_token(
    *,
    scope: list[str],
    organization: str | None = None,
    title: str = "Made on the command line",
    days: int | None = None,
) -> None:
    """Create a token of an organization and print it, this once.

    Parameters
    ----------
    scope
        An exact scope, as in "Queue.Create"; repeatable; "all" for every one.
    organization
        The organization's domain; needed when there are several.
    title
        What it is for.
    days
        How long it lives; without, until it is revoked.
    """
    from afterword.commands import ground, tokens

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            _, text = await tokens.create(pool, scopes=scope, domain=organization, title=title, days=days)
        print(text)

    _run(run())


@token_app.command(name="revoke")
def revoke_token(beginning: str, /) -> None:
    """End a token; processes that have seen it stop taking it within a second.

    Parameters
    ----------
    beginning
        The token's first characters: afw_ and at least 8 more.
    """
    from afterword.commands import ground, tokens

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            token = await tokens.revoke(pool, beginning=beginning)
        print(f"Revoked “{token.title}”.")

    _run(run())


@questionnaire_app.command(name="import")
def import_questionnaire(file: Path, /, *, organization: str | None = None, application: str | None = None) -> None:
    """Check a questionnaire file and publish it as a version.

    Parameters
    ----------
    file
        A YAML file, or the name of one that comes with Afterword: after_delivery, relationship, support_case.
    organization
        The organization's domain; needed when there are several.
    application
        The id of the application that owns it; without, the organization's first.
    """
    from afterword.commands import ground, imports

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            imported = await imports.import_questionnaire(
                pool, file=file, domain=organization, application_id=application
            )
        for warning in imported.warnings:
            print(f"Warning: {warning}", file=sys.stderr)
        made = "Published" if imported.created else "Nothing new: already published"
        print(
            f"{made} as version {imported.version.number} of questionnaire {imported.questionnaire.questionnaire_id}."
        )

    _run(run())


@app.command
def resume() -> None:
    """Send again through the accounts that a failed login has paused, after you have mended it."""
    from afterword import db
    from afterword.commands import ground
    from afterword.queue.lanes import service as lanes

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool), db.transaction(pool) as database:
            resumed = await lanes.resume_all(database)
        print("\n".join(f"Resumed {one.domain}, channel {one.channel_id}." for one in resumed) or "None was paused.")

    _run(run())


@app.command
def doctor() -> None:
    """Check database, schema, SMTP login, public address, clock and time zones, and say what to do."""
    from afterword.commands import doctor, ground

    if not _run(doctor.doctor(ground.read_settings())):
        sys.exit(EXIT_REFUSED)


def _run(command: Coroutine[Any, Any, Any]) -> Any:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(command)


def _fail(sentence: str, code: int) -> None:
    print(f"afterword: {sentence}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
