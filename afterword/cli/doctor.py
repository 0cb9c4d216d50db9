"""`afterword doctor`: what is wrong with this installation, and what to do about it."""

from datetime import UTC, datetime

from afterword import db
from afterword import doctor as examination
from afterword.cli import CommandError, context
from afterword.doctor import Finding
from afterword.queue.pages import outbox_url
from afterword.queue.restores import service as guard
from afterword.settings import Settings


async def doctor(chosen: Settings) -> bool:
    """Print each finding; whether all is well. An embedded database that does not run is started for the look."""
    try:
        async with context.stand(chosen, migrate=False) as standing:
            findings = await _examine(chosen, standing.database_url)
            outbox = outbox_url(standing.site) if chosen.smtp_url is None else None
    except CommandError as error:
        findings, outbox = [Finding("database", ok=False, detail=str(error)), *await _examine(chosen, None)], None
    for finding in findings:
        print(f"{'ok   ' if finding.ok else 'FAULT'}  {finding.name:16} {finding.detail}")
        if finding.advice:
            print(f"{'':24}{finding.advice}")
    if outbox is not None:
        print(f"The captured outbox, with its key: {outbox}")
    faults = sum(not finding.ok for finding in findings)
    print("All is well." if not faults else f"{faults} to mend.")
    return not faults


async def confirm_sending(chosen: Settings) -> bool:
    """Let sending go on after a person has looked; whether it was paused."""
    async with context.pooled(chosen) as (_, pool), db.transaction(pool) as database:
        return await guard.confirm(database)


async def _examine(chosen: Settings, database_url: str | None) -> list[Finding]:
    return await examination.examine(
        database_url=database_url,
        smtp_url=chosen.smtp_url,
        public_url=chosen.site_url,
        data_folder=chosen.data_dir,
        clock=lambda: datetime.now(UTC),
    )
