"""`afterword questionnaire import`: check a file and publish it as a version."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from afterword import db, errors
from afterword.cli import tokens
from afterword.cli.context import OrganizationDomain, open_pool
from afterword.organizations import store
from afterword.questionnaires import service as questionnaires
from afterword.questionnaires.service import Imported

FILE_BYTES_MAX = 1_048_576

app = cyclopts.App(name="questionnaire")


class _Checked(Exception):
    """Undoes the transaction of a check."""


@app.command(name="import")
async def import_command(
    file: Path,
    /,
    *,
    organization: OrganizationDomain = None,
    application: str | None = None,
    check: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Check a questionnaire file and publish it as a version.

    Args:
        file: A YAML file, or the name of one that comes with Afterword: after_delivery, relationship, support_case.
        application: The id of the application that owns it; without, the organization's first.
        check: Name every fault, and store nothing.
    """
    imported: Imported | None = None
    async with open_pool() as (context, pool):
        with suppress(_Checked):
            async with db.transaction(pool) as database:
                imported = await import_file(database, file=file, domain=organization, application_id=application)
                if check:
                    raise _Checked
    assert imported is not None  # noqa: S101  else import_file has raised
    for warning in imported.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    if check:
        print(f"Nothing is wrong; it would be version {imported.version.number}.")
        return
    questionnaire_id = imported.questionnaire.questionnaire_id
    made = "Published" if imported.created else "Nothing new: already published"
    print(f"{made} as version {imported.version.number} of questionnaire {questionnaire_id}.")
    anybody = f"anybody, at {context.site.public_url}/p/{questionnaire_id}"
    print(f"Who may answer: {anybody if imported.questionnaire.public_link else 'people whom you ask'}.")


async def import_file(database: db.Database, *, file: Path, domain: str | None, application_id: str | None) -> Imported:
    """Publish `file`; importing it again under the same name makes a new version when it says something new.

    Raises questionnaires.InvalidFile with every fault, NotFound for an unknown organization or application.
    """
    text = read(file)
    organization = await tokens.organization_of(database, domain)
    first = await store.get_first_application_id(database, organization_id=organization.organization_id)
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
