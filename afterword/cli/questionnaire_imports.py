"""`afterword questionnaire import`: check a file and publish it as a version."""

from contextlib import suppress
from pathlib import Path

from afterword import db, errors
from afterword.cli import tokens
from afterword.organizations import store as accounts_store
from afterword.questionnaires import service as questionnaires
from afterword.questionnaires.service import Imported

FILE_BYTES_MAX = 1_048_576


class _Checked(Exception):
    """Undoes the transaction of a check, which has told all that there is to tell."""


async def check_questionnaire(pool: db.Pool, *, file: Path, domain: str | None, application_id: str | None) -> Imported:
    """What `import_questionnaire` would do and raise; nothing is stored."""
    imported: Imported | None = None
    with suppress(_Checked):
        async with db.transaction(pool) as database:
            imported = await _import(database, file=file, domain=domain, application_id=application_id)
            raise _Checked
    assert imported is not None  # noqa: S101  else _import has raised
    return imported


async def import_questionnaire(
    pool: db.Pool, *, file: Path, domain: str | None, application_id: str | None
) -> Imported:
    """Publish `file`; importing it again under the same name makes a new version when it says something new.

    Raises questionnaires.InvalidFile with every fault, NotFound for an unknown organization or application.
    """
    async with db.transaction(pool) as database:
        return await _import(database, file=file, domain=domain, application_id=application_id)


async def _import(database: db.Database, *, file: Path, domain: str | None, application_id: str | None) -> Imported:
    text = read(file)
    organization = await tokens.organization_of(database, domain)
    first = await accounts_store.get_first_application_id(database, organization_id=organization.organization_id)
    chosen = application_id or first
    if chosen is None:
        raise errors.NotFound("The organization has no application yet.")
    return await questionnaires.import_file(
        database,
        organization_id=organization.organization_id,
        application_id=chosen,
        text=text,
        slug=file.stem,
        now=database.clock.now(),
    )


def read(file: Path) -> str:
    """The text of the file, or of a questionnaire of the library by its name. Raises Invalid."""
    if not file.exists() and str(file) in questionnaires.LIBRARY:
        return questionnaires.library_text(str(file))
    try:
        content = file.read_bytes()[: FILE_BYTES_MAX + 1]
    except OSError as error:
        raise errors.Invalid(f"{file} cannot be read: {error.strerror}.") from error
    if len(content) > FILE_BYTES_MAX:
        raise errors.Invalid(f"{file} has more than {FILE_BYTES_MAX:,} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.Invalid(f"{file} is not UTF-8 text (byte {error.start}).") from error
