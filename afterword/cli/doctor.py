"""`afterword doctor`: what is wrong with this installation, and what to do about it."""

from datetime import UTC, datetime

from afterword import db
from afterword import doctor as examination
from afterword.cli import CommandError, context
from afterword.doctor import Finding
from afterword.queue.restores import service as guard
from afterword.reports.counts import comparison
from afterword.reports.rollups import service as rollups
from afterword.settings import Settings
from afterword.web.loopback import host_of, is_loopback, url_with_key


async def doctor(chosen: Settings) -> bool:
    """Print each finding; whether all is well. An embedded database that does not run is started for the look."""
    try:
        async with context.stand(chosen, migrate=False) as standing:
            findings = await _examine(chosen, standing.database_url)
            keyed = [url_with_key(standing.site, name) for name in _shown(chosen)]
    except CommandError as error:
        findings, keyed = [Finding("database", ok=False, detail=str(error)), *await _examine(chosen, None)], []
    for finding in findings:
        print(f"{'ok   ' if finding.ok else 'FAULT'}  {finding.name:16} {finding.detail}")
        if finding.advice:
            print(f"{'':24}{finding.advice}")
    for url in keyed:
        print(f"With its key: {url}")
    faults = sum(not finding.ok for finding in findings)
    print("All is well." if not faults else f"{faults} to mend.")
    return not faults


async def confirm_sending(chosen: Settings) -> bool:
    """Let sending go on after a person has looked; whether it was paused."""
    async with context.pooled(chosen) as (_, pool), db.transaction(pool) as database:
        return await guard.confirm(database)


async def recount(chosen: Settings) -> int:
    """Have the days counted again whose kept counts differ from the answers; how many."""
    async with context.pooled(chosen) as (_, pool), db.transaction(pool) as database:
        now = database.clock.now()
        found = await comparison.compare(database, now=now)
        await rollups.recount(database, days=found.wrong, now=now)
    return len({(span.questionnaire_id, day) for span, day in found.wrong})


async def _examine(chosen: Settings, database_url: str | None) -> list[Finding]:
    return await examination.examine(
        database_url=database_url,
        smtp_url=chosen.smtp_url,
        public_url=chosen.site_url,
        trusted_proxies=chosen.trusted_proxies,
        data_folder=chosen.data_dir,
        clock=lambda: datetime.now(UTC),
    )


def _shown(chosen: Settings) -> list[str]:
    """The pages that an operator needs a key for."""
    is_ours = is_loopback(host_of(chosen.site_url))
    metrics = ["metrics"] if chosen.metrics == "loopback" and not is_ours else []
    return metrics + (["outbox"] if chosen.smtp_url is None else [])
