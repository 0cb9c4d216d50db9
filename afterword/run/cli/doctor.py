"""`afterword doctor`: the faults of this installation, and what to do about them."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

from cyclopts import Parameter

from afterword.core import keys
from afterword.core.wire.site import Site
from afterword.kit import sealing
from afterword.kit.settings import Settings
from afterword.kit.web.loopback import host_of, is_loopback, url_with_key
from afterword.listening.reports import comparison
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.listening.responses import rows
from afterword.privacy import resealing
from afterword.run import doctor as examination
from afterword.run.cli import CommandError, context
from afterword.run.doctor import Finding
from afterword.sending.queue import restores
from afterword.tenants.organizations.tokens import service as tokens, store as tokens_store

Switch = Annotated[bool, Parameter(negative="")]


async def doctor(*, confirm_sending: Switch = False, recount: Switch = False, refill_responses: Switch = False) -> int:
    """Check database, schema, kept counts, SMTP login, public address, clock and time zones, and say what to do.

    Args:
        confirm_sending: Check nothing; resume sending that was paused because the database was restored.
        recount: Check nothing but the kept counts of reports, and count differing days again.
        refill_responses: Check nothing; let workers make all rows of the list of responses anew.
    """
    chosen = context.read_settings()
    if confirm_sending:
        async with context.open_transaction(chosen) as (_, database):
            was_paused = await restores.update_to_confirmed(database)
        print("Sending goes on within seconds." if was_paused else "Sending was not paused.")
        return 0
    if recount:
        days = await _recount(chosen)
        print(f"{days} days are counted again." if days else "All kept counts equal their answers.")
        return 0
    if refill_responses:
        async with context.open_transaction(chosen) as (_, database):
            await rows.update_to_fill_again(database)
        print("Workers make the rows of all responses anew. The list stays in use meanwhile.")
        return 0
    return 0 if await _examined(chosen) else 1


async def _examined(chosen: Settings) -> bool:
    """Print each finding; whether all is well. An embedded database that does not run is started meanwhile."""
    try:
        async with context.open_context(chosen, migrate=False) as opened:
            return await show_findings(chosen, opened.database_url, opened.site)
    except CommandError as error:
        return _show([Finding("database", ok=False, detail=str(error)), *await _examine(chosen, None)], {})


async def show_findings(chosen: Settings, database_url: str, site: Site) -> bool:
    """Print each finding of an installation whose database runs; whether all is well."""
    findings = [
        *await _examine(chosen, database_url, site),
        *await _secrets(database_url, site),
        *await _tokens(database_url),
        *await _standby(chosen),
    ]
    return _show(findings, {name: url_with_key(site, name) for name in _shown(chosen)})


def _show(findings: list[Finding], keyed: dict[str, str]) -> bool:
    for finding in findings:
        print(f"{_word(finding):5}  {finding.name:16} {finding.detail}")
        if finding.advice:
            print(f"{'':24}{finding.advice}")
    for name, url in keyed.items():
        print(f"Address of the {name}, with its key: {url}")
    faults = sum(not finding.ok for finding in findings)
    warnings = sum(finding.ok and finding.is_warning for finding in findings)
    counts = [f"{faults} to mend"] * (faults > 0) + [f"{warnings} to think of"] * (warnings > 0)
    print(f"{', '.join(counts) or 'All is well'}.")
    return not faults


def _word(finding: Finding) -> str:
    if not finding.ok:
        return "FAULT"
    return "warn" if finding.is_warning else "ok"


async def _recount(chosen: Settings) -> int:
    """Count the days again whose kept counts differ from the answers; how many."""
    async with context.open_transaction(chosen) as (_, database):
        now = database.clock.now()
        found = await comparison.compare(database, now=now)
        await daily_counts.recount(database, days=found.wrong, now=now)
    return len({(span.questionnaire_id, day) for span, day in found.wrong})


async def _secrets(database_url: str, site: Site) -> list[Finding]:
    """A wrong secret; the way of a new one, from its first use until those before it open nothing any more."""
    if closed := await examination.ask(database_url, partial(resealing.count_unreadable, secret=site.secret), 0):
        words = f"{closed} values (logins of providers, keys of webhooks, second factors) are sealed by another secret."
        advice = "Set AFTERWORD_SECRET to that one again, or put its file back into the data folder, and restart all."
        return [Finding("secret", False, words, advice)]
    if not keys.before(site.secret):
        return []
    advice = "Restart web and workers, run afterword secret reseal, then afterword secret retire."
    count = partial(resealing.count_sealed, head=sealing.head_of(site.secret))
    left = await examination.ask(database_url, count, None)
    words = f"{left} values are sealed with a secret of before, which still opens."
    return [] if left is None else [Finding("secret", not left, words, advice)]


async def _tokens(database_url: str) -> list[Finding]:
    now = datetime.now(UTC)
    count = partial(tokens_store.count_unused_tokens, before=now - timedelta(days=tokens.UNUSED_DAYS), now=now)
    unused = await examination.ask(database_url, count, 0)
    words = f"{unused} valid ones were not used for {tokens.UNUSED_DAYS} days. The console ends them: Settings, Tokens."
    return [Finding("tokens", True, words)] if unused else []


async def _standby(chosen: Settings) -> list[Finding]:
    async with context.open_reader(chosen) as reader:
        wrong = reader.what_is_wrong(await reader.lag()) if reader else None
    advice = "Mend the server that AFTERWORD_DATABASE_READ_URL names; until then the primary answers." if wrong else ""
    return [Finding("standby", not wrong, wrong or "Long reads go to it.", advice)] if reader else []


async def _examine(chosen: Settings, database_url: str | None, site: Site | None = None) -> list[Finding]:
    return await examination.examine(
        database_url=database_url,
        smtp_url=chosen.smtp_url,
        public_url=chosen.site_url,
        trusted_proxies=chosen.trusted_proxies,
        data_folder=chosen.data_dir,
        backup_to=chosen.backup_to,
        backup_hours=chosen.backup_hours,
        clock=lambda: datetime.now(UTC),
        services=examination.Services(
            mail_from=chosen.mail_from,
            site=site,
            name_servers=chosen.resolvers,
            file_folder=chosen.file_folder,
            export_folder=chosen.export_folder,
            scan=chosen.scan,
            scan_seconds=chosen.scan_seconds,
            statement_cache=chosen.statement_cache,
            encrypts_backups=bool(chosen.backup_passphrase or chosen.backup_recipients),
            port=chosen.port,
        ),
    )


def _shown(chosen: Settings) -> list[str]:
    is_ours = is_loopback(host_of(chosen.site_url))
    metrics = ["metrics"] if chosen.metrics == "loopback" and not is_ours else []
    return metrics + (["outbox"] if chosen.smtp_url is None else [])
