"""The command line: what there is to run, with which options. Each command lives in `commands/`."""

import asyncio
import json
import shlex
import sys
from collections.abc import Coroutine, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from afterword import __version__, errors, settings
from afterword.cli import CommandError

EXIT_REFUSED = 1
EXIT_SETTING = 2

app = cyclopts.App(
    name="afterword",
    help="Customer-satisfaction questionnaires: scheduled, sent, answered and measured.",
    version=__version__,
    help_flags=["--help", "-h"],
)
organization_app = cyclopts.App(name="organization", help="Organizations: the tenants of this installation.")
token_app = cyclopts.App(name="token", help="Tokens for the API.")
plan_app = cyclopts.App(name="plan", help="Plans and credits of organizations.")
questionnaire_app = cyclopts.App(name="questionnaire", help="Questionnaires as files.")
app.command(organization_app)
app.command(token_app)
app.command(plan_app)
app.command(questionnaire_app)
app.command("afterword.cli.queue_app:app", name="queue", help="Queue items: from files, and of unknown outcome.")
app.command("afterword.cli.account_app:app", name="account", help="Provider accounts to send through.")
app.command("afterword.cli.erasure_app:app", name="erasure", help="The ledger of erased people.")
app.command("afterword.cli.returns:bounce", name="bounce", help="Act on mails that came back.")
app.command("afterword.cli.returns:inbound_app", name="inbound", help="Addresses where providers call back.")
app.command("afterword.cli.returns:suppression_app", name="suppression", help="Addresses that are left alone.")


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
    from afterword.cli import context as ground
    from afterword.cli import serve

    _run(serve.serve(ground.read_settings()))


@app.command
def web() -> None:
    """Run a web process: the API and the pages."""
    from afterword.cli import context as ground
    from afterword.cli import web

    _run(web.web(ground.read_settings()))


@app.command
def worker() -> None:
    """Run a worker process: sends what is due and does what is periodic."""
    from afterword.cli import context as ground
    from afterword.cli import worker

    _run(worker.worker(ground.read_settings()))


@app.command
def migrate() -> None:
    """Bring the database's schema to this version."""
    from afterword.cli import context as ground

    async def run() -> None:
        async with ground.stand(ground.read_settings(), found=True) as standing:
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
    from afterword.cli import context as ground
    from afterword.cli import demo

    _run(demo.demo(ground.read_settings(), once=once))


@app.command
def seed(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> None:
    """Create a small real organization when there is none, and a token with every scope.

    Parameters
    ----------
    as_json
        Print JSON instead of lines that a shell can `eval`.
    """
    from afterword.cli import context as ground
    from afterword.cli import seed

    async def run() -> None:
        async with ground.pooled(ground.read_settings(), found=True) as (standing, pool):
            document = (await seed.seed(pool, standing.site)).as_document()
        if as_json:
            print(json.dumps(document, indent=2))
        else:
            print(_lines(document))

    _run(run())


@organization_app.command(name="create")
def create_organization(
    domain: str,
    /,
    *,
    name: str,
    owner: str,
    application: str | None = None,
    time_zone: str = "UTC",
    locale: str = "en",
    postal_address: str | None = None,
) -> None:
    """Found an organization with its first application and its owner; prints lines that a shell can `eval`.

    Parameters
    ----------
    domain
        Its short name: lower-case letters, digits and hyphens. It stays.
    name
        What responders read.
    owner
        The e-mail address of the user who owns it.
    application
        The name of its first application; without, the organization's.
    time_zone
        Its IANA time zone, such as Europe/Athens.
    locale
        Its language.
    postal_address
        What stands at the foot of its mails, where a law wants that.
    """
    from afterword.cli import context as ground
    from afterword.cli import organizations

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            founded = await organizations.create(
                pool,
                domain=domain,
                name=name,
                owner=owner,
                application=application,
                time_zone=time_zone,
                locale=locale,
                postal_address=postal_address,
            )
        print(_lines(founded.as_document()))

    _run(run())


@organization_app.command(name="list")
def list_organizations() -> None:
    """List the organizations, one a line."""
    from afterword.cli import context as ground
    from afterword.cli import organizations

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            print("\n".join(await organizations.list_organizations(pool)) or "No organization.")

    _run(run())


@token_app.command(name="create")
def create_token(
    *,
    scope: Annotated[list[str], Parameter(negative="")],
    organization: str | None = None,
    user: str | None = None,
    title: str = "Made on the command line",
    days: int | None = None,
) -> None:
    """Create a token of an organization, or of a user of it, and print it, this once.

    Parameters
    ----------
    scope
        An exact scope, as in "Queue.Create"; repeatable; "all" for every one.
    organization
        The organization's domain; needed when there are several.
    user
        The e-mail address of a user whose token it shall be; without, it is the organization's.
    title
        What it is for.
    days
        How long it lives; without, until it is revoked.
    """
    from afterword.cli import context as ground
    from afterword.cli import tokens

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            _, text = await tokens.create(pool, scopes=scope, domain=organization, title=title, days=days, email=user)
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
    from afterword.cli import context as ground
    from afterword.cli import tokens

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            token = await tokens.revoke(pool, beginning=beginning)
        print(f"Revoked “{token.title}”.")

    _run(run())


@plan_app.command(name="list")
def list_plans(*, organization: str | None = None) -> None:
    """List the plans, one a line.

    Parameters
    ----------
    organization
        Only those of the organization with this domain.
    """
    from afterword.cli import context as ground
    from afterword.cli import plans

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            print("\n".join(await plans.list_plans(pool, domain=organization)) or "No plan: all is unlimited.")

    _run(run())


@plan_app.command(name="add")
def add_plan(
    kind: str,
    /,
    *,
    credits: int | None = None,  # noqa: A002  the field's own name
    organization: str | None = None,
    title: str | None = None,
    extra: int = 0,
    application: str | None = None,
    feature: Annotated[list[str] | None, Parameter(negative="")] = None,
    start: datetime | None = None,
    days: int | None = None,
) -> None:
    """Give an organization a plan: from then on its answers are counted, and nothing is sent without credits.

    Parameters
    ----------
    kind
        once: its credits and no more; monthly: the same number anew each month; unlimited.
    credits
        How many instances may be answered; not for unlimited.
    organization
        The organization's domain; needed when there are several.
    title
        What it is called; without, its kind.
    extra
        Credits beside them, which are used first and outlast renewals.
    application
        The id of the one application that it pays for; without, it pays for all.
    feature
        A word that the plan shows; repeatable.
    start
        When it begins, in UTC; without, now.
    days
        How long it lasts; without, until it is cancelled.
    """
    from afterword.cli import context as ground
    from afterword.cli import plans

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            plan = await plans.add(
                pool,
                kind=kind,
                domain=organization,
                title=title or kind.capitalize(),
                credits=credits,
                extra=extra,
                application_id=application,
                features=feature or [],
                start=start,
                days=days,
            )
        print(plans.line(plan))

    _run(run())


@plan_app.command(name="renew")
def renew_plan(plan_id: str, /, *, extra: int | None = None, days: int | None = None) -> None:
    """Fill a plan up now, and let it go on where it had ended.

    Parameters
    ----------
    plan_id
        Its id, as “afterword plan list” shows it.
    extra
        Do not fill it up, but add so many extra credits.
    days
        Let it end so many days from now.
    """
    from afterword.cli import context as ground
    from afterword.cli import plans

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            print(plans.line(await plans.renew(pool, plan_id=plan_id, extra=extra, days=days)))

    _run(run())


@plan_app.command(name="cancel")
def cancel_plan(plan_id: str, /) -> None:
    """End a plan. Without another active one nothing more is sent for its organization.

    Parameters
    ----------
    plan_id
        Its id, as “afterword plan list” shows it.
    """
    from afterword.cli import context as ground
    from afterword.cli import plans

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool):
            plan, remains = await plans.cancel(pool, plan_id=plan_id)
        print(plans.line(plan))
        if not remains:
            print(
                "No active plan is left: nothing is sent. To send without counting: afterword plan add unlimited.",
                file=sys.stderr,
            )

    _run(run())


