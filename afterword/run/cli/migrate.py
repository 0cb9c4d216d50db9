"""`afterword migrate`."""

from afterword.run.cli import context


async def migrate() -> None:
    """Bring the database's schema to this version."""
    async with context.open_context(context.read_settings(), create=True) as opened:
        print(f"The schema is at {opened.revision}.")
