"""The command line. Each command lives in `run/cli/`, and is imported when it is run: start-up time counts.

Processes that run for long and get no option do without the parser, which would stay in their memory.
"""

import asyncio
import os
import select
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from afterword import __version__, errors
from afterword.kit import settings, zones
from afterword.run.cli import CommandError

if TYPE_CHECKING:
    import cyclopts

EXIT_REFUSED = 1
EXIT_SETTING = 2
EXIT_UNREAD = 141  # as a shell counts a program that SIGPIPE ended
OUTPUT: Final = 1  # standard output
COMMANDS: Final = {
    "serve": ("serve:serve", "Run all of it: API, pages, worker, and an embedded PostgreSQL without a database URL."),
    "web": ("web:web", "Run a web process: the API and the pages."),
    "worker": ("worker:worker", "Run a worker process: sends the due items and does periodic work."),
    "migrate": ("setup:migrate", "Bring the database's schema to this version."),
    "doctor": ("doctor:doctor", "Check the installation, and say what to do."),
    "setup": ("setup:setup", "Print the link by which the first owner comes into being."),
    "demo": ("demo:demo", "Show the whole journey: schedule, send, answer, read back."),
    "seed": ("demo:seed_command", "Create a small real organization when there is none, and a token with every scope."),
    "organization": ("organizations:app", "Organizations: the tenants of this installation."),
    "token": ("organizations:token_app", "Tokens for the API."),
    "plan": ("organizations:plan_app", "Plans and credits of organizations."),
    "questionnaire": ("questionnaires:app", "Questionnaires as files."),
    "responses": ("responses:app", "Responses that people gave elsewhere."),
    "queue": ("accounts:queue_app", "Items of unknown outcome, and imports that failed."),
    "account": ("accounts:app", "Provider accounts to send through."),
    "resume": ("accounts:resume_all", "Send again through all paused accounts, after you have mended their login."),
    "backup": ("backups:backup", "Make a backup while everything works: database, secret, files, erasures."),
    "restore": ("backups:restore", "Put a backup into an empty place."),
    "database": ("setup:app", "Move the database: to another server, or to a new version of PostgreSQL."),
    "erasure": ("backups:erasure_app", "The ledger of erased people: keep it apart, replay it after a restore."),
    "bounce": ("inbound:bounce", "Act on returned mails, and on answers of customers."),
    "inbound": ("inbound:app", "Addresses where providers call back."),
    "secret": ("setup:secret_app", "The secret of this installation, and a new one while it works."),
    "sender": ("organizations:sender_app", "Domains that organizations may send mails from."),
    "mcp": ("mcp:mcp", "Serve an assistant on this machine: tools that call the API of an Afterword."),
    "suppression": ("suppressions:app", "Addresses that are not written to."),
}

PROCESSES: Final = frozenset({"web", "worker"})


@cache
def parser() -> "cyclopts.App":
    import cyclopts

    app = cyclopts.App(
        name="afterword",
        help="Customer-satisfaction questionnaires: scheduled, sent, answered and measured.",
        version=__version__,
        help_flags=["--help", "-h"],
    )
    for name, (module, sentence) in COMMANDS.items():
        app.command(f"afterword.run.cli.{module}", name=name, help=sentence)
    return app


def main() -> None:
    import uvloop

    zones.use_newest()

    try:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                code = runner.run(run(sys.argv[1:]))
        finally:
            print(end="", flush=True)
    except BrokenPipeError:
        if not _has_lost_its_reader():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), OUTPUT)  # what Python flushes at its end
        code = EXIT_UNREAD
    sys.exit(code)


def _has_lost_its_reader() -> bool:
    """Whether nobody reads the standard output any more, as behind `| head`."""
    poll = select.poll()
    poll.register(OUTPUT, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


async def run(words: Sequence[str]) -> int | None:
    """Run a command; a bad setting or a refusal is one sentence on standard error, not a traceback."""
    try:
        if len(words) == 1 and words[0] in PROCESSES:
            module, _, command = COMMANDS[words[0]][0].partition(":")
            return await getattr(import_module(f"afterword.run.cli.{module}"), command)()
        return await parser().run_async(words, result_action="return_value")
    except settings.SettingError as error:
        sentence, code = str(error), EXIT_SETTING
    except CommandError as error:
        sentence, code = str(error), EXIT_REFUSED
    except errors.Refusal as refusal:
        rest = [wrong.message for wrong in refusal.errors if wrong.message not in refusal.detail]
        sentence, code = "\n  ".join([refusal.detail, *rest]), EXIT_REFUSED
    print(f"afterword: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
