"""`afterword migrate`, `database`, `setup` and `secret`: what an operator does to the installation itself."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import cyclopts

from afterword import errors
from afterword.core import keys
from afterword.core.keys import Secret
from afterword.core.wire.site import Site
from afterword.kit import db, sealing
from afterword.privacy import resealing
from afterword.run import embedded
from afterword.run.backups import moving
from afterword.run.cli import CommandError, context
from afterword.run.cli.context import BEFORE_FILE, SECRET_FILE, Context, open_pool, started, write_whole
from afterword.run.cli.organizations import OrganizationDomain
from afterword.tenants.logins import links, service as logins
from afterword.tenants.logins.links import Link
from afterword.tenants.organizations import service as organizations


async def migrate() -> None:
    """Bring the database's schema to this version."""
    async with context.open_context(context.read_settings(), create=True) as opened:
        print(f"The schema is at {opened.revision}.")


EMBEDDED: Final = "embedded"
KEPT: Final = "cluster-moved"
app = cyclopts.App(name="database")


@app.command
async def move(to: str, /) -> None:
    """Move the database into an empty one of another server, or into the embedded one. Can be interrupted and repeated.

    Args:
        to: postgresql://…, an empty database; or `embedded`, where AFTERWORD_DATABASE_URL is the present one.
    """
    chosen = context.read_settings()
    if to == EMBEDDED:
        if chosen.database_url is None:
            raise CommandError("The database is the embedded one. To move there, set AFTERWORD_DATABASE_URL to yours.")
        name = f"the embedded database in {chosen.data_dir.absolute()}"
        async with await started(chosen.data_dir, chosen.postgres_bin) as target:
            await moving.move(chosen.database_url, target.url, target_name=name, report=context.report)
        print(f"Moved to {name}. Unset AFTERWORD_DATABASE_URL and start Afterword.")
        return
    name = _name_of(to)
    if chosen.database_url is not None:
        await moving.move(chosen.database_url, to, target_name=name, report=context.report)
    elif embedded.is_made(chosen.data_dir):
        async with await started(chosen.data_dir, chosen.postgres_bin) as source:
            await moving.move(source.url, to, target_name=name, report=context.report)
        await asyncio.to_thread(_put_aside, chosen.data_dir)
    elif not any((chosen.data_dir / "postgresql").glob(f"{KEPT}-*")):
        raise CommandError(f"There is nothing to move: {chosen.data_dir.absolute()} holds no database.")
    print(f"Moved to {name}. Set AFTERWORD_DATABASE_URL to it and start Afterword.")


@app.command
async def upgrade() -> None:
    """Bring the embedded database to the newest PostgreSQL that is here. Can be interrupted and repeated."""
    chosen = context.read_settings()
    folder = chosen.data_dir
    if chosen.database_url is not None:
        raise CommandError("AFTERWORD_DATABASE_URL names a server of your own; its version is yours to change.")
    if not embedded.is_ready(folder):
        if not embedded.is_made(folder):
            raise CommandError(f"There is no installation here: {folder.absolute()} holds no database.")
        newest = next(embedded.find_binaries(chosen.postgres_bin), None)
        if newest is None or newest.major <= embedded.major_of(folder):
            print(f"PostgreSQL {embedded.major_of(folder)} is the newest that is here.")
            return
        async with (
            await started(folder, None) as source,
            await started(embedded.folder_of(folder), chosen.postgres_bin) as target,
        ):
            name = f"PostgreSQL {newest.major} beside it (run `afterword database upgrade`)"
            await moving.move(source.url, target.url, target_name=name, report=context.report)
        await asyncio.to_thread(embedded.set_ready, folder)
    kept = await asyncio.to_thread(embedded.swap, folder)
    print(f"The database is PostgreSQL {embedded.major_of(folder)} now. Remove {kept} once all is well.")


def _put_aside(data_folder: Path) -> None:
    """Keep the moved cluster under another name, so that another one may be made there."""
    home = data_folder / "postgresql"
    (home / "cluster").rename(home / f"{KEPT}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")


