"""`afterword secret`: a new secret of the installation while it works."""

from typing import Final

import cyclopts

from afterword.core import keys
from afterword.core.keys import Secret
from afterword.kit import db, sealing
from afterword.privacy import resealing
from afterword.run.cli import CommandError, context
from afterword.run.cli.context import BEFORE_FILE, SECRET_FILE, write_whole

app = cyclopts.App(name="secret")
RESTART: Final = "Restart web and workers, one after the other, at any time: until then both secrets open everything."

STEPS: Final = """\
The secret is in the settings. Each step ends when all web and worker processes were restarted, one after the other.

1. Leave AFTERWORD_SECRET as it is. Set this everywhere, and restart:

{first}

2. Set these two in place of those, and restart:

AFTERWORD_SECRET={new}
{second}

3. Run: afterword secret reseal"""


@app.command(name="rotate")
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


@app.command(name="reseal")
async def reseal() -> None:
    """Seal with the new secret what was sealed with those before, in batches; run it again if it was stopped."""
    async with context.open_pool() as (opened, pool):
        lost = await resealing.reseal(pool, secret=opened.site.secret, report=_report)
    if lost:
        raise CommandError(f"{lost} values are opened by no secret that is known here. They must be set anew.")
    print("Everything is sealed with the secret in use. When all processes were restarted: afterword secret retire")


@app.command(name="retire")
async def retire() -> None:
    """Let the secrets of before open nothing any more. The first one goes on to key the hashes of addresses."""
    chosen = context.read_settings()
    async with context.open_pool(chosen) as (opened, pool):
        secret = opened.site.secret
        if not isinstance(secret, Secret) or not secret.before:
            raise CommandError("There is no secret of before. Run first: afterword secret rotate")
        async with db.connection(pool) as database:
            left = await resealing.count_sealed(database, head=sealing.head_of(secret))
    if left:
        raise CommandError(
            f"{left} values are still sealed with a secret of before. Run first: afterword secret reseal"
        )
    lines = keys.written(opening=(), addresses=secret.addresses)
    if chosen.secret is not None:
        print(f"Nothing needs the secrets of before. Set this and restart:\n\n{_setting(lines)}")
        return
    write_whole(chosen.data_dir / BEFORE_FILE, lines)
    print("Only the secret in use opens something now. Restart web and workers.")


def _setting(lines: str) -> str:
    return f"AFTERWORD_SECRET_BEFORE={','.join(lines.split())}"


def _report(column: str, done: int, lost: int) -> None:
    words = f", {lost} unreadable" if lost else ""
    print(f"{column}: {done} sealed anew{words}", flush=True)