@questionnaire_app.command(name="import")
def import_questionnaire(
    file: Path,
    /,
    *,
    organization: str | None = None,
    application: str | None = None,
    check: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Check a questionnaire file and publish it as a version.

    Parameters
    ----------
    file
        A YAML file, or the name of one that comes with Afterword: after_delivery, relationship, support_case.
    organization
        The organization's domain; needed when there are several.
    application
        The id of the application that owns it; without, the organization's first.
    check
        Say all that is wrong, and store nothing.
    """
    from afterword.cli import context as ground
    from afterword.cli import questionnaire_imports

    async def run() -> None:
        act = questionnaire_imports.check_questionnaire if check else questionnaire_imports.import_questionnaire
        async with ground.pooled(ground.read_settings()) as (standing, pool):
            imported = await act(pool, file=file, domain=organization, application_id=application)
        for warning in imported.warnings:
            print(f"Warning: {warning}", file=sys.stderr)
        if check:
            print(f"Nothing is wrong; it would be version {imported.version.number}.")
            return
        questionnaire_id = imported.questionnaire.questionnaire_id
        made = "Published" if imported.created else "Nothing new: already published"
        print(f"{made} as version {imported.version.number} of questionnaire {questionnaire_id}.")
        anybody = f"anybody, at {standing.site.public_url}/p/{questionnaire_id}"
        print(f"Who may answer: {anybody if imported.questionnaire.public_link else 'people whom you ask'}.")

    _run(run())


@app.command
def resume() -> None:
    """Send again through the accounts that a failed login has paused, after you have mended it."""
    from afterword import db
    from afterword.cli import context as ground
    from afterword.providers.health import service as health

    async def run() -> None:
        async with ground.pooled(ground.read_settings()) as (_, pool), db.transaction(pool) as database:
            resumed = await health.resume_all(database)
        print("\n".join(f"Resumed {one.domain}, channel {one.channel_id}." for one in resumed) or "None was paused.")

    _run(run())


@app.command
def doctor(
    *,
    confirm_sending: Annotated[bool, Parameter(negative="")] = False,
    recount: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Check database, schema, kept counts, SMTP login, public address, clock and time zones, and say what to do.

    Parameters
    ----------
    confirm_sending
        Check nothing, but let sending go on that was paused because the database went back to an earlier moment.
    recount
        Check nothing but the kept counts of reports, and count the days again that differ from their answers.
    """
    from afterword.cli import context as ground
    from afterword.cli import doctor

    if confirm_sending:
        was_paused = _run(doctor.confirm_sending(ground.read_settings()))
        print("Sending goes on within seconds." if was_paused else "Sending was not paused.")
        return
    if recount:
        days = _run(doctor.recount(ground.read_settings()))
        print(f"{days} days are counted again." if days else "All kept counts equal their answers.")
        return
    if not _run(doctor.doctor(ground.read_settings())):
        sys.exit(EXIT_REFUSED)


def _lines(document: Mapping[str, str]) -> str:
    """What a shell can `eval`."""
    return "\n".join(f"{name.upper()}={shlex.quote(value)}" for name, value in document.items())


def _run(command: Coroutine[Any, Any, Any]) -> Any:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(command)


def _fail(sentence: str, code: int) -> None:
    print(f"afterword: {sentence}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