def _name_of(url: str) -> str:
    """The address without user and password. Raises CommandError."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        raise CommandError("The address of the database cannot be read.") from None
    if parts.scheme not in {"postgresql", "postgres"}:
        raise CommandError(f"Write the address as postgresql://user:password@host/database, or `{EMBEDDED}`.")
    return f"the database {parts.path.lstrip('/')} at {host or 'the socket of this machine'}"


async def setup(*, organization: OrganizationDomain = None) -> None:
    """Print a link that makes an owner, once, within an hour. The first owner invites all others in the console."""
    async with open_pool(create=True) as (context, pool):
        url = await setup_url(pool, context.site, domain=organization)
    if url is None:
        raise CommandError("There is an owner already. Owners invite others in the console, under Settings.")
    print(f"Open this link within an hour. It works once:\n{url}")


async def first_owner_url(opened: Context) -> str | None:
    """The link where nobody can log in yet; None where somebody can, or organizations are several."""
    async with await db.open_pool(opened.database_url, size_max=1, statement_cache_size=0) as pool:
        try:
            return await setup_url(pool, opened.site)
        except errors.NotFound:
            return None


async def setup_url(pool: db.Pool, site: Site, *, domain: str | None = None) -> str | None:
    """The link; None where an owner can log in. It is for the organization that is there, else for a new one."""
    async with db.transaction(pool) as database:
        found = await organizations.list_organizations(database, limit=2)
        if domain is not None or len(found) > 1:
            found = [await context.organization_of(database, domain)]
        chosen = found[0].organization_id if found else None
        if await logins.get_owner_email(database, organization_id=chosen) is not None:
            return None
        secret = await links.make(database, link=Link("setup", chosen, None, None, None), now=database.clock.now())
    return f"{site.public_url}/console/setup/{secret}"


secret_app = cyclopts.App(name="secret")
RESTART: Final = "Restart web and workers, one after the other, at any time: until then both secrets open everything."

STEPS: Final = """\
The secret is in the settings. Each step ends when all web and worker processes were restarted, one after the other.

1. Leave AFTERWORD_SECRET as it is. Set this everywhere, and restart:

{first}

2. Set these two in place of those, and restart:

AFTERWORD_SECRET={new}
{second}

3. Run: afterword secret reseal"""


@secret_app.command(name="rotate")
def rotate() -> None:
    """Make a new secret. What is sealed from now on is sealed with it; the one before still opens the rest."""
    chosen = context.read_settings()
    before = context.secret_of(chosen)
    new = context.new_secret()
    lines = keys.written(opening=[bytes(before), *before.before], addresses=before.addresses)
    if chosen.secret is not None:
        # A process reads its settings once: each must be able to open what the new secret seals before any seals so.
        first = keys.written(opening=[new.encode(), *before.before], addresses=before.addresses)
        print(STEPS.format(first=_setting(first), new=new, second=_setting(lines)))
        return
    write_whole(chosen.data_dir / BEFORE_FILE, lines)  # first: whoever reads the new secret finds these
    write_whole(chosen.data_dir / SECRET_FILE, new)
    print(f"The secret is new. {RESTART}\nThen run: afterword secret reseal")


@secret_app.command(name="reseal")
async def reseal() -> None:
    """Seal with the new secret what was sealed with those before, in batches; run it again if it was stopped."""
    async with context.open_pool() as (opened, pool):
        lost = await resealing.reseal(pool, secret=opened.site.secret, report=_report_sealed)
    if lost:
        raise CommandError(f"{lost} values are opened by no secret that is known here: set it, or write them anew.")
    print("Everything is sealed with the secret in use. When all processes were restarted: afterword secret retire")


@secret_app.command(name="retire")
async def retire() -> None:
    """Let the secrets of before open nothing any more. The first one goes on to key the hashes of addresses."""
    chosen = context.read_settings()
    async with context.open_pool(chosen) as (opened, pool):
        secret = opened.site.secret
        if not isinstance(secret, Secret) or not secret.before:
            raise CommandError("There is no secret of before. Run first: afterword secret rotate")
        left = await db.load(pool, resealing.count_sealed, head=sealing.head_of(secret))
    if left:
        raise CommandError(f"{left} values are still sealed with a secret of before. Run: afterword secret reseal")
    lines = keys.written(opening=(), addresses=secret.addresses)
    if chosen.secret is not None:
        print(f"Nothing needs the secrets of before. Set this and restart:\n\n{_setting(lines)}")
        return
    write_whole(chosen.data_dir / BEFORE_FILE, lines)
    print("Only the secret in use opens something now. Restart web and workers.")


def _setting(lines: str) -> str:
    return f"AFTERWORD_SECRET_BEFORE={','.join(lines.split())}"


def _report_sealed(column: str, done: int, lost: int) -> None:
    words = f", {lost} unreadable" if lost else ""
    print(f"{column}: {done} sealed anew{words}", flush=True)
